"""Scored scenarios as tables for programs: CSV, Parquet, Arrow. These are ours.

A column for each axis, named `axes.` and its path, then the figures of the kind. A value of an axis that is neither
a number nor a text (a whole broker profile) is JSON.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

import orjson

from app.formats.tables.topic_tables import without_formula

ColumnType = Literal["bool", "int64", "double", "string"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of scenarios.

    Parameters
    ----------
    type : as Arrow names it; None if the values decide: numbers if all are, else text.
    path : the path of the value in a row; the value is empty if an object of the path is missing.
    """

    name: str
    type: ColumnType | None
    path: tuple[str, ...]

    @classmethod
    def figure(cls, name: str, type: ColumnType) -> "Column":  # noqa: A002 — as the field is called
        """A figure that a row has under its own name."""
        return cls(name, type, (name,))

    @classmethod
    def axis(cls, name: str, type: ColumnType | None = None) -> "Column":  # noqa: A002 — as the field is called
        return cls(f"axes.{name}", type, ("axes", name))


INDEX = Column.figure("index", "int64")
ERROR = Column("error", "string", ("error", "detail"))
"""The first and the last column of every table."""


def write_arrow(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column]) -> bytes:
    """An Arrow IPC stream."""
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only tables need it

    table = _table(rows, columns)
    sink = BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def write_parquet(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column]) -> bytes:
    import pyarrow.parquet as pq  # noqa: PLC0415 — it takes long to import, and only tables need it

    sink = BytesIO()
    pq.write_table(_table(rows, columns), sink)
    return sink.getvalue()


def write_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column]) -> bytes:
    """A line a scenario under a header line; missing values are empty."""
    from pyarrow import csv  # noqa: PLC0415 — it takes long to import, and only tables need it

    table = _table(rows, columns)
    for position, column in enumerate(table.schema):
        if column.type == "string":
            texts = [text and without_formula(text) for text in table.column(position).to_pylist()]
            table = table.set_column(position, column.name, [texts])
    sink = BytesIO()
    csv.write_csv(table, sink)
    return sink.getvalue()


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A file format of tables."""

    media_type: str
    write: Callable[[Iterable[Mapping[str, Any]], Sequence[Column]], bytes]


TABLES: Mapping[str, TableFormat] = {
    "csv": TableFormat("text/csv", write_csv),
    "parquet": TableFormat("application/vnd.apache.parquet", write_parquet),
    "arrow": TableFormat("application/vnd.apache.arrow.stream", write_arrow),
}
"""The formats by the suffix of their files."""


def _table(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only tables need it

    listed = list(rows)
    return pa.table({column.name: _typed([_at(row, column.path) for row in listed], column.type) for column in columns})


def _at(row: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = row
    for name in path:
        if value is None:
            return None
        value = value.get(name)
    return value


def _typed(values: Sequence[Any], kind: ColumnType | None) -> Any:
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only tables need it

    if kind is not None:
        return pa.array(values, pa.type_for_alias(kind))
    if all(isinstance(value, bool) for value in values):
        return pa.array(values, pa.bool_())
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return pa.array([float(value) for value in values], pa.float64())
    return pa.array([value if isinstance(value, str) else orjson.dumps(value).decode() for value in values])
