"""The registry of plan kinds: how each is planned, listed, compared and exported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson

from app.core.model import NO_REPLICA, unpadded
from app.errors import Json
from app.errors.requests import ConflictingFields, NotExportable
from app.services import groups, reassignment, replicas, snapshots, streams
from app.services.plans import (
    BATCH,
    JSON_OPTIONS,
    ClusterOf,
    Difference,
    Plan,
    PlannedPartition,
    Planner,
    Write,
    summary,
)
from app.store.database import UnitOfWork
from app.store.plans import NewPlan, PlanHead


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of plan.

    Parameters
    ----------
    planner : from a request to a plan; see `app.services.plans.pipeline`.
    rows : all rows of a plan as JSON, beside the stored answer; empty if the answer has them.
    partition : one row as JSON.
    difference : what a plan changes, against what a caller names or, if that is None, the state before it.
    exports : the formats that fit the kind. content : what its rows say, for the problem about formats that do not.
    batch : writes the batch of a number, from 1 on, or its inverse; None if the kind's plans have no batches.
    """

    planner: Planner[Any, Any, Any]
    rows: Callable[[Plan | NewPlan], dict[str, object]]
    partition: Callable[[PlanHead, PlannedPartition], dict[str, Json]]
    difference: Callable[[UnitOfWork, Plan, UUID | None], Difference]
    exports: Mapping[str, Write]
    content: str
    batch: Callable[[Plan | NewPlan, int, bool], bytes] | None = None


def _replica_lists(plan: Plan | NewPlan) -> dict[str, object]:
    """The replica lists by topic; lists of unequal length are not padded."""
    return {
        "topics": [
            {
                "name": placement.topic,
                "first_partition_id": placement.first_partition_id,
                "replicas": unpadded(rows) if (rows == NO_REPLICA).any() else rows,
            }
            for placement in plan.placements
            for rows in (placement.replicas,)
        ]
    }


def _none(_: Plan | NewPlan) -> dict[str, object]:
    return {}


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.planner.kind: kind
        for kind in (
            Kind(
                planner=replicas.PLANNER,
                rows=_replica_lists,
                partition=replicas.partition_json,
                difference=replicas.difference,
                exports=replicas.EXPORTS,
                content="the replicas of partitions",
            ),
            Kind(
                planner=reassignment.PLANNER,
                rows=_replica_lists,
                partition=reassignment.partition_json,
                difference=reassignment.difference,
                exports=reassignment.EXPORTS,
                content="the replicas that move",
                batch=reassignment.one_batch,
            ),
            Kind(
                planner=groups.PLANNER,
                rows=_none,  # the answer's lists have an order that rows do not keep
                partition=groups.partition_json,
                difference=groups.difference,
                exports=groups.EXPORTS,
                content="the readers of partitions, and moves no replica",
            ),
            Kind(
                planner=streams.PLANNER,
                rows=_none,
                partition=streams.partition_json,
                difference=streams.difference,
                exports=streams.EXPORTS,
                content="the clients of tasks, and moves no replica",
            ),
        )
    }
)
"""Every kind of plan by its name; the API's filter, the pages and the jobs read it."""
_NOT_SHOWN = ("prediction", "seed", reassignment.STEPS)
"""Fields of an answer that its JSON has elsewhere, or that only exported files have."""


def to_json(plan: Plan | NewPlan) -> bytes:
    """The plan as the API writes it. One that is not stored has neither id nor time."""
    head = plan.head if isinstance(plan, Plan) else plan
    document = (
        summary(head)
        | KINDS[head.kind].rows(plan)
        | {name: value for name, value in head.answer.items() if name not in _NOT_SHOWN}
        | {"request": head.request}
    )
    return orjson.dumps(document, option=JSON_OPTIONS)


def export(uow: UnitOfWork, plan: Plan, name: str, *, batch: int | None = None, is_inverse: bool = False) -> bytes:
    """A stored plan as a file: `write`, with the cluster of its snapshot."""
    snapshot_id = plan.head.snapshot_id
    return write(
        plan,
        name,
        lambda: None if snapshot_id is None else snapshots.load(uow, snapshot_id)[1],
        batch=batch,
        is_inverse=is_inverse,
    )


def write(
    plan: Plan | NewPlan, name: str, cluster_of: ClusterOf, *, batch: int | None = None, is_inverse: bool = False
) -> bytes:
    """The plan as a file in the format of that name.

    Parameters
    ----------
    batch, is_inverse : which batch, and whether what undoes it; for the format `BATCH` alone.

    Raises
    ------
    NotExportable : the plan cannot be written in that format, or has no such batch.
    ConflictingFields : a batch is named and the format is of a whole plan, or the other way round.
    """
    kind_name = (plan.head if isinstance(plan, Plan) else plan).kind
    kind = KINDS[kind_name]
    formats = [*kind.exports, *([BATCH] if kind.batch else [])]
    if name not in formats:
        detail = f"a {kind_name} plan contains {kind.content}; its formats are {', '.join(formats)}, not {name}"
        raise NotExportable(detail, formats=formats)
    if name == BATCH and kind.batch:
        if batch is None:
            raise ConflictingFields("the format batch is of one batch; name its number, from 1 on", path=("batch",))
        return kind.batch(plan, batch, is_inverse)
    if batch is not None or is_inverse:
        field = "inverse" if batch is None else "batch"
        raise ConflictingFields(f"{field} is of the format batch; {name} is of the whole plan", path=(field,))
    return kind.exports[name](plan, cluster_of)
