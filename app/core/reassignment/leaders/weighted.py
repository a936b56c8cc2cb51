"""Bands of leaders in proportion to the weights of brokers.

Leadership is a replica of a factor of 1 that no further broker receives, so that the levels of `counts.weighted` are
those of leaders.
"""

import numpy as np

from app.core.model import NO_REPLICA
from app.core.reassignment.counts.weighted import narrowest_levels
from app.core.reassignment.leaders.problem import LeaderProblem
from app.core.reassignment.model import Balance, BrokerBounds, Domain, MovementProblem


def weighted_bounds(problem: LeaderProblem, balance: Balance) -> BrokerBounds:
    """The narrowest feasible bounds of leaders in proportion to `share`, joined with a tolerance of the mean.

    Raises
    ------
    ValueError : with `keep`, which has no band.
    """
    if balance.tolerance is None:
        raise ValueError("keep has no band")
    candidates = problem.candidates()
    led = np.flatnonzero(candidates.any(axis=1))
    # Partitions with the same candidates are one group of the flow, whatever their order.
    current = np.sort(np.where(candidates, problem.replicas, NO_REPLICA)[led], axis=1)[:, ::-1]
    brokers = len(problem.base)
    every, none = np.ones(brokers, np.bool_), np.zeros(brokers, np.bool_)
    alone = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=np.zeros(brokers, np.int32),
        target=problem.target,
        base=problem.base,
        domains=(Domain(1, every, none, np.zeros(1, np.int64), np.ones(1, np.int64)),),
        domain_of=np.zeros(len(led), np.int32),
        current=np.ascontiguousarray(current, np.int32),
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(len(led), NO_REPLICA, np.int32),
        weight=np.ones(len(led), np.int64),
        share=problem.share,
    )
    return narrowest_levels(alone).bounds(tolerance=balance.tolerance)
