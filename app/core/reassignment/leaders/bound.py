"""The bound on leader changes, from the brokers' prices alone.

Whatever prices leading has at the brokers, no choice within the band costs less than if every partition took the
cheapest of its candidates, prices included, less the most that brokers within the band could earn by theirs. With the
best prices that is the optimum itself, since the flow has an integral one.
"""

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment.leaders.problem import LeadersProblem


def change_costs(problem: LeadersProblem) -> tuple[Int32s, int]:
    """What each candidate costs: `unit` if it is a change, 1 if it has to be copied first, -1 if it may not lead.

    `unit` is more than all rows that could lead on a new replica, so that changes count first. A partition whose
    leader cannot go on is changed by every candidate, and none of them is charged for it.

    Returns
    -------
    (rows, width) int32, and the unit.
    """
    candidates = problem.candidates()
    unit = int(np.count_nonzero((candidates & problem.is_new).any(axis=1))) + 1
    has_choice = (problem.leader >= 0) & ~problem.is_forced()
    is_change = has_choice[:, None] & (problem.replicas != problem.leader[:, None])
    costs = is_change * unit + problem.is_new
    return np.where(candidates, costs, -1).astype(np.int32), unit


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
