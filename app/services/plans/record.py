"""A plan as it is stored: its record, its summary and the cluster that it was made on."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

from app.core import ENGINE_VERSION
from app.core.model import Broker, Cluster, Placement
from app.services import snapshots
from app.store.database import UnitOfWork
from app.store.plans import NewPlan, PlanHead

JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


@dataclass(frozen=True, slots=True)
class Plan:
    """An immutable answer: its head, and the assignments in the request's order."""

    head: PlanHead
    placements: tuple[Placement, ...] = field(repr=False)


def load(uow: UnitOfWork, plan_id: UUID) -> Plan:
    """The plan with its assignments, or `PlanNotFound`."""
    return Plan(uow.plans.get(plan_id), uow.plans.placements(plan_id))


def as_json(record: object) -> Any:
    """A record of the core as plain JSON values: dataclasses become objects, and every key a string."""
    return orjson.loads(orjson.dumps(record, option=JSON_OPTIONS))


def summary(head: PlanHead | NewPlan) -> dict[str, object]:
    """The fields of a plan in a list of plans."""
    return {
        "id": head.id if isinstance(head, PlanHead) else None,
        "kind": head.kind,
        "hash": head.hash,
        "engine_version": head.request.get("engine_version", ENGINE_VERSION),
        "created_at": head.created_at if isinstance(head, PlanHead) else None,
        "cluster": head.cluster,
        "snapshot_id": head.snapshot_id,
        "labels": head.labels,
        "prediction": head.answer["prediction"],
        "seed": head.answer["seed"],
    }


def made_on(uow: UnitOfWork, head: PlanHead) -> Cluster:
    """The cluster that the plan was made on: its snapshot's, or the brokers of its request, if it has any."""
    if head.snapshot_id is not None:
        return snapshots.load(uow, head.snapshot_id)[1]
    listed: Any = head.request.get("brokers") or ()
    brokers = [
        Broker(broker["id"], broker["rack"], broker["fenced"], attributes=broker.get("attributes") or {})
        for broker in listed
    ]
    return Cluster(head.cluster or "", tuple(brokers))
