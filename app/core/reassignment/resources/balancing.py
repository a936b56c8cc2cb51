"""Balance several resources, jointly or in order of priority, within limits."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from app.core.reassignment.resources.answers import GoalRange, answer, topic_counts
from app.core.reassignment.resources.model import NO_LIMIT, TOPIC_REPLICAS, Goal, ResourcePlacement, ResourceProblem
from app.core.reassignment.resources.start import rules_of, start_of


def balance_resources(
    problem: ResourceProblem, goals: Sequence[Goal], is_over: Callable[[], bool]
) -> ResourcePlacement:
    """Balance goals jointly: all count alike.

    A tight goal minimises the largest load over the ideal load (the broker's share of the total by capacity); a goal
    with a tolerance brings every target broker within the tolerance of its ideal load, or as near as is reached. Hard
    limits go first, then soft ones, then the goals, then the moved weight, then leader changes.

    Parameters
    ----------
    is_over : whether the deadline has passed; then the best placement so far is returned.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.
    """
    return reach_goals(problem, [tuple(goals)], is_over)


def reach_goals(
    problem: ResourceProblem, priorities: Sequence[Sequence[Goal]], is_over: Callable[[], bool]
) -> ResourcePlacement:
    """Reach goals in order of priority: a goal does not worsen what those before it reached, or their tolerance.

    Parameters
    ----------
    priorities : the goals, the most important first; those of one entry are reached jointly.
    is_over : whether the deadline has passed; then the best placement so far is returned.

    Raises
    ------
    InfeasibleFlow, LimitExceeded : as `balance_resources`.
    """
    rules = rules_of(problem)
    is_over()
    at = start_of(problem, rules)
    brokers = len(problem.movement.broker_ids)
    ranges = []
    for goal in (goal for group in priorities for goal in group):
        size = len(topic_counts(problem, at)) if goal.name == TOPIC_REPLICAS else brokers
        ranges.append(GoalRange(goal, np.full(size, NO_LIMIT, np.int64), np.zeros(size, np.int64), Fraction(0)))
    return answer(problem, rules, at, ranges=ranges, moved_bound=0)
