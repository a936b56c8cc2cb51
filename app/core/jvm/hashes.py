"""hashCode of the keys of Kafka's hash maps, single and in arrays; and the order that equal hashes fall to.

Java's `int` wraps around at 32 bits; every hash code here is a signed 32-bit integer.

    String            Σ unit[i] · 31^(n − 1 − i) over its n UTF-16 units
    Integer           itself
    UUID, Kafka Uuid  both halves and both halves of those, combined by exclusive or
    Optional          the value's, 0 where empty
    record, array     31 · (… 31 · (31 + first) + second …) + last: `Objects.hash`
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s

Key = TypeVar("Key")

TopicPartition: TypeAlias = tuple[str, int]
TaskId: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KeyType(Generic[Key]):
    """A Java class as the key of a hash map.

    Parameters
    ----------
    hash_code : the class's `hashCode`.
    order : a sort key in the order of the class's `compareTo`; None if the class is not Comparable to itself. A map
        asks for it only where keys of equal hash meet in a bin that has become a tree.
    """

    name: str
    hash_code: Callable[[Key], int]
    order: Callable[[Key], Any] | None = None


def int32(value: int) -> int:
    """Wrap an integer around to 32 bits, as arithmetic on a Java `int` does."""
    return ((value + 2**31) & 0xFFFFFFFF) - 2**31


def string_hash_code(text: str) -> int:
    """`String.hashCode`: over UTF-16 units, so that a character beyond U+FFFF counts as its two surrogates."""
    encoded = _utf16(text)
    code = 0
    for unit in struct.unpack(f"<{len(encoded) // 2}H", encoded):
        code = (31 * code + unit) & 0xFFFFFFFF
    return int32(code)


def string_hash_codes(texts: Sequence[str]) -> Int32s:
    """`string_hash_code` of many strings at once: (len(texts),) int32."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    units = np.frombuffer(_utf16("".join(texts)), "<u2").astype(np.uint32)
    if len(units) != lengths.sum():
        lengths = np.fromiter((len(_utf16(text)) // 2 for text in texts), np.int64, len(texts))
    ends = np.cumsum(lengths)
    # A unit's weight is 31 to the power of how many units of its string follow it, modulo 2³².
    following = np.repeat(ends, lengths) - 1 - np.arange(len(units))
    powers = np.cumprod(np.full(lengths.max(initial=0), 31, np.uint32), dtype=np.uint32)
    weighted = units * np.concatenate([np.ones(1, np.uint32), powers])[following]
    # Sums from the start of the text to each string's ends, whose difference modulo 2³² is the string's own sum.
    sums = np.concatenate([np.zeros(1, np.uint32), np.cumsum(weighted, dtype=np.uint32)])
    codes: Int32s = (sums[ends] - sums[ends - lengths]).view(np.int32)
    return codes


def utf16_order(text: str) -> bytes:
    """A sort key in the order of `String.compareTo`: by UTF-16 units, not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def objects_hash(*hash_codes: int) -> int:
    """`Objects.hash` of the fields whose hash codes are given (0 for null); also a list's and an array's."""
    code = 1
    for field in hash_codes:
        code = int32(31 * code + field)
    return code


def uuid_hash_code(uuid: UUID) -> int:
    """`hashCode` of `java.util.UUID` and of Kafka's own `Uuid`."""
    halves = (uuid.int >> 64) ^ uuid.int
    return int32((halves >> 32) ^ halves)


def topic_partition_hash_code(topic_partition: TopicPartition) -> int:
    """Kafka's `TopicPartition.hashCode`: the partition goes before the topic."""
    topic, partition = topic_partition
    return objects_hash(partition, string_hash_code(topic))


def topic_partition_hash_codes(topic_hash_codes: Int32s, partitions: Int32s) -> Int32s:
    """`topic_partition_hash_code` of many at once, from their topics' hash codes; the arrays broadcast."""
    wrapped: NDArray[np.uint32] = (partitions.view(np.uint32) + np.uint32(31)) * np.uint32(31)
    return (wrapped + topic_hash_codes.view(np.uint32)).view(np.int32)


def task_id_hash_code(task: TaskId) -> int:
    """Kafka Streams' `TaskId.hashCode` of (subtopology, partition); it has no named topology."""
    return objects_hash(*task, 0)


def optional_string_hash_code(text: str | None) -> int:
    return 0 if text is None else string_hash_code(text)


def task_id(text: str) -> TaskId:
    """`TaskId.parse` of `<subtopology>_<partition>`."""
    subtopology, partition = text.split("_")
    return int(subtopology), int(partition)


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _signed_halves(uuid: UUID) -> tuple[int, int]:
    """java.util.UUID and, as of Kafka 4.0, Kafka's Uuid compare their halves as signed 64-bit integers."""
    high, low = divmod(uuid.int, 1 << 64)
    return high ^ (1 << 63), low ^ (1 << 63)


STRING = KeyType("string", string_hash_code, utf16_order)
INTEGER: KeyType[int] = KeyType("int", int32, int32)
TOPIC_PARTITION = KeyType("topic_partition", topic_partition_hash_code)
JAVA_UUID = KeyType("java_uuid", uuid_hash_code, _signed_halves)
TASK_ID: KeyType[TaskId] = KeyType("task_id", task_id_hash_code, lambda task: task)
OPTIONAL_STRING = KeyType("optional_string", optional_string_hash_code)
