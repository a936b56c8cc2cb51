"""The way in: choose the preferred leaders, by count or by weight."""

from app.core.reassignment.balance import Balance
from app.core.reassignment.leaders.by_count import by_count
from app.core.reassignment.leaders.problem import Leaders, LeadersProblem


def choose_leaders(problem: LeadersProblem, balance: Balance) -> Leaders:
    """Choose a leader of each partition.

    Hard constraints: it is one of the replicas, on a broker that may lead, if there is one.
    Goals, in order: the balance that is asked for; the fewest changes; the fewest leaders on new replicas. All are
    reached exactly where every partition weighs 1.

    The same input gives the same choice. Among equally good ones it is arbitrary.
    """
    return by_count(problem, balance)
