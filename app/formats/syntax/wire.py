"""A cursor over bytes in Kafka's protocol encoding (before its compact types).

Numbers are big-endian and signed. A string is its length in bytes as int16, then UTF-8; −1 is null if a
field may be null. An array is its count as int32, then its items.
Source: the Kafka protocol guide, "Protocol Primitive Types".
"""

from app.errors.texts import MalformedText
from app.formats.syntax.lines import rejection

HIGHEST_PORT = 65_535


class Cursor:
    """Reads one field after another; each rejection names the byte offset of the field."""

    def __init__(self, data: bytes, *, offset: int = 0) -> None:
        self._data = data
        self._offset = offset

    @property
    def offset(self) -> int:
        """How many bytes were read."""
        return self._offset

    @property
    def rest(self) -> bytes:
        """The bytes that were not read yet."""
        return self._data[self._offset :]

    def int16(self, what: str) -> int:
        return self._number(2, what)

    def int32(self, what: str) -> int:
        return self._number(4, what)

    def boolean(self, what: str) -> bool:
        start = self._offset
        number = self._number(1, what)
        if number not in (0, 1):
            raise self.reject(start, expected=f"{what}, 0 or 1", actual=str(number))
        return number == 1

    def int32s(self, what: str) -> tuple[int, ...]:
        """An array of numbers."""
        return tuple([self.int32(f"{what} (int32)") for _ in range(self.count(what, least_bytes=4))])

    def broker_id(self) -> int:
        start = self._offset
        number = self.int32("a broker id (int32)")
        if number < 0:
            raise self.reject(start, expected="a broker id from 0", actual=str(number))
        return number

    def port(self) -> int:
        start = self._offset
        number = self.int32("a port (int32)")
        if not 0 <= number <= HIGHEST_PORT:
            raise self.reject(start, expected=f"a port from 0 to {HIGHEST_PORT}", actual=str(number))
        return number

    def string(self, what: str) -> str:
        start = self._offset
        text = self.nullable_string(what)
        if text is None:
            raise self.reject(start, expected=f"{what}, which is never null", actual="length -1")
        return text

    def nullable_string(self, what: str) -> str | None:
        start = self._offset
        length = self.int16(f"the length (int16) of {what}")
        if length == -1:
            return None
        if length < -1:
            raise self.reject(start, expected=f"a length of {what} from -1", actual=str(length))
        content = self._take(length, what)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            at = start + 2 + error.start
            raise self.reject(at, expected=f"{what} in UTF-8", actual=f"byte 0x{content[error.start]:02x}") from None

    def count(self, what: str, *, least_bytes: int) -> int:
        """An array's count, rejected if its items, of `least_bytes` each at least, exceed the remaining bytes."""
        start = self._offset
        count = self.int32(f"the count (int32) of {what}")
        left = len(self._data) - self._offset
        if not 0 <= count <= left // least_bytes:
            expected = f"a count of {what} from 0 to {left // least_bytes}, for {left} bytes are left"
            raise self.reject(start, expected=expected, actual=str(count))
        return count

    def end(self) -> None:
        """Reject remaining bytes."""
        if self._offset < len(self._data):
            actual = f"{len(self._data) - self._offset} more bytes"
            raise self.reject(self._offset, expected="the end", actual=actual)

    @staticmethod
    def reject(byte: int, *, expected: str, actual: str) -> MalformedText:
        """The rejection of the field at that offset."""
        context_found = f"{actual} at byte {byte}"
        return rejection(None, expected=expected, actual=context_found, byte=byte)

    def _number(self, size: int, what: str) -> int:
        return int.from_bytes(self._take(size, what), "big", signed=True)

    def _take(self, size: int, what: str) -> bytes:
        taken = self._data[self._offset : self._offset + size]
        if len(taken) < size:
            actual = f"the end after {len(taken)} of {size} bytes"
            raise self.reject(self._offset, expected=what, actual=actual)
        self._offset += size
        return taken
