"""Bytes as the readers that Kafka generates from its message definitions take them, faults included.

They differ from a careful reader (`wire.Cursor`) in accepting more: text that is no UTF-8 becomes U+FFFD, any
negative length of a nullable field is null, and bytes after the last field are ignored. If reading fails, the
failure has Kafka's own exception, which depends on the error:

    the bytes end within a number              SchemaException
    a string longer than the rest              RuntimeException
    an array counting more items than bytes    RuntimeException
    a string or array that must not be null    RuntimeException
    a byte string longer than the rest         IllegalArgumentException, of java.nio

Source: Kafka's message generator and `ByteBufferAccessor`.
"""

import re
from collections.abc import Iterable
from uuid import UUID

import numpy as np

from app.core.groups.model import Owned
from app.core.model import Int32s
from app.errors.kafka import CorruptProtocolBytes, KafkaError
from app.formats.syntax.byte_reader import ByteReader

# Java takes an encoded surrogate for one fault of up to three bytes; Unicode's advice, and Python, for one a byte.
_ENCODED_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\ufffd".encode()


def java_text(content: bytes) -> str:
    """Bytes as `new String(content, UTF_8)` reads them: U+FFFD if they are no UTF-8."""
    return _ENCODED_SURROGATE.sub(_REPLACEMENT, content).decode("utf-8", "replace")


class GeneratedReader(ByteReader):
    """Reads one field after another. `part` is Kafka's name of the whole: `subscription`, `assignment`."""

    def __init__(self, data: bytes, part: str) -> None:
        super().__init__(data)
        self._part = part

    def uuid(self, what: str) -> UUID:
        """Two halves of eight bytes."""
        halves = [self.int64(f"the {half} half (int64) of {what}") for half in ("upper", "lower")]
        return UUID(int=(halves[0] % 2**64 << 64) | halves[1] % 2**64)

    def version(self) -> int:
        """The two bytes in front, which have an exception of their own."""
        part, self._part = self._part, "header"
        version = self.int16("a version (int16)")
        self._part = part
        return version

    def string(self, field: str) -> str:
        start = self._offset
        text = self.nullable_string(field)
        if text is None:
            raise self._null(start, field)
        return text

    def nullable_string(self, field: str) -> str | None:
        start = self._offset
        length = self.int16(f"the length (int16) of {field}")
        return None if length < 0 else java_text(self._content(start, length, field))

    def nullable_bytes(self, field: str) -> bytes | None:
        start = self._offset
        length = self.int32(f"the length (int32) of {field}")
        if length < 0:
            return None
        left = self.left
        if length > left:
            kafka = KafkaError("IllegalArgumentException", f"newLimit > capacity: ({length} > {left})")
            raise self.reject(start, f"at most {left} bytes of {field}, for no more are left", str(length), kafka)
        return self._take(length, field)

    def copied_bytes(self, field: str) -> bytes:
        """Bytes that must not be null and that Kafka copies, with the same failure as for a string."""
        start = self._offset
        length = self.int32(f"the length (int32) of {field}")
        if length < 0:
            raise self._null(start, field)
        return self._content(start, length, field)

    def count(self, field: str) -> int:
        """An array's count. Kafka asks for a byte an item at least before it makes room for them."""
        start = self._offset
        count = self.int32(f"the count (int32) of {field}")
        left = self.left
        if count < 0:
            raise self._null(start, field)
        if count > left:
            message = f"Tried to allocate a collection of size {count}, but there are only {left} bytes remaining."
            expected = f"a count of {field} from 0 to {left}, for {left} bytes are left"
            raise self.reject(start, expected, str(count), KafkaError("RuntimeException", message))
        return count

    def int32s(self, field: str) -> Int32s:
        """An array of numbers."""
        count = self.count(field)
        whole = (self.left) // 4
        if whole < count:
            self._offset += 4 * whole
            self.int32(f"a number (int32) of {field}")
        return np.frombuffer(self._take(4 * count, field), ">i4").astype(np.int32)

    def topic_partitions(self, field: str) -> tuple[Owned, ...]:
        """An array of topics, each with its partitions."""
        return tuple([Owned(self.string("topic"), self.int32s("partitions")) for _ in range(self.count(field))])

    def reject(self, byte: int, expected: str, actual: str, kafka: KafkaError | None = None) -> CorruptProtocolBytes:
        """The rejection of the field at that offset, by default since the bytes end within it."""
        detail = f"expected {expected}, found {actual} at byte {byte}"
        return CorruptProtocolBytes(detail, kafka=kafka or self._underflow(), expected=expected, byte=byte)

    def _underflow(self) -> KafkaError:
        return KafkaError("SchemaException", f"Buffer underflow while parsing consumer protocol's {self._part}")

    def _null(self, byte: int, field: str) -> CorruptProtocolBytes:
        kafka = KafkaError("RuntimeException", f"non-nullable field {field} was serialized as null")
        return self.reject(byte, f"{field}, which is never null", "a negative length", kafka)

    def _content(self, start: int, length: int, field: str) -> bytes:
        left = self.left
        if length > left:
            message = f"Error reading byte array of {length} byte(s): only {left} byte(s) available"
            expected = f"{length} bytes of {field}"
            raise self.reject(start, expected, f"{left}", KafkaError("RuntimeException", message))
        return self._take(length, field)


def grouped(owned: Iterable[Owned]) -> list[Owned]:
    """One entry a topic, in order of first appearance, its partitions in theirs; topics without partitions drop out."""
    by_topic: dict[str, list[Int32s]] = {}
    for entry in owned:
        if len(entry.partitions):
            by_topic.setdefault(entry.topic, []).append(entry.partitions)
    return [Owned(topic, np.concatenate(parts)) for topic, parts in by_topic.items()]
