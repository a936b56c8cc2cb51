"""Where the replicas shall be: which solver is asked, and what its answer proves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment import (
    KEEP,
    Balance,
    BudgetTooSmall,
    MovementProblem,
    ReplicaPlacement,
    least_movement,
    place_by_load,
    placement_violations,
    trade_off,
    within_budget,
)
from app.errors import BudgetBelowMinimum
from app.services.reassignment.requests import ReassignmentRequest
from app.services.reassignment.sizes import held_by_others, rates_of, rates_of_others, require_sizes
from app.services.reassignment.sources import Source

TRADE_OFF_POINTS = 12
"""How many points of movement against balance are looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    """Where the replicas shall be.

    Parameters
    ----------
    placed : with its bound. by : what brokers are even by. load : (rows,) int64 of it, 1 each for counts.
    base_load : (brokers,) int64 of partitions that are not asked about.
    largest, largest_bound : of the target brokers, where it is not counts that are to be even.
    trade_off : the least movement in ever wider bands; None where nobody asked.
    """

    placed: ReplicaPlacement
    by: str
    load: Int64s = field(repr=False)
    base_load: Int64s = field(repr=False)
    largest: int | None = None
    largest_bound: int | None = None
    trade_off: Sequence[ReplicaPlacement] | None = None

    def loads(self, replicas: Int32s) -> Int64s:
        """(brokers,) int64 what every broker has, with these replicas."""
        found = self.base_load.copy()
        rows, columns = np.nonzero(replicas != NO_REPLICA)
        np.add.at(found, replicas[rows, columns], self.load[rows])
        return found


def faults(problem: MovementProblem, placing: Placing) -> list[str]:
    """What is wrong with a placement, whoever made it; empty where nothing is."""
    placed, band = placing.placed, placing.placed.band
    if placing.by == "count" or band is None:
        return placement_violations(problem, placed)
    # The verifier counts; here the band is one of loads.
    loads = placing.loads(placed.replicas)
    outside = np.flatnonzero(problem.target & ((loads < band.low) | (loads > band.high)))
    return placement_violations(problem, replace(placed, band=None)) + [
        f"broker {problem.broker_ids[broker]} has {loads[broker]}, not {band.low} to {band.high}" for broker in outside
    ]


def place(request: ReassignmentRequest, source: Source, *, is_over: Callable[[], bool]) -> Placing:
    """Find the placement that is asked for.

    Raises
    ------
    BudgetBelowMinimum, SizesMissing, RatesMissing, ConflictingFields
    """
    problem, balance = source.problem, request.replicas_balance
    if request.max_moved_bytes is not None:
        require_sizes(source.sizes, "max_moved_bytes", ("max_moved_bytes",))
    ones = np.ones(len(problem.weight), np.int64)
    if request.leaders_only:
        return Placing(_as_it_is(source), "count", ones, problem.base)
    by = request.balance.replicas_by
    if by == "count":
        placed = _by_count(request, source, balance, is_over)
        points = _trade_off(problem, is_over) if request.trade_off else None
        return Placing(placed, by, ones, problem.base, trade_off=points)
    load, base_load = _load(request, source)
    found = place_by_load(problem, load, base_load, balance, is_over)
    return Placing(found.placement, by, load, base_load, found.largest.value, found.largest.lower_bound)


def _by_count(
    request: ReassignmentRequest, source: Source, balance: Balance, is_over: Callable[[], bool]
) -> ReplicaPlacement:
    budget = request.max_moved_bytes
    found = least_movement(source.problem, balance, is_over=is_over)
    if budget is None or found.moved <= budget:
        return found
    try:
        return within_budget(source.problem, budget, is_over=is_over)
    except BudgetTooSmall as short:
        minimum = short.minimum
    if request.on_conflict == "refuse":
        raise BudgetBelowMinimum(
            f"the change moves {minimum} bytes at least, whatever the balance; {budget} may be moved",
            path=("max_moved_bytes",),
            value=budget,
            minimum_bytes=minimum,
        )
    detail = f"{minimum} bytes are moved at least, whatever the balance; {budget} were to be the most"
    source.relaxed.note("max_moved_bytes", "", detail)
    return least_movement(source.problem, KEEP, is_over=is_over)


def _trade_off(problem: MovementProblem, is_over: Callable[[], bool]) -> Sequence[ReplicaPlacement]:
    return trade_off(problem, points=TRADE_OFF_POINTS, is_over=is_over)


def _load(request: ReassignmentRequest, source: Source) -> tuple[Int64s, Int64s]:
    """What each partition weighs in the balance, and what brokers have of it outside the scope."""
    if request.balance.replicas_by == "bytes":
        require_sizes(source.sizes, "balance by bytes", ("balance", "replicas_by"))
        others = held_by_others(source.brokers, source.scope.others, source.sizes.of_others)
        return source.sizes.size_bytes, others
    others = held_by_others(source.brokers, source.scope.others, rates_of_others(request, source.scope))
    return rates_of(request, source.scope), others


def _as_it_is(source: Source) -> ReplicaPlacement:
    """Every replica where it is: what a plan of leaders alone starts from."""
    factors = source.problem.factors
    if (source.before[:, factors.max(initial=0) :] != NO_REPLICA).any():
        raise RuntimeError("leaders alone change no factor")
    certificate = Certificate("moved weight", 0, 0, "none: no replica moves", ("every replica stays",))
    return ReplicaPlacement(source.before, None, certificate)
