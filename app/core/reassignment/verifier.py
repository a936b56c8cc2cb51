"""Violations of a placement, whichever solver made it; it shares no code with the solvers."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import MovementProblem, ReplicaPlacement
from app.core.replica_lists import not_among, per_broker

NAMED = 10
"""How many partitions, or brokers, are named for each violation."""
Bools: TypeAlias = NDArray[np.bool_]


def placement_violations(problem: MovementProblem, placement: ReplicaPlacement) -> list[str]:
    """List every constraint that a placement violates and every figure that it states wrongly.

    Checked are: distinct brokers, as many as the factor; eligible brokers; replicas per rack; brokers that must keep
    their replica; a replica in sync, or a new one; the band of counts; the moved weight, and that the lower bound does
    not exceed it.

    Complexity: O(rows · widest²), plus O(rows · racks) for the spread.

    Parameters
    ----------
    problem : what the placement answers.
    placement : positions as in `problem`.

    Returns
    -------
    Sentences that name broker ids; empty if the placement is legal and its figures are right. At most `NAMED` for each
    constraint.
    """
    broken_rules = {
        "the brokers are not distinct, or not as many as the factor": ~_are_distinct_and_enough(
            problem, placement.replicas
        ),
        "a broker may not have it": ~_may_be_there(problem, placement.replicas),
        "a rack has too few of its replicas, or too many": ~are_spread(problem, placement.replicas),
        "what must be kept is not": ~_keeps(problem, placement.replicas),
        "no replica in sync stays, and none is added": ~_has_source(problem, placement.replicas),
    }
    violations = [
        f"partition {row}, {_brokers(problem, placement.replicas[row])}: {violation}"
        for violation, rows in broken_rules.items()
        for row in np.flatnonzero(rows)[:NAMED]
    ]
    return [*violations, *_violations_of_sums(problem, placement)]


def topic_violations(
    problem: MovementProblem, placement: ReplicaPlacement, topic_of: Int64s, low: Int64s, high: Int64s
) -> list[str]:
    """List the violation if topics are outside their bands by another number of replicas than stated.

    Parameters
    ----------
    topic_of : (rows,) int64. low, high : (topics, brokers) int64 replicas of each topic on a bounded broker.
    """
    row, column = np.nonzero(placement.replicas != NO_REPLICA)
    cells = topic_of[row] * low.shape[1] + placement.replicas[row, column]
    on_each = np.bincount(cells, minlength=low.size).reshape(low.shape)
    outside = int(np.abs(on_each - np.clip(on_each, low, high))[:, problem.is_bounded].sum())
    if outside == placement.topic_excess:
        return []
    return [f"topics are outside their bands by {outside} replicas, not {placement.topic_excess}"]


def are_spread(problem: MovementProblem, replicas: Int32s) -> Bools:
    """(rows,) bool: whether each partition has between `least` and `most` replicas in every rack."""
    row, column = np.nonzero(replicas != NO_REPLICA)
    places = row * problem.racks + problem.rack_of[replicas[row, column]]
    in_racks = np.bincount(places, minlength=len(replicas) * problem.racks).reshape(len(replicas), problem.racks)
    spread = np.ones(len(replicas), np.bool_)
    for number, domain in enumerate(problem.domains):
        rows = np.flatnonzero(problem.domain_of == number)
        fits = (in_racks[rows] >= domain.least) & (in_racks[rows] <= domain.most)
        spread[rows] = fits.all(axis=1)
    return spread


def _brokers(problem: MovementProblem, replicas: Int32s) -> list[int]:
    return [int(problem.broker_ids[broker]) for broker in replicas if broker != NO_REPLICA]


def _are_distinct_and_enough(problem: MovementProblem, replicas: Int32s) -> Bools:
    ordered = np.sort(replicas, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_REPLICA)
    return np.asarray(~repeated.any(axis=1) & ((replicas != NO_REPLICA).sum(axis=1) == problem.factors), np.bool_)


def _may_be_there(problem: MovementProblem, replicas: Int32s) -> Bools:
    domain = problem.domain_of[:, None]
    may_stay = problem.table.may_keep[domain, replicas] & ~not_among(replicas, problem.current)
    may = problem.table.may_receive[domain, replicas] | may_stay | (replicas == NO_REPLICA)
    return np.asarray(may.all(axis=1), np.bool_)


def _keeps(problem: MovementProblem, replicas: Int32s) -> Bools:
    must = problem.must_keep
    return np.asarray((must == NO_REPLICA) | (replicas == must[:, None]).any(axis=1), np.bool_)


def _has_source(problem: MovementProblem, replicas: Int32s) -> Bools:
    """(rows,) bool: partitions that keep a replica in sync, receive a new one, or have none in sync."""
    if problem.in_sync is None:
        return np.ones(len(replicas), np.bool_)
    is_behind = (problem.current != NO_REPLICA) & ~problem.in_sync & ~problem.is_copied
    others = not_among(replicas, np.where(is_behind, problem.current, NO_REPLICA))
    return np.asarray(others.any(axis=1) | ~problem.in_sync.any(axis=1) | (problem.factors == 0), np.bool_)


def _violations_of_sums(problem: MovementProblem, placement: ReplicaPlacement) -> list[str]:
    replicas, current, band = placement.replicas, problem.current, placement.band
    violations = []
    if band is not None:
        on_each = problem.base + per_broker(replicas, len(problem.base))
        of_each = placement.bounds or problem.bounds(band)
        outside = problem.is_bounded & ((on_each < of_each.low) | (on_each > of_each.high))
        violations += [
            f"broker {problem.broker_ids[broker]} has {on_each[broker]}, not {of_each.low[broker]} to "
            f"{of_each.high[broker]}"
            for broker in np.flatnonzero(outside)[:NAMED]
        ]
    copied = not_among(replicas, np.where(problem.is_copied, NO_REPLICA, current))
    copied &= (current != NO_REPLICA).any(axis=1)[:, None]
    moved = int((copied.sum(axis=1) * problem.weight).sum())
    if moved != placement.moved:
        violations.append(f"{moved} is moved, not {placement.moved}")
    if placement.certificate.lower_bound > placement.moved:
        violations.append(f"the bound {placement.certificate.lower_bound} is above what is moved, {placement.moved}")
    return violations
