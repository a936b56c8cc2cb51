"""Tables of rows of least cost, balanced over brokers: down a tree if attributes are nested, else row by row.

The least cost of a row if attributes cross: if brokers with one value of an attribute have several of another.

The least cost of each attribute alone is a lower bound. If the greedy row reaches all of them, it is optimal. Otherwise
CP-SAT minimises the cost of the first attribute, then of the second with the first fixed, and so on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias

import numpy as np

from app.core.integer import integer_solver
from app.core.jvm import JavaRandom
from app.core.model import Int32s, Int64s
from app.core.replicas.awareness import crossed_kernel, leaders_kernel, rows_kernel
from app.core.replicas.awareness.layout import FORBIDDEN, Layout, RowDemand
from app.core.replicas.awareness.tree import Block, NodeBounds, Tree, bounds, quotas


@dataclass(frozen=True, slots=True, eq=False)
class Cheapest:
    """A row of least cost.

    Parameters
    ----------
    kinds : (row_width,) int64 kind of broker of each replica. cost : (attributes,) int64.
    costs : (attributes, most values, factor + 1) int64, as `RowDemand.table`.
    kind_of : (brokers,) int64: brokers of one kind have the same value of every attribute.
    """

    kinds: Int64s = field(repr=False)
    cost: Int64s
    costs: Int64s = field(repr=False)
    kind_of: Int64s = field(repr=False)

    @classmethod
    def of(cls, layout: Layout, demand: RowDemand) -> Self:
        """Minimise the cost of one demand."""
        rows, kind_of, sizes = np.unique(layout.value_of, axis=1, return_inverse=True, return_counts=True)
        costs = demand.table(layout)
        kinds = _greedily(rows, sizes, costs, demand.factor)
        if kinds is None or (_cost(rows, costs, kinds) != _alone(costs, demand.factor)).any():
            kinds = _solved(rows, sizes, demand)
        return cls(kinds, _cost(rows, costs, kinds), costs, kind_of.reshape(-1))


def _cost(rows: Int64s, costs: Int64s, kinds: Int64s) -> Int64s:
    """(attributes,) int64: the cost of a row of these kinds."""
    total = np.zeros(len(rows), np.int64)
    for attribute, values in enumerate(rows[:, kinds]):
        for value, count in zip(*np.unique(values, return_counts=True), strict=True):
            total[attribute] += costs[attribute, value, :count].sum()
    return total


def _alone(costs: Int64s, factor: int) -> Int64s:
    """(attributes,) int64: the least cost of each attribute, the others ignored."""
    ascending = np.sort(costs.reshape(len(costs), -1), axis=1)
    return np.asarray(ascending[:, :factor].sum(axis=1), np.int64)


def _greedily(rows: Int64s, sizes: Int64s, costs: Int64s, factor: int) -> Int64s | None:
    """The kinds of a row that adds the cheapest kind each time; None if none is left before the row is complete."""
    counts = np.zeros(costs.shape[:2], np.int64)
    remaining, kinds = sizes.copy(), []
    attributes = np.arange(len(rows))[:, None]
    for _ in range(factor):
        each = costs[attributes, rows, counts[attributes, rows]]
        possible = np.flatnonzero((remaining > 0) & (each < FORBIDDEN).all(axis=0))
        if not len(possible):
            return None
        kind = possible[np.lexsort(each[::-1, possible])[0]]
        kinds.append(kind)
        remaining[kind] -= 1
        counts[attributes[:, 0], rows[:, kind]] += 1
    return np.array(kinds, np.int64)


def _solved(rows: Int64s, sizes: Int64s, demand: RowDemand) -> Int64s:
    """The kinds of a row of least cost, exactly: most replicas, then least cost attribute by attribute."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    model, solver = cp_model.CpModel(), integer_solver()
    replicas = [model.new_int_var(0, min(int(size), demand.factor), "") for size in sizes]
    model.add(sum(replicas) <= demand.factor)
    goals = [-sum(replicas)]
    for column, of_values in zip(rows, demand.costs, strict=True):
        cost = []
        for value, each in enumerate(of_values):
            counted = [model.new_bool_var("") for _ in each]
            model.add(sum(replicas[kind] for kind in np.flatnonzero(column == value).tolist()) == sum(counted))
            cost += [price * one for price, one in zip(each, counted, strict=True)]
        goals.append(sum(cost))
    for goal in goals:
        model.minimize(goal)
        solver.solve(model)
        model.add(goal == round(solver.objective_value))
    return np.repeat(np.arange(len(replicas)), [solver.value(count) for count in replicas])


_TURNS, _SWEEPS = 32, 2
_ONE_BY_ONE = 1024
"""Rows that are built one by one before they are copied."""


LEADERS, REPLICAS = 0, 1
"""Rows of a (2, brokers) int64 load: what brokers have so far, to which tables add."""


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

    def deal(self, parts: Sequence[Int32s], load: Int64s, rank: Int64s, state: np.uint64) -> np.uint64:
        """Fill the rows of each demand with brokers by position, in any order; returns the new random state."""
        leaves, led = self.tree.brokers, load[LEADERS, self.tree.brokers]
        blocks = [
            # If two replicas may lead, one is chosen later; a single one counts as a leader from the start.
            Block(len(part), bound, self.tree.leaves_of(demand.leading_value), led * (demand.leading == 1))
            for part, demand, bound in zip(parts, self.demands, self.bounds, strict=True)
        ]
        counts = quotas(
            self.tree,
            self.layout.weights[leaves],
            blocks,
            before=load[REPLICAS, leaves],
            ties=np.asarray(rank[leaves] / len(rank), np.float64),
        )
        for part, count in zip(parts, counts, strict=True):
            state = self._fill(part, count, state)
            load[REPLICAS, leaves] += count
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

    def deal(self, parts: Sequence[Int32s], load: Int64s, rank: Int64s, state: np.uint64) -> np.uint64:
        """Fill the rows of each demand with brokers by position, in any order; returns the new random state."""
        before = np.stack([load[REPLICAS], load[LEADERS] * self.demands[0].leading])
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
        load[REPLICAS] = counts[0]
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


Dealer: TypeAlias = Nested | Crossed
"""Assigns rows to brokers; `least` is the cost of every row, by demand and attribute."""


def dealer(layout: Layout, demands: Sequence[RowDemand]) -> Dealer:
    """The dealer for a layout: nested or crossed."""
    tree = Tree.of(layout)
    if tree is None:
        return Crossed(layout, demands, [Cheapest.of(layout, demand) for demand in demands])
    return Nested(layout, tree, demands, [bounds(tree, demand) for demand in demands])


def table(rows: int, deals: Dealer, load: Int64s, random: JavaRandom) -> Int32s:
    """(rows, row_width) int32 broker ids, the leader first; adds to `load`, and advances `random`."""
    layout, demands = deals.layout, deals.demands
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
    state = leaders_kernel.lead(made, candidates, layout.weights, load[LEADERS], rank, state)
    if len(demands) > 1:
        order = np.arange(rows)
        state = rows_kernel.shuffle(order, 0, rows, state)
        made = made[order]
    random.state = int(state)
    return layout.ids[made]


def _shares(rows: int, layout: Layout, demands: Sequence[RowDemand], load: Int64s) -> Int64s:
    """(demands,) int64 rows of each demand: leading values by weight, with `load` included."""
    led_by = [demand.leading_value for demand in demands if demand.leading_value is not None]
    if not led_by:
        return np.array([rows])
    weights = layout.share_of(0)[led_by]
    led = np.bincount(layout.value_of[0], load[LEADERS], minlength=len(layout.values[0]))[led_by]
    exact = np.maximum((rows + led.sum()) * weights / weights.sum() - led, 0)
    exact *= rows / exact.sum()
    shares: Int64s = np.floor(exact).astype(np.int64)
    shares[np.argsort(shares - exact, kind="stable")[: rows - shares.sum()]] += 1
    return shares
