"""The least cost of a row if attributes cross: if brokers with one value of an attribute have several of another.

The least cost of each attribute alone is a lower bound. If the greedy row reaches all of them, it is optimal. Otherwise
CP-SAT minimises the cost of the first attribute, then that of the second with the first fixed, and so on.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.integer import integer_solver
from app.core.model import Int64s
from app.core.replicas.awareness.layout import FORBIDDEN, Layout, RowDemand


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
