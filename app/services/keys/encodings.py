"""Keys as a request writes them: what the producer's serialiser makes of each is what is hashed."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from app.core.keys.model import Keys, keys_of
from app.errors.requests import MalformedKey

Written: TypeAlias = str | int
"""A key in a request. Numbers may be written as strings of digits, since many JSON readers hold 53 bits only."""

_NUMBER = re.compile(r"-?[0-9]+")
_MOST_SHOWN = 80


class Encoding(StrEnum):
    """How a request writes keys."""

    UTF8 = "utf8"
    BASE64 = "base64"
    INT32 = "int32"
    INT64 = "int64"


def read_keys(written: Sequence[Written | None], encoding: Encoding) -> Keys:
    """The bytes that are hashed; None is a record without key.

    Raises
    ------
    MalformedKey : a key is not what its encoding says; names it.
    """
    name, serialise = _ENCODINGS[encoding]
    serialised: list[bytes | None] = []
    for index, key in enumerate(written):
        try:
            serialised.append(None if key is None else serialise(key))
        except (ValueError, OverflowError, Base64Error):
            shown = str(key)[:_MOST_SHOWN]
            raise MalformedKey(
                f"key {index} is not {name}: {shown!r}",
                path=("keys", index),
                value=key if isinstance(key, int) else shown,
                expected=name,
            ) from None
    return keys_of(serialised)


def _of_text(key: Written) -> bytes:
    # Java's serialiser writes `?` for a lone surrogate; clients of other languages refuse it or write U+FFFD.
    if isinstance(key, int):
        raise ValueError
    return key.encode()


def _of_base64(key: Written) -> bytes:
    if isinstance(key, int):
        raise ValueError
    return b64decode(key, validate=True)


def _of_number(key: Written, *, length: int) -> bytes:
    """As Java's serialisers write it: big-endian, two's complement."""
    # Python's own reading takes spaces, underscores and other scripts' digits.
    if isinstance(key, str) and not _NUMBER.fullmatch(key):
        raise ValueError
    return int(key).to_bytes(length, "big", signed=True)


_ENCODINGS: Mapping[Encoding, tuple[str, Callable[[Written], bytes]]] = MappingProxyType(
    {
        Encoding.UTF8: ("a string of Unicode characters", _of_text),
        Encoding.BASE64: ("base64", _of_base64),
        Encoding.INT32: ("a signed number of 32 bits", partial(_of_number, length=4)),
        Encoding.INT64: ("a signed number of 64 bits", partial(_of_number, length=8)),
    }
)
