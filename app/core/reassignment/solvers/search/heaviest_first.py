"""Legal placements with forced moves alone, and what brokers above a ceiling shed, placed anew, heaviest first.

Replicas that move in any case, and the cheapest that brokers above the ceiling can shed, go to the least loaded
eligible brokers, heaviest first; repeatedly while that lowers the loads above the ceiling.
"""

from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import Int32s, Int64s
from app.core.reassignment.legal_sets_kernel import initial_places
from app.core.reassignment.model import NO_LIMIT, Deadline
from app.core.reassignment.rules import LoadRules, costs_saved, moved_weight
from app.core.reassignment.solvers.search.moves_kernel import WorkingPlacement, redistribute, shed_load
from app.core.replica_lists import not_among

MAX_ROUNDS = 16


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePlacement:
    """A legal placement with its figures.

    Parameters
    ----------
    at : (rows, widest) int32 brokers. loads : (brokers,) int64. moved : its cost.
    smallest, largest : loads of target brokers.
    """

    at: Int32s = field(repr=False)
    loads: Int64s = field(repr=False)
    moved: int
    smallest: int
    largest: int


def candidate(rules: LoadRules, at: Int32s, loads: Int64s) -> CandidatePlacement:
    """A placement, (rows, widest) int32 brokers padded with -1, with its figures; arrays are copied."""
    of_targets = loads[rules.target]
    smallest, largest = (int(of_targets.min()), int(of_targets.max())) if len(of_targets) else (0, 0)
    return CandidatePlacement(at.copy(), loads.copy(), moved_weight(rules, at), smallest, largest)


def initial_placement(rules: LoadRules, base_load: Int64s) -> CandidatePlacement:
    """The placement with the fewest moves, receivers chosen for the heaviest replicas first as the least loaded.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    """
    rows = len(rules.load)
    at = np.full((rows, int(rules.factor.max(initial=0))), -1, np.int32)
    loads = base_load.astype(np.int64).copy()
    if initial_places(rules, np.argsort(-rules.load, kind="stable"), loads, at) >= 0:
        raise InfeasibleFlow
    return candidate(rules, at, loads)


def redistributed(
    rules: LoadRules, start: CandidatePlacement, ceiling: int, is_over: Deadline, *, keep_current: bool
) -> CandidatePlacement:
    """Lower the loads of target brokers to a ceiling, or near it.

    Parameters
    ----------
    start : a legal placement.
    keep_current : only replicas that move in any case move, to the smallest largest load. Otherwise the sum of loads
        above the ceiling is lowered.
    is_over : whether the deadline has passed, checked between rounds; then the best placement so far is returned.
    """

    def rank(placement: CandidatePlacement) -> tuple[int, int]:
        if keep_current:
            return placement.largest, -placement.smallest
        return int(np.maximum(placement.loads[rules.target] - ceiling, 0).sum()), 0

    best, working = start, WorkingPlacement(start.at.copy(), start.loads.copy())
    for gathers in (True, *[False] * MAX_ROUNDS):
        if is_over() or best.largest <= ceiling:
            break
        _lower(rules, working, ceiling, gathers=gathers, keep_current=keep_current)
        placement = candidate(rules, working.at, working.loads)
        if rank(placement) < rank(best):
            best = placement
        elif not gathers:
            break
    return best


def _lower(rules: LoadRules, working: WorkingPlacement, ceiling: int, *, gathers: bool, keep_current: bool) -> None:
    """Let target brokers above the ceiling shed their cheapest replicas, and redistribute those, heaviest first.

    Each replica moves to a current broker of its partition with slack if that costs nothing, else to the least loaded
    eligible broker.

    Parameters
    ----------
    gathers : redistribute every replica that moves in any case, too.
    keep_current : a replica on a current broker may only move to another one if that costs nothing.
    """
    flat, loads = working.at.ravel(), working.loads
    of_slot = np.repeat(rules.load, working.at.shape[1])
    is_shed = not_among(working.at, rules.current).ravel() if gathers else np.zeros(len(flat), np.bool_)
    np.subtract.at(loads, flat[is_shed], of_slot[is_shed])
    above = np.where(rules.target, loads - ceiling, 0)
    senders = np.argsort(-above, kind="stable")[: np.count_nonzero(above > 0)]
    slots = _by_cost_ratio(rules, working.at, np.flatnonzero((above > 0)[flat] & (flat >= 0)))
    place = np.empty(len(loads), np.int64)
    place[senders] = np.arange(len(senders))
    of_sender = place[flat[slots]]
    slots = slots[np.argsort(of_sender, kind="stable")]
    ends = np.cumsum(np.bincount(of_sender, minlength=len(senders)))
    least = int(np.where(rules.target, loads, 0)[rules.may_receive.any(axis=0)].min(initial=NO_LIMIT))
    shed_load(rules, working, slots, np.append(0, ends), senders, least, ceiling, keep_current, is_shed)
    shed = np.flatnonzero(is_shed)
    redistribute(rules, working, shed[np.argsort(-of_slot[shed], kind="stable")], ceiling, keep_current)


def _by_cost_ratio(rules: LoadRules, at: Int32s, slots: Int64s) -> Int64s:
    """Slots with a load that may move, by cost saved for the load, the heaviest first among equals."""
    width = at.shape[1]
    load, broker = rules.load[slots // width], at.ravel()[slots]
    slots = slots[(load > 0) & (broker != rules.must_keep[slots // width])]
    load = rules.load[slots // width]
    return slots[np.lexsort((-load, costs_saved(rules, at).ravel()[slots] / load))]
