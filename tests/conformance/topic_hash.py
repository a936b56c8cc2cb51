"""The hash by which the group coordinator notices that the metadata of subscribed topics changed (KIP-1101).

A group of the consumer or streams protocol rebalances when the hash of its topics changes: when a topic is created,
deleted or grows, and, since the racks of replicas are part of it, when a reassignment changes the racks of a partition.
Brokers that are fenced count as all others.

    topic  byte 0; topic id as two longs; name; number of partitions; of each partition its number and, of each replica
           whose broker has a rack, by rack: length and rack
    group  the hashes of the topics that exist, by name

Numbers are little-endian; a text is its UTF-16 units, little-endian, followed by how many they are.

Source: KIP-1101; `org.apache.kafka.coordinator.group.Utils.computeTopicHash` and `computeGroupHash` of Apache Kafka 4.1
to 4.4.
"""

import struct
from collections.abc import Mapping
from uuid import UUID

from xxhash import xxh3_64_intdigest

from app.core.jvm.hashes import utf16_order
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.model import Int32s, unpadded

REPLAYS = Replayed("org.apache.kafka.coordinator.group.Utils", KafkaRange("4.1", "4.4"))

_MAGIC = b"\0"


def topic_hash(name: str, topic_id: UUID, replicas: Int32s, rack_of: Mapping[int, str | None]) -> int:
    """The hash of a topic: a signed 64-bit integer. O(replicas).

    Parameters
    ----------
    replicas : (partitions, widest) int32 broker ids, padded.
    rack_of : by broker id; a missing broker has no rack.
    """
    written_of = {broker: _rack(rack) for broker, rack in rack_of.items() if rack is not None}
    order_of = {broker: utf16_order(rack) for broker, rack in rack_of.items() if rack is not None}
    high, low = divmod(topic_id.int, 1 << 64)
    parts = [_MAGIC, struct.pack("<2Q", high, low), _text(name), struct.pack("<i", len(replicas))]
    for partition, brokers in enumerate(unpadded(replicas)):
        parts.append(struct.pack("<i", partition))
        with_rack = (broker for broker in brokers if broker in order_of)
        parts.extend(written_of[broker] for broker in sorted(with_rack, key=order_of.__getitem__))
    return _signed(xxh3_64_intdigest(b"".join(parts)))


def group_hash(hash_of: Mapping[str, int]) -> int:
    """The hash of a group's subscribed topics that exist, from their hashes by name; 0 without topics."""
    if not hash_of:
        return 0
    return _signed(
        xxh3_64_intdigest(b"".join(struct.pack("<q", hash_of[name]) for name in sorted(hash_of, key=utf16_order)))
    )


def _rack(rack: str) -> bytes:
    return struct.pack("<i", len(utf16_order(rack)) // 2) + _text(rack)


def _text(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + struct.pack("<i", len(units) // 2)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
