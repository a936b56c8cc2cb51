"""Place new partitions: what Kafka would do with these brokers and topics, and what it means."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from app.core.jvm import JavaRandom
from app.core.measures.placement import measure
from app.core.measures.tally import tally
from app.core.measures.violations import violations
from app.core.model import Broker, Cluster, NewTopic
from app.core.replicas.awareness.rules import Policy
from app.core.replicas.envelope import Envelope, Share
from app.core.replicas.rack_modes import RackMode, require_racks
from app.core.replicas.registry import PLACEMENTS, Algorithm, place_topics
from app.errors import InvalidPartitions, Json, KafkaError
from app.services import snapshots
from app.services.cautions import Caution
from app.services.limits import Limits
from app.services.plans import Plan, PlannedPartition, as_json
from app.services.replicas import awareness
from app.services.replicas.requests import KIND, ReplicasRequest, canonical, check, restored
from app.services.seeds import digest, drawn_seed
from app.store.database import UnitOfWork
from app.store.plans import NewPlan, PlanHead


def run(uow: UnitOfWork, request: Mapping[str, Any], limits: Limits) -> Plan:
    """Answer a request that `stored` kept: what a job of this kind does."""
    return place(uow, restored(request), limits, is_job=True)


@dataclass(frozen=True, slots=True)
class _Site:
    """Where the topics are to be placed: a cluster, and the snapshot that it was read from."""

    cluster: Cluster
    snapshot_id: UUID | None = None
    content_hash: str | None = None


def place(
    uow: UnitOfWork,
    request: ReplicasRequest,
    limits: Limits,
    *,
    if_match: Sequence[str] = (),
    is_job: bool = False,
    plan_id: UUID | None = None,
) -> Plan:
    """Place the topics and keep the plan; a request that was answered before gets the same plan again.

    Raises the failures of `plan`, and `SnapshotNotFound`, `SnapshotChanged`.
    """
    check(request, limits, is_job=is_job)
    site = _Site(Cluster("", tuple(request.brokers or ())))
    if request.snapshot_id is not None:
        snapshot, cluster = snapshots.load(uow, request.snapshot_id)
        site = _Site(cluster, snapshot.id, snapshot.content_hash)
        if if_match:
            snapshots.require_unchanged(uow, snapshot.cluster, if_match)
    new = _plan(request, site)
    return Plan(uow.plans.keep(new, plan_id=plan_id), tuple(new.placements))


def warm_up() -> None:
    """Load the compiled loops, so that no caller waits for them."""
    brokers = tuple(Broker(broker, f"rack-{broker % 2}") for broker in range(4))
    topics = [NewTopic("warm-up", 7, 2)]
    crossing = tuple(replace(broker, attributes={"zone": f"zone-{broker.id // 2}"}) for broker in brokers)
    for name, algorithm in PLACEMENTS.items():
        if algorithm.following is None:
            for rack_mode in (RackMode.ENFORCED, RackMode.DISABLED):
                plan(ReplicasRequest(topics, algorithm=name, rack_mode=rack_mode), Cluster("", brokers), Limits())
        else:
            for attributes in (["rack"], ["zone", "rack"]):
                request = ReplicasRequest(topics, algorithm=name, policy=Policy.REDIS, attributes=attributes)
                plan(request, Cluster("", crossing), Limits())


def plan(request: ReplicasRequest, cluster: Cluster, limits: Limits) -> NewPlan:
    """Place the topics on a cluster, and keep nothing.

    Raises what the algorithm does, and `ConflictingFields`, `DuplicateBroker`, `DuplicateTopic`, `LimitExceeded`.
    """
    check(replace(request, brokers=cluster.brokers), limits, is_job=True)
    return _plan(request, _Site(cluster))


def _plan(request: ReplicasRequest, site: _Site) -> NewPlan:
    rules = request.rules
    algorithm = PLACEMENTS[request.algorithm]
    if rules is not None:
        algorithm = algorithm.under(rules)
    listed = request.brokers if request.brokers is not None else site.cluster.brokers
    asked = canonical(request, listed, cluster=site.cluster.name or None, content_hash=site.content_hash)
    # Taken before a seed is drawn: who sends that seed asks for a replay, which is another plan than the envelope.
    plan_hash = digest(asked).hex()
    is_drawn = request.seed is None and request.fixed_start_index is None
    if is_drawn:
        request = replace(request, seed=drawn_seed(asked))
        asked["seed"] = request.seed
    brokers, warnings = _brokers_in_play(request, listed, algorithm)
    placements = place_topics(
        algorithm,
        brokers,
        request.topics,
        random=JavaRandom(request.seed or 0),
        fixed_start_index=request.fixed_start_index,
    )
    _require_partitions(request.topics)
    require_racks(request.rack_mode or algorithm.rack_mode, brokers)
    counts = tally({placement.topic: placement.assignment for placement in placements}, listed)
    envelope_of = algorithm.envelope
    # Where no controller draws there is nothing to predict: the assignment is there to be handed to Kafka.
    is_pinned = request.fixed_start_index is not None or envelope_of is None
    answer: dict[str, Json] = {
        "prediction": "pinned" if is_pinned else "envelope" if is_drawn else "replay",
        "seed": request.seed,
        "envelope": [_envelope(topic, envelope_of(brokers, topic)) for topic in request.topics]
        if is_drawn and envelope_of is not None
        else None,
        "measures": as_json(measure(counts)),
        "violations": as_json(violations(counts)),
        "warnings": [warning.as_json() for warning in (*warnings, *_topic_warnings(request, site.cluster))],
    }
    if rules is not None:
        looked_at = awareness.look(placements, request.topics, listed=listed, live=brokers, rules=rules)
        answer = looked_at.added_to(answer)
    return NewPlan(
        kind=KIND,
        hash=plan_hash,
        cluster=site.cluster.name or None,
        snapshot_id=site.snapshot_id,
        labels=dict(request.labels),
        request=asked,
        answer=answer,
        placements=placements,
    )


def placed(plan: Plan | NewPlan) -> dict[str, object]:
    """Where the topics landed, as the contract writes it."""
    return {
        "topics": [
            {
                "name": placement.topic,
                "first_partition_id": placement.first_partition_id,
                "replicas": placement.replicas,
            }
            for placement in plan.placements
        ]
    }


def partition_json(head: PlanHead, row: PlannedPartition) -> dict[str, Json]:
    """One partition of a plan; the first replica is the preferred leader. `unassigned` counts those without a place."""
    found: dict[str, Json] = {
        "topic": row.topic,
        "partition": row.partition,
        "leader": row.row[0],
        "replicas": row.row,
    }
    lacking = awareness.unassigned_of(head.answer, row.topic)
    return found | {"unassigned": lacking} if lacking else found


def _require_partitions(topics: Sequence[NewTopic]) -> None:
    """KRaft's placer itself would place nothing; it is the controller that refuses a topic without partitions."""
    for index, topic in enumerate(topics):
        if topic.partitions == 0:
            raise InvalidPartitions(
                "a topic needs 1 partition or more; 0 given",
                kafka=KafkaError("InvalidPartitionsException"),
                path=("topics", index, "partitions"),
                value=0,
                minimum=1,
            )


def _envelope(topic: NewTopic, found: Envelope) -> dict[str, Json]:
    """An envelope as a plan says it: by broker, not by array."""

    def share(of: Share) -> dict[str, Json]:
        numbers = np.stack([of.lowest, of.highest, of.seen_lowest, of.seen_highest], axis=1).tolist()
        names = ("lowest", "highest", "seen_lowest", "seen_highest")
        brokers = map(str, found.broker_ids.tolist())
        return {
            "guaranteed_spread": of.guaranteed_spread,
            "worst_case_spread": of.worst_case_spread,
            "seen_least_spread": of.seen_least_spread,
            "seen_widest_spread": of.seen_widest_spread,
            "per_broker": {b: dict(zip(names, row, strict=True)) for b, row in zip(brokers, numbers, strict=True)},
        }

    return {
        "topic": topic.name,
        "method": found.method,
        "outcomes": found.outcomes,
        "seeds": found.seeds,
        "leaders": share(found.leaders),
        "replicas": share(found.replicas),
    }


def _brokers_in_play(
    request: ReplicasRequest, listed: Sequence[Broker], algorithm: Algorithm
) -> tuple[tuple[Broker, ...], list[Caution]]:
    """The brokers as the algorithm sees them, and what the caller should know about that."""
    warnings = []
    brokers = algorithm.in_play(listed, request.rack_mode)
    rack_of = {broker.id: broker.rack for broker in listed}
    left_out = tuple(broker.id for broker in listed if broker.fenced and algorithm.leaves_out_fenced)
    if left_out:
        detail = f"{len(left_out)} fenced brokers get no replica: {algorithm.name} places on live brokers only"
        warnings.append(Caution("fenced_brokers_left_out", detail, left_out))
    is_safe = (request.rack_mode or algorithm.rack_mode) is RackMode.SAFE
    if is_safe and any(broker.rack != rack_of[broker.id] for broker in brokers):
        without = tuple(broker.id for broker in brokers if rack_of[broker.id] is None)
        detail = f"racks do not count: {len(without)} of {len(brokers)} brokers have none, and the mode is safe"
        warnings.append(Caution("racks_ignored", detail, without))
    sizes = Counter(broker.rack for broker in brokers if broker.rack is not None)
    if len(set(sizes.values())) > 1 and algorithm.following is None:
        listed_sizes = ", ".join(f"{rack}: {size}" for rack, size in sorted(sizes.items()))
        detail = f"racks are of unequal size ({listed_sizes}); brokers of a small rack get more replicas than others"
        warnings.append(Caution("unequal_racks", detail))
    return brokers, warnings


def _topic_warnings(request: ReplicasRequest, cluster: Cluster) -> list[Caution]:
    found = []
    for topic in request.topics:
        existing = cluster.topic(topic.name)
        partitions = 0 if existing is None else len(existing.partition_ids)
        if partitions and topic.start_partition_id <= 0:
            detail = f"topic {topic.name} exists with {partitions} partitions; Kafka would refuse to create it"
            found.append(Caution("topic_exists", detail))
        elif cluster.topics and topic.start_partition_id > 0 and topic.start_partition_id != partitions:
            detail = (
                f"topic {topic.name} has {partitions} partitions; new ones cannot start at {topic.start_partition_id}"
            )
            found.append(Caution("start_partition_id_differs", detail))
    return found
