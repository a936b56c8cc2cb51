"""Sweeps over the seeds of a placement: how even can a controller's dice leave the cluster?"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from app.core.model import Broker, Cluster
from app.core.replicas.draws import NUMBERS, read_draws, score_draws
from app.errors import ConflictingFields, ImpossibleValue, Json
from app.formats.scenario_tables import Column
from app.services import replicas, snapshots
from app.services.limits import Limits
from app.services.plans import Plan, draft_plan, make_plan
from app.services.replicas import ReplicasRequest
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep

LARGEST_SEED = 2**63 - 1


def resolve(uow: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """The definition with the brokers as they are now; one that has them already keeps them.

    Raises
    ------
    ConflictingFields : it names neither brokers nor a snapshot, or both. SnapshotNotFound.
    ImpossibleValue : its last seed has more than 64 bits.
    What `replicas.plan` does with the topics: no algorithm gets better at a factor that cannot be.
    """
    asked = cast("Mapping[str, Any]", definition)
    seeds = asked["seeds"]
    if (last := seeds["first"] + seeds["count"] - 1) > LARGEST_SEED:
        detail = f"the last seed would be {last}; seeds are signed 64-bit numbers and end at {LARGEST_SEED}"
        raise ImpossibleValue(detail, path=("seeds", "count"), value=seeds["count"], maximum=LARGEST_SEED)
    told = dict(definition)
    if "resolved" not in told:
        if ("snapshot_id" in told) == ("brokers" in told):
            raise ConflictingFields("a sweep names either a snapshot_id or brokers", path=("snapshot_id",))
        if "snapshot_id" in told:
            snapshot, cluster = snapshots.load(uow, UUID(asked["snapshot_id"]))
            told["snapshot_content_hash"] = snapshot.content_hash
            brokers = cluster.brokers
        else:
            brokers = tuple(_broker(its) for its in asked["brokers"])
        told["resolved"] = {"brokers": [_resolved(broker) for broker in brokers]}
    _require_placeable(told, limits)
    return told


def scenarios(definition: Mapping[str, Json]) -> int:
    """How many there are."""
    return read_draws(definition).count


def score(definition: Mapping[str, Json], start: int, stop: int) -> list[dict[str, Json]]:
    """Place from the seeds of scenarios start … stop − 1."""
    return score_draws(read_draws(definition), start, stop)


def columns(_: Mapping[str, Json]) -> list[Column]:
    """The seed, then the figures."""
    counted = [Column.figure(name, "double" if name.endswith("_share") else "int64") for name in NUMBERS]
    return [Column.axis("seed", "int64"), *counted]


def opened(uow: UnitOfWork, sweep: Sweep, index: int, limits: Limits) -> Plan:
    """One draw as a plan of replicas: the same seed, on the same brokers."""
    draws = read_draws(sweep.definition)
    snapshot_id = cast("str | None", sweep.definition.get("snapshot_id"))
    request = ReplicasRequest(
        topics=draws.topics,
        snapshot_id=None if snapshot_id is None else UUID(snapshot_id),
        brokers=draws.brokers if snapshot_id is None else None,
        algorithm=draws.algorithm.name,
        rack_mode=draws.rack_mode,
        seed=draws.first_seed + index,
        labels={"sweep": str(sweep.id), "scenario": str(index)},
    )
    return make_plan(uow, replicas.PLANNER, request, limits)


def _broker(its: Mapping[str, Any]) -> Broker:
    attributes, weight = its.get("attributes", {}), its.get("weight", 1.0)
    return Broker(its["id"], its.get("rack"), its["fenced"], attributes=attributes, weight=weight)


def _resolved(broker: Broker) -> dict[str, Json]:
    """What decides a placement; attributes and a weight only where there are some."""
    told: dict[str, Json] = {"id": broker.id, "rack": broker.rack, "fenced": broker.fenced}
    if broker.attributes:
        told["attributes"] = broker.attributes
    return told | ({} if broker.weight == 1 else {"weight": broker.weight})


def _require_placeable(definition: Mapping[str, Json], limits: Limits) -> None:
    """Raise what no seed can mend: limits, duplicates, a factor or racks that cannot be."""
    draws = read_draws(definition)
    request = ReplicasRequest(
        draws.topics, brokers=draws.brokers, algorithm=draws.algorithm.name, rack_mode=draws.rack_mode, seed=0
    )
    replicas.check(request, limits)
    # One partition of each meets all that can be refused whatever is drawn, and takes no time.
    smallest = [replace(topic, partitions=min(topic.partitions, 1)) for topic in draws.topics]
    draft_plan(replicas.PLANNER, replace(request, topics=smallest), Cluster("", draws.brokers), limits)
