"""Leaders by count, exact: the narrowest band, then the fewest changes, then the fewest that lead on a new replica.

Every goal is reached exactly among the choices that are best in all before it. With a tolerance the narrowest band is
widened before changes are counted. With `keep` nothing changes but what is forced, and instead of a band the choice is
the most even one: the largest count is the least it can be, then the second largest, and so on; all brokers count for
that, not the target ones alone.
"""

import numpy as np

from app.core.certificate import Certificate
from app.core.model import Int64s
from app.core.reassignment.balance import Balance, Band
from app.core.reassignment.leaders.bound import change_costs, changes_bound, only_candidates
from app.core.reassignment.leaders.problem import LeaderChoice, LeadersProblem
from app.core.reassignment.leaders.shares import Shares

SOLVER = "flow between brokers, by distances"


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
    constraints = _constraints(band)
    largest = int(problem.loads(leaders)[problem.target].max(initial=0))
    return LeaderChoice(
        leaders=leaders,
        band=band,
        certificate=Certificate("leader changes", problem.changes(leaders), bound, SOLVER, constraints),
        largest=Certificate("leaders of the largest broker", largest, largest_bound, SOLVER, constraints),
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
