"""Sweeps over the seeds of a placement: how balanced the cluster is, seed after seed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from app.core.model import Broker, Cluster
from app.core.replicas.sweep import NUMBERS, read_sweep
from app.errors.every import ConflictingFields, Json
from app.formats.tables.scenario_tables import Column
from app.services import replicas, snapshots
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.replicas import ReplicasRequest
from app.services.sweeps.kind import Definition, SweepKind
from app.store.sweeps import Sweep
from app.store.unit import UnitOfWork


def resolve(uow: UnitOfWork, definition: Definition, limits: Limits) -> Definition:
    """Validate a definition, and resolve its brokers as they are now, unless they are resolved already.

    Raises
    ------
    SnapshotNotFound
    ConflictingFields : it names neither brokers nor a snapshot, or both.
    Failures of `replicas.plan` : the topics cannot be placed, whatever the seed.
    """
    resolved = dict(definition)
    if "resolved" not in resolved:
        if ("snapshot_id" in resolved) == ("brokers" in resolved):
            raise ConflictingFields(
                "a sweep names either a snapshot (snapshot_id or cluster) or brokers", path=("snapshot_id",)
            )
        if "snapshot_id" in resolved:
            snapshot, cluster = snapshots.load(uow, UUID(definition["snapshot_id"]))
            resolved["snapshot_content_hash"] = snapshot.content_hash
            brokers = cluster.brokers
        else:
            brokers = tuple(_broker(broker) for broker in definition["brokers"])
        resolved["resolved"] = {"brokers": [_broker_document(broker) for broker in brokers]}
    # Of a sweep of a former release, which a clone changes, the seeds are consecutive.
    resolved["resolved"] = {**resolved["resolved"], "independent_seeds": True}
    _require_placeable(resolved, limits)
    return resolved


def columns(_: Definition) -> list[Column]:
    """The seed, then the figures."""
    figures = [Column.figure(name, "double" if name.endswith("_share") else "int64") for name in NUMBERS]
    return [Column.axis("seed", "int64"), *figures]


def request_of(sweep: Sweep, index: int) -> ReplicasRequest:
    """One scenario as a plan of replicas: the same seed, on the same brokers."""
    draws, snapshot_id = read_sweep(sweep.definition), sweep.definition.get("snapshot_id")
    return ReplicasRequest(
        topics=draws.topics,
        snapshot_id=None if snapshot_id is None else UUID(str(snapshot_id)),
        brokers=draws.brokers if snapshot_id is None else None,
        algorithm=draws.algorithm.name,
        rack_mode=draws.rack_mode,
        seed=draws.seed(index),
    )


def _broker(given: Mapping[str, Any]) -> Broker:
    attributes, weight = given.get("attributes", {}), given.get("weight", 1.0)
    return Broker(given["id"], given.get("rack"), given["fenced"], attributes=attributes, weight=weight)


def _broker_document(broker: Broker) -> dict[str, Json]:
    """The fields on which a placement depends; attributes and weight only if they differ from the default."""
    document: dict[str, Json] = {"id": broker.id, "rack": broker.rack, "fenced": broker.fenced}
    if broker.attributes:
        document["attributes"] = broker.attributes
    return document | ({} if broker.weight == 1 else {"weight": broker.weight})


def _require_placeable(definition: Definition, limits: Limits) -> None:
    """Raise the failures of every seed: limits, duplicates, a replication factor or racks that are not possible."""
    draws = read_sweep(definition)
    request = ReplicasRequest(
        draws.topics, brokers=draws.brokers, algorithm=draws.algorithm.name, rack_mode=draws.rack_mode, seed=0
    )
    replicas.check(request, limits)
    # One partition of each topic meets every failure that does not depend on the seed, in no time.
    smallest = [replace(topic, partitions=min(topic.partitions, 1)) for topic in draws.topics]
    draft_plan(replicas.PLANNER, replace(request, topics=smallest), Cluster("", draws.brokers), limits)


KIND = SweepKind(
    name="placement_draws",
    read_sweep=read_sweep,
    resolve=resolve,
    count=lambda definition: read_sweep(definition).count,
    counted_by=("seeds", "count"),
    changes=("seeds",),
    numbers=NUMBERS,
    columns=columns,
    planner=replicas.PLANNER,
    request=request_of,
)
