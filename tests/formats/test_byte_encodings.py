"""Bytes as hexadecimal digits, in base64 or raw."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.requests import MalformedText
from app.formats.syntax.wire import decoded, detect
from app.formats.syntax.wire_formats import ByteEncoding


@given(st.binary())
def test_each_encoding_gives_the_bytes_back(data: bytes) -> None:
    assert decoded(data, ByteEncoding.RAW) == data
    assert decoded(data.hex(" ").encode(), ByteEncoding.HEX) == data
    assert decoded(b"0x" + data.hex().upper().encode() + b"\n", ByteEncoding.HEX) == data
    assert decoded(b64encode(data) + b"\n", ByteEncoding.BASE64) == data


@given(st.binary(min_size=1))
def test_hexadecimal_digits_are_detected(data: bytes) -> None:
    """They are base64 characters too, so they are tried first."""
    assert detect(data.hex(" ", 4).encode()) is ByteEncoding.HEX
    assert decoded(data.hex().encode()) == data


def test_base64_and_raw_bytes_are_detected() -> None:
    data = bytes.fromhex("0003 00000001 0001 74 ffffffff 00000000 ffffffff 0001 61")
    assert detect(b64encode(data)) is ByteEncoding.BASE64
    assert decoded(b64encode(data)) == data
    assert detect(data) is ByteEncoding.RAW
    assert decoded(data) == data
    assert detect(b"") is ByteEncoding.RAW


@pytest.mark.parametrize(
    ("content", "encoding", "byte"),
    [(b"00 0g", ByteEncoding.HEX, 4), (b"000", ByteEncoding.HEX, 3), (b"AA-A", ByteEncoding.BASE64, 2)],
)
def test_what_is_not_of_the_encoding_is_rejected_by_its_offset(
    content: bytes, encoding: ByteEncoding, byte: int
) -> None:
    with pytest.raises(MalformedText) as caught:
        decoded(content, encoding)
    assert caught.value.context["byte"] == byte
