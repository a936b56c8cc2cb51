"""Tables of partitions, topic by topic, as CSV, Markdown and Arrow: placement_tables.py and reader_tables.py fill them.

CSV has a header line and lines ended by CR LF (RFC 4180). Markdown has a table a topic under its name as a heading. An
Arrow IPC stream has a record batch a topic; its columns `topic` and `partition` come first.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from app.core.model import NO_REPLICA, Int32s
from app.errors.quotation import escaped

CSV_END = "\r\n"
_MARKUP = str.maketrans({sign: f"\\{sign}" for sign in "|<>&[]`*~"})
"""Characters that end a cell, or begin HTML, an entity, a link, code or emphasis; names of racks may have them."""

ArrowArray: TypeAlias = Any
ArrowField: TypeAlias = Any
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv(header: Sequence[str], blocks: Iterable[str]) -> bytes:
    """A header line, then each topic's lines; a block has no line end behind its last line, and none is empty."""
    parts = [csv_row(*header), CSV_END]
    for block in blocks:
        parts += [block, CSV_END]
    return "".join(parts).encode()


def csv_row(*cells: object) -> str:
    """Cells as a line, without its end; None is empty. Numbers in many lines need no quotes, and are formatted."""
    line = io.StringIO(newline="")
    # The last cell is not empty, since a row of one empty cell would be quoted.
    csv.writer(line).writerow([*("" if cell is None else without_formula(str(cell)) for cell in cells), "end"])
    return line.getvalue().removesuffix(f",end{CSV_END}")


def without_formula(text: str) -> str:
    """The text of a cell, after an apostrophe if a spreadsheet would run it as a formula; names are strangers' text."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """One topic's table.

    Parameters
    ----------
    rows : the number of rows. lines : writes the first rows, as many as its argument.
    """

    topic: str
    rows: int
    lines: Callable[[int], Iterable[str]]


def write_markdown(head: Sequence[str], tables: Iterable[MarkdownTable], *, limit: int, noun: str) -> str:
    """One table a topic.

    Parameters
    ----------
    head : the line of column names and the one of their alignments.
    limit : how many rows are shown in all; the last line says how many are not, each of them one `noun`.
    """
    blocks: list[str] = []
    left, hidden = limit, 0
    for table in tables:
        shown = max(0, min(left, table.rows))
        left -= shown
        hidden += table.rows - shown
        if shown:
            blocks.append("\n".join([f"### `{table.topic}`", "", *head, *table.lines(shown)]))
    if hidden:
        blocks.append(f"… and {hidden} more {noun}{'' if hidden == 1 else 's'}.")
    return "\n\n".join(blocks) + "\n" if blocks else ""


def markdown_cell(text: str) -> str:
    """A text as one cell of a row, which reads as it is: no markup, no HTML, no end of the row or line."""
    return escaped(text.replace("\\", "\\\\").translate(_MARKUP))


def write_arrow(
    fields: Sequence[ArrowField], topics: Sequence[str], batches: Iterable[tuple[Int32s, Sequence[ArrowArray]]]
) -> bytes:
    """A stream of one batch a topic; its bytes are written once.

    Parameters
    ----------
    fields : of the columns behind `topic` (dictionary<int32, string>) and `partition` (int32).
    batches : for each topic the partition ids of its rows and the columns behind them.
    """
    # Loaded here, since it takes longer than most requests and few ask for Arrow.
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only this format needs it

    names = pa.array(topics, type=pa.string())
    first = [
        pa.field("topic", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
    ]
    schema = pa.schema([*first, *fields])
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, schema) as writer:
        for index, (partitions, columns) in enumerate(batches):
            places = pa.array(np.full(len(partitions), index, dtype=np.int32))
            topic = pa.DictionaryArray.from_arrays(places, names)
            writer.write_batch(pa.record_batch([topic, pa.array(partitions), *columns], schema=schema))
    return stream.getvalue()


def replica_lists(name: str) -> ArrowField:
    """A column list<int32> that has broker ids in every row."""
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only this format needs it

    return pa.field(name, pa.list_(pa.field("item", pa.int32(), nullable=False)), nullable=False)


def replica_column(replicas: Int32s) -> ArrowArray:
    """Such a column of rows padded with `NO_REPLICA`; if none is padded its values are the rows, not a copy."""
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only this format needs it

    is_id = replicas != NO_REPLICA
    offsets = np.zeros(len(replicas) + 1, dtype=np.int32)
    np.cumsum(is_id.sum(axis=1), out=offsets[1:])
    values = replicas.reshape(-1) if is_id.all() else replicas[is_id]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), type=replica_lists("replicas").type)
