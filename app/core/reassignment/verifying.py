"""The verifier: what is wrong with a placement, whoever made it, and nothing shared with those who do."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s
from app.core.reassignment.answer import ReplicaPlacement
from app.core.reassignment.problem import NO_HOME, Problem

NAMED = 10
"""How many partitions, or brokers, are named of each fault; the first are enough to see what is wrong."""
Bools: TypeAlias = NDArray[np.bool_]


def placement_faults(problem: Problem, placed: ReplicaPlacement) -> list[str]:
    """Say what of a problem's rules a placement breaks, or claims falsely; empty where it is right.

    Looked at are: distinct brokers, as many as the factor; homes only where they may be kept, others only where they
    may receive; replicas of each rack; what must be kept; the band; the weight moved, and that the bound is below it.
    """
    wrong = {
        "the brokers are not distinct, or not as many as the factor": ~_are_distinct_and_enough(
            problem, placed.replicas
        ),
        "a broker may not have it": ~_may_be_there(problem, placed.replicas),
        "a rack has too few of its replicas, or too many": ~are_spread(problem, placed.replicas),
        "what must be kept is not": ~_keeps(problem, placed.replicas),
    }
    found = [
        f"partition {row}, {_brokers(problem, placed.replicas[row])}: {fault}"
        for fault, rows in wrong.items()
        for row in np.flatnonzero(rows)[:NAMED]
    ]
    return [*found, *_faults_of_sums(problem, placed)]


def are_spread(problem: Problem, replicas: Int32s) -> Bools:
    """(rows,) bool: which partitions have no rack with too few or too many of their replicas."""
    row, column = np.nonzero(replicas != NO_HOME)
    places = row * problem.racks + problem.rack_of[replicas[row, column]]
    in_racks = np.bincount(places, minlength=len(replicas) * problem.racks).reshape(len(replicas), problem.racks)
    spread = np.ones(len(replicas), np.bool_)
    for number, domain in enumerate(problem.domains):
        rows = np.flatnonzero(problem.domain_of == number)
        fits = (in_racks[rows] >= domain.least) & (in_racks[rows] <= domain.most)
        spread[rows] = fits.all(axis=1)
    return spread


def _brokers(problem: Problem, replicas: Int32s) -> list[int]:
    return [int(problem.broker_ids[broker]) for broker in replicas if broker != NO_HOME]


def _are_distinct_and_enough(problem: Problem, replicas: Int32s) -> Bools:
    ordered = np.sort(replicas, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_HOME)
    return np.asarray(~repeated.any(axis=1) & ((replicas != NO_HOME).sum(axis=1) == problem.factors), np.bool_)


def _may_be_there(problem: Problem, replicas: Int32s) -> Bools:
    may = np.ones(len(replicas), np.bool_)
    for number, domain in enumerate(problem.domains):
        rows = np.flatnonzero(problem.domain_of == number)
        there = replicas[rows]
        is_home = (there[:, :, None] == problem.homes[rows][:, None, :]).any(axis=2)
        fits = domain.may_receive[there] | (domain.may_keep[there] & is_home) | (there == NO_HOME)
        may[rows] = fits.all(axis=1)
    return may


def _keeps(problem: Problem, replicas: Int32s) -> Bools:
    must = problem.must_keep
    return np.asarray((must == NO_HOME) | (replicas == must[:, None]).any(axis=1), np.bool_)


def _faults_of_sums(problem: Problem, placed: ReplicaPlacement) -> list[str]:
    replicas, homes = placed.replicas, problem.homes
    found = []
    if placed.band is not None:
        on_each = problem.base + np.bincount(replicas[replicas != NO_HOME], minlength=len(problem.base))
        outside = problem.target & ((on_each < placed.band.low) | (on_each > placed.band.high))
        found += [
            f"broker {problem.broker_ids[broker]} has {on_each[broker]}, not {placed.band.low} to {placed.band.high}"
            for broker in np.flatnonzero(outside)[:NAMED]
        ]
    stays = (replicas[:, :, None] == homes[:, None, :]) & ~problem.is_copied[:, None, :]
    copied = (replicas != NO_HOME) & ~stays.any(axis=2)
    copied &= (homes != NO_HOME).any(axis=1)[:, None]
    moved = int((copied.sum(axis=1) * problem.weight).sum())
    if moved != placed.moved:
        found.append(f"{moved} is moved, not {placed.moved}")
    if placed.certificate.lower_bound > placed.moved:
        found.append(f"the bound {placed.certificate.lower_bound} is above what is moved, {placed.moved}")
    return found
