"""Bytes as Java's `DataInputStream` reads them.

Numbers are big-endian and signed. A text is its length in bytes as two bytes without sign, then Java's modified UTF-8:
U+0000 takes two bytes, and a character beyond U+FFFF six, three for each of its surrogates.

Source: Java's `java.io.DataInput`, "Modified UTF-8".
"""

from app.errors.kafka import CorruptProtocolBytes, KafkaError
from app.formats.syntax.byte_reader import ByteReader


class DataReader(ByteReader):
    """Reads one field after another; bytes after the last are ignored.

    Parameters
    ----------
    kafka : Kafka's exception for a stream that ends too early or is no text.
    """

    def __init__(self, data: bytes, kafka: KafkaError) -> None:
        super().__init__(data)
        self._kafka = kafka

    def text(self, what: str) -> str:
        """`readUTF`; half of a surrogate pair becomes U+FFFD."""
        length = int.from_bytes(self._take(2, f"the length (uint16) of {what}"), "big")
        start = self._offset
        content = self._take(length, what)
        if content.isascii():
            return content.decode("ascii")
        units = bytearray()
        place = 0
        while place < length:
            size, unit = _unit(content[place : place + 3])
            if not size:
                actual = f"byte 0x{content[place]:02x}"
                raise self.reject(start + place, f"{what} in modified UTF-8", actual)
            units += unit.to_bytes(2, "big")
            place += size
        return units.decode("utf-16-be", "replace")

    def count(self, what: str, *, least_bytes: int) -> int:
        """A count that Java makes room for, of items that take `least_bytes` each at least."""
        start = self._offset
        count = self.repeats(what, least_bytes=least_bytes)
        if count < 0:
            kafka = KafkaError("IllegalArgumentException")
            raise self.reject(start, f"a count of {what} from 0", str(count), kafka)
        return count

    def repeats(self, what: str, *, least_bytes: int) -> int:
        """A count that Java only loops over: below 0 counts as 0."""
        start = self._offset
        count = self.int32(f"the count (int32) of {what}")
        left = self.left
        if count > left // least_bytes:
            expected = f"a count of {what} up to {left // least_bytes}, for {left} bytes are left"
            raise self.reject(start, expected, str(count))
        return count

    def reject(self, byte: int, expected: str, actual: str, kafka: KafkaError | None = None) -> CorruptProtocolBytes:
        """The rejection of the field at that offset."""
        detail = f"expected {expected}, found {actual} at byte {byte}"
        return CorruptProtocolBytes(detail, kafka=kafka or self._kafka, expected=expected, byte=byte)


def _unit(some: bytes) -> tuple[int, int]:
    """How many of some bytes make the first UTF-16 unit, and the unit; 0 if they make none."""
    first = some[0]
    if first < 0x80:
        return 1, first
    size = 2 if first >> 5 == 0b110 else 3 if first >> 4 == 0b1110 else 0
    if not size or len(some) < size or any(byte >> 6 != 0b10 for byte in some[1:size]):
        return 0, 0
    if size == 2:
        return 2, (first & 0x1F) << 6 | some[1] & 0x3F
    return 3, (first & 0x0F) << 12 | (some[1] & 0x3F) << 6 | some[2] & 0x3F
