"""Violations of a placement, whichever solver made it; only the evaluation of loads is shared with the solvers."""

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import NO_LIMIT, MovementProblem, ReplicaPlacement
from app.core.reassignment.resource_problem import (
    RESOURCES,
    TOPIC_REPLICAS,
    BalancedGoal,
    ResourcePlacement,
    ResourceProblem,
    excess_of,
    loads_of,
)
from app.core.replica_lists import not_among, per_broker, per_group, per_rack

NAMED = 10
"""How many partitions, or brokers, are named for each violation."""


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
    replicas = placement.replicas
    broken_rules = {
        "the brokers are not distinct, or not as many as the factor": ~_are_distinct_and_enough(problem, replicas),
        "a broker may not have it": ~_may_be_there(problem, replicas),
        "a rack has too few of its replicas, or too many": ~are_spread(problem, replicas),
        "what must be kept is not": ~_keeps(problem, replicas),
        "no replica in sync stays, and none is added": ~_has_source(problem, replicas),
    }
    violations = [
        f"partition {row}, {_brokers(problem, replicas[row])}: {violation}"
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
    on_each = per_group(topic_of, placement.replicas, *low.shape)
    outside = int(np.abs(on_each - np.clip(on_each, low, high))[:, problem.is_bounded].sum())
    if outside == placement.topic_excess:
        return []
    return [f"topics are outside their bands by {outside} replicas, not {placement.topic_excess}"]


def are_spread(problem: MovementProblem, replicas: Int32s) -> Bools:
    """(rows,) bool: whether each partition has between `least` and `most` replicas in every rack."""
    in_racks = per_rack(replicas, problem.rack_of, problem.racks)
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


def resource_violations(problem: ResourceProblem, answer: ResourcePlacement) -> list[str]:
    """List every constraint that an answer violates and every figure that it states wrongly.

    Checked are: the constraints of each replica list and the moved weight (`placement_violations`); leaders are
    replicas that may lead; loads, the load above limits and leader changes are as stated; target brokers are within
    the ceilings and floors of the goals; and no lower bound is above its value.

    Returns
    -------
    Sentences; empty if the answer is right. At most `NAMED` brokers for each resource.
    """
    movement = problem.movement
    replicas, leaders = answer.replicas, answer.leaders
    violations = placement_violations(movement, ReplicaPlacement(replicas, None, answer.movement))
    rank = np.where(problem.may_lead[replicas], 0, 1) + np.where(not_among(replicas, problem.behind), 0, 2)
    rank = np.where(replicas == NO_REPLICA, 4, rank)
    may = rank == rank.min(axis=1, initial=4)[:, None]
    if barred := np.count_nonzero(~(may & (replicas == leaders[:, None])).any(axis=1)):
        violations.append(f"{barred} partitions are led by a broker that has no replica, or may not lead")
    loads = loads_of(problem.loads, movement.rack_of, replicas, leaders)
    if not np.array_equal(loads, answer.loads):
        violations.append("the loads are not those of the placement")
    for reached in answer.goals:
        violations += _of_goal(problem, answer, reached)
    return violations + _of_limits(problem, answer) + _of_changes(problem, answer)


def _of_goal(problem: ResourceProblem, answer: ResourcePlacement, reached: BalancedGoal) -> list[str]:
    name, violations = reached.goal.name, []
    if name == TOPIC_REPLICAS:
        return _of_topics(problem, answer, reached)
    column = RESOURCES.index(name)
    load = answer.loads[:, column]
    outside = problem.targets[:, column] & ((load > reached.ceiling) | (load < reached.floor))
    violations += [
        f"broker {problem.movement.broker_ids[broker]} has {load[broker]} of {name}, "
        f"not {reached.floor[broker]} to {reached.ceiling[broker]}"
        for broker in np.flatnonzero(outside)[:NAMED]
    ]
    if reached.largest.lower_bound > reached.largest.value:
        violations.append(f"the bound on the largest {name} is above what was reached")
    return violations


def _of_topics(problem: ResourceProblem, answer: ResourcePlacement, reached: BalancedGoal) -> list[str]:
    if problem.topic_of is None:
        return ["no topics were given"]
    counts = per_group(problem.topic_of, answer.replicas, len(reached.ceiling), len(problem.movement.broker_ids))
    above = counts[:, problem.movement.target] > reached.ceiling[:, None]
    return [
        f"topic {topic} has more replicas on a broker than stated" for topic in np.flatnonzero(above.any(1))[:NAMED]
    ]


def _of_limits(problem: ResourceProblem, answer: ResourcePlacement) -> list[str]:
    upper = problem.limits.upper
    above = np.where(upper < NO_LIMIT, np.maximum(answer.loads - upper, 0), 0)
    if answer.excess is None:
        return [f"{RESOURCES[at]} is above limits" for at in np.flatnonzero(above.any(axis=0))]
    violations = [] if np.array_equal(above, answer.excess.above) else ["the load above limits is not as stated"]
    for certificate, columns in (
        (answer.excess.hard, ~problem.limits.is_soft),
        (answer.excess.soft, problem.limits.is_soft),
    ):
        total = excess_of(answer.loads, np.where(columns, upper, NO_LIMIT))
        if total != certificate.value or certificate.lower_bound > certificate.value:
            violations.append(f"{certificate.minimised}: {certificate.value} said, {total} counted")
    if any(conflict.available >= conflict.required for conflict in answer.excess.conflicts):
        violations.append("limits that do not conflict are stated to")
    return violations


def _of_changes(problem: ResourceProblem, answer: ResourcePlacement) -> list[str]:
    changes = int(np.count_nonzero((problem.leader != NO_LEADER) & (answer.leaders != problem.leader)))
    stated = answer.movement.then
    if stated is None or stated.value != changes or stated.lower_bound > changes:
        return [f"{changes} leader changes counted, not {stated}"]
    return []
