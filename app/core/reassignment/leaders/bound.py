"""The bound on leader changes, from the brokers' prices alone.

Whatever prices leading has at the brokers, no choice within the band costs less than if every partition took the
cheapest of its candidates, prices included, less the most that brokers within the band could earn by theirs. With the
best prices that is the optimum itself, since the flow has an integral one.
"""

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment.leaders.problem import NOBODY, NOT_A_CANDIDATE, LeadersProblem


def change_costs(problem: LeadersProblem, *, keep: bool = False) -> tuple[Int32s, int]:
    """What each candidate costs: `unit` if it is a change, 1 if it has to be copied first, -1 if it may not lead.

    `unit` is more than all rows that could lead on a new replica, so that changes count first. A partition whose
    leader cannot go on is changed by every candidate, and none of them is charged for it. With `keep` no candidate is
    left that would be charged.

    Returns
    -------
    (rows, width) int32, and the unit.
    """
    candidates = problem.candidates()
    unit = int(np.count_nonzero((candidates & problem.is_new).any(axis=1))) + 1
    has_choice = (problem.leader >= 0) & ~problem.is_forced()
    is_change = has_choice[:, None] & (problem.replicas != problem.leader[:, None])
    is_open = candidates & ~is_change if keep else candidates
    return np.where(is_open, is_change * unit + problem.is_new, NOT_A_CANDIDATE).astype(np.int32), unit


def only_candidates(problem: LeadersProblem, costs: Int32s) -> tuple[Int32s, Int64s]:
    """(rows,) int32 leaders of the partitions that only one may lead, `NOBODY` for others; and rows with a choice."""
    number = np.count_nonzero(costs >= 0, axis=1)
    leaders = np.full(len(number), NOBODY, np.int32)
    leaders[number == 1] = problem.replicas[(costs >= 0) & (number == 1)[:, None]]
    return leaders, np.flatnonzero(number > 1)


def changes_bound(problem: LeadersProblem, low: Int64s, high: Int64s, prices: Int64s) -> int:
    """No choice whose loads, without `base`, are within low and high changes fewer partitions.

    Parameters
    ----------
    low, high : (brokers,) int64. prices : (brokers,) int64, any at all; in units of `change_costs`.
    """
    costs, unit = change_costs(problem)
    priced = costs + prices[problem.replicas] * problem.weight[:, None]
    is_led = (costs >= 0).any(axis=1)
    cheapest = np.where(costs >= 0, priced, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    least = int(cheapest[is_led].sum()) - int(np.where(prices > 0, prices * high, prices * low).sum())
    # What is left of a unit is the part of new replicas, which the unit exceeds.
    return int(np.count_nonzero(problem.is_forced())) + max(least // unit, 0)


def fewest_to_leave(problem: LeadersProblem, most: int) -> int:
    """No choice in which every target broker leads at most so much, `base` included, takes fewer leaders from them.

    What a broker leads above that has to go, at best its heaviest partitions. Changes that are forced are not among
    them.
    """
    stays = np.flatnonzero((problem.leader >= 0) & ~problem.is_forced() & (problem.replicas >= 0).any(axis=1))
    order = stays[np.lexsort((-problem.weight[stays], problem.leader[stays]))]
    leader, weight = problem.leader[order], problem.weight[order]
    loads = problem.base.astype(np.int64)
    np.add.at(loads, leader, weight)
    before = np.cumsum(weight) - weight
    starts = np.searchsorted(leader, np.arange(len(loads)))
    gone = before - np.append(before, 0)[np.minimum(starts, len(before))][leader] if len(order) else before
    return int(np.count_nonzero(problem.target[leader] & (loads[leader] - gone > most) & (weight > 0)))
