"""Capacity sweeps: what varies over a base scenario, which scenario is best, and why nothing cheaper will do."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast
from uuid import UUID

import numpy as np
import orjson

from app.core.capacity import ranking
from app.core.capacity.definition import count, read_definition
from app.core.capacity.neighbours import neighbours, why_not_cheaper
from app.core.capacity.scenarios import require_axes, scenario
from app.core.capacity.scoring import score_range
from app.core.model import NewTopic
from app.errors import Json
from app.formats.scenario_tables import Column, ColumnType
from app.services import measured_topics, replicas
from app.services.limits import Limits
from app.services.plans import Plan, make_plan
from app.services.replicas import ReplicasRequest
from app.store.database import UnitOfWork
from app.store.sweeps import RowFilter, Sweep

FEASIBLE = RowFilter({"feasible": True})
_COUNTED = ("brokers", "partitions", "first_breaking_month")
_BINDING: Mapping[str, ColumnType] = {
    "resource": "string",
    "broker": "int64",
    "failure": "string",
    "value": "double",
    "limit": "double",
}
Row = Mapping[str, Any]


def resolve(uow: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """The definition with its topics, where they are measured ones; topics that are there already are kept.

    Raises what is wrong with its axes, with its base and with what was measured.
    """
    if "resolved" not in definition and "measured" in cast("Mapping[str, Json]", definition["base"]):
        definition = measured_topics.resolve(uow, definition, limits)
    require_axes(read_definition(definition))
    return definition


def scenarios(definition: Mapping[str, Json]) -> int:
    """How many there are."""
    return count(read_definition(definition))


def score(definition: Mapping[str, Json], start: int, stop: int) -> list[dict[str, Json]]:
    """Score scenarios start … stop − 1."""
    return [row.document() for row in score_range(read_definition(definition), start, stop)]


def columns(definition: Mapping[str, Json]) -> list[Column]:
    """The axes in their order, then the figures."""
    numbers = [Column.figure(name, _type(name)) for name in ranking.NUMBERS]
    return [
        *(Column.axis(axis.path) for axis in read_definition(definition).axes),
        Column.figure("feasible", "bool"),
        *numbers,
        *(Column(f"binding_{name}", kind, ("binding", name)) for name, kind in _BINDING.items()),
    ]


def _type(name: str) -> ColumnType:
    return "int64" if name in _COUNTED or name.startswith("partitions_") else "double"


def front(uow: UnitOfWork, sweep: Sweep) -> list[Row]:
    """The scenarios that no other beats in cost, headroom and cross-rack bytes at once; cheapest first."""
    definition = read_definition(sweep.definition)
    indices, found = _feasible(uow, sweep.id)
    chosen = ranking.front(found, constraints=definition.constraints)
    rows = [row for _, row in uow.sweeps.chosen(sweep.id, indices[chosen].tolist())]
    return sorted(rows, key=lambda row: (row["monthly_cost"], row["index"]))


def best(uow: UnitOfWork, sweep: Sweep) -> dict[str, Json]:
    """The best scenario by the sweep's objective, and why each cheaper neighbour is not it.

    `best` is None where no scenario is feasible and keeps the constraints; `counts` says how many were and did.
    """
    definition = read_definition(sweep.definition)
    indices, found = _feasible(uow, sweep.id)
    ranked = ranking.rank(found, objective=definition.objective, constraints=definition.constraints)
    counts: dict[str, Json] = {
        "scored": uow.sweeps.progress(sweep.id).done,
        "feasible": len(indices),
        "acceptable": len(ranked),
    }
    told: dict[str, Json] = {"objective": definition.objective, "constraints": dict(definition.constraints)}
    if not len(ranked):
        return told | {"counts": counts, "best": None, "why_not_cheaper": []}
    [(_, row)] = uow.sweeps.chosen(sweep.id, [int(indices[ranked[0]])])
    in_grid = int(row["grid_index"])
    beside = [neighbour.grid_index for neighbour in neighbours(definition, in_grid)]
    documents = {in_grid: row} | {int(its["grid_index"]): its for its in _in_grid(uow, sweep.id, beside)}
    reasons = [_plain(asdict(reason)) for reason in why_not_cheaper(definition, in_grid, documents)]
    return told | {"counts": counts, "best": row, "why_not_cheaper": reasons}


def opened(uow: UnitOfWork, sweep: Sweep, index: int, limits: Limits) -> Plan:
    """The scenario's placement as a plan of replicas. Raises what the scenario itself does."""
    found = scenario(read_definition(sweep.definition), index)
    request = ReplicasRequest(
        topics=[NewTopic(topic.name, topic.partitions, topic.replication_factor) for topic in found.topics],
        brokers=found.topology.brokers,
        algorithm=found.placement.algorithm,
        seed=found.seed,
        labels={"sweep": str(sweep.id), "scenario": str(index)},
    )
    return make_plan(uow, replicas.PLANNER, request, limits)


def _feasible(uow: UnitOfWork, sweep_id: UUID) -> tuple[np.ndarray[Any, np.dtype[np.int64]], ranking.Columns]:
    """The feasible scenarios by index, and their numbers as columns."""
    found = uow.sweeps.numbers(sweep_id, ranking.NUMBERS, where=FEASIBLE)
    indices = np.array([row[0] for row in found], np.int64)
    documents = [{"feasible": True, **dict(zip(ranking.NUMBERS, row[1:], strict=True))} for row in found]
    return indices, ranking.columns(documents)


def _in_grid(uow: UnitOfWork, sweep_id: UUID, grid_indices: Sequence[int]) -> list[Row]:
    """The scored scenarios at these places of the grid; of a sample most are not there."""
    return [row for _, row in uow.sweeps.having(sweep_id, "grid_index", grid_indices)]


def _plain(record: Mapping[str, Any]) -> Json:
    plain: Json = orjson.loads(orjson.dumps(record))
    return plain
