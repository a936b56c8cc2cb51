"""What the sticky assignors put into a subscription's user data, which has no version of its own.

    StickyAssignor              topics with the partitions that were assigned, then (since 2.3) the generation, int32
    CooperativeStickyAssignor   the generation, int32; the owned partitions have a field of the subscription

    kafka-python's sticky      a version, int16, then as StickyAssignor; version 0 has no generation

The older sticky data ends before the generation. Kafka treats sticky data that it cannot read as none:
the member then counts as one that owns nothing.
Neither library can read sticky data of the other one.
Source: `StickyAssignor`, `CooperativeStickyAssignor` of Apache Kafka; KIP-341; kafka-python's `StickyAssignorUserData`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from app.core.groups.model import Owned
from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import STRING
from app.core.model import Int32s
from app.errors.kafka import KafkaError, NotSerializable
from app.formats.syntax import generated_bytes as generated
from app.formats.syntax.generated_bytes import GeneratedReader

NO_GENERATION = -1


@dataclass(frozen=True, slots=True, eq=False)
class StickyUserData:
    """What a member was assigned before; generation_id: None in the older form, which has none."""

    owned: tuple[Owned, ...]
    generation_id: int | None


def read_sticky(data: bytes) -> StickyUserData:
    """Read a sticky assignor's user data of either form; bytes after it are not looked at.

    Raises
    ------
    CorruptProtocolBytes
        The bytes are of neither form; names the byte. Kafka passes over that.
    """
    reader = GeneratedReader(data, "sticky user data")
    owned = reader.topic_partitions("previous_assignment")
    if len(data) - reader.offset < 4:
        # Kafka, too, looks no further than that the newer form does not fit.
        return StickyUserData(owned, None)
    return StickyUserData(owned, reader.int32("a generation (int32)"))


def read_versioned_sticky(data: bytes) -> StickyUserData:
    """Read the user data of kafka-python's sticky assignor, whose version is in front; a later one is read as 1.

    Raises
    ------
    CorruptProtocolBytes
        The version is negative, or the bytes end too early. kafka-python passes over that.
    """
    reader = GeneratedReader(data, "sticky user data")
    version = reader.int16("a version (int16)")
    if version < 0:
        kafka = KafkaError("ValueError")
        raise reader.reject(0, "a version of 0 or above", str(version), kafka)
    owned = reader.topic_partitions("previous_assignment")
    return StickyUserData(owned, reader.int32("a generation (int32)") if version else None)


def write_sticky(owned: Iterable[Owned], *, generation_id: int | None) -> bytes:
    """Write a sticky assignor's user data: topics in the order of the HashMap that Kafka groups them in.

    Raises
    ------
    NotSerializable
        There is no generation, which the newer form must have; or a topic's name is longer than 32767 bytes.
    """
    if generation_id is None:
        message = "Missing value for field 'generation' which has no default value."
        kafka = KafkaError("SchemaException", f"Error computing size for field 'generation': {message}")
        raise NotSerializable("sticky user data needs a generation", kafka=kafka)
    by_topic: JavaHashMap[str, list[Int32s]] = JavaHashMap(STRING)
    for entry in owned:
        # Kafka asks for the topic's list once a partition, and asking alone may let the map grow.
        for partitions in (entry.partitions[:1], entry.partitions[1:]):
            if len(partitions):
                by_topic.compute_if_absent(entry.topic, list).append(partitions)
    entries = [Owned(topic, np.concatenate(parts)) for topic, parts in by_topic.items()]
    return generated.topic_partitions(entries) + generated.int32(generation_id)


def read_cooperative(data: bytes) -> int | None:
    """Read a cooperative sticky assignor's user data: the generation, None for one below 0.

    Raises
    ------
    CorruptProtocolBytes
        There are fewer than four bytes.
    """
    generation_id = GeneratedReader(data, "cooperative user data").int32("a generation (int32)")
    return generation_id if generation_id >= 0 else None


def write_cooperative(generation_id: int | None) -> bytes:
    """Write a cooperative sticky assignor's user data; None is written as −1."""
    return generated.int32(NO_GENERATION if generation_id is None else generation_id)
