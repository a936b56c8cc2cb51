"""Choose preferred leaders by ingress, with a lower bound on the largest load.

Minimising the largest load over whole partitions is NP-hard. Two lower bounds are known: the optimum if
leadership may be split, by the same flow, rounded up; and the load of the heaviest partition on the best of its
candidates. From the present leaders the flow passes on what exceeds the goal, heavy partitions first, since those take
the fewest changes. Then each partition is led by the broker that leads most of it; moves and swaps with the heaviest
broker repair the rounding; and unnecessary changes are undone. The goal is the lower bound and a thousandth.
"""

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment.leaders import repair_kernel as kernel
from app.core.reassignment.leaders.answers import BY_INGRESS, answer
from app.core.reassignment.leaders.changes import change_costs, fewest_to_leave, forced_changes, only_candidates
from app.core.reassignment.leaders.problem import LeaderChoice, LeaderProblem
from app.core.reassignment.leaders.shares import Shares
from app.core.reassignment.model import Balance, Band
from app.core.replica_lists import per_broker

INGRESS_TOLERANCE = 1000
"""Ingress is balanced to one part in so many of the lower bound: measured rates are no more precise than that."""


def by_ingress(problem: LeaderProblem, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions of different weight."""
    costs, _ = change_costs(problem, keep=balance.tolerance is None)
    leaders, rows = only_candidates(problem, costs)
    rows = rows[np.argsort(-problem.weight[rows], kind="stable")]
    heavy, idle = np.split(rows, [np.count_nonzero(problem.weight[rows])])
    part = problem.part(heavy, leaders)
    largest_bound = _largest_bound(part, costs[heavy])
    goal = largest_bound + largest_bound // INGRESS_TOLERANCE
    if balance.tolerance is not None:
        goal = max(goal, problem.band(balance, Band(0, largest_bound)).high)
    leaders[heavy] = _spread(part, costs[heavy], goal)
    leaders[idle] = _by_number(problem, costs[idle], idle, leaders)
    loads = problem.loads(leaders)[problem.target]
    if balance.tolerance is None:
        bound = forced_changes(problem) + fewest_to_leave(problem, int(loads.max(initial=0)))
        return answer(problem, leaders, BY_INGRESS, None, bound, largest_bound)
    band = Band(int(loads.min(initial=goal)), max(goal, int(loads.max(initial=0))))
    bound = forced_changes(problem) + fewest_to_leave(problem, band.high)
    return answer(problem, leaders, BY_INGRESS, band, bound, largest_bound)


def _largest_bound(part: LeaderProblem, costs: Int32s) -> int:
    """A lower bound on the largest load of a target broker."""
    split = Shares.of_part(part, costs).without_costs().narrow_high()
    is_candidate, is_target = costs >= 0, part.target[part.replicas]
    alone = np.where(is_candidate, part.base[part.replicas] + part.weight[:, None], np.iinfo(np.int64).max)
    # A partition that a broker other than the targets may lead need not be in the load of a target.
    is_within_targets = (is_target | ~is_candidate).all(axis=1)
    at_best = alone[is_within_targets].min(axis=1, initial=np.iinfo(np.int64).max)
    return max(split, int(at_best.max(initial=0)))


def _spread(part: LeaderProblem, costs: Int32s, goal: int) -> Int32s:
    """(rows,) int32 leaders of partitions in descending order of weight."""
    start = Shares.of_part(part, costs)
    spread = start.without_costs()
    spread.cap(goal)
    columns = spread.columns()
    loads = part.loads(spread.leaders())
    kernel.repair(start.table, start.costs, part.weight, part.target, goal, columns, loads)
    kernel.undo_changes(start.table, start.costs, part.weight, part.target, goal, columns, loads)
    chosen: Int32s = start.table[np.arange(len(columns)), columns] if len(columns) else part.leader
    return chosen


def _by_number(problem: LeaderProblem, costs: Int32s, idle: Int64s, leaders: Int32s) -> Int32s:
    """(len(idle),) int32 leaders of partitions without ingress, on the brokers that lead the fewest partitions."""
    numbers = per_broker(leaders[:, None], len(problem.base))
    return Shares.of(problem.replicas[idle], costs, np.ones(len(idle), np.int64), problem.target, numbers).leaders()
