"""Scored scenarios as tables for programs: CSV, Parquet, Arrow. These are ours.

A column for each axis, `axes.` before its path, then the figures. What an axis says that is neither a number nor a
text (a whole broker profile) stands as JSON.
"""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

import orjson

FIGURES = (
    "feasible",
    "monthly_cost",
    "headroom",
    "first_breaking_month",
    "cross_rack_bytes_per_s",
    "brokers",
    "partitions",
    "partitions_offline",
    "partitions_under_min_isr",
    "partitions_not_rack_safe",
    "binding_resource",
    "binding_broker",
    "binding_failure",
    "binding_value",
    "binding_limit",
    "error",
)
"""The columns after the axes, in their order."""


def write_arrow(rows: Iterable[Mapping[str, Any]], *, axes: Sequence[str]) -> bytes:
    """An Arrow IPC stream."""
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only tables need it

    table = _table(rows, axes)
    sink = BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def write_parquet(rows: Iterable[Mapping[str, Any]], *, axes: Sequence[str]) -> bytes:
    """A Parquet file."""
    import pyarrow.parquet as pq  # noqa: PLC0415 — as above

    sink = BytesIO()
    pq.write_table(_table(rows, axes), sink)
    return sink.getvalue()


def write_csv(rows: Iterable[Mapping[str, Any]], *, axes: Sequence[str]) -> bytes:
    """A line a scenario under a header line; what is not there is empty."""
    from pyarrow import csv  # noqa: PLC0415 — as above

    sink = BytesIO()
    csv.write_csv(_table(rows, axes), sink)
    return sink.getvalue()


def _table(rows: Iterable[Mapping[str, Any]], axes: Sequence[str]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 — as above

    listed = list(rows)
    columns: dict[str, Any] = {"index": pa.array([row["index"] for row in listed], pa.int64())}
    for axis in axes:
        columns[f"axes.{axis}"] = _axis([row["axes"].get(axis) for row in listed])
    flat = [_figures(row) for row in listed]
    for name in FIGURES:
        columns[name] = pa.array([figures[name] for figures in flat], _type(name))
    return pa.table(columns)


def _figures(row: Mapping[str, Any]) -> dict[str, Any]:
    binding, error = row.get("binding") or {}, row.get("error")
    told = {f"binding_{name}": binding.get(name) for name in ("resource", "broker", "failure", "value", "limit")}
    return {name: row.get(name) for name in FIGURES} | told | {"error": None if error is None else error["detail"]}


def _axis(values: Sequence[Any]) -> Any:
    """One type for the whole column: numbers where all are, else text."""
    import pyarrow as pa  # noqa: PLC0415 — as above

    if all(isinstance(value, bool) for value in values):
        return pa.array(values, pa.bool_())
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return pa.array([float(value) for value in values], pa.float64())
    return pa.array([value if isinstance(value, str) else orjson.dumps(value).decode() for value in values])


def _type(name: str) -> Any:
    import pyarrow as pa  # noqa: PLC0415 — as above

    if name == "feasible":
        return pa.bool_()
    if name in ("binding_resource", "binding_failure", "error"):
        return pa.string()
    counted = ("brokers", "partitions", "first_breaking_month", "binding_broker")
    return pa.int64() if name in counted or name.startswith("partitions_") else pa.float64()
