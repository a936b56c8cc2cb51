"""What a change that anybody planned takes at least: the yardstick that their plan is held against.

A plan says by what it does what it is for: partitions get as many replicas as it lists, brokers that it empties are to
be empty, and if it leaves every partition spread over racks then that is a rule. Two things are asked: how little has
to move for that alone, and how little if brokers are to be as even as the plan leaves them.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.answer import ReplicaPlacement
from app.core.reassignment.balance import KEEP, Band
from app.core.reassignment.counts.least_movement import least_movement, movement_within
from app.core.reassignment.domains import Kind, NotFeasible, RackRule, domains_of
from app.core.reassignment.problem import NO_HOME, Problem
from app.core.reassignment.verifying import are_spread


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A plan that anybody made, as positions of brokers.

    Parameters
    ----------
    broker_ids : (brokers,) int32, ascending. rack_of : (brokers,) int32, as in `Problem`.
    is_listed : (brokers,) bool; the others are down, and receive only what the plan gives them.
    base : (brokers,) int64 replicas of partitions that the plan leaves out.
    before, after : (rows, …) int32 positions, padded with `NO_HOME`. weight : (rows,) int64 of moving one replica.
    """

    broker_ids: Int32s
    rack_of: Int32s
    is_listed: NDArray[np.bool_]
    base: Int64s
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    weight: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Yardstick:
    """The least movement for the same end.

    Parameters
    ----------
    forced : only what has to move. as_even : with every count within the band that the plan leaves.
    emptied : (brokers,) bool, those that the plan empties. minds_racks : whether the rack rule is one of the plan's.
    """

    forced: ReplicaPlacement
    as_even: ReplicaPlacement
    emptied: NDArray[np.bool_]
    minds_racks: bool


def yardstick(planned: Planned) -> Yardstick:
    """Measure what the end that a plan reaches takes at least; that it can be reached, the plan itself shows."""
    brokers = len(planned.broker_ids)
    had = planned.base + np.bincount(planned.before[planned.before != NO_HOME], minlength=brokers)
    has = planned.base + np.bincount(planned.after[planned.after != NO_HOME], minlength=brokers)
    emptied = (had > 0) & (has == 0)
    target = (planned.is_listed & ~emptied) | (has > planned.base)
    problem = _problem(planned, target, minds_racks=True)
    minds_racks = problem is not None and bool(are_spread(problem, planned.after).all())
    if problem is None or not minds_racks:
        problem = _problem(planned, target, minds_racks=False)
    if problem is None:
        raise RuntimeError("a plan that exists is feasible")
    on_targets = has[target] if target.any() else np.zeros(1, np.int64)
    band = Band(int(on_targets.min()), int(on_targets.max()))
    return Yardstick(least_movement(problem, KEEP), movement_within(problem, band), emptied, minds_racks)


def _problem(planned: Planned, target: NDArray[np.bool_], *, minds_racks: bool) -> Problem | None:
    """The problem that the plan solves; None where it does not follow the rack rule, since nothing can."""
    factors, number = np.unique((planned.after != NO_HOME).sum(axis=1), return_inverse=True)
    rack_of = planned.rack_of if minds_racks else np.zeros_like(planned.rack_of)
    kinds = [Kind(int(factor), target, target) for factor in factors]
    listed = rack_of[planned.is_listed]
    rule = RackRule(len(np.unique(listed)), known=int(listed.max(initial=-1)) + 1)
    kind_of: Int32s = number.reshape(-1).astype(np.int32)
    try:
        domains, domain_of = domains_of(kinds, kind_of, planned.before, rack_of, rule)
    except NotFeasible:
        return None
    rows = len(planned.before)
    return Problem(
        broker_ids=planned.broker_ids,
        rack_of=rack_of,
        target=target,
        base=planned.base,
        domains=domains,
        domain_of=domain_of,
        homes=planned.before,
        is_copied=np.zeros(planned.before.shape, np.bool_),
        must_keep=np.full(rows, NO_HOME, np.int32),
        weight=planned.weight,
    )
