"""Plan a consumer group: who reads what after the next rebalance, what events do to it, how much better could be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson

from app.core import ENGINE_VERSION
from app.core.groups.lifecycle.events import apply_events
from app.core.groups.lifecycle.rebalance_trigger import trigger
from app.core.groups.measures.violations import GroupViolation, violations
from app.core.model import Cluster
from app.errors import ConflictingFields, DuplicateMember, DuplicateTopic, Json
from app.services import snapshots
from app.services.groups import comparison, reports
from app.services.groups.cautions import cautions_of
from app.services.groups.predictions import Prediction, predict
from app.services.groups.readers import readers_of
from app.services.groups.requests import GroupRequest, restored, stored
from app.services.groups.sources import Source, event_of, metadata_of, source_of
from app.services.limits import Limits
from app.services.plans import Plan, as_json
from app.services.snapshots import check_brokers, first_repeated
from app.store.database import UnitOfWork
from app.store.plans import NewPlan
from app.store.snapshots import Snapshot

KIND = "group"


def run(uow: UnitOfWork, request: Mapping[str, Any], limits: Limits) -> Plan:
    """Answer a request that `stored` kept: what a job of this kind does."""
    return plan_group(uow, restored(request), limits, is_job=True)


def plan_group(
    uow: UnitOfWork,
    request: GroupRequest,
    limits: Limits,
    *,
    if_match: Sequence[str] = (),
    is_job: bool = False,
    plan_id: UUID | None = None,
) -> Plan:
    """Predict the group and keep the plan; a request that was answered before gets the same plan again.

    Raises
    ------
    SnapshotNotFound, SnapshotChanged, LimitExceeded
    ConflictingFields, DuplicateBroker, DuplicateTopic, DuplicateMember : what cannot be asked.
    MalformedText, CorruptProtocolBytes : a member's raw metadata cannot be read.
    KafkaRefuses, AssignorNeverEnds : what Kafka's own assignor does with such a group.
    """
    check(request, limits)
    site = _Site()
    if request.snapshot_id is not None:
        site = _Site(*snapshots.load(uow, request.snapshot_id))
        if if_match and site.snapshot is not None:
            snapshots.require_unchanged(uow, site.snapshot.cluster, if_match)
    before = None if request.previous_snapshot_id is None else snapshots.load(uow, request.previous_snapshot_id)
    uow.release()
    new = _plan(request, site, before, limits, is_job=is_job)
    return Plan(uow.plans.keep(new, plan_id=plan_id), tuple(new.placements))


def plan(request: GroupRequest, cluster: Cluster, limits: Limits) -> NewPlan:
    """Predict a group of a cluster, and keep nothing. Raises as `plan_group` does."""
    _check_lists(request, limits)
    return _plan(request, _Site(None, cluster), None, limits, is_job=True)


def check(request: GroupRequest, limits: Limits) -> None:
    """Raise what is wrong with a request before anything is looked up: conflicts, duplicates, limits."""
    if (request.snapshot_id is None) == (request.brokers is None and request.topics is None):
        raise ConflictingFields("a request names either a snapshot_id or brokers and topics", path=("snapshot_id",))
    if (request.members is None) == (request.group is None):
        raise ConflictingFields("a request lists members or names a group of its snapshot", path=("members",))
    if request.group is not None and request.snapshot_id is None:
        raise ConflictingFields("a group is read from a snapshot, and snapshot_id is not there", path=("group",))
    _check_lists(request, limits)


def _check_lists(request: GroupRequest, limits: Limits) -> None:
    check_brokers(request.brokers or (), limits)
    limits.check_count("topics", request.topics or (), path=("topics",))
    limits.check_count("members", request.members or (), path=("members",))
    limits.check_count("events", request.events, path=("events",))
    names = [topic.name for topic in request.topics or ()]
    if (twice := first_repeated(names)) is not None:
        raise DuplicateTopic(
            f"topic {names[twice]} is listed twice", path=("topics", twice, "name"), value=names[twice]
        )
    limits.check_number("partitions", sum(topic.partitions for topic in request.topics or ()), path=("topics",))
    _require_distinct(request)


def _require_distinct(request: GroupRequest) -> None:
    members = request.members or ()
    ids = [member.member_id for member in members]
    if (twice := first_repeated(ids)) is not None:
        raise DuplicateMember(
            f"member {ids[twice]} is listed twice", path=("members", twice, "member_id"), value=ids[twice]
        )
    places = [place for place, member in enumerate(members) if member.group_instance_id]
    instances = [str(members[place].group_instance_id) for place in places]
    if (twice := first_repeated(instances)) is not None:
        raise DuplicateMember(
            f"two members have the group instance id {instances[twice]}; Kafka fences the one that joined first",
            path=("members", places[twice], "group_instance_id"),
            value=instances[twice],
        )
    if request.leader is not None and request.members is not None and request.leader not in ids:
        raise ConflictingFields(
            f"the leader {request.leader} is none of the members", path=("leader",), value=request.leader
        )


@dataclass(frozen=True, slots=True)
class _Site:
    """The snapshot that the group is planned on, and its cluster; neither where brokers and topics are listed."""

    snapshot: Snapshot | None = None
    cluster: Cluster | None = None


def _plan(
    request: GroupRequest, site: _Site, before: tuple[Snapshot, Cluster] | None, limits: Limits, *, is_job: bool
) -> NewPlan:
    source = source_of(request, site.cluster)
    _check_size(request, source, limits, is_job=is_job)
    first, *others = source.assignors
    found = predict(first, source)
    answer: dict[str, Json] = {
        # An assignor draws nothing: the same members in the same order get the same answer. The optimum is Rackplan's.
        "prediction": "pinned" if first.runs_on == "nowhere" else "replay",
        "seed": None,
        "assignor": first.name,
        "protocol": first.protocol.value,
        **_report(source, found),
        "comparison": [comparison.row(found, source), *(comparison.compared(each, source) for each in others)],
        "steps": _steps(request, source, found),
        "trigger": None if before is None else _trigger(request, source, before[1]),
        "violations": as_json(_violations(found, source)),
        "warnings": [caution.as_json() for caution in cautions_of(found, source)],
    }
    canonical = _canonical(request, site, None if before is None else before[0])
    return NewPlan(
        kind=KIND,
        hash=sha256(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS)).hexdigest(),
        cluster=None if site.cluster is None else site.cluster.name,
        snapshot_id=request.snapshot_id,
        labels=dict(request.labels),
        request=canonical,
        answer=answer,
        placements=readers_of(found.members, source.metadata, found.assignment),
    )


def _violations(found: Prediction, source: Source) -> list[GroupViolation]:
    """What the verifier says of an assignment of which each partition has one reader.

    Where the load is to be even, numbers of partitions need not be.
    """
    if not found.assignor.is_exclusive:
        return []
    said = violations(found.members, source.metadata, found.assignment)
    return [violation for violation in said if violation.severity == "illegal" or source.load is None]


def _canonical(request: GroupRequest, site: _Site, before: Snapshot | None) -> dict[str, Json]:
    """The request with nothing left to guess: what the hash is of, and what is kept."""
    asked = dict(stored(request))
    # What is in a snapshot counts, not under which id it is kept.
    del asked["snapshot_id"], asked["previous_snapshot_id"]
    return {
        **asked,
        "kind": KIND,
        "engine_version": ENGINE_VERSION,
        "cluster": None if site.cluster is None else site.cluster.name,
        "snapshot_content_hash": None if site.snapshot is None else site.snapshot.content_hash,
        "previous_snapshot_content_hash": None if before is None else before.content_hash,
        "events": [event.as_json() for event in request.events],
        "labels": dict(sorted(request.labels.items())),
    }


def _check_size(request: GroupRequest, source: Source, limits: Limits, *, is_job: bool) -> None:
    """Partitions are counted once an assignor and once a rebalance; shared ones once for every member."""
    members, topics = source.listed, source.metadata.topics
    limits.check_count("members", members, path=("members",))
    grown = sum(event.topic_grown.partitions for event in request.events if event.topic_grown is not None)
    partitions = sum(len(topic.replicas) for topic in topics.values()) + grown
    limits.check_number("partitions", partitions, path=("topics",))
    restarts = sum(2 * len(members) if event.rolling_restart else 1 for event in request.events)
    work = partitions * (len(source.assignors) + restarts)
    if not all(assignor.is_exclusive for assignor in source.assignors):
        subscribed = (topics[name] for listed in members for name in listed.member.topics if name in topics)
        work += sum(len(topic.replicas) for topic in subscribed)
    limits.check_number("replicas", work, path=("topics",))
    if not is_job:
        remedy = "; send the same request with the header `Prefer: respond-async` and it becomes a job"
        limits.check_number("sync_partitions", work, path=("topics",), remedy=remedy)


def _report(source: Source, found: Prediction) -> dict[str, Json]:
    """What is said of the plan's own assignor."""
    is_exclusive = found.assignor.is_exclusive
    phases = [] if found.rebalance is None else reports.phases_json(found.rebalance)
    return {
        # The last phase's, where there are phases: what is as long as the group is written once.
        "assignment": phases[-1]["assignment"] if phases else reports.assignment_json(found.answer, found.members),
        "phases": phases,
        "settled": found.rebalance is None or found.rebalance.settled,
        "locality": reports.locality_json(found.members, source, found.assignment),
        "loads": reports.loads_json(found.members, source, found.assignment),
        "moved": found.moved,
        "revoked": found.revoked,
        "handover": None if found.handover is None else reports.handover_json(found.handover),
        # Where members share partitions there is nothing to divide, and so no best division.
        "optimum": reports.optimum_json(found.members, source) if is_exclusive else None,
    }


def _steps(request: GroupRequest, source: Source, found: Prediction) -> list[Json]:
    if not request.events:
        return []
    if found.rebalance is None and found.members:
        detail = f"{found.assignor.name} lets members share partitions; events move nothing there"
        raise ConflictingFields(detail, path=("events",))
    assignor = found.assignor
    steps = apply_events(
        found.rebalance.members if found.rebalance is not None else (),
        source.metadata,
        [event_of(event, assignor, ("events", i)) for i, event in enumerate(request.events)],
        assign=source.assign(assignor),
        protocol=assignor.protocol,
        leader=request.leader,
    )
    return [reports.step_json(step, request.events[step.index].as_json(), source) for step in steps]


def _trigger(request: GroupRequest, source: Source, before: Cluster) -> dict[str, Json]:
    members = [listed.member for listed in source.listed]
    leader = next((member for member in members if member.id == request.leader), members[0] if members else None)
    found = trigger(members, metadata_of(before), source.metadata, leader=leader)
    return {"leader": None if leader is None else leader.id, **reports.trigger_json(found)}
