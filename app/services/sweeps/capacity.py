"""Capacity sweeps: axes over a base scenario, which scenario is best, and why no cheaper neighbour is."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np

from app.core.capacity import ranking
from app.core.capacity.scenarios import require_axes
from app.core.capacity.sweep import read_definition, read_sweep
from app.core.model import Int64s, NewTopic
from app.formats.tables.scenario_tables import Column, ColumnType
from app.services import replicas
from app.services.limits import Limits
from app.services.plans import as_json
from app.services.replicas import ReplicasRequest
from app.services.sweeps import measured_topics
from app.services.sweeps.answers import BestDocument, CountsDocument
from app.services.sweeps.kind import Definition, Ranking, SweepKind
from app.store.sweeps import RowFilter, Sweep
from app.store.unit import UnitOfWork

FEASIBLE = RowFilter({"feasible": True})
_INTEGERS = ("brokers", "partitions", "first_breaking_month", "restart_waves")
_BINDING: Mapping[str, ColumnType] = {
    "resource": "string",
    "broker": "int64",
    "failure": "string",
    "value": "double",
    "limit": "double",
}
RowDocument = Mapping[str, Any]


def resolve(uow: UnitOfWork, definition: Definition, limits: Limits) -> Definition:
    """Validate a definition, and resolve measured topics unless they are resolved already.

    Raises as `scenarios.require_axes` and `measured_topics.resolve` do.
    """
    if "resolved" not in definition and "measured" in definition["base"]:
        definition = measured_topics.resolve(uow, definition, limits)
    read = read_definition(definition)
    require_axes(read.base, read.grid, topics_at=measured_topics.AT if "resolved" in definition else ("base",))
    return definition


def columns(definition: Definition) -> list[Column]:
    """The axes in their order, then the figures."""
    numbers = [Column.figure(name, _type(name)) for name in ranking.NUMBERS]
    return [
        *(Column.axis(axis.path) for axis in read_definition(definition).axes),
        Column.figure("feasible", "bool"),
        *numbers,
        *(Column(f"binding_{name}", kind, ("binding", name)) for name, kind in _BINDING.items()),
    ]


def _type(name: str) -> ColumnType:
    return "int64" if name in _INTEGERS or name.startswith("partitions_") else "double"


def front(uow: UnitOfWork, sweep: Sweep) -> list[RowDocument]:
    """The Pareto front of cost, headroom and cross-rack bytes; cheapest first."""
    definition = read_definition(sweep.definition)
    indices, figures = _feasible(uow, sweep.id)
    on_front = ranking.front(figures, constraints=definition.constraints)
    rows = [row for _, row in uow.sweeps.chosen(sweep.id, indices[on_front].tolist())]
    return sorted(rows, key=lambda row: (row["monthly_cost"], row["index"]))


def best(uow: UnitOfWork, sweep: Sweep) -> BestDocument:
    """The best scenario by the sweep's objective, and why each cheaper neighbour is not it.

    `best` is None if no scenario is feasible and within the constraints; `counts` has the number of each.
    """
    definition = read_definition(sweep.definition)
    indices, figures = _feasible(uow, sweep.id)
    ranked = ranking.rank(figures, objective=definition.objective, constraints=definition.constraints)
    counts = CountsDocument(uow.sweeps.progress(sweep.id).done, len(indices), len(ranked))
    sought = partial(BestDocument, definition.objective, dict(definition.constraints), counts)
    if not len(ranked):
        return sought(None, [])
    [(_, row)] = uow.sweeps.chosen(sweep.id, [int(indices[ranked[0]])])
    grid, grid_index = definition.grid, int(row["grid_index"])
    neighbours = [neighbour.grid_index for neighbour in ranking.neighbours(grid, grid_index)]
    documents = {int(scored["grid_index"]): scored for scored in (row, *_at_grid_indices(uow, sweep.id, neighbours))}
    why = ranking.why_not_cheaper(grid, grid_index, documents, constraints=definition.constraints)
    return sought(row, as_json(why))


def request_of(sweep: Sweep, index: int) -> ReplicasRequest:
    """The scenario's placement as a plan of replicas. Raises a `Failure` if the scenario is not possible."""
    scenario = read_sweep(sweep.definition).scenario(index)
    return ReplicasRequest(
        topics=[NewTopic(topic.name, topic.partitions, topic.replication_factor) for topic in scenario.topics],
        brokers=scenario.topology.brokers,
        algorithm=scenario.placement.algorithm,
        seed=scenario.seed,
    )


def _feasible(uow: UnitOfWork, sweep_id: UUID) -> tuple[Int64s, ranking.Columns]:
    """The indices of the feasible scenarios, and their numbers as columns."""
    rows = uow.sweeps.numbers(sweep_id, ranking.NUMBERS, where=FEASIBLE)
    indices = np.array([row[0] for row in rows], np.int64)
    documents = [{"feasible": True, **dict(zip(ranking.NUMBERS, row[1:], strict=True))} for row in rows]
    return indices, ranking.columns(documents)


def _at_grid_indices(uow: UnitOfWork, sweep_id: UUID, grid_indices: Sequence[int]) -> list[RowDocument]:
    """The scored scenarios at these grid indices; most are absent from a sample."""
    return [row for _, row in uow.sweeps.having(sweep_id, "grid_index", grid_indices)]


KIND = SweepKind(
    name="capacity",
    read_sweep=read_sweep,
    resolve=resolve,
    count=lambda definition: read_definition(definition).count,
    counted_by=("axes",),
    changes=("axes", "sample", "objective", "constraints"),
    numbers=ranking.NUMBERS,
    columns=columns,
    planner=replicas.PLANNER,
    request=request_of,
    ranking=Ranking(front, best),
    has_feasibility=True,
)
