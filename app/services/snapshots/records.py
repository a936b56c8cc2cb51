"""Store the state of a cluster and find it again."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.core.measures.health import cluster_health
from app.core.model import UNKNOWN_SIZE, Broker, Cluster, LogDirectory, Topic
from app.core.recorded import RecordedGroup
from app.errors import every as errors
from app.errors.every import Failure, FieldPath, quoted, suggestion
from app.formats.snapshots import snapshot_columns, snapshot_json
from app.services.cautions import Caution, caution
from app.services.limits import Limits
from app.services.snapshots import cautions as snapshot_cautions
from app.services.snapshots.cautions import of_assembly
from app.store.records import Snapshot
from app.store.unit import UnitOfWork

if TYPE_CHECKING:
    from app.formats.snapshots.assembly import Assembled

MOST_BYTES = 180 * 2**20
"""Memory of all cached clusters: some three million partitions with three replicas in large topics."""
_ARRAYS = (
    *("partition_ids", "replicas", "leaders", "isr", "adding", "removing", "size_bytes"),
    *("ingress_bytes_per_s", "log_dirs", "future_log_dirs", "elr", "observers"),
)
# Bytes besides arrays, measured; of a topic the objects of its arrays, of which most small topics consist.
_OF_CLUSTER, _OF_BROKER, _OF_TOPIC, _OF_GROUP, _OF_MEMBER, _OF_OFFSET, _OF_ASSIGNED = 1000, 250, 1000, 300, 600, 200, 40

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values that were used last, within a limit on their memory; those used least recently are dropped first.

    Parameters
    ----------
    most_bytes : memory of all values. The newest is cached whatever its size.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept_bytes = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value of a key, if it is cached."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: K, value: V, size_bytes: int) -> None:
        """Keep a value of this size, and drop others if they are too large together."""
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = value, size_bytes
            self._kept_bytes += size_bytes - before
            while len(self._values) > 1 and self._kept_bytes > self._most_bytes:
                _, (_, dropped) = self._values.popitem(last=False)
                self._kept_bytes -= dropped


def memory_of(cluster: Cluster) -> int:
    """The memory of a cluster in bytes: its arrays, and an estimate of its objects. Within a factor of two."""
    return (
        _OF_CLUSTER
        + _OF_BROKER * len(cluster.brokers)
        + sum(map(_memory_of_topic, cluster.topics))
        + sum(map(_memory_of_group, cluster.groups))
        + sum(_OF_BROKER * len(directories) for directories in cluster.log_dirs.values())
    )


def _memory_of_topic(topic: Topic) -> int:
    arrays: list[NDArray[Any] | None] = [getattr(topic, name) for name in _ARRAYS]
    return _OF_TOPIC + sum(array.nbytes for array in arrays if array is not None)


def _memory_of_group(group: RecordedGroup) -> int:
    assigned = 0
    for member in group.members:
        for of_topics in (member.owned, member.assigned, member.target):
            assigned += sum(1 + len(each.partitions) for each in of_topics or ())
        for tasks in (member.tasks, member.target_tasks):
            assigned += 0 if tasks is None else 2 * (len(tasks.active) + len(tasks.standby) + len(tasks.warmup))
        assigned += 2 * len(member.topics or ())
    return _OF_GROUP + _OF_MEMBER * len(group.members) + _OF_OFFSET * len(group.offsets) + _OF_ASSIGNED * assigned


RECENT: Recent[str, Cluster] = Recent(MOST_BYTES)
"""Clusters by the hash of their content, which has the name."""


_SHOWN_BROKERS = 9
COLUMNS_FROM = 20_000
"""Partitions from which a cluster is stored as columns, too: its document takes 50 ms to read."""


def store(
    uow: UnitOfWork,
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
            "warnings": [vars(caution) for caution in (*snapshot_cautions.of_cluster(posted), *earlier, *cautions)],
        },
    )


def _with_earlier_brokers(uow: UnitOfWork, cluster: Cluster) -> tuple[Cluster, Sequence[Caution]]:
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
    brokers = tuple(sorted((*cluster.brokers, *down), key=lambda broker: broker.id))
    return replace(cluster, brokers=brokers), (caution("brokers_of_earlier_snapshot", newest=newest.id, brokers=ids),)


def load(uow: UnitOfWork, snapshot_id: UUID) -> tuple[Snapshot, Cluster]:
    """A snapshot and its cluster, or `SnapshotNotFound`."""
    snapshot = uow.snapshots.get(snapshot_id)
    cluster = RECENT.get(snapshot.content_hash)
    if cluster is None:
        if (columns := uow.snapshots.columns(snapshot_id)) is not None:
            cluster = snapshot_columns.read(columns)
        else:
            cluster = snapshot_json.read(uow.snapshots.document(snapshot_id))
        RECENT.keep(snapshot.content_hash, cluster, memory_of(cluster))
    return snapshot, cluster


def newest(uow: UnitOfWork, cluster: str, at: FieldPath = ()) -> Snapshot:
    """The snapshot of the latest known state of a cluster, or `SnapshotNotFound` at `at` + `cluster`."""
    snapshot = uow.snapshots.newest(cluster)
    if snapshot is None:
        detail = f"there is no snapshot of a cluster {quoted(cluster)}{suggestion(cluster, uow.snapshots.clusters())}"
        raise errors.SnapshotNotFound(detail, path=(*at, "cluster"), value=cluster)
    return snapshot


def require_unchanged(uow: UnitOfWork, cluster: str, content_hashes: Sequence[str]) -> None:
    """Raise `SnapshotChanged` unless the cluster was last seen in one of these states."""
    newest = uow.snapshots.newest(cluster)
    if newest is None or newest.content_hash not in content_hashes:
        seen = None if newest is None else newest.content_hash
        raise errors.SnapshotChanged(
            f"cluster {cluster} was last seen as {seen}; "
            f"If-Match names {quoted(', '.join(content_hashes)) or 'nothing'}",
            cluster=cluster,
            content_hash=seen,
        )


def check_brokers(brokers: Sequence[Broker], limits: Limits) -> None:
    """Raise `DuplicateBroker` or `LimitExceeded` if a list of brokers is not valid."""
    limits.check_count("brokers", brokers, path=("brokers",))
    ids = [broker.id for broker in brokers]
    require_distinct("broker", ids, errors.DuplicateBroker, "brokers", member="id")


def _check_topics(topics: Sequence[Topic]) -> None:
    names = [topic.name for topic in topics]
    require_distinct("topic", names, errors.DuplicateTopic, "topics", member="name")
    known = [(index, topic.topic_id) for index, topic in enumerate(topics) if topic.topic_id is not None]
    if (twice := first_repeated([topic_id for _, topic_id in known])) is not None:
        index, topic_id = known[twice]
        raise errors.DuplicateTopic(
            f"two topics have the topic id {topic_id}", path=("topics", index, "topic_id"), value=topic_id
        )


def _check_holders(cluster: Cluster) -> None:
    """Some broker that holds a replica has to be listed; those that are down may be missing."""
    holders = cluster.replica_holders().tolist()
    listed = [broker.id for broker in cluster.brokers]
    if holders and not set(holders) & set(listed):
        raise errors.UnrelatedBrokers(
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
        raise errors.DuplicateGroup(
            f"group {ids[twice]!r} is listed twice", path=("groups", twice, "group_id"), value=ids[twice]
        )
    for index, group in enumerate(groups):
        path: FieldPath = ("groups", index)
        members = [member.member_id for member in group.members]
        if (twice := first_repeated(members)) is not None:
            raise errors.DuplicateMember(
                f"member {members[twice]!r} of group {group.group_id!r} is listed twice",
                path=(*path, "members", twice, "member_id"),
                value=members[twice],
            )
        read = [(offset.topic, offset.partition) for offset in group.offsets]
        if (twice := first_repeated(read)) is not None:
            topic, partition = read[twice]
            raise errors.DuplicatePartition(
                f"group {group.group_id!r} has two offsets of partition {topic}-{partition}",
                path=(*path, "offsets", twice, "partition"),
                value=partition,
            )


def require_distinct(
    noun: str, values: Sequence[int | str], failure: type[Failure], *path: str | int, member: str = "", where: str = ""
) -> None:
    """Raise `failure` if a value is listed twice.

    Parameters
    ----------
    path : of the list. member : of its items that has the value, if they are objects. where : in the failure's words.
    """
    if (twice := first_repeated(values)) is not None:
        at = (*path, twice, member) if member else (*path, twice)
        raise failure(f"{noun} {values[twice]} is listed twice{where}".lstrip(), path=at, value=values[twice])


def first_repeated(values: Sequence[Hashable]) -> int | None:
    """The index of the first value that repeats an earlier one, or None."""
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            return index
        seen.add(value)
    return None


def store_later(uow: UnitOfWork, assembled: "Assembled", limits: Limits) -> Snapshot:
    """Store the state that texts of a cluster report as its newest snapshot.

    If they list no brokers, as `kafka-topics --describe` alone does not, brokers with racks and capacities, cordons,
    release, topics and groups that they lack come from the newest snapshot, and so do sizes of partitions. Raises
    `SnapshotNotFound` without one.
    """
    _, before = load(uow, newest(uow, assembled.cluster.name).id)
    cluster = _completed(assembled.cluster, before)
    # The gaps of the texts are filled, so that the cautions about them are left out.
    cautions = of_assembly(assembled) if cluster is assembled.cluster else ()
    return store(uow, cluster, limits, cautions=cautions)


def _completed(now: Cluster, before: Cluster) -> Cluster:
    if any(broker.rack is not None or broker.fenced for broker in now.brokers):
        return now
    known = {broker.id for broker in before.brokers}
    topics = {topic.name: topic for topic in before.topics}
    groups = {group.group_id: group for group in (*before.groups, *now.groups)}
    return replace(
        before,
        brokers=(*before.brokers, *(broker for broker in now.brokers if broker.id not in known)),
        topics=tuple(_sized(topic, topics.get(topic.name)) for topic in now.topics) or before.topics,
        log_dirs=now.log_dirs or before.log_dirs,
        groups=tuple(groups[name] for name in sorted(groups)),
    )


def _sized(topic: Topic, before: Topic | None) -> Topic:
    """The topic with the sizes that its partitions had before, where the texts have none."""
    if before is None:
        return topic
    sizes = dict(zip(before.partition_ids.tolist(), before.size_bytes.tolist(), strict=True))
    earlier = np.array([sizes.get(partition, UNKNOWN_SIZE) for partition in topic.partition_ids.tolist()], np.int64)
    return replace(topic, size_bytes=np.where(topic.size_bytes == UNKNOWN_SIZE, earlier, topic.size_bytes))


NAMED_LOG_DIRS = 20
"""How many directories a problem names."""


def log_dir_index(
    broker: int, log_dir: str, directories: Mapping[int, Sequence[LogDirectory]], at: FieldPath = ()
) -> int:
    """The index of a directory on its broker. Raises `UnknownLogDir`."""
    paths = [directory.path for directory in directories.get(broker, ())]
    if log_dir in paths:
        return paths.index(log_dir)
    has = f"it has {', '.join(map(quoted, paths[:NAMED_LOG_DIRS]))}" if paths else "its directories are unknown"
    others = sorted(
        other for other, listed in directories.items() if any(log_dir == directory.path for directory in listed)
    )
    of_other = f"; broker {others[0]} has a directory of this path" if others else ""
    detail = f"broker {broker} has no log directory {quoted(log_dir)}: {has}{of_other}"
    raise errors.UnknownLogDir(detail, path=at, value=log_dir, broker=broker, limit=paths[:NAMED_LOG_DIRS])
