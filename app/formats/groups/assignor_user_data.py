"""What the sticky assignors put into a subscription's user data, which has no version of its own.

    StickyAssignor              topics with the partitions that were assigned, then (since 2.3) the generation, int32
    CooperativeStickyAssignor   the generation, int32; the owned partitions have a field of the subscription

    kafka-python's sticky      a version, int16, then as StickyAssignor; version 0 has no generation

The older sticky data ends before the generation. Kafka treats sticky data that it cannot read as none:
the member then counts as one that owns nothing.
Neither library can read sticky data of the other one.
Source: `StickyAssignor`, `CooperativeStickyAssignor` of Apache Kafka; KIP-341; kafka-python's `StickyAssignorUserData`.
"""

from dataclasses import dataclass

from app.core.groups.model import Owned
from app.errors.kafka import KafkaError
from app.formats.syntax.generated_bytes import GeneratedReader


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


def read_cooperative(data: bytes) -> int | None:
    """Read a cooperative sticky assignor's user data: the generation, None for one below 0.

    Raises
    ------
    CorruptProtocolBytes
        There are fewer than four bytes.
    """
    generation_id = GeneratedReader(data, "cooperative user data").int32("a generation (int32)")
    return generation_id if generation_id >= 0 else None
