"""Leaders by count with minimums: each broker leads so many partitions of a topic at least.

A minimum of a topic on a broker becomes a node beside the broker, which leads exactly the minimum. Partitions of the
topic may be led by the node as well as by the broker itself, at the same cost, and the broker's base includes the
minimum. Every choice that meets the minimums is a flow between brokers and these nodes, and every such flow a choice,
so that the band and the changes are as exact as without minimums.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.leaders.problem import NOT_A_CANDIDATE, LeaderMinimums, LeaderProblem
from app.core.reassignment.leaders.shares import Shares


@dataclass(frozen=True, slots=True, eq=False)
class MinimumNodes:
    """The flow between brokers and the nodes of minimums.

    Parameters
    ----------
    shares : of brokers, and of a node for each topic and broker after them. costs : (rows, 2 · width) int32.
    least : (topics, brokers) int64.
    """

    shares: Shares
    costs: Int32s = field(repr=False)
    least: Int64s

    @classmethod
    def of(cls, problem: LeaderProblem, minimums: LeaderMinimums, costs: Int32s) -> "MinimumNodes":
        """The flow of rows of a problem; `costs` as of `change_costs`."""
        topics, brokers = minimums.least.shape
        replicas, topic = problem.replicas, minimums.topic[:, None]
        has_node = (topic >= 0) & (costs != NOT_A_CANDIDATE)
        # A broker without a minimum needs no node.
        has_node &= minimums.least[np.maximum(topic, 0), replicas] > 0
        nodes = np.where(has_node, brokers * (1 + topic) + replicas, NO_REPLICA).astype(np.int32)
        table = np.concatenate([replicas, nodes], axis=1)
        all_costs = np.concatenate([costs, np.where(has_node, costs, NOT_A_CANDIDATE)], axis=1).astype(np.int32)
        of_nodes = np.zeros(topics * brokers, np.int64)
        shares = Shares.of(
            table,
            all_costs,
            problem.weight,
            np.concatenate([problem.target, of_nodes > 0]),
            np.concatenate([problem.base + minimums.least.sum(axis=0), of_nodes]),
        )
        exact = np.concatenate([np.full(brokers, -1, np.int64), minimums.least.ravel()])
        return cls(replace(shares, exact=exact), all_costs, minimums.least)

    def leaders(self) -> Int32s:
        """(rows,) int32 the brokers that lead."""
        leaders = self.shares.leaders()
        return np.where(leaders < 0, leaders, leaders % self.least.shape[1]).astype(np.int32)

    def bounds(self, low: Int64s, high: Int64s) -> tuple[Int64s, Int64s]:
        """Bounds of all nodes, from those of the brokers without `base`."""
        least = self.least.sum(axis=0)
        return tuple(np.concatenate([each - least, self.least.ravel()]) for each in (low, high))  # type: ignore[return-value] # two


def attainable_minimums(problem: LeaderProblem, minimums: LeaderMinimums) -> Int64s:
    """(topics, brokers) int64: minimums that can be met together, with the least total below what is stated."""
    costs = np.where(problem.candidates(), 0, NOT_A_CANDIDATE).astype(np.int32)
    spread = MinimumNodes.of(problem, minimums, costs).shares
    spread.meet_exact()
    return np.minimum(spread.loads()[len(problem.base) :].reshape(minimums.least.shape), minimums.least)
