"""A cursor over bytes in Kafka's protocol encoding (before its compact types).

Numbers are big-endian and signed. A string is its length in bytes as int16, then UTF-8; −1 is null if a
field may be null. An array is its count as int32, then its items.
Source: the Kafka protocol guide, "Protocol Primitive Types".

Bytes as people paste and store them: raw, as hexadecimal digits, or in base64.

Whitespace between hexadecimal digits and base64 characters is ignored, and so is `0x` before hexadecimal digits.
"""

import re
from base64 import b64decode

from app.errors.requests import MalformedText
from app.formats.syntax.byte_reader import ByteReader
from app.formats.syntax.lines import rejection
from app.formats.syntax.wire_formats import ByteEncoding

HIGHEST_PORT = 65_535


class Cursor(ByteReader):
    """Reads one field after another; each rejection names the byte offset of the field."""

    def boolean(self, what: str) -> bool:
        start = self._offset
        number = self.int8(what)
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
        left = self.left
        if not 0 <= count <= left // least_bytes:
            expected = f"a count of {what} from 0 to {left // least_bytes}, for {left} bytes are left"
            raise self.reject(start, expected=expected, actual=str(count))
        return count

    def end(self) -> None:
        """Reject remaining bytes."""
        if self.left:
            actual = f"{self.left} more bytes"
            raise self.reject(self._offset, expected="the end", actual=actual)

    def reject(self, byte: int, expected: str, actual: str) -> MalformedText:
        """The rejection of the field at that offset."""
        return rejection(None, expected=expected, actual=f"{actual} at byte {byte}", byte=byte)


_HEX = re.compile(rb"\s*+(?:0x)?(?:\s*+[0-9a-fA-F]{2})++\s*+")
_BASE64 = re.compile(rb"\s*(?:[A-Za-z0-9+/]\s*)+(?:=\s*){0,2}")
_NOT_HEX, _NOT_BASE64 = re.compile(rb"[^0-9a-fA-Fx\s]"), re.compile(rb"[^A-Za-z0-9+/=\s]")
_BLANK = re.compile(rb"\s+")


def detect(content: bytes) -> ByteEncoding:
    """The encoding of the content: hexadecimal if it is pairs of digits, base64 if it is that, else raw."""
    if _HEX.fullmatch(content):
        return ByteEncoding.HEX
    if _BASE64.fullmatch(content) and len(_BLANK.sub(b"", content)) % 4 == 0:
        return ByteEncoding.BASE64
    return ByteEncoding.RAW


def decoded(content: bytes, encoding: ByteEncoding = ByteEncoding.AUTO) -> bytes:
    """The bytes that the content encodes.

    Raises
    ------
    MalformedText
        The content is not of the encoding; names the offset of the first character that is not, if there is one.
    """
    encoding = detect(content) if encoding is ByteEncoding.AUTO else encoding
    if encoding is ByteEncoding.RAW:
        return content
    digits = _BLANK.sub(b"", content)
    try:
        if encoding is ByteEncoding.HEX:
            return bytes.fromhex(digits.removeprefix(b"0x").decode("ascii"))
        return b64decode(digits, validate=True)
    except ValueError:
        pass
    foreign = (_NOT_HEX if encoding is ByteEncoding.HEX else _NOT_BASE64).search(content)
    offset = None if foreign is None else foreign.start()
    expected = "pairs of hexadecimal digits" if encoding is ByteEncoding.HEX else "base64, padded to groups of four"
    if offset is None:
        raise rejection(None, expected=expected, actual=f"{len(digits)} characters that are not", byte=len(content))
    actual = f"byte 0x{content[offset]:02x} at byte {offset}"
    raise rejection(None, expected=expected, actual=actual, byte=offset)
