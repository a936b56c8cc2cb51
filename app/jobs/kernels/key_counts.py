"""How many records have each key: the first step over a dataset, which leaves a row a distinct key and task.

A task counts within what it reads and hands over when it has many distinct keys, so its memory is bounded, and a key
can be in several of its rows; Spark brings the rows of a key together. Keys are the bytes that a producer would hash.
"""

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import ColumnNotFound, DatasetUnreadable, KeyColumnOfAnotherType, MalformedKey
from app.jobs.kernels.files import batches_of
from app.jobs.kernels.loop import Kernel

SCHEMA = pa.schema([pa.field("key", pa.binary()), pa.field("records", pa.int64(), nullable=False)])
"""A key, null for records without one, and how many records were met that have it."""

_MERGED_FROM = 1 << 20
"""Rows of counts that a task holds before it merges them."""
_HANDED_OVER_FROM = 1 << 19
"""Distinct keys that are handed over: where there are so many, holding them saves little."""
_MOST_SHOWN = 80


def payload(column: str, encoding: str) -> bytes:
    """The JSON that `prepare` reads; the column is named in failures."""
    return json.dumps({"column": column, "encoding": encoding}).encode()


def prepare(text: bytes) -> tuple[str, str]:
    """(column, encoding)."""
    read = json.loads(text)
    return read["column"], read["encoding"]


def run(asked: tuple[str, str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the keys of batches whose first column they are.

    Raises
    ------
    KeyColumnOfAnotherType, MalformedKey
    """
    column, encoding = asked
    parts: list[pa.Table] = []
    held = 0
    for batch in batches:
        parts.append(_counted(batch.column(0), column, encoding))
        held += len(parts[-1])
        if held >= _MERGED_FROM:
            parts = [_merged(parts)]
            held = len(parts[0])
            if held >= _HANDED_OVER_FROM:
                yield from parts[0].to_batches()
                parts, held = [], 0
    if parts:
        yield from _merged(parts).to_batches()


def run_over_files(asked: tuple[str, str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same over files that the executor opens itself: rows (path, column), as `spark.Files`.

    Raises
    ------
    ColumnNotFound, DatasetUnreadable
    """
    named = (row for batch in batches for row in batch.to_pylist())
    return run(asked, (read for row in named for read in _read(row["path"], row["column"])))


def _read(path: str, column: str) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches_of(path, column)
    except KeyError as missing:
        raise ColumnNotFound(f"{path} has no column {column!r}", value=column, file=path) from missing
    except (OSError, pa.ArrowException) as unreadable:
        detail = f"{path} cannot be read on an executor: {str(unreadable).splitlines()[0]}"
        raise DatasetUnreadable(detail, file=path) from unreadable


def _counted(values: pa.Array, column: str, encoding: str) -> pa.Table:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    counts = pc.value_counts(_comparable(values, column, encoding))
    key = _ENCODINGS[encoding][1](counts.field("values"), column)
    return pa.table([key.cast(pa.binary()), counts.field("counts")], schema=SCHEMA)


def _merged(parts: list[pa.Table]) -> pa.Table:
    together = pa.concat_tables(parts).group_by("key", use_threads=False).aggregate([("records", "sum")])
    return together.select(["key", "records_sum"]).rename_columns(["key", "records"]).cast(SCHEMA)


def _comparable(values: pa.Array, column: str, encoding: str) -> pa.Array:
    """The values as bytes or as 64-bit numbers, whichever of both they are."""
    kind, (expected, _) = values.type, _ENCODINGS[encoding]
    text = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_string, pa.types.is_large_string)
    if any(is_kind(kind) for is_kind in text):
        return values.cast(pa.large_binary() if pa.types.is_large_unicode(kind) else pa.binary())
    if encoding in ("int32", "int64") and pa.types.is_signed_integer(kind):
        return values.cast(pa.int64())
    raise KeyColumnOfAnotherType(
        f"the column {column!r} holds {kind}; with the encoding {encoding} it has to hold {expected}",
        value=str(kind),
        column=column,
        encoding=encoding,
    )


def _as_they_are(values: pa.Array, _: str) -> pa.Array:
    return values


def _from_base64(values: pa.Array, column: str) -> pa.Array:
    decoded = []
    for written in values.to_pylist():
        try:
            decoded.append(None if written is None else b64decode(written, validate=True))
        except (ValueError, Base64Error):
            raise _malformed(column, written, "base64") from None
    return pa.array(decoded, pa.binary())


def _from_numbers(bits: int) -> Callable[[pa.Array, str], pa.Array]:
    """Big-endian and of two's complement, as Java's serialisers write numbers."""

    def serialise(values: pa.Array, column: str) -> pa.Array:
        numbers = values if pa.types.is_integer(values.type) else _parsed(values, column, bits)
        present = numbers.is_valid().to_numpy(zero_copy_only=False)
        wide = numbers.fill_null(0).to_numpy(zero_copy_only=False)
        beyond = np.flatnonzero((wide < -(2 ** (bits - 1))) | (wide > 2 ** (bits - 1) - 1))
        if len(beyond):
            raise _malformed(column, str(wide[beyond[0]]), f"a signed number of {bits} bits")
        written = wide.astype(f">i{bits // 8}").tobytes()
        fixed = pa.Array.from_buffers(pa.binary(bits // 8), len(wide), [None, pa.py_buffer(written)])
        return pc.if_else(pa.array(present), fixed.cast(pa.binary()), pa.scalar(None, pa.binary()))

    return serialise


def _parsed(values: pa.Array, column: str, bits: int) -> pa.Array:
    expected = f"a signed number of {bits} bits"
    digits = pc.match_substring_regex(values, "^-?[0-9]{1,20}$")
    if pc.any(pc.invert(digits)).as_py():
        raise _malformed(column, values.filter(pc.invert(digits))[0].as_py(), expected)
    numbers = [None if text is None else int(text) for text in values.to_pylist()]
    for number in numbers:
        if number is not None and not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise _malformed(column, str(number), expected)
    return pa.array(numbers, pa.int64())


def _malformed(column: str, written: bytes | str, expected: str) -> MalformedKey:
    shown = written.decode(errors="replace") if isinstance(written, bytes) else written
    shown = shown[:_MOST_SHOWN]
    detail = f"a key in the column {column!r} is not {expected}: {shown!r}"
    return MalformedKey(detail, column=column, value=shown, expected=expected)


_ENCODINGS: Mapping[str, tuple[str, Callable[[pa.Array, str], pa.Array]]] = MappingProxyType(
    {
        "utf8": ("text or bytes", _as_they_are),
        "base64": ("text or bytes", _from_base64),
        "int32": ("signed integers, or text of their digits", _from_numbers(32)),
        "int64": ("signed integers, or text of their digits", _from_numbers(64)),
    }
)
"""By encoding: what a column has to hold, and what makes keys of its distinct values."""

KERNEL = Kernel("key_counts", prepare, run)
OF_FILES = Kernel("key_counts_of_files", prepare, run_over_files)
