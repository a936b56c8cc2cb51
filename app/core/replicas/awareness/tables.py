"""Tables of rows of least cost, balanced over brokers: down a tree if attributes are nested, else row by row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.jvm import JavaRandom
from app.core.model import Int32s, Int64s
from app.core.replicas.awareness import crossed_kernel, leaders_kernel, rows_kernel
from app.core.replicas.awareness.crossed import Cheapest
from app.core.replicas.awareness.layout import Layout, RowDemand
from app.core.replicas.awareness.quotas import Block, quotas
from app.core.replicas.awareness.tree import NodeBounds, Tree, bounds

_TURNS, _SWEEPS = 32, 2
_ONE_BY_ONE = 1024
"""Rows that are built one by one before they are copied."""


@dataclass(slots=True)
class Load:
    """The load of the brokers so far; tables add to it.

    Parameters
    ----------
    leaders, replicas : (brokers,) int64.
    """

    leaders: Int64s
    replicas: Int64s

    @classmethod
    def none(cls, layout: Layout) -> "Load":
        """No load."""
        return cls(np.zeros(len(layout.ids), np.int64), np.zeros(len(layout.ids), np.int64))

    def times(self, count: int) -> "Load":
        """The load of `count` copies."""
        return Load(self.leaders * count, self.replicas * count)


class Dealer(Protocol):
    """Assigns rows to brokers; `least` is the cost of every row, by demand and attribute."""

    @property
    def row_width(self) -> int: ...
    @property
    def least(self) -> Sequence[Sequence[int]]: ...

    def deal(self, parts: Sequence[Int32s], load: Load, rank: Int64s, state: np.uint64) -> np.uint64:
        """Fill the rows of each demand with brokers by position, in any order; returns the new random state."""


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """Assigns rows if attributes are nested.

    Parameters
    ----------
    bounds : of each demand.
    """

    layout: Layout
    tree: Tree
    demands: Sequence[RowDemand]
    bounds: Sequence[NodeBounds] = field(repr=False)

    @property
    def row_width(self) -> int:
        """Number of replicas of each row."""
        return self.bounds[0].row_width

    @property
    def least(self) -> Sequence[Sequence[int]]:
        """The cost of every row, by demand and attribute."""
        return [each.cost for each in self.bounds]

    def deal(self, parts: Sequence[Int32s], load: Load, rank: Int64s, state: np.uint64) -> np.uint64:
        """As in `Dealer`."""
        leaves = self.tree.brokers
        blocks = [
            # If two replicas may lead, one is chosen later; a single one counts as a leader from the start.
            Block(len(part), bound, self._is_leading(demand), load.leaders[leaves] * (demand.leading == 1))
            for part, demand, bound in zip(parts, self.demands, self.bounds, strict=True)
        ]
        counts = quotas(
            self.tree,
            self.layout.weights[leaves],
            blocks,
            before=load.replicas[leaves],
            ties=np.asarray(rank[leaves] / len(rank), np.float64),
        )
        for part, count in zip(parts, counts, strict=True):
            state = self._fill(part, count, state)
            load.replicas[leaves] += count
        return state

    def _fill(self, part: Int32s, counts: Int64s, state: np.uint64) -> np.uint64:
        levels = [counts]
        for starts in self.tree.starts[:0:-1]:
            levels.insert(0, np.add.reduceat(levels[0], starts))
        rows_of_nodes, ends = np.arange(len(part)), np.array([0, len(part)])
        for parents, level in zip(self.tree.parents, levels, strict=True):
            rows_of_nodes, ends, state = rows_kernel.deal(parents, level, rows_of_nodes, ends, len(part), state)
        rows_kernel.collect(rows_of_nodes, ends, self.tree.brokers, part)
        return state

    def _is_leading(self, demand: RowDemand) -> NDArray[np.bool_]:
        if demand.leading_value is None:
            return np.zeros(len(self.tree.brokers), np.bool_)
        return self.tree.leaves_of(demand.leading_value)


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """Assigns rows if attributes cross.

    Parameters
    ----------
    cheapest : of each demand.
    """

    layout: Layout
    demands: Sequence[RowDemand]
    cheapest: Sequence[Cheapest] = field(repr=False)

    @property
    def row_width(self) -> int:
        """Number of replicas of each row."""
        return len(self.cheapest[0].kinds)

    @property
    def least(self) -> Sequence[Sequence[int]]:
        """The cost of every row, by demand and attribute."""
        return [each.cost.tolist() for each in self.cheapest]

    def deal(self, parts: Sequence[Int32s], load: Load, rank: Int64s, state: np.uint64) -> np.uint64:
        """As in `Dealer`."""
        before = np.stack([load.replicas, load.leaders * self.demands[0].leading])
        counts = np.zeros_like(before)
        # Rows are built one by one, which is slow, so that most are copies of the first rows of each demand.
        one_by_one = -(-_ONE_BY_ONE // len(rank)) * len(rank)
        copies = max(sum(map(len, parts)) // one_by_one - 1, 0)
        if copies > 1:
            ends = [len(part) // (copies + 1) for part in parts]
            self._fill([part[:end] for part, end in zip(parts, ends, strict=True)], counts, rank)
            counts *= copies
            for part, end in zip(parts, ends, strict=True):
                part[: end * copies] = np.tile(part[:end], (copies, 1))
            parts = [part[end * copies :] for part, end in zip(parts, ends, strict=True)]
        # The load from before is compensated once, not in each copy.
        counts += before
        self._fill(parts, counts, rank)
        load.replicas[:] = counts[0]
        return state

    def _fill(self, parts: Sequence[Int32s], counts: Int64s, rank: Int64s) -> None:
        value_of, weights = self.layout.value_of, self.layout.weights
        leads = [(value_of[0] == demand.leading_value).astype(np.int64) for demand in self.demands]
        # Some rows of each demand in turn, since the rows of one compensate for the leaders of the others.
        for turn in zip(*(np.array_split(part, _TURNS) for part in parts), strict=True):
            for part, row, leading in zip(turn, self.cheapest, leads, strict=True):
                crossed_kernel.fill(
                    part, value_of, row.costs, row.cost, row.kind_of, row.kinds, weights, counts, leading, rank
                )
        for _ in range(_SWEEPS):
            changed = [
                crossed_kernel.settle(part, value_of, row.costs, row.kind_of, weights, counts, leading, rank)
                for part, row, leading in zip(parts, self.cheapest, leads, strict=True)
            ]
            if not any(changed):
                break


def dealer(layout: Layout, demands: Sequence[RowDemand]) -> Dealer:
    """The dealer for a layout: nested or crossed."""
    tree = Tree.of(layout)
    if tree is None:
        return Crossed(layout, demands, [Cheapest.of(layout, demand) for demand in demands])
    return Nested(layout, tree, demands, [bounds(tree, demand) for demand in demands])


def table(
    rows: int, *, layout: Layout, demands: Sequence[RowDemand], deals: Dealer, load: Load, random: JavaRandom
) -> Int32s:
    """(rows, row_width) int32 broker ids, the leader first; adds to `load`, and advances `random`."""
    rank = np.arange(len(layout.ids))
    state = rows_kernel.shuffle(rank, 0, len(rank), np.uint64(random.state))
    made = np.empty((rows, deals.row_width), np.int32)
    ends = np.cumsum(_shares(rows, layout, demands, load))[:-1]
    parts = np.split(made, ends)
    state = deals.deal(parts, load, rank, state)
    candidates = np.full(rows, deals.row_width, np.int64)
    for part, of_part, demand in zip(parts, np.split(candidates, ends), demands, strict=True):
        if demand.leading_value is not None:
            of_part[:] = rows_kernel.lead_first(part, layout.value_of[0], demand.leading_value)
    state = leaders_kernel.lead(made, candidates, layout.weights, load.leaders, rank, state)
    if len(demands) > 1:
        order = np.arange(rows)
        state = rows_kernel.shuffle(order, 0, rows, state)
        made = made[order]
    random.state = int(state)
    return layout.ids[made]


def _shares(rows: int, layout: Layout, demands: Sequence[RowDemand], load: Load) -> Int64s:
    """(demands,) int64 rows of each demand: leading values by weight, with `load` included."""
    led_by = [demand.leading_value for demand in demands if demand.leading_value is not None]
    if not led_by:
        return np.array([rows])
    weights = layout.share_of(0)[led_by]
    led = np.bincount(layout.value_of[0], load.leaders, minlength=len(layout.values[0]))[led_by]
    exact = np.maximum((rows + led.sum()) * weights / weights.sum() - led, 0)
    exact *= rows / exact.sum()
    shares: Int64s = np.floor(exact).astype(np.int64)
    shares[np.argsort(shares - exact, kind="stable")[: rows - shares.sum()]] += 1
    return shares
