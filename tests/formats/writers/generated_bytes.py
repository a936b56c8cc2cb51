"""Fields as the code that Kafka generates from its message definitions writes them."""

from collections.abc import Iterable

import numpy as np

from app.core.groups.model import Owned
from app.core.jvm.hashes import utf16_order
from app.errors.kafka import KafkaError
from app.formats.syntax.generated_bytes import grouped
from tests.kafka_refusals import NotSerializable

_LONGEST_STRING_BYTES = 0x7FFF


def int8(number: int) -> bytes:
    return number.to_bytes(1, "big", signed=True)


def int16(number: int) -> bytes:
    return number.to_bytes(2, "big", signed=True)


def int32(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def int64(number: int) -> bytes:
    return number.to_bytes(8, "big", signed=True)


def string(text: str, field: str) -> bytes:
    """A string after its length; a lone surrogate becomes `?`, as in Java.

    Raises
    ------
    NotSerializable
        Its UTF-8 is longer than 32767 bytes.
    """
    content = text.encode("utf-8", "replace")
    if len(content) > _LONGEST_STRING_BYTES:
        kafka = KafkaError("RuntimeException", f"'{field}' field is too long to be serialized")
        detail = f"{field} has at most {_LONGEST_STRING_BYTES} bytes; {len(content)} given"
        raise NotSerializable(detail, kafka=kafka, bytes=len(content))
    return int16(len(content)) + content


def nullable_string(text: str | None, field: str) -> bytes:
    """A string, or a length of −1."""
    return int16(-1) if text is None else string(text, field)


def nullable_bytes(content: bytes | None) -> bytes:
    """Bytes after their length, or a length of −1."""
    return int32(-1) if content is None else int32(len(content)) + content


def topic_partitions(owned: Iterable[Owned]) -> bytes:
    """Topics with their partitions, in the order given; a topic that comes twice is written twice."""
    entries = [
        string(entry.topic, "topic") + int32(len(entry.partitions)) + entry.partitions.astype(">i4").tobytes()
        for entry in owned
    ]
    return int32(len(entries)) + b"".join(entries)


def sorted_grouped(owned: Iterable[Owned]) -> list[Owned]:
    """One entry a topic, topics in Java's order of strings, partitions ascending."""
    return [
        Owned(entry.topic, np.sort(entry.partitions))
        for entry in sorted(grouped(owned), key=lambda entry: utf16_order(entry.topic))
    ]
