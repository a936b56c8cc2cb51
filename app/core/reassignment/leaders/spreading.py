"""Spread the leaders of some topics, each over the brokers that may lead it, before the leaders of the others."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int64s
from app.core.reassignment.leaders.changes import change_costs
from app.core.reassignment.leaders.choosing import by_count
from app.core.reassignment.leaders.problem import LeaderChoice, LeaderProblem
from app.core.reassignment.leaders.shares import Shares
from app.core.reassignment.model import TIGHT
from app.core.replica_lists import per_broker


def spread_topic(
    problem: LeaderProblem, rows: Int64s, is_ready: NDArray[np.bool_], base: Int64s
) -> tuple[LeaderProblem, LeaderChoice]:
    """Choose the leaders of a topic in the narrowest feasible band with the fewest changes.

    The band is of the brokers with a replica that may lead: they differ by one leader at most unless their replicas
    permit no such choice.

    Parameters
    ----------
    rows : (topic,) int64 partitions of the topic. is_ready : (topic, width) bool, replicas that Kafka can elect.
    base : (brokers,) int64 leaders of pinned partitions of the topic.
    """
    alone = replace(
        problem.part(rows, problem.leader), base=base, weight=np.ones(len(rows), np.int64), is_ready=is_ready
    )
    eligible = per_broker(np.where(alone.candidates(), alone.replicas, NO_REPLICA), len(base)) > 0
    alone = replace(alone, target=eligible & problem.may_lead, minimums=None, topics=None)
    return alone, by_count(alone, TIGHT)


def largest_bound(problem: LeaderProblem) -> int:
    """A lower bound on the most leaders of a broker that is balanced, whoever leads the partitions of spread topics."""
    return Shares.of_part(problem, change_costs(problem)[0]).without_costs().narrow_high()
