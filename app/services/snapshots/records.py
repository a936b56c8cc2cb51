"""Store the state of a cluster and find it again."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID

from app.core.measures.health import cluster_health
from app.core.model import Broker, Cluster, Topic
from app.core.recorded import RecordedGroup
from app.errors import Failure, FieldPath
from app.errors.lookups import SnapshotNotFound
from app.errors.quotation import quoted
from app.errors.requests import (
    DuplicateBroker,
    DuplicateGroup,
    DuplicateMember,
    DuplicatePartition,
    DuplicateTopic,
    SnapshotChanged,
    UnrelatedBrokers,
)
from app.errors.suggestions import suggestion
from app.formats.snapshots import snapshot_columns, snapshot_json
from app.formats.syntax.quantities import counted
from app.services.cautions import Caution
from app.services.limits import Limits
from app.services.snapshots import cautions as snapshot_cautions
from app.services.snapshots.recent import RECENT, memory_of
from app.store.records import Snapshot

if TYPE_CHECKING:
    from app.store.database import UnitOfWork

_SHOWN_BROKERS = 9
COLUMNS_FROM = 20_000
"""Partitions from which a cluster is stored as columns, too: its document takes 50 ms to read."""


def store(
    uow: "UnitOfWork",
    cluster: Cluster,
    limits: Limits,
    *,
    cautions: Sequence[Caution] = (),
    snapshot_id: UUID | None = None,
) -> Snapshot:
    """Store the state of a cluster. The same state of the same cluster is one snapshot, however often it is posted.

    Raises `DuplicateBroker`, `DuplicateTopic`, `DuplicateGroup`, `DuplicateMember`, `DuplicatePartition`,
    `LimitExceeded`, `UnrelatedBrokers`.
    """
    check_brokers(cluster.brokers, limits)
    posted = cluster
    cluster, earlier = _with_earlier_brokers(uow, posted)
    _check_topics(cluster.topics)
    _check_holders(cluster)
    _check_groups(cluster.groups)
    document = snapshot_json.write(cluster)
    partitions = sum(len(topic.partition_ids) for topic in cluster.topics)
    return uow.snapshots.store(
        snapshot_id=snapshot_id,
        cluster=cluster.name,
        content_hash=sha256(document).hexdigest(),
        document=document,
        columns=snapshot_columns.write(cluster) if partitions >= COLUMNS_FROM else None,
        summary={
            "brokers": len(cluster.brokers),
            "racks": len({broker.rack for broker in cluster.brokers if broker.rack is not None}),
            "topics": len(cluster.topics),
            "partitions": partitions,
            "groups": len(cluster.groups),
            "kafka_version": cluster.kafka_version,
            "controller": cluster.controller,
            "health": asdict(cluster_health(cluster)),
            "warnings": [caution.as_json() for caution in (*snapshot_cautions.of_cluster(posted), *earlier, *cautions)],
        },
    )


def _with_earlier_brokers(uow: "UnitOfWork", cluster: Cluster) -> tuple[Cluster, Sequence[Caution]]:
    """The cluster with the brokers that have replicas and are not listed, as fenced ones, if its newest snapshot lists
    them: a broker that is down is still in its rack. The others remain unlisted.
    """
    listed = {broker.id for broker in cluster.brokers}
    unlisted = set(cluster.replica_holders().tolist()) - listed
    newest = uow.snapshots.newest(cluster.name) if unlisted and listed else None
    if newest is None:
        return cluster, ()
    _, before = load(uow, newest.id)
    down = [replace(broker, fenced=True) for broker in before.brokers if broker.id in unlisted]
    if not down:
        return cluster, ()
    ids = tuple(sorted(broker.id for broker in down))
    detail = (
        f"{counted(len(ids), 'broker')} with replicas {'is' if len(ids) == 1 else 'are'} not listed, as when down: "
        f"{'its rack is' if len(ids) == 1 else 'their racks are'} those of snapshot {newest.id}, the newest before"
    )
    brokers = tuple(sorted((*cluster.brokers, *down), key=lambda broker: broker.id))
    return replace(cluster, brokers=brokers), (Caution("brokers_of_earlier_snapshot", detail, ids),)


def load(uow: "UnitOfWork", snapshot_id: UUID) -> tuple[Snapshot, Cluster]:
    """A snapshot and its cluster, or `SnapshotNotFound`."""
    snapshot = uow.snapshots.get(snapshot_id)
    cluster = RECENT.get(snapshot.content_hash)
    if cluster is None:
        columns = uow.snapshots.columns(snapshot_id)
        if columns is not None:
            cluster = snapshot_columns.read(columns)
        else:
            cluster = snapshot_json.read(uow.snapshots.document(snapshot_id))
        RECENT.keep(snapshot.content_hash, cluster, memory_of(cluster))
    return snapshot, cluster


def newest(uow: "UnitOfWork", cluster: str, at: FieldPath = ()) -> Snapshot:
    """The snapshot of the latest known state of a cluster, or `SnapshotNotFound` at `at` + `cluster`."""
    snapshot = uow.snapshots.newest(cluster)
    if snapshot is None:
        detail = f"there is no snapshot of a cluster {quoted(cluster)}{suggestion(cluster, uow.snapshots.clusters())}"
        raise SnapshotNotFound(detail, path=(*at, "cluster"), value=cluster)
    return snapshot


def is_fresh(uow: "UnitOfWork", snapshot: Snapshot) -> bool:
    """Whether the cluster was last seen in the state of this snapshot."""
    newest = uow.snapshots.newest(snapshot.cluster)
    return newest is not None and newest.id == snapshot.id


def require_unchanged(uow: "UnitOfWork", cluster: str, content_hashes: Sequence[str]) -> None:
    """Raise `SnapshotChanged` unless the cluster was last seen in one of these states."""
    newest = uow.snapshots.newest(cluster)
    if newest is None or newest.content_hash not in content_hashes:
        seen = None if newest is None else newest.content_hash
        raise SnapshotChanged(
            f"cluster {cluster} was last seen as {seen}; "
            f"If-Match names {quoted(', '.join(content_hashes)) or 'nothing'}",
            cluster=cluster,
            content_hash=seen,
        )


def check_brokers(brokers: Sequence[Broker], limits: Limits) -> None:
    """Raise `DuplicateBroker` or `LimitExceeded` if a list of brokers is not valid."""
    limits.check_count("brokers", brokers, path=("brokers",))
    ids = [broker.id for broker in brokers]
    require_distinct("broker", ids, DuplicateBroker, lambda place: ("brokers", place, "id"))


def _check_topics(topics: Sequence[Topic]) -> None:
    names = [topic.name for topic in topics]
    require_distinct("topic", names, DuplicateTopic, lambda place: ("topics", place, "name"))
    known = [(index, topic.topic_id) for index, topic in enumerate(topics) if topic.topic_id is not None]
    if (twice := first_repeated([topic_id for _, topic_id in known])) is not None:
        index, topic_id = known[twice]
        raise DuplicateTopic(
            f"two topics have the topic id {topic_id}", path=("topics", index, "topic_id"), value=topic_id
        )


def _check_holders(cluster: Cluster) -> None:
    """Some broker that holds a replica has to be listed; those that are down may be missing."""
    holders = cluster.replica_holders().tolist()
    listed = [broker.id for broker in cluster.brokers]
    if holders and not set(holders) & set(listed):
        raise UnrelatedBrokers(
            f"replicas are on brokers {_first(holders)}, of which none is listed (listed: {_first(sorted(listed))}); "
            "are the brokers and the topics of one cluster?",
            path=("brokers",),
            brokers=holders[:_SHOWN_BROKERS],
        )


def _first(ids: Sequence[int]) -> str:
    more = f" and {len(ids) - _SHOWN_BROKERS} more" if len(ids) > _SHOWN_BROKERS else ""
    return (", ".join(map(str, ids[:_SHOWN_BROKERS])) or "none") + more


def _check_groups(groups: Sequence[RecordedGroup]) -> None:
    ids = [group.group_id for group in groups]
    if (twice := first_repeated(ids)) is not None:
        raise DuplicateGroup(
            f"group {ids[twice]!r} is listed twice", path=("groups", twice, "group_id"), value=ids[twice]
        )
    for index, group in enumerate(groups):
        path: FieldPath = ("groups", index)
        members = [member.member_id for member in group.members]
        if (twice := first_repeated(members)) is not None:
            raise DuplicateMember(
                f"member {members[twice]!r} of group {group.group_id!r} is listed twice",
                path=(*path, "members", twice, "member_id"),
                value=members[twice],
            )
        read = [(offset.topic, offset.partition) for offset in group.offsets]
        if (twice := first_repeated(read)) is not None:
            topic, partition = read[twice]
            raise DuplicatePartition(
                f"group {group.group_id!r} has two offsets of partition {topic}-{partition}",
                path=(*path, "offsets", twice, "partition"),
                value=partition,
            )


def require_distinct(
    noun: str, values: Sequence[int | str], failure: type[Failure], path: Callable[[int], FieldPath]
) -> None:
    """Raise `failure` if a value is listed twice. `path` is that of the value at a position of the list."""
    if (twice := first_repeated(values)) is not None:
        raise failure(f"{noun} {values[twice]} is listed twice", path=path(twice), value=values[twice])


def first_repeated(values: Sequence[Hashable]) -> int | None:
    """The index of the first value that repeats an earlier one, or None."""
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            return index
        seen.add(value)
    return None
