"""Verify a reassignment of any origin against the cluster of a snapshot."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Literal
from uuid import UUID

import numpy as np
from pydantic import Field

from app.core.kafka_versions import KafkaVersion, release_of
from app.core.measures.losses import Losses
from app.core.measures.movement import Movement, PartitionChange, movement
from app.core.measures.partition_table import PartitionTable, log_dir_losses
from app.core.measures.placement import AttributeExposure, PlacementMeasures, exposure_by_attribute, measure
from app.core.measures.tally import tally
from app.core.measures.violations import Violation, violations
from app.core.model import LISTS_CHECKED_SINCE, NO_REPLICA, Assignment, Cluster, Int32s, cordoned_brokers, padded
from app.errors.every import ConflictingFields, Json, MalformedText, ReassignmentUnderWay
from app.formats.kafka_files import reassignment_output
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.kafka_files.reassignment_output import Source, ToolOutput
from app.services import snapshots
from app.services.bodies import ABSENT, AnswerRecord, ListOf
from app.services.cautions import Caution
from app.services.checks.health import (
    FirstToFail,
    Health,
    HealthRequest,
    LeastRepair,
    LogDirOverLimit,
    health_of,
)
from app.services.checks.minimum import Minimum, minimum_for
from app.services.checks.progress import Progress, planned_lists, progress_of
from app.services.checks.safety import below_min_isr, require_legal, safety_of
from app.services.fields import Id, min_isr_of, with_defaults
from app.services.limits import Limits
from app.services.plans import Allowance, as_json
from app.services.reassignment.reports.loads import BrokerLoads, CrossRackReport
from app.services.reassignment.reports.losses import LossReport, OverLimit
from app.services.reassignment.requests.parts import Limited, check_resources
from app.services.replicas import DiffSummary
from app.services.replicas.answers import AwareMeasures
from app.store.records import Snapshot
from app.store.unit import UnitOfWork

UNSTATED = HealthRequest()
_UNLIMITED = Allowance(Limits(), is_job=True)
NAMED_CHANGES = 100
"""The most partitions named that changed since the snapshot; all are counted."""


class Changed(AnswerRecord, schema="ChangedDocument"):
    """Reassigned partitions that the newest snapshot has otherwise: the first of them, and how many there are."""

    snapshot_id: Id
    """Id of the newest snapshot of the cluster."""
    count: int
    """Number of reassigned partitions that it has otherwise."""
    partitions: ListOf[PartitionChange]
    """The first of these partitions: their replicas in the checked snapshot and in the newest one."""


class CheckDocument(AnswerRecord, kw_only=True):
    """Check of the cluster once the reassignment is done, or of the cluster as it is.

    `violations` and `measures` are of the reassigned partitions, by attribute too where the brokers have some;
    `movement` is the movement to do, `minimum` the least to the same end; `fresh` is whether the cluster was last seen
    in the state of this snapshot, and `changed` lists the differences if it was not.
    """

    snapshot_id: Id
    """Id of the snapshot that was checked against."""
    snapshot_content_hash: str
    """Content hash of this snapshot, in hexadecimal."""
    violations: list[Violation]
    """Ways in which the result is illegal or fragile, by topic; empty if there are none."""
    measures: PlacementMeasures | AwareMeasures
    """Balance over brokers, rack safety and the cost of each loss, of the reassigned partitions."""
    movement: DiffSummary | None
    """Counts of changes, of which Kafka copies `replicas_added`; null of a cluster as it is."""
    minimum: Minimum | None
    """The least movement with the same end; null of a cluster as it is."""
    fresh: bool
    """Whether no newer snapshot of the cluster differs from the checked one."""
    kafka_version: Annotated[str, Field(examples=["4.2.0"])]
    """The release of Kafka that the check is for."""
    changed: Changed | None
    """Differences of the newest snapshot; null if `fresh`."""
    source: Literal["file", "generate", "execute", "verify"] | None
    """Which output of `kafka-reassign-partitions` was checked; null of a reassignment as JSON."""
    progress: Progress | None
    """Results of `--verify`; null of any other output."""
    loads: dict[str, BrokerLoads] | None = ABSENT
    """By broker id, the load of each resource of known load; absent of a reassignment without resources."""
    cross_rack: CrossRackReport | None = ABSENT
    """Bytes/s between racks; absent of a reassignment without resources, null if they are unknown."""
    skew: dict[Limited, float] | None = ABSENT
    """By resource, the largest load above the mean: 0.1 is 10 %; absent of a reassignment without resources."""
    over_limit: list[OverLimit] | None = ABSENT
    """Brokers above a limit, by broker id and resource; absent of a reassignment without resources."""
    log_dirs_over_limit: list[LogDirOverLimit] | None = ABSENT
    """Log directories above a limit, by broker id and path; null if `limits.log_dirs` has none, and of a
    reassignment; absent of one without resources."""
    fails_first: list[FirstToFail] | None = ABSENT
    """The load nearest to a limit or capacity: before any loss, after the worst loss of a broker, and of a rack; absent
    of a reassignment without resources."""
    least_repair: LeastRepair | None = ABSENT
    """The least repair of a cluster as it is; null if the cluster cannot be repaired, which a warning explains. Of a
    reassignment it is null, and absent if the check has no resources."""
    losses: list[LossReport] | None = ABSENT
    """State after each loss: brokers by id, then racks by name; null unless requested, absent if a reassignment is
    checked."""
    warnings: ListOf[Caution]
    """Conditions that did not prevent the check; empty if there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The report on a reassignment that Kafka would accept, or on a cluster as it is.

    Parameters
    ----------
    snapshot : None if the cluster comes from no stored snapshot.
    movement, minimum : None of a cluster as it is.
    """

    violations: Sequence[Violation]
    measures: PlacementMeasures
    exposure: dict[str, AttributeExposure]
    """By each attribute of the snapshot's brokers, in the order of their names."""
    version: KafkaVersion
    """The release that it is checked for."""
    snapshot: Snapshot | None = None
    movement: Movement | None = None
    cautions: Sequence[Caution] = ()
    minimum: Minimum | None = None
    changed: Changed | None = None
    """Reassigned partitions that changed since the snapshot; None if it is fresh."""
    source: Source | None = None
    """Format of the text with the reassignment; None if it was no text."""
    progress: Progress | None = None
    """Of the output of --verify."""
    health: Health | None = None
    """Of a cluster as it is, and of a reassignment if resources are stated."""

    @property
    def fresh(self) -> bool | None:
        """Whether no newer snapshot of the cluster differs; None if the cluster comes from no stored snapshot."""
        return None if self.snapshot is None else self.changed is None

    def as_json(self) -> dict[str, Json]:
        """The document of the API."""
        document = CheckDocument.of(
            self,
            snapshot_id=None if self.snapshot is None else self.snapshot.id,
            snapshot_content_hash=None if self.snapshot is None else self.snapshot.content_hash,
            measures=AwareMeasures.of(self.measures, self.exposure) if self.exposure else self.measures,
            movement=None if self.movement is None else DiffSummary.of(self.movement),
            kafka_version=str(self.version),
            warnings=self.cautions,
            **({} if self.health is None else self.health.as_json()),
        )
        plain: dict[str, Json] = as_json(document)
        return plain


def check(
    uow: UnitOfWork,
    snapshot_id: UUID,
    given: Reassignment | None,
    limits: Limits,
    *,
    output: str | None = None,
    running_reassignment: Literal["refuse", "merge"] = "merge",
    kafka_version: str | None = None,
    request: HealthRequest = UNSTATED,
) -> Check:
    """Verify a reassignment against the cluster of a snapshot.

    Parameters
    ----------
    given : the reassignment; None if the output has it.
    output : of `kafka-reassign-partitions`; beside a reassignment only of `--verify`.
    running_reassignment : how partitions in reassignment are read: `merge` takes their target replicas.
    kafka_version : the release that executes the reassignment; None is the snapshot's, or the newest.
    request : tolerances, and resources, if any: loads after the reassignment are reported then.

    Raises
    ------
    SnapshotNotFound, LimitExceeded, UnsupportedKafkaVersion
    As `health_of` with resources.
    ConflictingFields : there is neither a reassignment nor an output, or both. MalformedText : the output.
    IllegalReassignment : Kafka would reject all of it; `errors` in its context names the places.
    ReassignmentUnderWay : some of its partitions are being reassigned, and the request rejects that.
    """
    printed = None if output is None else printed_output(output, given)
    snapshot, cluster = snapshots.load(uow, snapshot_id)
    reassignment, unknown = _reassignment(given, printed, cluster)
    path = ("reassignment", "partitions") if printed is None else ("output",)
    limits.check_number("sync_partitions", len(reassignment.partitions), path=path)
    checked = check_reassignment(cluster, reassignment, running_reassignment, kafka_version, request, Allowance(limits))
    source = None if printed is None else printed.source
    return replace(
        checked,
        snapshot=snapshot,
        changed=_changed(uow, snapshot, _where(cluster, assignments_of(reassignment))),
        source=source,
        progress=progress_of(printed.verified, given, cluster) if printed and source == "verify" else None,
        cautions=[*skipped_lines(printed), *unknown, *checked.cautions],
    )


def check_reassignment(
    cluster: Cluster,
    reassignment: Reassignment,
    running_reassignment: Literal["refuse", "merge"] = "merge",
    kafka_version: str | None = None,
    request: HealthRequest = UNSTATED,
    allowance: Allowance = _UNLIMITED,
) -> Check:
    """Verify a reassignment of a cluster that is not stored: `check` without stored snapshots."""
    version = release_of(kafka_version, cluster.kafka_version)
    require_legal(reassignment, cluster, version)
    after = assignments_of(reassignment)
    cluster, assumed = with_defaults(cluster, request.defaults, after)
    before = _where(cluster, after)
    checked = _checked(cluster, after, version, request.placement)
    found, cautions = safety_of(cluster, after, version, allow_lower_factor=request.allow_lower_factor)
    health = None
    if request.has_resources:
        check_resources(request)
        health = health_of(cluster, request, allowance, version, after)
    of_disks, of_health = ((), ()) if health is None else (health.violations, health.cautions)
    return replace(
        checked,
        violations=sorted([*checked.violations, *found, *of_disks], key=attrgetter("topic")),
        movement=movement(before, after),
        cautions=[
            *_cautions(reassignment, cluster, running_reassignment),
            *_of_cordons(before, after, cluster),
            *_of_observers(reassignment, cluster),
            *assumed,
            *cautions,
            *of_health,
        ],
        minimum=minimum_for(cluster, before, after),
        health=health,
    )


def check_health(
    uow: UnitOfWork, snapshot_id: UUID, request: HealthRequest, limits: Limits, kafka_version: str | None = None
) -> Check:
    """Report on the cluster of a snapshot as it is.

    Raises
    ------
    SnapshotNotFound, LimitExceeded, UnsupportedKafkaVersion, and as `health_of`.
    """
    snapshot, cluster = snapshots.load(uow, snapshot_id)
    checked = check_cluster(cluster, kafka_version, request, Allowance(limits))
    where = {topic.name: topic.destination for topic in cluster.topics}
    return replace(checked, snapshot=snapshot, changed=_changed(uow, snapshot, where))


def check_cluster(cluster: Cluster, kafka_version: str | None, request: HealthRequest, allowance: Allowance) -> Check:
    """Verify a cluster as it is; partitions that are being reassigned, as they will be. Raises as `health_of` does."""
    cluster, assumed = with_defaults(cluster, request.defaults)
    after = {topic.name: topic.destination for topic in cluster.topics}
    version = release_of(kafka_version, cluster.kafka_version)
    check_resources(request)
    health = health_of(cluster, request, allowance, version)
    checked = _checked(cluster, after, version, request.placement)
    table = PartitionTable.of(cluster)
    losses = replace(table.states().losses(table.brokers), log_dirs=log_dir_losses(cluster, table))
    found = [*checked.violations, *below_min_isr(cluster, after)]
    return replace(
        checked,
        violations=sorted(found, key=attrgetter("topic")),
        measures=replace(checked.measures, losses=losses),
        health=health,
        cautions=(*assumed, *health.cautions),
    )


def losses_before(cluster: Cluster, reassignment: Reassignment, request: HealthRequest = UNSTATED) -> Losses | None:
    """The losses of the partitions of a legal reassignment before it, as if all of their replicas were in sync."""
    after = assignments_of(reassignment)
    cluster, _ = with_defaults(cluster, request.defaults, after)
    return measure(tally(_where(cluster, after), cluster.known_brokers), min_isr_of(cluster.topics)).losses


def _checked(
    cluster: Cluster, after: Mapping[str, Assignment], version: KafkaVersion, in_rack: Collection[str]
) -> Check:
    """The violations and measures of an assignment over the brokers of a cluster."""
    counts = tally(after, cluster.known_brokers)
    return Check(
        violations=violations(counts, in_rack),
        measures=measure(counts, min_isr_of(cluster.topics)),
        exposure=exposure_by_attribute(
            after, cluster.known_brokers, sorted({name for broker in cluster.brokers for name in broker.attributes})
        ),
        version=version,
    )


def assignments_of(reassignment: Reassignment) -> dict[str, Assignment]:
    """The assignment of the partitions of a reassignment, by topic."""
    ordered = sorted(reassignment.partitions, key=attrgetter("topic", "partition"))
    return {topic: _assignment(list(group)) for topic, group in groupby(ordered, key=attrgetter("topic"))}


def printed_output(output: str, given: Reassignment | None = None) -> ToolOutput:
    """The reassignment or the states of a text. Raises `MalformedText`; `ConflictingFields` if one is given as well."""
    try:
        printed = reassignment_output.read(output)
    except MalformedText as malformed:
        malformed.path = ("output",)
        raise
    if given is not None and printed.source != "verify":
        detail = f"output has the reassignment itself, as {printed.source}; leave reassignment out"
        raise ConflictingFields(detail, path=("reassignment",))
    return printed


def _reassignment(
    given: Reassignment | None, printed: ToolOutput | None, cluster: Cluster
) -> tuple[Reassignment, Sequence[Caution]]:
    if printed is not None and printed.reassignment is None:
        return planned_lists(printed.verified, given, cluster)
    if (stated := given if printed is None else printed.reassignment) is None:
        detail = "a reassignment is required: as reassignment, or as output of kafka-reassign-partitions"
        raise ConflictingFields(detail, path=("reassignment",))
    return stated, ()


def skipped_lines(printed: ToolOutput | None) -> list[Caution]:
    """Warnings about what was not read of a text."""
    if printed is None:
        return []
    skipped = [snapshots.of_skipped_lines(printed.skipped)] if printed.skipped else []
    return [*skipped, *[Caution(note.code, note.detail) for note in printed.notes]]


def _where(cluster: Cluster, assignments: Mapping[str, Assignment]) -> dict[str, Assignment]:
    """Current or target replicas of these partitions, of those that the cluster has."""
    return {
        name: _only(topic.destination, assignment.partition_ids)
        for name, assignment in assignments.items()
        if (topic := cluster.topic(name)) is not None
    }


def _changed(uow: UnitOfWork, snapshot: Snapshot, before: Mapping[str, Assignment]) -> Changed | None:
    newest = uow.snapshots.newest(snapshot.cluster)
    if newest is None or newest.id == snapshot.id:
        return None
    _, cluster = snapshots.load(uow, newest.id)
    moved = movement(before, _where(cluster, before))
    return Changed(newest.id, moved.total, moved.changes(0, NAMED_CHANGES))


def _assignment(partitions: Sequence[PartitionReassignment]) -> Assignment:
    ids = np.array([partition.partition for partition in partitions], np.int32)
    return Assignment(ids, padded([partition.replicas for partition in partitions]))


def _only(assignment: Assignment, partition_ids: Int32s) -> Assignment:
    rows = np.isin(assignment.partition_ids, partition_ids)
    return Assignment(assignment.partition_ids[rows], assignment.replicas[rows])


def _of_cordons(before: Mapping[str, Assignment], after: Mapping[str, Assignment], cluster: Cluster) -> list[Caution]:
    """Cordoned brokers that get replicas, where Kafka accepts that."""
    ids = np.array(sorted(cordoned_brokers(cluster)), np.int32)
    gains = [
        broker
        for name, assignment in after.items()
        for old, new in zip(before[name].replicas.tolist(), assignment.replicas.tolist(), strict=True)
        for broker in set(new) - set(old)
    ]
    named = np.intersect1d(ids, np.array(gains, np.int32))
    if not len(named):
        return []
    detail = f"{len(named)} cordoned brokers get replicas, which Kafka accepts before {LISTS_CHECKED_SINCE}"
    return [Caution("cordoned_brokers_receive", detail, tuple(named.tolist()))]


def _of_observers(reassignment: Reassignment, cluster: Cluster) -> list[Caution]:
    """Partitions with fewer observers than now, which Confluent Server then has as ordinary replicas."""
    losing = []
    for partition in reassignment.partitions:
        topic = cluster.topic(partition.topic)
        if topic is not None and topic.observers is not None:
            row = topic.observers[topic.partition_ids == partition.partition]
            if np.count_nonzero(row != NO_REPLICA) > len(partition.observers):
                losing.append(f"{partition.topic}-{partition.partition}")
    if not losing:
        return []
    detail = f"{len(losing)} partitions have fewer observers after the reassignment, {losing[0]} first"
    return [Caution("observers_dropped", f"{detail}; `observers` of a partition lists them")]


def _cautions(reassignment: Reassignment, cluster: Cluster, running: str) -> list[Caution]:
    reassigned = {(partition.topic, partition.partition) for partition in reassignment.partitions}
    moving = [
        f"{topic.name}-{partition}"
        for topic in cluster.topics
        for partition in topic.partition_ids[topic.is_moving].tolist()
        if (topic.name, partition) in reassigned
    ]
    if not moving:
        return []
    already = f"{len(moving)} of the partitions are being reassigned already, {moving[0]} first"
    if running == "refuse":
        raise ReassignmentUnderWay(
            f'{already}; `"running_reassignment": "merge"` takes them to be where they are going',
            path=("running_reassignment",),
            value=running,
            partitions=moving[:NAMED_CHANGES],
            count=len(moving),
        )
    return [Caution("already_reassigning", f"{already}; Kafka wants --additional")]
