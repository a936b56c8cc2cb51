"""Bytes as people paste and store them: raw, as hexadecimal digits, or in base64.

Whitespace between hexadecimal digits and base64 characters is ignored, and so is `0x` before hexadecimal digits.
"""

import re
from base64 import b64decode

from app.formats.syntax.lines import rejection
from app.formats.syntax.wire_formats import ByteEncoding

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
