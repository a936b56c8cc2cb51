"""Choose preferred leaders: by count, exactly; by ingress, with a lower bound.

The way in: choose the preferred leaders, by count or by ingress.

Leaders by count, exact: the narrowest band, then the fewest changes, then the fewest that lead on a new replica.

Every goal is reached exactly among the choices that are best in all before it. With a tolerance the narrowest band is
widened before changes are counted. With `keep` nothing changes but what is forced, and instead of a band the choice is
the most even one: the largest count is the least it can be, then the second largest, and so on; all brokers count for
that, not the target ones alone.

Leaders by ingress: the broker that leads the most bytes a second leads nearly as few as can be, with few changes.

To minimise the largest load over whole partitions is NP-hard (two brokers and a list of loads are the partition
problem), so this answers a good choice, and two loads that no choice can stay below:

- what some broker would lead if leadership could be split, exactly, by the flow of `shares`, rounded up;
- what the heaviest partition comes to at the best of its candidates.

From the leaders there are, the flow passes on what is above the goal, heavy partitions first, since those take the
fewest changes. Then each partition goes whole to whoever leads the most of it; moves and swaps with the heaviest broker
repair what that breaks; and leaders that need not have changed return. With `keep` only forced changes take part.

The goal is the bound and a thousandth: nobody measures ingress closer than that, and each step nearer to the bound
would change leaders for nothing.

The bound on leader changes, from the brokers' prices alone.

Whatever prices leading has at the brokers, no choice within the band costs less than if every partition took the
cheapest of its candidates, prices included, less the most that brokers within the band could earn by theirs. With the
best prices that is the optimum itself, since the flow has an integral one.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int32s, Int64s
from app.core.reassignment.leaders import repair_kernel as kernel
from app.core.reassignment.leaders.problem import NOBODY, NOT_A_CANDIDATE, LeaderChoice, LeadersProblem
from app.core.reassignment.leaders.shares import Shares
from app.core.reassignment.model import Balance, Band
from app.errors import LimitExceeded

LARGEST_SUM = 1 << 61
"""Weights are added exactly in 64 bits; the rest is headroom for rounding."""
INGRESS_TOLERANCE = 1000
"""Ingress is balanced to one part in so many of the lower bound: measured rates are no more precise than that."""
SOLVER_BY_COUNT = "flow between brokers, by distances"
SOLVER_BY_INGRESS = "flow between brokers, rounded and repaired"


def choose_leaders(problem: LeadersProblem, balance: Balance) -> LeaderChoice:
    """Choose a leader of each partition.

    Hard constraints: it is one of the replicas, on a broker that may lead, if there is one.
    Goals, in order: the balance that is asked for; the fewest changes; the fewest leaders on new replicas. All are
    reached exactly where every partition weighs 1; elsewhere the answer says how far from its bounds it is.

    The same input gives the same choice. Among equally good ones it is arbitrary.

    Raises
    ------
    LimitExceeded : if the weights are so large that their sum, counted exactly, leaves 64 bits.
    """
    if (problem.weight == 1).all():
        return by_count(problem, balance)
    total = problem.weight.sum(dtype=float) + problem.base.sum(dtype=float)
    if total > LARGEST_SUM:
        raise LimitExceeded(
            f"the partitions' ingress comes to {total:.3g} bytes/s; up to {LARGEST_SUM} can be added exactly",
            load=total,
            limit=LARGEST_SUM,
        )
    return by_ingress(problem, balance)


def by_count(problem: LeadersProblem, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions that all weigh 1."""
    costs, _ = change_costs(problem, keep=balance.tolerance is None)
    leaders, rows = only_candidates(problem, costs)
    part = problem.part(rows, leaders)
    start = Shares.of(part.replicas, costs[rows], part.weight, part.target, part.base)
    spread, band = start.without_costs(), None
    if balance.tolerance is None:
        spread.even_out()
        low = high = spread.loads()
        largest_bound = int((high + part.base)[part.target].max(initial=0))
    else:
        tight = spread.narrow()
        band, largest_bound = balance.widened(tight), tight.high
        low, high = bounds(part, band)
    prices = start.settle(low, high)
    leaders[rows] = start.leaders()
    if band is None:
        bound = int(np.count_nonzero(problem.is_forced()))
    else:
        bound = changes_bound(problem, *bounds(problem, band), prices)
    constraints = _constraints(band, "" if band is None else f"{band.low} to {band.high} leaders a broker")
    largest = int(problem.loads(leaders)[problem.target].max(initial=0))
    return LeaderChoice(
        leaders=leaders,
        band=band,
        certificate=Certificate("leader changes", problem.changes(leaders), bound, SOLVER_BY_COUNT, constraints),
        largest=Certificate("leaders of the largest broker", largest, largest_bound, SOLVER_BY_COUNT, constraints),
        without_choice=problem.without_choice(),
        prices=np.zeros_like(prices) if band is None else prices,
    )


def bounds(problem: LeadersProblem, band: Band) -> tuple[Int64s, Int64s]:
    """(brokers,) int64 twice: the least and the most that each broker leads within the band, without its `base`."""
    everything = int(problem.weight.sum()) + 1
    low = np.where(problem.target, band.low - problem.base, -1)
    return low, np.where(problem.target, band.high - problem.base, everything)


def _constraints(band: Band | None) -> tuple[str, ...]:
    if band is None:
        return ("a replica of each partition leads", "leaders that may stay do")
    return ("a replica of each partition leads", f"{band.low} to {band.high} leaders a broker")


def by_ingress(problem: LeadersProblem, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions that weigh what they weigh."""
    costs, _ = change_costs(problem, keep=balance.tolerance is None)
    leaders, rows = only_candidates(problem, costs)
    rows = rows[np.argsort(-problem.weight[rows], kind="stable")]
    heavy, idle = np.split(rows, [np.count_nonzero(problem.weight[rows])])
    part = problem.part(heavy, leaders)
    largest_bound = _largest_bound(part, costs[heavy])
    goal = largest_bound + largest_bound // INGRESS_TOLERANCE
    if balance.tolerance is not None:
        goal = max(goal, balance.widened(Band(0, largest_bound)).high)
    leaders[heavy] = _spread(part, costs[heavy], goal)
    leaders[idle] = _by_number(problem, costs[idle], idle, leaders)
    loads = problem.loads(leaders)
    largest, least = int(loads[problem.target].max(initial=0)), int(loads[problem.target].min(initial=goal))
    band = None if balance.tolerance is None else Band(least, max(goal, largest))
    forced = int(np.count_nonzero(problem.is_forced()))
    bound = forced if band is None else forced + fewest_to_leave(problem, band.high)
    constraints = _constraints(band, "" if band is None else f"at most {band.high} bytes/s led by a broker")
    return LeaderChoice(
        leaders=leaders,
        band=band,
        certificate=Certificate("leader changes", problem.changes(leaders), bound, SOLVER_BY_INGRESS, constraints),
        largest=Certificate(
            "ingress of the largest broker, bytes/s", largest, largest_bound, SOLVER_BY_INGRESS, constraints
        ),
        without_choice=problem.without_choice(),
        prices=np.zeros(len(problem.base), np.int64),
    )


def _constraints(band: Band | None, limit: str) -> tuple[str, ...]:
    """What the bounds hold against, in words. limit : what the band allows a broker; without a band leaders stay."""
    return ("a replica of each partition leads", "leaders that may stay do" if band is None else limit)


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
