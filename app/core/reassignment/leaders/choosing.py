"""The way in: choose the preferred leaders, by count or by ingress."""

from app.core.reassignment.balance import Balance
from app.core.reassignment.leaders.by_count import by_count
from app.core.reassignment.leaders.by_ingress import by_ingress
from app.core.reassignment.leaders.problem import LeaderChoice, LeadersProblem
from app.errors import LimitExceeded

LARGEST_SUM = 1 << 61
"""Weights are added in 64 bits; half of what fits leaves room for rounding."""


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
