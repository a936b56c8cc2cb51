"""Bytes that Java's serialisers write for a key, which every partitioner hashes.

    StringSerializer    UTF-8, no length in front
    IntegerSerializer   four bytes, the highest first, two's complement
    LongSerializer      eight, likewise
    UUIDSerializer      the text of 36 characters, not the 16 bytes

A client of another language that writes a number as text, or the lowest byte first, has another key.
"""

from collections.abc import Iterable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.core.keys.model import Keys, keys_of
from app.core.model import Int32s, Int64s


def string_keys(texts: Iterable[str | None]) -> Keys:
    """Strings as UTF-8; None is a record without key. A lone surrogate becomes `?`, as in Java."""
    return keys_of([None if text is None else text.encode("utf-8", "replace") for text in texts])


def int32_keys(values: Int32s) -> Keys:
    """Keys of four bytes each."""
    return _fixed(np.asarray(values, np.dtype(">i4")))


def int64_keys(values: Int64s) -> Keys:
    """Keys of eight bytes each."""
    return _fixed(np.asarray(values, np.dtype(">i8")))


def uuid_keys(values: Iterable[UUID | None]) -> Keys:
    """UUIDs as their lower-case text."""
    return string_keys(None if value is None else str(value) for value in values)


def _fixed(values: NDArray[np.int32] | NDArray[np.int64]) -> Keys:
    offsets = np.arange(len(values) + 1, dtype=np.int64) * values.dtype.itemsize
    return Keys(np.frombuffer(values.tobytes(), np.uint8), offsets)
