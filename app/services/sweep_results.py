"""What a sweep has found: its scenarios in any order, the front, the best one and why nothing cheaper will do."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import numpy as np
import orjson

from app.core.capacity import ranking
from app.core.capacity.definition import SweepDefinition, read_definition
from app.core.capacity.neighbours import neighbours, why_not_cheaper
from app.core.capacity.scenarios import scenario
from app.core.model import NewTopic
from app.errors import Json, ScenarioNotFound
from app.services import replicas
from app.services.limits import Limits
from app.services.plans import Plan
from app.services.replicas import ReplicasRequest
from app.store.database import UnitOfWork
from app.store.pages import Page
from app.store.sweeps import Order, Sweep

SORTABLE = (*ranking.NUMBERS, "index")
"""What scenarios can be sorted by."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The scenarios of a sweep that are feasible and keep its constraints, best first, by their index."""

    definition: SweepDefinition
    indices: Sequence[int]


def scenarios(
    uow: UnitOfWork,
    sweep_id: UUID,
    *,
    feasible: bool | None,
    sort: str,
    descending: bool,
    after: tuple[float | None, int] | None,
    size: int,
) -> Page[tuple[int, Row]]:
    """A page of scored scenarios. Raises `SweepNotFound`."""
    uow.sweeps.get(sweep_id)
    order = Order(None if sort == "index" else sort, descending)
    where: dict[str, Json] = {} if feasible is None else {"feasible": feasible}
    return uow.sweeps.rows(sweep_id, where=where, order=order, after=after, size=size)


def one(uow: UnitOfWork, sweep_id: UUID, index: int) -> Row:
    """One scored scenario. Raises `SweepNotFound`, `ScenarioNotFound`."""
    sweep = uow.sweeps.get(sweep_id)
    row = uow.sweeps.row(sweep_id, index)
    if row is None:
        detail = f"scenario {index} of {sweep.scenarios} has not been scored"
        raise ScenarioNotFound(detail, index=index, scenarios=sweep.scenarios)
    return row


def axes(uow: UnitOfWork, sweep_id: UUID) -> list[str]:
    """What the sweep varies, in its order. Raises `SweepNotFound`."""
    return [axis.path for axis in _definition(uow.sweeps.get(sweep_id)).axes]


def front(uow: UnitOfWork, sweep_id: UUID) -> list[Row]:
    """The scenarios that no other beats in cost, headroom and cross-rack bytes at once; cheapest first."""
    definition = _definition(uow.sweeps.get(sweep_id))
    indices, columns = _feasible(uow, sweep_id)
    chosen = ranking.front(columns, constraints=definition.constraints)
    rows = [row for _, row in uow.sweeps.chosen(sweep_id, indices[chosen].tolist())]
    return sorted(rows, key=lambda row: (row["monthly_cost"], row["index"]))


def best(uow: UnitOfWork, sweep_id: UUID) -> dict[str, Json]:
    """The best scenario by the sweep's objective, and why each cheaper neighbour is not it.

    `best` is None where no scenario is feasible and keeps the constraints; `counts` says how many were and did.
    """
    definition = _definition(uow.sweeps.get(sweep_id))
    indices, columns = _feasible(uow, sweep_id)
    ranked = ranking.rank(columns, objective=definition.objective, constraints=definition.constraints)
    counts: dict[str, Json] = {
        "scored": uow.sweeps.progress(sweep_id).done,
        "feasible": len(indices),
        "acceptable": len(ranked),
    }
    told: dict[str, Json] = {"objective": definition.objective, "constraints": dict(definition.constraints)}
    if not len(ranked):
        return told | {"counts": counts, "best": None, "why_not_cheaper": []}
    row = one(uow, sweep_id, int(indices[ranked[0]]))
    in_grid = int(row["grid_index"])
    beside = [neighbour.grid_index for neighbour in neighbours(definition, in_grid)]
    documents = {in_grid: row} | {int(its["grid_index"]): its for its in _in_grid(uow, sweep_id, beside)}
    reasons = [_plain(asdict(reason)) for reason in why_not_cheaper(definition, in_grid, documents)]
    return told | {"counts": counts, "best": row, "why_not_cheaper": reasons}


def compared(uow: UnitOfWork, first: UUID, second: UUID) -> dict[str, Json]:
    """Two sweeps by what each found best, and by how many scenarios were feasible."""
    return {"first": best(uow, first), "second": best(uow, second)}


def opened(uow: UnitOfWork, sweep_id: UUID, index: int, limits: Limits) -> Plan:
    """A scenario as a full plan of replicas: the same placement, to look at and to hand over.

    Raises `SweepNotFound`, `ScenarioNotFound`, and what the scenario itself does.
    """
    sweep = uow.sweeps.get(sweep_id)
    if not 0 <= index < sweep.scenarios:
        detail = f"the sweep has {sweep.scenarios} scenarios, and none of index {index}"
        raise ScenarioNotFound(detail, index=index, scenarios=sweep.scenarios)
    found = scenario(_definition(sweep), index)
    request = ReplicasRequest(
        topics=[NewTopic(topic.name, topic.partitions, topic.replication_factor) for topic in found.topics],
        brokers=found.topology.brokers,
        algorithm=found.placement.algorithm,
        seed=found.seed,
        labels={"sweep": str(sweep_id), "scenario": str(index)},
    )
    return replicas.place(uow, request, limits)


def _definition(sweep: Sweep) -> SweepDefinition:
    return read_definition(sweep.definition)


def _feasible(uow: UnitOfWork, sweep_id: UUID) -> tuple[np.ndarray[Any, np.dtype[np.int64]], ranking.Columns]:
    """The feasible scenarios by index, and their numbers as columns."""
    found = uow.sweeps.numbers(sweep_id, ranking.NUMBERS, where={"feasible": True})
    indices = np.array([row[0] for row in found], np.int64)
    documents = [{"feasible": True, **dict(zip(ranking.NUMBERS, row[1:], strict=True))} for row in found]
    return indices, ranking.columns(documents)


def _in_grid(uow: UnitOfWork, sweep_id: UUID, grid_indices: Sequence[int]) -> list[Row]:
    """The scored scenarios at these places of the grid; of a sample most are not there."""
    return [row for _, row in uow.sweeps.having(sweep_id, "grid_index", grid_indices)]


def _plain(record: Mapping[str, Any]) -> Json:
    plain: Json = orjson.loads(orjson.dumps(record))
    return plain
