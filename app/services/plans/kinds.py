"""What differs between the kinds of plans, a row a kind: how one is made later, written, compared and handed over."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson

from app.errors import ConflictingFields, Json, NotExportable
from app.services import replicas, snapshots
from app.services.groups import differences as group_differences
from app.services.groups import exports as group_exports
from app.services.groups import planning, readers
from app.services.limits import Limits
from app.services.plans.differences import Difference
from app.services.plans.exports import BATCH, ClusterOf, Write
from app.services.plans.pages import PlannedPartition
from app.services.plans.record import JSON_OPTIONS, Plan, summary
from app.services.reassignment import differences as reassignment_differences
from app.services.reassignment import exports as reassignment_exports
from app.services.reassignment import planning as reassignment_planning
from app.services.reassignment import requests as reassignment_requests
from app.services.reassignment import rows as reassignment_rows
from app.services.reassignment.kept import STEPS
from app.services.streams import differences as streams_differences
from app.services.streams import exports as streams_exports
from app.services.streams import kept as streams_kept
from app.services.streams import planning as streams_planning
from app.store.database import UnitOfWork
from app.store.plans import NewPlan, PlanHead


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of plan.

    Parameters
    ----------
    run : makes a plan of a request that a job has kept, as the service does that answers it at once.
    placed : what the plan's rows are as JSON, beside the answer that is kept.
    partition : one row as JSON.
    difference : what a plan changes, against what a caller names or, where it is None, what was there before.
    exports : how it is written in each of the formats that fit it; what its rows say is `says`.
    batch : writes the batch of a number, from 1 on, or its inverse; None where a plan has no batches.
    """

    run: Callable[[UnitOfWork, Mapping[str, Any], Limits], Plan]
    placed: Callable[[Plan | NewPlan], dict[str, object]]
    partition: Callable[[PlanHead, PlannedPartition], dict[str, Json]]
    difference: Callable[[UnitOfWork, Plan, UUID | None], Difference]
    exports: Mapping[str, Write]
    says: str
    batch: Callable[[Plan | NewPlan, int, bool], bytes] | None = None


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        replicas.KIND: Kind(
            run=replicas.run,
            placed=replicas.placed,
            partition=replicas.partition_json,
            difference=replicas.difference,
            exports=replicas.EXPORTS,
            says="which brokers hold the replicas",
        ),
        reassignment_requests.KIND: Kind(
            run=reassignment_planning.run,
            placed=reassignment_rows.placed,
            partition=reassignment_rows.partition_json,
            difference=reassignment_differences.difference,
            exports=reassignment_exports.EXPORTS,
            says="which replicas move where",
            batch=reassignment_exports.one_batch,
        ),
        planning.KIND: Kind(
            run=planning.run,
            # The answer of a group plan is whole: its lists have an order that rows do not keep.
            placed=lambda _: {},
            partition=readers.partition_json,
            difference=group_differences.difference,
            exports=group_exports.EXPORTS,
            says="which members read the partitions, and moves no replica",
        ),
        streams_planning.KIND: Kind(
            run=streams_planning.run,
            placed=lambda _: {},
            partition=streams_kept.partition_json,
            difference=streams_differences.difference,
            exports=streams_exports.EXPORTS,
            says="which clients have the tasks, and moves no replica",
        ),
    }
)
"""Every kind of plan by its name; the API's filter and the jobs read it."""
_NOT_SHOWN = ("prediction", "seed", STEPS)
"""What of an answer its JSON says elsewhere, or hands over as files alone."""


def to_json(plan: Plan | NewPlan) -> bytes:
    """The plan as the API writes it. One that was not kept has neither id nor time."""
    head = plan.head if isinstance(plan, Plan) else plan
    document = (
        summary(head)
        | KINDS[head.kind].placed(plan)
        | {name: value for name, value in head.answer.items() if name not in _NOT_SHOWN}
        | {"request": head.request}
    )
    return orjson.dumps(document, option=JSON_OPTIONS)


def export(uow: UnitOfWork, plan: Plan, name: str, *, batch: int | None = None, is_inverse: bool = False) -> bytes:
    """A plan that was kept as a file: `write`, with the cluster of its snapshot."""
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
    NotExportable : the plan cannot be said in that format, or has no such batch.
    ConflictingFields : a batch is named where the format is of a whole plan, or none where it is of one.
    """
    called = (plan.head if isinstance(plan, Plan) else plan).kind
    kind = KINDS[called]
    formats = [*kind.exports, *([BATCH] if kind.batch else [])]
    if name not in formats:
        detail = f"a {called} plan says {kind.says}; it is written as {', '.join(formats)}, not as {name}"
        raise NotExportable(detail, formats=formats)
    if name == BATCH and kind.batch:
        if batch is None:
            raise ConflictingFields("the format batch is of one batch; name its number, from 1 on", path=("batch",))
        return kind.batch(plan, batch, is_inverse)
    if batch is not None or is_inverse:
        field = "inverse" if batch is None else "batch"
        raise ConflictingFields(f"{field} is of the format batch; {name} is of the whole plan", path=(field,))
    return kind.exports[name](plan, cluster_of)
