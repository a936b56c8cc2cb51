"""A cluster as the canonical JSON that is stored and hashed: equal clusters give equal bytes.

    {"brokers":[{"id":101,"rack":"use1-az1"}],"cluster":"prod-eu","topics":[{"name":"orders","partitions":[
    {"isr":[101],"leader":101,"partition":0,"replicas":[101],"size_bytes":1}]}]}

Keys are sorted, brokers are sorted by id, topics by name, partitions by id, consumer groups (`groups`, see
recorded_json.py) by group id. Left out is what says nothing: no rack, not fenced, no capacity, no attributes, a weight
of 1, nothing cordoned, no leader, an unknown size or ingress rate, no replica being added or removed, an unknown topic
id, no configurations of a topic (`configs`), no groups, an unknown release of Kafka (`kafka_version`), a kind of
controller (`controller`) that is not reported.
How wide an array was padded leaves no trace. The cordon of a broker is written with it (`cordoned`,
`cordoned_log_dirs`), and so are its log directories, by path (`log_dirs`); `log_dirs` of a partition has, for each of
`replicas`, the path of its directory, or null, and `future_log_dirs` likewise that of a move in progress. `elr` and
`observers` of a partition are left out if they are empty.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan, nan
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from app.core.model import (
    NO_LEADER,
    NO_LOG_DIR,
    NO_REPLICA,
    UNKNOWN_SIZE,
    Broker,
    BrokerCapacity,
    Cluster,
    Cordon,
    Float64s,
    Int32s,
    LogDirectory,
    Topic,
    padded,
)
from app.formats.groups import recorded_json
from app.formats.syntax.garbage import uncollected

Directories: TypeAlias = Mapping[int, Sequence[LogDirectory]]
"""By broker id, its log directories by path."""


def write(cluster: Cluster) -> bytes:
    """The cluster's canonical document."""
    document: dict[str, object] = {
        "cluster": cluster.name,
        "brokers": [
            _broker_members(cluster, broker) for broker in sorted(cluster.brokers, key=lambda broker: broker.id)
        ],
        "topics": [
            _topic_members(topic, cluster.log_dirs) for topic in sorted(cluster.topics, key=lambda topic: topic.name)
        ],
    }
    groups = [recorded_json.group_members(group) for group in sorted(cluster.groups, key=lambda group: group.group_id)]
    reported = {"kafka_version": cluster.kafka_version, "controller": cluster.reported_controller}
    return orjson.dumps(document | _stated({"groups": groups or None, **reported}), option=orjson.OPT_SORT_KEYS)


def read(document: bytes) -> Cluster:
    """Read what `write` wrote. The shape is trusted: what others send is checked before it becomes a cluster."""
    with uncollected():
        return of_members(orjson.loads(document))


def of_members(members: Mapping[str, Any]) -> Cluster:
    """The cluster of a canonical document that has been parsed."""
    log_dirs = {
        broker["id"]: tuple([_directory(directory) for directory in broker["log_dirs"]])
        for broker in members["brokers"]
        if "log_dirs" in broker
    }
    index_of = {
        (broker, directory.path): index for broker, listed in log_dirs.items() for index, directory in enumerate(listed)
    }
    return Cluster(
        name=members["cluster"],
        brokers=tuple([_broker(broker) for broker in members["brokers"]]),
        topics=tuple([_topic(topic, index_of) for topic in members["topics"]]),
        groups=tuple([recorded_json.group(group) for group in members.get("groups", ())]),
        cordons={broker["id"]: cordon for broker in members["brokers"] if (cordon := _cordon(broker)) is not None},
        kafka_version=members.get("kafka_version"),
        reported_controller=members.get("controller"),
        log_dirs=log_dirs,
    )


def _stated(members: Mapping[str, object]) -> dict[str, object]:
    """The members that are not null."""
    return {name: value for name, value in members.items() if value is not None}


def _broker_members(cluster: Cluster, broker: Broker) -> dict[str, object]:
    cordon, directories = cluster.cordons.get(broker.id, Cordon(is_whole=False)), cluster.log_dirs.get(broker.id)
    return _stated(
        {
            "id": broker.id,
            "rack": broker.rack,
            "fenced": broker.fenced or None,
            "capacity": None if broker.capacity is None else _stated(asdict(broker.capacity)) or None,
            "attributes": dict(broker.attributes) or None,
            "weight": None if broker.weight == 1 else broker.weight,
            "cordoned": cordon.is_whole or None,
            "cordoned_log_dirs": cordon.log_dirs or None,
            "log_dirs": None if directories is None else [_directory_members(directory) for directory in directories],
        }
    )


def _directory_members(directory: LogDirectory) -> dict[str, object]:
    sizes = {"total_bytes": directory.total_bytes, "usable_bytes": directory.usable_bytes}
    return _stated({"path": directory.path, **sizes, "offline": directory.is_offline or None})


def _directory(members: dict[str, Any]) -> LogDirectory:
    return LogDirectory(
        members["path"], members.get("total_bytes"), members.get("usable_bytes"), members.get("offline", False)
    )


def _topic_members(topic: Topic, directories: Directories) -> dict[str, object]:
    order = np.argsort(topic.partition_ids, kind="stable")
    partitions: list[dict[str, object]] = [
        {"partition": partition, "replicas": replicas, "isr": isr}
        for partition, replicas, isr in zip(
            topic.partition_ids[order].tolist(), _rows(topic.replicas[order]), _rows(topic.isr[order]), strict=True
        )
    ]
    for partition, leader in zip(partitions, topic.leaders[order].tolist(), strict=True):
        if leader != NO_LEADER:
            partition["leader"] = leader
    for partition, size in zip(partitions, topic.size_bytes[order].tolist(), strict=True):
        if size != UNKNOWN_SIZE:
            partition["size_bytes"] = size
    if topic.ingress_bytes_per_s is not None:
        for partition, rate in zip(partitions, topic.ingress_bytes_per_s[order].tolist(), strict=True):
            if not isnan(rate):
                partition["ingress_bytes_per_s"] = rate
    named = {"adding_replicas": topic.adding, "removing_replicas": topic.removing}
    for key, lists in (named | {"elr": topic.elr, "observers": topic.observers}).items():
        if lists is not None:
            _add_lists(key, lists[order], partitions)
    _add_log_dirs(topic, order, partitions, directories)
    members: dict[str, object] = {"name": topic.name, "partitions": partitions}
    known = {"topic_id": topic.topic_id, "configs": dict(topic.configs)}
    return members | {key: value for key, value in known.items() if value}


def _add_lists(key: str, lists: Int32s, partitions: Sequence[dict[str, object]]) -> None:
    if lists.size:
        for partition, replicas in zip(partitions, _rows(lists), strict=True):
            if replicas:
                partition[key] = replicas


def _add_log_dirs(
    topic: Topic, order: NDArray[np.intp], partitions: Sequence[dict[str, object]], directories: Directories
) -> None:
    for key, log_dirs in (("log_dirs", topic.log_dirs), ("future_log_dirs", topic.future_log_dirs)):
        if log_dirs is not None:
            rows = _directory_rows(topic.replicas[order], log_dirs[order], directories)
            for partition, paths in zip(partitions, rows, strict=True):
                if any(path is not None for path in paths):
                    partition[key] = paths


def _rows(rows: Int32s) -> Iterator[list[int]]:
    """Each row's broker ids without the padding."""
    lists: list[list[int]] = rows.tolist()
    if not (rows == NO_REPLICA).any():
        return iter(lists)
    return ([broker for broker in row if broker != NO_REPLICA] for row in lists)


def _directory_rows(replicas: Int32s, log_dirs: Int32s, directories: Directories) -> Iterator[list[str | None]]:
    """Each row's paths without the padding of its replicas; None if unknown."""
    for brokers, indices in zip(replicas.tolist(), log_dirs.tolist(), strict=True):
        yield [
            None if index == NO_LOG_DIR else directories[broker][index].path
            for broker, index in zip(brokers, indices, strict=True)
            if broker != NO_REPLICA
        ]


def _broker(members: dict[str, Any]) -> Broker:
    capacity = members.get("capacity")
    return Broker(
        id=members["id"],
        rack=members.get("rack"),
        fenced=members.get("fenced", False),
        capacity=None if capacity is None else BrokerCapacity(**capacity),
        attributes=members.get("attributes", {}),
        weight=members.get("weight", 1.0),
    )


def _cordon(broker: dict[str, Any]) -> Cordon | None:
    is_whole, log_dirs = broker.get("cordoned", False), tuple(broker.get("cordoned_log_dirs", ()))
    return Cordon(is_whole, log_dirs) if is_whole or log_dirs else None


def _topic(members: dict[str, Any], index_of: Mapping[tuple[int, str], int]) -> Topic:
    partitions: list[dict[str, Any]] = members["partitions"]
    replicas = padded([partition["replicas"] for partition in partitions])
    return Topic(
        name=members["name"],
        partition_ids=np.array([partition["partition"] for partition in partitions], dtype=np.int32),
        replicas=replicas,
        leaders=np.array([partition.get("leader", NO_LEADER) for partition in partitions], dtype=np.int32),
        isr=padded([partition["isr"] for partition in partitions]),
        adding=padded([partition.get("adding_replicas", ()) for partition in partitions]),
        removing=padded([partition.get("removing_replicas", ()) for partition in partitions]),
        size_bytes=np.array([partition.get("size_bytes", UNKNOWN_SIZE) for partition in partitions], dtype=np.int64),
        topic_id=members.get("topic_id"),
        configs=members.get("configs", {}),
        ingress_bytes_per_s=ingress_rates([partition.get("ingress_bytes_per_s") for partition in partitions]),
        log_dirs=_directories(partitions, "log_dirs", replicas.shape, index_of),
        future_log_dirs=_directories(partitions, "future_log_dirs", replicas.shape, index_of),
        elr=padded_if_any([partition.get("elr") for partition in partitions]),
        observers=padded_if_any([partition.get("observers") for partition in partitions]),
    )


def _directories(
    partitions: Sequence[dict[str, Any]], key: str, shape: tuple[int, ...], index_of: Mapping[tuple[int, str], int]
) -> Int32s | None:
    if all(key not in partition for partition in partitions):
        return None
    indices = np.full(shape, NO_LOG_DIR, np.int32)
    for row, partition in zip(indices, partitions, strict=True):
        if paths := partition.get(key):
            row[: len(paths)] = [
                index_of.get((broker, path), NO_LOG_DIR)
                for broker, path in zip(partition["replicas"], paths, strict=True)
            ]
    return indices


def padded_if_any(replicas: Sequence[Sequence[int] | None]) -> Int32s | None:
    """Lists of a topic's partitions as the core has them; None if no partition has one."""
    return padded([row or () for row in replicas]) if any(replicas) else None


def ingress_rates(rates: Sequence[float | None]) -> Float64s | None:
    """The rates of a topic's partitions as the core has them, or None if none is known."""
    if all(rate is None for rate in rates):
        return None
    return np.array([nan if rate is None else rate for rate in rates], dtype=np.float64)
