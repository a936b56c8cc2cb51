"""The number of replicas of each broker in some rows: proportional to weight, as far as the bounds of the rows allow.

Within the bounds, Σ replicas² / weight is minimal. If no bound is active, that is exactly proportional to weight. It is
rounded from the root of the tree down: every node and every broker differ from it by less than one replica.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.replicas.awareness import quotas_kernel as kernel
from app.core.replicas.awareness.tree import NodeBounds, Tree

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
    is_leading: NDArray[np.bool_] = field(repr=False)
    led: Int64s = field(repr=False)


def quotas(tree: Tree, weights: _Floats, blocks: Sequence[Block], *, before: Int64s, ties: _Floats) -> list[Int64s]:
    """For each block, (brokers,) int64 replicas of each leaf of the tree.

    Parameters
    ----------
    tree : of the attributes. weights : (brokers,) float64 of the leaves, in whose order all arrays here are.
    blocks : in the order in which they are rounded. before : (brokers,) int64 replicas that the leaves have already.
    ties : (brokers,) float64 in [0, 1); of leaves with equal remainders, the smallest is rounded up first.

    Replicas of leaders are proportional to weight among the leading leaves; those of followers compensate for that over
    all blocks.
    """
    nodes = _TreeNodes.of(tree, weights)
    shares = [nodes.share(block, np.where(block.is_leading, block.led, before)) for block in blocks]
    counts: list[Int64s] = []
    total = before + np.sum([nodes.brokers(each) for each in shares], axis=0)
    for is_last in (False,) * (_PASSES if len(blocks) > 1 else 0) + (True,):
        for index, block in enumerate(blocks):
            total = total - nodes.brokers(shares[index])
            shares[index] = nodes.share(block, np.where(block.is_leading, block.led, total))
            if is_last:
                # Rounded one after another, so that later blocks compensate for the rounding of earlier ones.
                counts.append(_rounded(tree, nodes.levels(shares[index]), ties))
                total = total + counts[-1]
            else:
                total = total + nodes.brokers(shares[index])
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

    def share(self, block: Block, current: _Floats) -> _Floats:
        """(nodes,) float64 replicas of a block, if brokers have `current` ones already."""
        bounds, share = block.bounds, np.zeros(self.ends[-1])
        low, high = (
            block.rows * np.concatenate([[bounds.row_width], *levels]).astype(np.float64)
            for levels in (bounds.lowest, bounds.highest)
        )
        share[0] = block.rows * bounds.row_width
        kernel.share(self.children, self.ends[-2], self.weights, current.astype(np.float64), low, high, share)
        return share

    def brokers(self, share: _Floats) -> _Floats:
        """The part of the brokers."""
        return share[self.ends[-2] :]

    def levels(self, share: _Floats) -> list[_Floats]:
        """The parts of the levels below the root."""
        return [share[begin:end] for begin, end in pairwise(self.ends)]


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
