"""Count the records and value bytes of each key: the first step over a dataset.

A task counts the keys that it reads and yields them when there are many distinct ones, so its memory is bounded and a
key may be in several of its rows; Spark groups the rows by key. Keys are the bytes that a producer would hash.
"""

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import requests
from app.errors.quotation import quoted
from app.jobs.kernels.files import batches_of
from app.jobs.kernels.loop import Kernel

SCHEMA = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("records", pa.int64(), nullable=False),
        pa.field("value_bytes", pa.int64(), nullable=False),
    ]
)
"""A key, null for records without one, the number of its records, and the bytes of their values."""

_MERGED_FROM = 1 << 20
"""Rows of counts in memory before a task merges them."""
_YIELDED_FROM = 1 << 19
"""Distinct keys after a merge from which they are yielded: few of them occur again in the same task."""
_MOST_SHOWN = 80
_TEXT = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_string, pa.types.is_large_string)


CountJob: TypeAlias = tuple[Sequence[str], str]
"""The column of keys, optionally the column of values, and the encoding of keys."""


def payload(columns: Sequence[str], encoding: str) -> bytes:
    """The JSON that `prepare` reads; the columns are named in failures."""
    return json.dumps({"columns": list(columns), "encoding": encoding}).encode()


def prepare(text: bytes) -> CountJob:
    """The columns and the encoding of a payload."""
    read = json.loads(text)
    return read["columns"], read["encoding"]


def run(job: CountJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the keys in the first column of batches, and add up the bytes of the values in a second column, if any.

    Values are text or bytes, which have a length, or integers, which are lengths; a null has none.

    Raises
    ------
    KeyColumnOfAnotherType, ValueColumnOfAnotherType, MalformedKey
    """
    columns, encoding = job
    parts: list[pa.Table] = []
    rows = 0
    for batch in batches:
        sizes = _sizes(batch.column(1), columns[1]) if len(columns) > 1 else None
        parts.append(_counted(batch.column(0), sizes, columns[0], encoding))
        rows += len(parts[-1])
        if rows >= _MERGED_FROM:
            parts = [_merged(parts)]
            rows = len(parts[0])
            if rows >= _YIELDED_FROM:
                yield from parts[0].to_batches()
                parts, rows = [], 0
    if parts:
        yield from _merged(parts).to_batches()


def run_over_files(job: CountJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same over files that the executor opens itself: rows as of `spark.Files`.

    Raises
    ------
    ColumnNotFound, DatasetUnreadable
    """
    named = (row for batch in batches for row in batch.to_pylist())
    return run(job, (read for row in named for read in _read(row["path"], row["columns"])))


def _read(path: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches_of(path, columns)
    except KeyError as missing:
        column = missing.args[0]
        raise requests.ColumnNotFound(f"{quoted(path)} has no column {column!r}", value=column, file=path) from missing
    except (OSError, pa.ArrowException) as unreadable:
        detail = f"{quoted(path)} cannot be read on an executor: {quoted(str(unreadable))}"
        raise requests.DatasetUnreadable(detail, file=path) from unreadable


def _counted(values: pa.Array, sizes: pa.Array | None, column: str, encoding: str) -> pa.Table:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    comparable = _comparable(values, column, encoding)
    if sizes is None:
        by_value = pc.value_counts(comparable)
        written, counts = by_value.field("values"), by_value.field("counts")
        value_bytes = pa.array(np.zeros(len(counts), np.int64))
    else:
        grouped = pa.table({"key": comparable, "bytes": sizes}).group_by("key", use_threads=False)
        sums = grouped.aggregate([([], "count_all"), ("bytes", "sum")]).combine_chunks()
        written, counts = (sums.column(name).combine_chunks() for name in ("key", "count_all"))
        value_bytes = sums.column("bytes_sum").combine_chunks().fill_null(0)
    return pa.table([_ENCODINGS[encoding][1](written, column).cast(pa.binary()), counts, value_bytes], schema=SCHEMA)


def _sizes(values: pa.Array, column: str) -> pa.Array:
    """The length of each value in bytes, int64."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if any(is_kind(kind) for is_kind in _TEXT):
        return pc.binary_length(values).cast(pa.int64())
    if pa.types.is_integer(kind) and not (len(values) and (pc.min(values).as_py() or 0) < 0):
        return values.cast(pa.int64())
    content = f"{kind}, some below 0" if pa.types.is_integer(kind) else str(kind)
    raise requests.ValueColumnOfAnotherType(
        f"the column {column!r} holds {content}; it has to hold values, as text or bytes, or their lengths",
        value=str(kind),
        column=column,
    )


def _merged(parts: list[pa.Table]) -> pa.Table:
    sums = [("records", "sum"), ("value_bytes", "sum")]
    together = pa.concat_tables(parts).group_by("key", use_threads=False).aggregate(sums)
    return together.select(["key", "records_sum", "value_bytes_sum"]).rename_columns(SCHEMA.names).cast(SCHEMA)


def _comparable(values: pa.Array, column: str, encoding: str) -> pa.Array:
    """The values as bytes or as 64-bit numbers, whichever of both they are."""
    kind, (expected, _) = values.type, _ENCODINGS[encoding]
    if any(is_kind(kind) for is_kind in _TEXT):
        return values.cast(pa.large_binary() if pa.types.is_large_unicode(kind) else pa.binary())
    if encoding in ("int32", "int64") and pa.types.is_signed_integer(kind):
        return values.cast(pa.int64())
    raise requests.KeyColumnOfAnotherType(
        f"the column {column!r} holds {kind}; with the encoding {encoding} it has to hold {expected}",
        value=str(kind),
        column=column,
        encoding=encoding,
    )


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


def _malformed(column: str, written: bytes | str, expected: str) -> requests.MalformedKey:
    shown = written.decode(errors="replace") if isinstance(written, bytes) else written
    shown = shown[:_MOST_SHOWN]
    detail = f"a key in the column {column!r} is not {expected}: {shown!r}"
    return requests.MalformedKey(detail, column=column, value=shown, expected=expected)


_ENCODINGS: Mapping[str, tuple[str, Callable[[pa.Array, str], pa.Array]]] = {
    "utf8": ("text or bytes", lambda values, _: values),
    "base64": ("text or bytes", _from_base64),
    "int32": ("signed integers, or text of their digits", _from_numbers(32)),
    "int64": ("signed integers, or text of their digits", _from_numbers(64)),
}
"""Encodings: the expected type of a column, and the function from its distinct values to keys."""

KERNEL = Kernel("key_counts", prepare, run)
OF_FILES = Kernel("key_counts_of_files", prepare, run_over_files)
