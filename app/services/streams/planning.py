"""Plan a Streams application: where its tasks land, whether that is ideal, and what each loss costs."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson

from app.core import ENGINE_VERSION
from app.core.model import Cluster
from app.core.streams.model import (
    RackAwareStrategy,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
)
from app.core.streams.rack_aware.racks import RacksOff, why_off
from app.core.streams.registry import STREAMS_ASSIGNORS
from app.core.streams.tag_limits import require_tags_within_limits
from app.core.streams.violations import violations
from app.errors import ConflictingFields, Json
from app.services import snapshots
from app.services.cautions import Caution
from app.services.groups.sources import listed_metadata, metadata_of
from app.services.limits import Limits
from app.services.plans import Plan
from app.services.snapshots import check_brokers
from app.services.streams.events import steps_of
from app.services.streams.kept import placements_of
from app.services.streams.optimum import addition_json, best_json, rack_aware_json
from app.services.streams.reports import report
from app.services.streams.requests import StreamsRequest, restored, stored
from app.services.streams.sources import Source, source_of
from app.store.database import UnitOfWork
from app.store.plans import NewPlan
from app.store.snapshots import Snapshot

KIND = "streams"
_REBALANCES_A_STEP = 30
"""What a step may take: tasks warm up two at a time, and each pair is a probing rebalance."""
_RACK_AWARE_WORK = 100
"""How many times as long KIP-925's flow takes, for a client and task, as the rest does."""


def run(uow: UnitOfWork, request: Mapping[str, Any], limits: Limits) -> Plan:
    """Answer a request that `stored` kept: what a job of this kind does."""
    return plan_streams(uow, restored(request), limits, is_job=True)


def plan_streams(
    uow: UnitOfWork,
    request: StreamsRequest,
    limits: Limits,
    *,
    if_match: Sequence[str] = (),
    is_job: bool = False,
    plan_id: UUID | None = None,
) -> Plan:
    """Predict the assignment and keep the plan; a request that was answered before gets the same plan again.

    Raises
    ------
    SnapshotNotFound, SnapshotChanged, LimitExceeded
    ImpossibleValue, ConflictingFields, DuplicateClient : what cannot be asked.
    KafkaRefuses : what Kafka's own code does with such an application.
    """
    check(request, limits)
    snapshot, cluster = None, None
    if request.snapshot_id is not None:
        snapshot, cluster = snapshots.load(uow, request.snapshot_id)
        if if_match:
            snapshots.require_unchanged(uow, snapshot.cluster, if_match)
    uow.release()
    new = _plan(request, snapshot, cluster, limits, is_job=is_job)
    return Plan(uow.plans.keep(new, plan_id=plan_id), tuple(new.placements))


def plan(request: StreamsRequest, cluster: Cluster | None, limits: Limits) -> NewPlan:
    """Predict the assignment, and keep nothing. Raises as `plan_streams` does."""
    check(request, limits)
    return _plan(request, None, cluster, limits, is_job=True)


def warm_up() -> None:
    """Load the compiled loops, so that no caller waits for them."""
    ids = [(subtopology, number) for subtopology in range(2) for number in range(3)]
    tasks = StreamsTasks(ids, ids)
    read = {task: [("t", task[1])] for task in ids}
    partitions = TaskPartitions(read, read, {"t": [[0, 1], [1, 2], [2, 0]]}, {0: "a", 1: "b", 2: "c"})
    clients = [
        StreamsClient(UUID(int=place + 1), 1, {"zone": rack}, rack, default_lag=0) for place, rack in enumerate("abc")
    ]
    for strategy in RackAwareStrategy:
        for tags in ((), ("zone",)):
            options = StreamsOptions(1, rack_aware_assignment_tags=tags, rack_aware_assignment_strategy=strategy)
            for assignor in STREAMS_ASSIGNORS.values():
                assignor.assign(clients, tasks, options, partitions)


def check(request: StreamsRequest, limits: Limits) -> None:
    """Raise what is wrong with a request before anything is looked up: conflicts and limits."""
    if request.snapshot_id is not None and (request.brokers is not None or request.topics is not None):
        detail = "a request names either a snapshot_id or brokers and topics"
        raise ConflictingFields(detail, path=("snapshot_id",))
    check_brokers(request.brokers or (), limits)
    limits.check_count("topics", request.topics or (), path=("topics",))
    limits.check_count("members", request.clients, path=("clients",))
    limits.check_count("partitions", request.tasks or (), path=("tasks",))
    limits.check_count("events", request.events, path=("events",))


def _plan(
    request: StreamsRequest, snapshot: Snapshot | None, cluster: Cluster | None, limits: Limits, *, is_job: bool
) -> NewPlan:
    metadata = None if cluster is None else metadata_of(cluster)
    if metadata is None and request.topics is not None:
        metadata = listed_metadata(request.brokers or (), request.topics)
    source = source_of(request, metadata)
    require_tags_within_limits(source.clients, source.options)
    _check_size(request, source, limits, is_job=is_job)
    assignor = STREAMS_ASSIGNORS[request.assignor]
    found = assignor.assign(source.clients, source.tasks, source.options, source.partitions)
    said = violations(found, source.clients, source.tasks, source.options)
    steps = steps_of(request, source, assignor.assign)
    best, best_cautions = best_json(source, found)
    addition, addition_cautions = addition_json(source)
    cautions = (*source.cautions, *_cautions(source, request, found), *best_cautions, *addition_cautions)
    answer: dict[str, Json] = {
        # Nothing is drawn: the same clients get the same answer.
        "prediction": "replay",
        "seed": None,
        "assignor": assignor.name,
        "protocol": "classic",
        **report(source, found),
        "rack_aware": rack_aware_json(source, found, assignor),
        "best_standbys": best,
        "addition": addition,
        "steps": steps,
        "violations": [
            {
                "code": its.code,
                "severity": its.severity,
                "count": its.count,
                "tasks": [f"{subtopology}_{partition}" for subtopology, partition in its.tasks],
                "detail": its.detail,
            }
            for its in said
        ],
        "warnings": [caution.as_json() for caution in cautions],
    }
    canonical = _canonical(request, snapshot, cluster)
    return NewPlan(
        kind=KIND,
        hash=sha256(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS)).hexdigest(),
        cluster=None if cluster is None else cluster.name,
        snapshot_id=request.snapshot_id,
        labels=dict(request.labels),
        request=canonical,
        answer=answer,
        placements=placements_of(found),
    )


def _canonical(request: StreamsRequest, snapshot: Snapshot | None, cluster: Cluster | None) -> dict[str, Json]:
    """The request with nothing left to guess: what the hash is of, and what is kept."""
    asked = dict(stored(request))
    # What is in a snapshot counts, not under which id it is kept.
    del asked["snapshot_id"]
    return {
        **asked,
        "kind": KIND,
        "engine_version": ENGINE_VERSION,
        "cluster": None if cluster is None else cluster.name,
        "snapshot_content_hash": None if snapshot is None else snapshot.content_hash,
        "labels": dict(sorted(request.labels.items())),
    }


def _check_size(request: StreamsRequest, source: Source, limits: Limits, *, is_job: bool) -> None:
    """Tasks × clients, once for the plan and some times for each step of an event."""
    tasks = {*source.tasks.ids, *source.tasks.stateful}
    limits.check_number("partitions", len(tasks), path=("tasks",))
    rolling = sum(event.rolling_deploy is not None for event in request.events)
    steps = len(request.events) + rolling * len(source.clients)
    joining = sum(len(event.scale_out or ()) for event in request.events)
    work = len(tasks) * (len(source.clients) + joining) * (1 + _REBALANCES_A_STEP * steps)
    limits.check_number("replicas", work, path=("clients",))
    if source.options.rack_aware_assignment_strategy is not RackAwareStrategy.NONE:
        work *= _RACK_AWARE_WORK
    if not is_job:
        remedy = "; send the same request with the header `Prefer: respond-async` and it becomes a job"
        limits.check_number("sync_partitions", work // 10, path=("clients",), remedy=remedy)


def _cautions(source: Source, request: StreamsRequest, found: StreamsAssignment) -> Iterator[Caution]:
    """What Kafka does unasked, and for whom the prediction holds."""
    assignor = STREAMS_ASSIGNORS[request.assignor]
    tags = request.rack_aware_assignment_tags
    if tags and not assignor.minds_tags:
        yield Caution("assignor_ignores_tags", f"{assignor.name} places standbys by load alone, whatever their tags")
    if tags and not request.num_standby_replicas:
        detail = "rack.aware.assignment.tags decide where standbys go, and num.standby.replicas is 0"
        yield Caution("no_standbys", detail)
    if request.rack_aware_assignment_strategy != RackAwareStrategy.NONE.value:
        off = why_off(source.clients, source.options, source.partitions)
        if not assignor.minds_racks:
            yield Caution("assignor_ignores_racks", f"{assignor.name} does not look at racks")
        elif off is not None and off.reason is not RacksOff.NO_STRATEGY:
            detail = f"KIP-925 is off, and Kafka says nothing of it: {off.detail}"
            yield Caution("rack_aware_assignment_off", detail)
    if tags or request.rack_aware_assignment_strategy != RackAwareStrategy.NONE.value:
        yield Caution(
            "classic_protocol_only",
            "the group's leader assigns so under the classic protocol; the broker's own assignor (KIP-1071) has no "
            "rack-aware standbys",
        )
    if found.probing_rebalance:
        yield Caution(
            "probing_rebalance_follows",
            f"{int(found.warmup.sum())} warm-ups are to catch up; after probing.rebalance.interval.ms the group "
            "rebalances again, and tasks move to where they have",
        )
