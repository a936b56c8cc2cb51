"""What Kafka rejects of a reassignment by itself, each with its place."""

from collections.abc import Collection, Iterator

from app.core.cordons import LISTS_CHECKED_SINCE, cordoned_brokers
from app.core.kafka_versions import KafkaVersion
from app.core.model import Cluster
from app.errors import Json
from app.errors.quotation import quoted
from app.errors.requests import IllegalReassignment
from app.formats.kafka_files.reassignment import ANY_LOG_DIR, PartitionReassignment, Reassignment
from app.services.snapshots import NAMED_LOG_DIRS

NAMED_FAULTS = 100
"""The most faults of a rejected reassignment that are named; all are counted."""


def require_legal(reassignment: Reassignment, cluster: Cluster, version: KafkaVersion) -> None:
    """Raise `IllegalReassignment` if Kafka rejects all of it; `errors` in its context names the places."""
    faults = list(_faults(reassignment, cluster, version))
    if faults:
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
