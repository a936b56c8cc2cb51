"""Reassignments that Kafka accepts and that leave partitions less safe, or that it never completes."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.kafka_versions import KafkaVersion
from app.core.measures.losses import LoweredFactors, lowered_factors
from app.core.measures.tally import positions_of
from app.core.measures.violations import NAMED_PARTITIONS, Violation
from app.core.model import LISTS_CHECKED_SINCE, NO_REPLICA, Assignment, Bools, Cluster, Int32s, Topic, cordoned_brokers
from app.core.reassignment.completion import completion_rule, incomplete, keeps_only_behind
from app.core.replica_lists import factors_of
from app.errors.every import IllegalReassignment, Json, quoted
from app.formats.kafka_files.reassignment import ANY_LOG_DIR, PartitionReassignment, Reassignment
from app.services.cautions import Caution, caution
from app.services.reassignment.reports.batches import waits_for
from app.services.snapshots import NAMED_LOG_DIRS


def safety_of(
    cluster: Cluster, after: Mapping[str, Assignment], version: KafkaVersion, *, allow_lower_factor: bool
) -> tuple[list[Violation], list[Caution]]:
    """Violations of a reassignment beside its placement's, by topic, and warnings.

    Parameters
    ----------
    allow_lower_factor : whether lower replication factors are warnings.
    """
    found = list(below_min_isr(cluster, after))
    cautions: list[Caution] = []
    brokers = _Brokers.of(cluster)
    for name, assignment in after.items():
        topic = cluster.topic(name)
        if topic is None:
            continue
        found += _completion(cluster, topic, assignment, brokers, version)
        lowered = _lowered(topic, assignment)
        if len(lowered.rows) and allow_lower_factor:
            cautions.append(Caution("factor_lowered", lowered.detail(name), topics=(name,)))
        elif len(lowered.rows):
            detail = f'{lowered.detail(name)}; "allow_lower_factor": true allows it'
            found.append(_violation("factor_lowered", "fragile", topic, assignment, lowered.rows, detail))
    return found, cautions


def below_min_isr(cluster: Cluster, after: Mapping[str, Assignment]) -> Iterator[Violation]:
    """Partitions with fewer replicas than `min.insync.replicas`, of topics for which it is known."""
    for topic in cluster.topics:
        assignment, least = after.get(topic.name), topic.min_insync_replicas
        if assignment is None or least is None:
            continue
        factors = factors_of(assignment.replicas)
        if (rows := np.flatnonzero(factors < least)).size:
            detail = (
                f"{len(rows)} of {len(factors)} partitions of {topic.name} have fewer replicas, down to "
                f"{factors[rows].min()}, than min.insync.replicas={least}: Kafka rejects writes with acks=all; more "
                "replicas lift it, or a lower min.insync.replicas"
            )
            yield _violation("below_min_isr", "illegal", topic, assignment, rows, detail)


@dataclass(frozen=True, slots=True, eq=False)
class _Brokers:
    """(brokers,) ids, ascending, of those that are listed or have replicas, and whether each is up."""

    ids: Int32s
    is_live: Bools

    @classmethod
    def of(cls, cluster: Cluster) -> "_Brokers":
        known = sorted(cluster.known_brokers, key=lambda broker: broker.id)
        ids = np.array([broker.id for broker in known], np.int32)
        return cls(ids, np.array([not broker.fenced for broker in known], np.bool_))

    def positions(self, lists: Int32s) -> Int32s:
        found = positions_of(lists, self.ids)
        return np.where(found == len(self.ids), np.int32(NO_REPLICA), found)


def _completion(
    cluster: Cluster, topic: Topic, assignment: Assignment, brokers: _Brokers, version: KafkaVersion
) -> Iterator[Violation]:
    rows = np.searchsorted(topic.partition_ids, assignment.partition_ids)
    current, target = brokers.positions(topic.replicas[rows]), brokers.positions(assignment.replicas)
    in_sync = brokers.positions(np.column_stack([topic.leaders, topic.isr])[rows])
    rule = completion_rule(version, cluster.reported_controller)
    found = incomplete(current, target, in_sync, brokers.is_live, rule)
    is_live = np.append(brokers.is_live, False)
    count = f"of {len(rows)} partitions of {topic.name}"
    if (waiting := np.flatnonzero(found.waits)).size:
        lists = target[waiting]
        down = np.unique(brokers.ids[lists[~is_live[lists] & (lists != NO_REPLICA)]]).tolist()
        detail = waits_for(f"{len(waiting)} {count}", version, down).detail
        yield _violation("waits_for_offline_replica", "illegal", topic, assignment, waiting, detail)
    if (sourceless := np.flatnonzero(found.has_no_source)).size:
        detail = caution("no_in_sync_replica", partitions=f"{len(sourceless)} {count}").detail
        yield _violation("no_in_sync_replica", "illegal", topic, assignment, sourceless, detail)
    if (losing := np.flatnonzero(keeps_only_behind(current, target, in_sync, brokers.is_live))).size:
        detail = (
            f"{len(losing)} {count} keep replicas that are out of sync, and none of those that are in sync on live "
            "brokers; a list that keeps one of these is safe"
        )
        yield _violation("last_in_sync_replica_removed", "fragile", topic, assignment, losing, detail)


def _lowered(topic: Topic, assignment: Assignment) -> LoweredFactors:
    rows = np.searchsorted(topic.partition_ids, assignment.partition_ids)
    before = topic.destination.replicas
    factors = factors_of(before)
    factors[rows] = factors_of(assignment.replicas)
    return lowered_factors(before[rows], assignment.replicas, largest_of_topic=int(factors.max(initial=0)))


def _violation(
    code: str, severity: str, topic: Topic, assignment: Assignment, rows: NDArray[np.intp], detail: str
) -> Violation:
    named = tuple(assignment.partition_ids[rows[:NAMED_PARTITIONS]].tolist())
    return Violation(code, severity, topic.name, len(rows), named, detail)


NAMED_FAULTS = 100
"""The most faults of a rejected reassignment that are named; all are counted."""


def require_legal(reassignment: Reassignment, cluster: Cluster, version: KafkaVersion) -> None:
    """Raise `IllegalReassignment` if Kafka rejects all of it; `errors` in its context names the places."""
    if faults := list(_faults(reassignment, cluster, version)):
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise IllegalReassignment(f"{faults[0]['detail']}{more}", count=len(faults), errors=faults[:NAMED_FAULTS])


def _faults(reassignment: Reassignment, cluster: Cluster, version: KafkaVersion) -> Iterator[dict[str, Json]]:
    """Each reason for which Kafka rejects the document, with its place."""
    # A broker that is down is not listed, and yet Kafka knows it: it holds replicas.
    known = {broker.id for broker in cluster.brokers} | set(cluster.replica_holders().tolist())
    cordoned = cordoned_brokers(cluster) if version >= LISTS_CHECKED_SINCE else frozenset()
    partitions = {topic.name: set(topic.partition_ids.tolist()) for topic in cluster.topics}
    seen: set[tuple[str, int]] = set()
    for index, partition in enumerate(reassignment.partitions):
        place = f"/reassignment/partitions/{index}"
        name = f"{partition.topic}-{partition.partition}"
        if partition.partition not in partitions.get(partition.topic, ()):
            yield _fault("unknown_partition", place, f"there is no partition {name} in the snapshot", name)
        if (partition.topic, partition.partition) in seen:
            yield _fault("duplicate_partition", place, f"partition {name} is reassigned twice", name)
        seen.add((partition.topic, partition.partition))
        if not partition.replicas:
            yield _fault("no_replicas", f"{place}/replicas", f"partition {name} is given no replica", [])
        if partition.log_dirs is not None and len(partition.log_dirs) != len(partition.replicas):
            detail = f"{name} has {len(partition.replicas)} replicas and {len(partition.log_dirs)} log_dirs"
            yield _fault("log_dirs_differ", f"{place}/log_dirs", detail, len(partition.log_dirs))
        if unknown := set(partition.observers).difference(partition.replicas):
            detail = f"observer {min(unknown)} of {name} is not a replica"
            yield _fault("observer_is_no_replica", f"{place}/observers", detail, min(unknown))
        yield from _log_dir_faults(partition, place, cluster)
        yield from _replica_faults(partition, place, known, cordoned, version)


def _replica_faults(
    partition: PartitionReassignment,
    place: str,
    known: Collection[int],
    cordoned: Collection[int],
    version: KafkaVersion,
) -> Iterator[dict[str, Json]]:
    of = f"partition {partition.topic}-{partition.partition}"
    for position, broker in enumerate(partition.replicas):
        at = f"{place}/replicas/{position}"
        if broker not in known:
            yield _fault("unknown_broker", at, f"{of}: there is no broker {broker}", broker)
        if broker in cordoned:
            detail = f"{of}: broker {broker} is cordoned; Kafka {version} rejects the list"
            yield _fault("cordoned_broker", at, detail, broker)
        if broker in partition.replicas[:position]:
            yield _fault("duplicate_replica", at, f"{of} names broker {broker} twice", broker)


def _log_dir_faults(partition: PartitionReassignment, place: str, cluster: Cluster) -> Iterator[dict[str, Json]]:
    """Log directories that the broker does not have, or that are offline; of brokers whose directories are known."""
    for position, (broker, log_dir) in enumerate(zip(partition.replicas, partition.log_dirs or (), strict=False)):
        if log_dir == ANY_LOG_DIR or broker not in cluster.log_dirs:
            continue
        at, name = f"{place}/log_dirs/{position}", f"partition {partition.topic}-{partition.partition}"
        listed = {directory.path: directory for directory in cluster.log_dirs[broker]}
        if log_dir not in listed:
            has = ", ".join(map(quoted, list(listed)[:NAMED_LOG_DIRS]))
            detail = f"{name}: broker {broker} has no log directory {quoted(log_dir)}: it has {has}"
            yield _fault("unknown_log_dir", at, detail, log_dir)
        elif listed[log_dir].is_offline:
            detail = f"{name}: log directory {quoted(log_dir)} of broker {broker} is offline"
            yield _fault("offline_log_dir", at, detail, log_dir)


def _fault(code: str, place: str, detail: str, value: Json) -> dict[str, Json]:
    return {"pointer": place, "code": code, "detail": detail, "value": value}
