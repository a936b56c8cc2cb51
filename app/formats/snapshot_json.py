"""A cluster as the canonical JSON that is stored and hashed: equal clusters give equal bytes.

    {"brokers":[{"id":101,"rack":"use1-az1"}],"cluster":"prod-eu","topics":[{"name":"orders","partitions":[
    {"isr":[101],"leader":101,"partition":0,"replicas":[101],"size_bytes":1}]}]}

Keys are sorted, brokers are sorted by id, topics by name, partitions by id, consumer groups (`groups`, see
recorded_json.py) by group id. Left out is what says nothing: no rack, not fenced, no capacity, no attributes, a weight
of 1, nothing cordoned, no leader, an unknown size or ingress rate, no replica being added or removed, an unknown topic
id, no groups, an unknown release of Kafka (`kafka_version`), a kind of controller (`controller`) that is not reported.
How wide an array was padded leaves no trace. The cordon of a broker is written with it (`cordoned`,
`cordoned_log_dirs`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isnan, nan
from typing import Any

import numpy as np
import orjson

from app.core.model import (
    NO_LEADER,
    NO_REPLICA,
    UNKNOWN_SIZE,
    Broker,
    BrokerCapacity,
    Cluster,
    Cordon,
    Float64s,
    Int32s,
    Topic,
    padded,
)
from app.formats import recorded_json


def write(cluster: Cluster) -> bytes:
    """The cluster's canonical document."""
    document: dict[str, object] = {
        "cluster": cluster.name,
        "brokers": [
            _broker_members(broker) | _cordon_members(cluster.cordons.get(broker.id))
            for broker in sorted(cluster.brokers, key=lambda broker: broker.id)
        ],
        "topics": [_topic_members(topic) for topic in sorted(cluster.topics, key=lambda topic: topic.name)],
    }
    if cluster.groups:
        groups = sorted(cluster.groups, key=lambda group: group.group_id)
        document["groups"] = [recorded_json.group_members(group) for group in groups]
    if cluster.kafka_version is not None:
        document["kafka_version"] = cluster.kafka_version
    if cluster.reported_controller is not None:
        document["controller"] = cluster.reported_controller
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def read(document: bytes) -> Cluster:
    """Read what `write` wrote. The shape is trusted: what others send is checked before it becomes a cluster."""
    members = orjson.loads(document)
    return Cluster(
        name=members["cluster"],
        brokers=tuple([_broker(broker) for broker in members["brokers"]]),
        topics=tuple([_topic(topic) for topic in members["topics"]]),
        groups=tuple([recorded_json.group(group) for group in members.get("groups", ())]),
        cordons={broker["id"]: cordon for broker in members["brokers"] if (cordon := _cordon(broker)) is not None},
        kafka_version=members.get("kafka_version"),
        reported_controller=members.get("controller"),
    )


def _broker_members(broker: Broker) -> dict[str, object]:
    members: dict[str, object] = {"id": broker.id}
    if broker.rack is not None:
        members["rack"] = broker.rack
    if broker.fenced:
        members["fenced"] = True
    if broker.capacity is not None and broker.capacity != BrokerCapacity():
        members["capacity"] = {key: value for key, value in asdict(broker.capacity).items() if value is not None}
    if broker.attributes:
        members["attributes"] = dict(broker.attributes)
    if broker.weight != 1:
        members["weight"] = broker.weight
    return members


def _cordon_members(cordon: Cordon | None) -> dict[str, object]:
    if cordon is None:
        return {}
    members: dict[str, object] = {"cordoned_log_dirs": cordon.log_dirs} if cordon.log_dirs else {}
    return members | {"cordoned": True} if cordon.is_whole else members


def _topic_members(topic: Topic) -> dict[str, object]:
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
    for key, moving in (("adding_replicas", topic.adding), ("removing_replicas", topic.removing)):
        if moving.size:
            for partition, replicas in zip(partitions, _rows(moving[order]), strict=True):
                if replicas:
                    partition[key] = replicas
    members: dict[str, object] = {"name": topic.name, "partitions": partitions}
    return members if topic.topic_id is None else members | {"topic_id": topic.topic_id}


def _rows(rows: Int32s) -> Iterator[list[int]]:
    """Each row's broker ids without the padding."""
    lists: list[list[int]] = rows.tolist()
    if not (rows == NO_REPLICA).any():
        return iter(lists)
    return ([broker for broker in row if broker != NO_REPLICA] for row in lists)


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


def _topic(members: dict[str, Any]) -> Topic:
    partitions: list[dict[str, Any]] = members["partitions"]
    return Topic(
        name=members["name"],
        partition_ids=np.array([partition["partition"] for partition in partitions], dtype=np.int32),
        replicas=padded([partition["replicas"] for partition in partitions]),
        leaders=np.array([partition.get("leader", NO_LEADER) for partition in partitions], dtype=np.int32),
        isr=padded([partition["isr"] for partition in partitions]),
        adding=padded([partition.get("adding_replicas", ()) for partition in partitions]),
        removing=padded([partition.get("removing_replicas", ()) for partition in partitions]),
        size_bytes=np.array([partition.get("size_bytes", UNKNOWN_SIZE) for partition in partitions], dtype=np.int64),
        topic_id=members.get("topic_id"),
        ingress_bytes_per_s=ingress_rates([partition.get("ingress_bytes_per_s") for partition in partitions]),
    )


def ingress_rates(rates: Sequence[float | None]) -> Float64s | None:
    """The rates of a topic's partitions as the core has them, or None if none is known."""
    if all(rate is None for rate in rates):
        return None
    return np.array([nan if rate is None else rate for rate in rates], dtype=np.float64)
