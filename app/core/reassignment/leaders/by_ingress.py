"""Leaders by ingress: the broker that leads the most bytes a second leads nearly as few as can be, with few changes.

To minimise the largest load over whole partitions is NP-hard (two brokers and a list of loads are the partition
problem), so this answers a good choice, and two loads that no choice can stay below:

- what some broker would lead if leadership could be split, exactly, by the flow of `shares`, rounded up;
- what the heaviest partition comes to at the best of its candidates.

From the leaders there are, the flow passes on what is above the goal, heavy partitions first, since those take the
fewest changes. Then each partition goes whole to whoever leads the most of it; moves and swaps with the heaviest broker
repair what that breaks; and leaders that need not have changed return. With `keep` only forced changes take part.

The goal is the bound and a thousandth: nobody measures ingress closer than that, and each step nearer to the bound
would change leaders for nothing.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int32s, Int64s
from app.core.reassignment.balance import Balance, Band
from app.core.reassignment.leaders.bound import change_costs, fewest_to_leave, only_candidates
from app.core.reassignment.leaders.problem import NOBODY, LeaderChoice, LeadersProblem
from app.core.reassignment.leaders.shares import Shares

CLOSE = 1000
"""A largest load within this part of its bound is close enough."""
SOLVER = "flow between brokers, rounded and repaired"


def by_ingress(problem: LeadersProblem, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions that weigh what they weigh."""
    costs, _ = change_costs(problem, keep=balance.tolerance is None)
    leaders, rows = only_candidates(problem, costs)
    rows = rows[np.argsort(-problem.weight[rows], kind="stable")]
    heavy, idle = np.split(rows, [np.count_nonzero(problem.weight[rows])])
    part = problem.part(heavy, leaders)
    largest_bound = _largest_bound(part, costs[heavy])
    goal = largest_bound + largest_bound // CLOSE
    if balance.tolerance is not None:
        goal = max(goal, balance.widened(Band(0, largest_bound)).high)
    leaders[heavy] = _spread(part, costs[heavy], goal)
    leaders[idle] = _by_number(problem, costs[idle], idle, leaders)
    loads = problem.loads(leaders)
    largest, least = int(loads[problem.target].max(initial=0)), int(loads[problem.target].min(initial=goal))
    band = None if balance.tolerance is None else Band(least, max(goal, largest))
    forced = int(np.count_nonzero(problem.is_forced()))
    bound = forced if band is None else forced + fewest_to_leave(problem, band.high)
    constraints = _constraints(band)
    return LeaderChoice(
        leaders=leaders,
        band=band,
        certificate=Certificate("leader changes", problem.changes(leaders), bound, SOLVER, constraints),
        largest=Certificate("ingress of the largest broker, bytes/s", largest, largest_bound, SOLVER, constraints),
        without_choice=problem.without_choice(),
        prices=np.zeros(len(problem.base), np.int64),
    )


def _constraints(band: Band | None) -> tuple[str, ...]:
    if band is None:
        return ("a replica of each partition leads", "leaders that may stay do")
    return ("a replica of each partition leads", f"at most {band.high} bytes/s led by a broker")


def _largest_bound(part: LeadersProblem, costs: Int32s) -> int:
    """No choice has a smaller largest load of a target broker."""
    split = _shares(part, costs).without_costs().narrow_high()
    is_candidate, is_target = costs >= 0, part.target[part.replicas]
    alone = np.where(is_candidate, part.base[part.replicas] + part.weight[:, None], np.iinfo(np.int64).max)
    # Where a broker that is no target may lead the partition, it need not be in anybody's load.
    is_theirs = (is_target | ~is_candidate).all(axis=1)
    at_best = alone[is_theirs].min(axis=1, initial=np.iinfo(np.int64).max)
    return max(split, int(at_best.max(initial=0)))


def _shares(part: LeadersProblem, costs: Int32s) -> Shares:
    return Shares.of(part.replicas, costs, part.weight, part.target, part.base)


def _spread(part: LeadersProblem, costs: Int32s, goal: int) -> Int32s:
    """(rows,) int32: the leaders of partitions that stand heaviest first."""
    from app.core.reassignment.leaders import repair_kernel as kernel  # noqa: PLC0415 — numba is imported late

    start = _shares(part, costs)
    spread = start.without_costs()
    spread.cap(goal)
    columns = spread.columns()
    loads = part.loads(spread.leaders())
    kernel.repair(start.table, start.costs, part.weight, part.target, goal, columns, loads)
    kernel.give_back(start.table, start.costs, part.weight, part.target, goal, columns, loads)
    chosen: Int32s = start.table[np.arange(len(columns)), columns] if len(columns) else part.leader
    return chosen


def _by_number(problem: LeadersProblem, costs: Int32s, idle: Int64s, leaders: Int32s) -> Int32s:
    """(len(idle),) int32 leaders of partitions without ingress: who leads the fewest partitions."""
    numbers = np.bincount(leaders[leaders != NOBODY], minlength=len(problem.base))
    ones: NDArray[np.int64] = np.ones(len(idle), np.int64)
    return Shares.of(problem.replicas[idle], costs, ones, problem.target, numbers).leaders()
