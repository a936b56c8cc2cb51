"""Leader changes: what each candidate costs, and lower bounds on the number of changes.

The bound on changes follows from dual prices alone. For any prices of leading at the brokers, no choice within the band
costs less than every partition's cheapest candidate, prices included, less the most that brokers within the band could
earn by them. With optimal prices that is the optimum, since the flow has an integral one.
"""

import numpy as np

from app.core.model import NO_LEADER, Int32s, Int64s
from app.core.reassignment.leaders.problem import NOT_A_CANDIDATE, LeaderProblem
from app.core.reassignment.model import Band, BrokerBounds
from app.core.replica_lists import sums_by


def bounds(problem: LeaderProblem, band: Band | BrokerBounds) -> tuple[Int64s, Int64s]:
    """(brokers,) int64 twice: the minimum and the maximum that each broker leads within the band, without its
    `base`.
    """
    everything = int(problem.weight.sum()) + 1
    low = np.where(problem.target, band.low - problem.base, -1)
    return low, np.where(problem.target, band.high - problem.base, everything)


def forced_changes(problem: LeaderProblem) -> int:
    """Number of partitions with a forced change: a lower bound on changes."""
    return int(np.count_nonzero(problem.is_forced()))


def change_costs(problem: LeaderProblem, *, keep: bool = False) -> tuple[Int32s, int]:
    """The cost of each candidate: `unit` if it is a change, 1 if it has to be copied first, -1 if it may not lead.

    `unit` exceeds the number of rows that could lead on a new replica, so that changes count first. A partition with a
    forced change is changed by every candidate, and none of them is charged for it. With `keep` only candidates without
    that charge remain, and those of partitions that `may_change`.

    Returns
    -------
    (rows, width) int32, and the unit.
    """
    candidates = problem.candidates()
    unit = _unit(problem)
    has_choice = (problem.leader >= 0) & ~problem.is_forced()
    is_change = has_choice[:, None] & (problem.replicas != problem.leader[:, None])
    is_open = candidates & (~is_change | problem.may_change[:, None]) if keep else candidates
    return np.where(is_open, is_change * unit + problem.is_new, NOT_A_CANDIDATE).astype(np.int32), unit


def _unit(problem: LeaderProblem) -> int:
    return int(np.count_nonzero((problem.candidates() & problem.is_new).any(axis=1))) + 1


def only_candidates(problem: LeaderProblem, costs: Int32s) -> tuple[Int32s, Int64s]:
    """(rows,) int32 leaders of the partitions with one candidate, `NO_LEADER` for others; and the rows with a
    choice.
    """
    number = np.count_nonzero(costs >= 0, axis=1)
    leaders = np.full(len(number), NO_LEADER, np.int32)
    leaders[number == 1] = problem.replicas[(costs >= 0) & (number == 1)[:, None]]
    return leaders, np.flatnonzero(number > 1)


def changes_bound(
    problem: LeaderProblem, low: Int64s, high: Int64s, prices: Int64s, among: Int32s | None = None
) -> int:
    """A lower bound on the leader changes of choices whose loads, without `base`, are within low and high.

    Parameters
    ----------
    low, high : (brokers,) int64.
    prices : (brokers,) int64 dual prices, any at all, in units of `change_costs`.
    among : (rows, width) int32, negative for candidates that lead in none of these choices; None excludes no candidate.
    """
    costs, _ = change_costs(problem)
    if among is not None:
        costs = np.where(among < 0, NOT_A_CANDIDATE, costs).astype(np.int32)
    return priced_bound(problem, problem.replicas, costs, low, high, prices)


def priced_bound(
    problem: LeaderProblem, table: Int32s, costs: Int32s, low: Int64s, high: Int64s, prices: Int64s
) -> int:
    """`changes_bound` of a table of nodes and their costs, with bounds and prices of nodes."""
    unit = _unit(problem)
    priced = costs + prices[table] * problem.weight[:, None]
    is_led = (costs >= 0).any(axis=1)
    cheapest = np.where(costs >= 0, priced, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    least = int(cheapest[is_led].sum()) - int(np.where(prices > 0, prices * high, prices * low).sum())
    # The remainder of a unit is the part of new replicas, which the unit exceeds.
    return forced_changes(problem) + max(least // unit, 0)


def fewest_to_leave(problem: LeaderProblem, most: int) -> int:
    """A lower bound on the changes from target brokers that lead more than `most`, `base` included; forced changes
    apart.

    The load above it has to leave the broker, at best by its heaviest partitions.
    """
    stays = np.flatnonzero((problem.leader >= 0) & ~problem.is_forced() & (problem.replicas >= 0).any(axis=1))
    order = stays[np.lexsort((-problem.weight[stays], problem.leader[stays]))]
    leader, weight = problem.leader[order], problem.weight[order]
    loads = problem.base + sums_by(leader, weight, len(problem.base))
    before = np.cumsum(weight) - weight
    starts = np.searchsorted(leader, np.arange(len(loads)))
    moved_before = before - np.append(before, 0)[np.minimum(starts, len(before))][leader] if len(order) else before
    return int(np.count_nonzero(problem.target[leader] & (loads[leader] - moved_before > most) & (weight > 0)))
