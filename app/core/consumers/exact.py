"""The integer model of an assignment: within capacity, to a number of consumers, with the least movement."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.consumers.packing_kernel import Rows
from app.core.integer import integer_solver
from app.core.model import Int32s, Int64s

MOST_BOOLEANS = 3_000
"""Partitions × consumers of the largest model; larger ones keep the assignment and the bound that they have."""


@dataclass(slots=True)
class Effort:
    """Deterministic seconds of the solver: of one model, and the rest for all models."""

    of_model: float
    left: float


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """The solution of a model.

    Parameters
    ----------
    owners : (rows,) int32, or None if nothing was found. kept_bound : no assignment keeps more; None if unknown.
    """

    owners: Int32s | None = field(default=None, repr=False)
    kept_bound: int | None = None
    is_infeasible: bool = False


def assigned(rows: Rows, consumers: int, capacity: int, effort: Effort, hint: Int32s | None = None) -> Assigned:
    """Assign rows to `consumers` consumers so that the costs of rows that stay are largest.

    Previous consumers are 0, 1, …; if there are more of them than `consumers`, the model chooses which ones go on.

    Parameters
    ----------
    hint : (rows,) int32, a known assignment.
    """
    weights, costs, previous = rows
    columns = max(consumers, int(previous.max(initial=-1)) + 1)
    if len(weights) * columns > MOST_BOOLEANS or effort.left <= 0:
        return Assigned()
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    model = cp_model.CpModel()
    reads: list[list[Any]] = [[model.new_bool_var("") for _ in range(columns)] for _ in weights]
    _limit(model, reads, weights.tolist(), consumers, capacity)
    _break_symmetry(model, reads, weights, previous)
    stays = [
        cost * of_row[owner]
        for cost, of_row, owner in zip(costs.tolist(), reads, previous.tolist(), strict=True)
        if owner >= 0
    ]
    if stays:
        model.maximize(sum(stays))
    for of_row, owner in zip(reads, () if hint is None else hint.tolist(), strict=False):
        for column, one in enumerate(of_row):
            model.add_hint(one, column == owner)
    solver = integer_solver(min(effort.of_model, effort.left))
    status = solver.solve(model)
    effort.left -= solver.response_proto.deterministic_time
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Assigned(is_infeasible=bool(status == cp_model.INFEASIBLE))
    owners = [[solver.value(one) for one in of_row].index(1) for of_row in reads]
    return Assigned(np.array(owners, np.int32), round(solver.best_objective_bound) if stays else None)


def _limit(model: Any, reads: list[list[Any]], weights: list[int], consumers: int, capacity: int) -> None:
    """Every row on one consumer, at most `consumers` of them, each within capacity."""
    for of_row in reads:
        model.add_exactly_one(of_row)
    goes_on = [model.new_bool_var("") for _ in reads[0]]
    model.add(sum(goes_on) <= consumers)
    for one, *of_column in zip(goes_on, *reads, strict=True):
        model.add(sum(weight * each for weight, each in zip(weights, of_column, strict=True)) <= capacity * one)
        for each in of_column:
            model.add_implication(each, one)


def _break_symmetry(model: Any, reads: list[list[Any]], weights: Int64s, previous: Int32s) -> None:
    """New consumers are alike: of the heaviest rows, row i is on no new consumer beyond the i-th."""
    first = int(previous.max(initial=-1)) + 1
    for place, row in enumerate(np.argsort(-weights, kind="stable").tolist()):
        for one in reads[row][first + place + 1 :]:
            model.add(one == 0)
