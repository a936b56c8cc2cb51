"""Nested attributes as a tree: all brokers with one value of an attribute have the same value of the one before.

Level 0 is the root, level i the values of attribute i − 1, the last level the brokers. On a tree, the rows of least
cost are exactly those within bounds at every node.
"""

from dataclasses import dataclass, field
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.replicas.awareness.layout import Layout, RowDemand

_Cost: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The nodes of each level, with those of one parent adjacent.

    Parameters
    ----------
    brokers : (brokers,) int64 positions in the layout of the leaves.
    parents : of each level from 1 on, (nodes,) int64 index of each node's parent in the level above, ascending.
    values : of each level from 1 to the last but one, (nodes,) int64 value of its attribute.
    """

    brokers: Int64s = field(repr=False)
    parents: tuple[Int64s, ...] = field(repr=False)
    values: tuple[Int64s, ...] = field(repr=False)

    @classmethod
    def of(cls, layout: Layout) -> Self | None:
        """The tree of the layout's attributes; None if they cross."""
        rows = layout.value_of
        order = np.lexsort(rows[::-1])
        above = np.zeros(len(order), np.int64)
        parents, values = [], []
        for column in rows[:, order]:
            is_first = np.ones(len(order), np.bool_)
            is_first[1:] = (above[1:] != above[:-1]) | (column[1:] != column[:-1])
            parents.append(above[is_first])
            values.append(column[is_first])
            if len(np.unique(values[-1])) < len(values[-1]):
                return None
            above = np.cumsum(is_first) - 1
        return cls(order, (*parents, above), tuple(values))

    @property
    def starts(self) -> tuple[Int64s, ...]:
        """By level from 1 on, the first child of each node of the level above."""
        return tuple(np.flatnonzero(np.diff(parents, prepend=-1)) for parents in self.parents)

    def leaves_of(self, value: int) -> NDArray[np.bool_]:
        """(brokers,) bool: whether each leaf has that value of the first attribute."""
        node = np.arange(len(self.brokers))
        for parents in self.parents[:0:-1]:
            node = parents[node]
        return np.asarray(self.values[0][node] == value, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class NodeBounds:
    """NodeBounds on the replicas of a row at each node: necessary and sufficient for least cost.

    Parameters
    ----------
    row_width : replicas of a row: the factor, or the maximum that the demand allows.
    lowest, highest : of each level from 1 on, (nodes,) int64.
    cost : of a row, by attribute.
    """

    row_width: int
    lowest: tuple[Int64s, ...] = field(repr=False)
    highest: tuple[Int64s, ...] = field(repr=False)
    cost: _Cost


def bounds(tree: Tree, demand: RowDemand) -> NodeBounds:
    """The bounds of the rows of least cost.

    Costs do not decrease with further replicas at a node, so that greedy is optimal: replicas cheaper than the last one
    are in every row of least cost, and those of its cost may be.

    Complexity: O(brokers · factor · log(brokers · factor)).
    """
    last = len(tree.parents)
    leaf_costs: list[list[_Cost]] = [[()] for _ in tree.brokers]
    # By level and node: the costs of its first, second … replica below it, and together with its own.
    below: list[list[list[_Cost]]] = []
    mine: list[list[list[_Cost]]] = [leaf_costs]
    for level in range(last, 0, -1):
        parents = tree.parents[level - 1].tolist()
        merged: list[list[_Cost]] = [[] for _ in range(parents[-1] + 1)]
        for parent, costs in zip(parents, mine[0], strict=True):
            merged[parent] += costs
        merged = [sorted(costs)[: demand.factor] for costs in merged]
        below.insert(0, merged)
        if level > 1:
            of_value = [demand.costs[level - 2][value] for value in tree.values[level - 2].tolist()]
            both = zip(of_value, merged, strict=True)
            mine.insert(0, [[(at, *under) for at, under in zip(of, costs, strict=False)] for of, costs in both])
    replicas = len(below[0][0])
    lowest, highest = [], []
    high = [replicas]
    for level in range(1, last + 1):
        # The cost below each node of the most expensive replica that it may have.
        dearest = [costs[most - 1] if most else None for costs, most in zip(below[level - 1], high, strict=True)]
        pairs = [
            _between(costs, dearest[parent])
            for costs, parent in zip(mine[level - 1], tree.parents[level - 1].tolist(), strict=True)
        ]
        lowest.append(np.array([low for low, _ in pairs], np.int64))
        high = [most for _, most in pairs]
        highest.append(np.array(high, np.int64))
    cost = tuple(map(sum, zip(*below[0][0], strict=True)))
    return NodeBounds(replicas, tuple(lowest), tuple(highest), cost)


def _between(costs: list[_Cost], dearest: _Cost | None) -> tuple[int, int]:
    """The number of ascending costs below the highest one, and the number up to it."""
    if dearest is None:
        return 0, 0
    return sum(cost < dearest for cost in costs), sum(cost <= dearest for cost in costs)
