"""Nested attributes as a tree: all brokers with one value of an attribute have the same value of the one before.

Level 0 is the root, level i the values of attribute i − 1, the last level the brokers. On a tree, the rows of least
cost are exactly those within bounds at every node.

The number of replicas of each broker in some rows: proportional to weight, as far as the bounds of the rows allow.

Within the bounds, Σ replicas² / weight is minimal. If no bound is active, that is exactly proportional to weight. It is
rounded from the root of the tree down: every node and every broker differ from it by less than one replica.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Bools, Int64s
from app.core.replicas.awareness import quotas_kernel as kernel
from app.core.replicas.awareness.layout import Layout, RowDemand

_Cost: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The nodes of each level; nodes of one parent are adjacent.

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

    def leaves_of(self, value: int | None) -> Bools:
        """(brokers,) bool: whether each leaf has that value of the first attribute; none has None."""
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
    are in every row of least cost, and replicas of its cost may be.

    Complexity: O(brokers · factor · log(brokers · factor)).
    """
    below, mine = _costs_by_level(tree, demand)
    replicas = len(below[0][0])
    lowest, highest = [], []
    high = [replicas]
    for parents, costs_below, costs_of in zip(tree.parents, below, mine, strict=True):
        # The cost below each node of the most expensive replica that it may have.
        dearest = [costs[most - 1] if most else None for costs, most in zip(costs_below, high, strict=True)]
        pairs = [_between(costs, dearest[parent]) for costs, parent in zip(costs_of, parents.tolist(), strict=True)]
        lowest.append(np.array([low for low, _ in pairs], np.int64))
        high = [most for _, most in pairs]
        highest.append(np.array(high, np.int64))
    cost = tuple(map(sum, zip(*below[0][0], strict=True)))
    return NodeBounds(replicas, tuple(lowest), tuple(highest), cost)


def _costs_by_level(tree: Tree, demand: RowDemand) -> tuple[list[list[list[_Cost]]], list[list[list[_Cost]]]]:
    """For each level and node, the costs of its first, second … replica below it, and together with its own."""
    below: list[list[list[_Cost]]] = []
    mine: list[list[list[_Cost]]] = [[[()] for _ in tree.brokers]]
    for level in range(len(tree.parents), 0, -1):
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
    return below, mine


def _between(costs: list[_Cost], dearest: _Cost | None) -> tuple[int, int]:
    """The number of ascending costs below the highest one, and the number up to it."""
    if dearest is None:
        return 0, 0
    return sum(cost < dearest for cost in costs), sum(cost <= dearest for cost in costs)


_Floats: TypeAlias = NDArray[np.float64]
_PASSES = 3
_NOISE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows that share a demand.

    Parameters
    ----------
    rows : number of them. bounds : of each row.
    is_leading : (brokers,) bool, leaves that lead the rows, if only some may.
    led : (brokers,) int64 rows that these lead already; other entries are ignored.
    """

    rows: int
    bounds: NodeBounds
    is_leading: Bools = field(repr=False)
    led: Int64s = field(repr=False)


def quotas(tree: Tree, weights: _Floats, blocks: Sequence[Block], *, before: Int64s, ties: _Floats) -> list[Int64s]:
    """For each block, (brokers,) int64 replicas of each leaf of the tree.

    Parameters
    ----------
    tree : of the attributes. weights : (brokers,) float64 of the leaves, in whose order all arrays here are.
    blocks : in the order in which they are rounded. before : (brokers,) int64 replicas that the leaves have already.
    ties : (brokers,) float64 in [0, 1); of leaves with equal remainders, the smallest is rounded up first.

    Replicas of leaders are proportional to weight among the leading leaves; replicas of followers compensate over
    all blocks.
    """
    nodes = _TreeNodes.of(tree, weights)
    shares = [nodes.share(block, np.where(block.is_leading, block.led, before)) for block in blocks]
    counts: list[Int64s] = []
    total = before + np.sum([of_brokers for *_, of_brokers in shares], axis=0)
    for is_last in (False,) * (_PASSES if len(blocks) > 1 else 0) + (True,):
        for index, block in enumerate(blocks):
            total = total - shares[index][-1]
            shares[index] = nodes.share(block, np.where(block.is_leading, block.led, total))
            if is_last:
                # Rounded one after another, so that later blocks compensate for the rounding of earlier ones.
                counts.append(_rounded(tree, shares[index], ties))
                total = total + counts[-1]
            else:
                total = total + shares[index][-1]
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class _TreeNodes:
    """The nodes of a tree in one array, as the compiled loop takes them."""

    children: Int64s
    ends: tuple[int, ...]
    """End of each level, beginning with the root's."""
    weights: _Floats

    @classmethod
    def of(cls, tree: Tree, weights: _Floats) -> "_TreeNodes":
        sizes = [1, *(len(parents) for parents in tree.parents)]
        ends = tuple(np.cumsum(sizes).tolist())
        children = np.zeros((ends[-1], 2), np.int64)
        for level, starts in enumerate(tree.starts):
            begin = ends[level] - sizes[level]
            children[begin : ends[level], 0] = ends[level] + starts
            children[begin : ends[level], 1] = ends[level] + np.append(starts[1:], sizes[level + 1])
        return cls(children, ends, weights)

    def share(self, block: Block, current: _Floats) -> list[_Floats]:
        """By level below the root, (nodes,) float64 replicas of a block, if brokers have `current` ones already."""
        bounds, share = block.bounds, np.zeros(self.ends[-1])
        low, high = (
            block.rows * np.concatenate([[bounds.row_width], *levels]).astype(np.float64)
            for levels in (bounds.lowest, bounds.highest)
        )
        share[0] = block.rows * bounds.row_width
        kernel.share(self.children, self.ends[-2], self.weights, current.astype(np.float64), low, high, share)
        return np.split(share, self.ends[:-1])[1:]


def _rounded(tree: Tree, share: list[_Floats], ties: _Floats) -> Int64s:
    """(brokers,) int64; the sum of every node is its share, rounded down or up."""
    total = np.array([round(float(share[0].sum()))])
    for level, each in enumerate(share):
        near = np.where(np.abs(each - np.round(each)) < _NOISE * (1 + each), np.round(each), each)
        whole = np.floor(near).astype(np.int64)
        parents, part = tree.parents[level], np.round(near - whole, 6)
        # Within each parent the largest remainders are rounded up; the parent's count determines how many.
        order = np.lexsort((ties[: len(part)], -part, parents))
        more = total - np.add.reduceat(whole, tree.starts[level])
        rank = np.arange(len(part)) - tree.starts[level][parents]
        whole[order] += rank < more[parents]
        total = whole
    return total
