"""Bands of leaders in proportion to the weights of brokers, together with minimums of topics."""

import numpy as np

from app.core.model import NO_REPLICA
from app.core.reassignment.counts.weighted import find_levels
from app.core.reassignment.leaders.changes import bounds
from app.core.reassignment.leaders.minimums import MinimumNodes
from app.core.reassignment.leaders.problem import NOT_A_CANDIDATE, LeaderProblem
from app.core.reassignment.leaders.shares import Shares
from app.core.reassignment.model import Balance, BrokerBounds


def weighted_bounds(problem: LeaderProblem, balance: Balance) -> BrokerBounds:
    """The narrowest feasible bounds of leaders by count in proportion to `share`, joined with a tolerance of the mean.

    Minimums of topics have to be attainable, and hold within the bounds.

    Complexity: O(log(rows) + log(brokers)) blocking flows between brokers.

    Raises
    ------
    ValueError : with `keep`, which has no band, or without shares.
    """
    if balance.tolerance is None or problem.share is None:
        raise ValueError("keep has no band, nor have leaders without shares one in proportion to them")
    candidates, target = problem.candidates(), problem.target
    # Not of a choice with few changes: any one will do.
    costs = np.where(candidates, 0, NOT_A_CANDIDATE).astype(np.int32)
    total = int(candidates.any(axis=1).sum()) + int(problem.base[target].sum())
    levels = find_levels(
        _Feasible(problem, costs),
        target,
        problem.share,
        total,
        is_within=bool(target[problem.replicas[candidates & (problem.replicas != NO_REPLICA)]].all()),
    )
    return levels.bounds(tolerance=balance.tolerance, below=balance.below)


class _Feasible:
    """Whether some choice of leaders is within bounds; each one starts from the flow of the one before."""

    def __init__(self, problem: LeaderProblem, costs: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> None:
        self._problem, self._nodes = problem, None
        if problem.minimums is None:
            self._shares = Shares.of(problem.replicas, costs, problem.weight, problem.target, problem.base)
        else:
            self._nodes = MinimumNodes.of(problem, problem.minimums, costs)
            self._shares = self._nodes.shares
            self._shares.meet_exact()

    def __call__(self, within: BrokerBounds) -> bool:
        low, high = bounds(self._problem, within)
        if self._nodes is not None:
            low, high = self._nodes.bounds(low, high)
        return self._shares.reach(low, high)
