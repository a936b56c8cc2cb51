"""Sweeps over a dataset of keys: how partitioners and partition counts spread it, measured in one pass on Spark.

A scenario is a partitioner at a partition count. Moves are counted from the first count, `partitions`.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from app.core.keys.dataset import suggested
from app.core.keys.model import keys_of
from app.core.keys.partitioners import PARTITIONERS, partition, require_partitions
from app.core.keys.resize import expected_moved_share
from app.core.keys.skew import skew_of
from app.core.model import Int64s
from app.errors import ConflictingFields, DatasetEmpty, ImpossibleValue, Json, NotForThisKind
from app.formats.scenario_tables import Column
from app.services.datasets import is_uri, located
from app.services.limits import Limits
from app.services.plans import Plan
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep

NUMBERS = (
    "max_over_mean",
    "gini",
    "bytes_max_over_mean",
    "bytes_gini",
    "heaviest_partition_records",
    "records_without_partition",
    "moved_share",
    "moved_key_share",
    "expected_moved_share",
)
"""The figures of a partitioner at a partition count; of records where they do not say otherwise."""
_MOST_SHOWN = 256
"""Bytes of a heavy key that a row shows."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """What one partitioner makes of a dataset at one partition count.

    Parameters
    ----------
    records, record_bytes : (partitions + 1,) int64; index 0 is for records without a partition, p is at p + 1.
    compared, moved : distinct keys and records, of those that have a partition under the first count, too.
    """

    records: Int64s
    record_bytes: Int64s
    compared: tuple[int, int]
    moved: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A dataset as Spark counted it; `placed` by (partitioner, partition count), the heaviest keys first."""

    keys: int
    records: int
    null_records: int
    heaviest: Sequence[tuple[bytes, int]]
    placed: Mapping[tuple[str, int], Placed]


def resolve(_: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """The definition with the dataset's place, which is looked at by the worker and not yet here.

    Raises
    ------
    DatasetNotAllowed : it is outside the operator's roots. InvalidPartitions.
    ImpossibleValue : what another sweep over the same does differently is null.
    ConflictingFields : only local Arrow files can be read, and lines have no columns.
    LimitExceeded : all scenarios together have more partitions than are answered at once.
    """
    asked = cast("Mapping[str, Any]", definition)
    dataset = asked["dataset"]
    for name in ("partitioners", "partitions", "compare_partitions", "heaviest"):
        if asked[name] is None:
            raise ImpossibleValue(f"{name} is null; a key_skew sweep needs it", path=(name,), value=None)
    require_partitions(asked["partitions"], path=("partitions",))
    for index, count in enumerate(asked["compare_partitions"]):
        require_partitions(count, path=("compare_partitions", index))
    answered = len(asked["partitioners"]) * sum(counts(definition))
    limits.check_number("sync_partitions", answered, path=("partitions",))
    has_columns = dataset["format"] != "lines"
    if not has_columns and "value_column" in dataset:
        detail = "a dataset of lines has no columns: each line is a key"
        raise ConflictingFields(detail, path=("dataset", "value_column"))
    if has_columns != ("key_column" in dataset):
        detail = f"a dataset of {dataset['format']} " + (
            "has its keys in a column: key_column names it" if has_columns else "has no columns: each line is a key"
        )
        raise ConflictingFields(detail, path=("dataset", "key_column"))
    location = located(dataset["path"], limits.dataset_roots)
    if dataset["format"] == "arrow" and is_uri(location):
        raise ConflictingFields("Arrow files are read from folders, not from URIs", path=("dataset", "format"))
    told = {**definition, "partitioners": list(dict.fromkeys(asked["partitioners"]))}
    return {**told, "resolved": {"location": location, "roots": list(limits.dataset_roots)}}


def counts(definition: Mapping[str, Json]) -> list[int]:
    """The partition counts, each once; the first is the one that moves are counted from."""
    asked = cast("Mapping[str, Any]", definition)
    return list(dict.fromkeys([asked["partitions"], *asked["compare_partitions"]]))


def scenarios(definition: Mapping[str, Json]) -> int:
    """How many there are: partitioners × partition counts."""
    return len(cast("Sequence[str]", definition["partitioners"])) * len(counts(definition))


def score(_: Mapping[str, Json], __: int, ___: int) -> list[dict[str, Json]]:
    """A dataset is not read here and now. Raises `NotForThisKind`."""
    raise NotForThisKind("a dataset of keys is measured by a worker on Spark, and nowhere else", kind="key_skew")


def columns(_: Mapping[str, Json]) -> list[Column]:
    """The axes, then the figures."""
    counted = ("heaviest_partition_records", "records_without_partition")
    return [
        Column.axis("partitioner", "string"),
        Column.axis("partitions", "int64"),
        *(Column.figure(name, "int64") for name in ("records", "records_without_key", "keys")),
        *(Column.figure(name, "int64" if name in counted else "double") for name in NUMBERS),
        *(Column.figure(name, "int64") for name in ("heaviest_partition", "suggested_partitions")),
    ]


def opened(_: UnitOfWork, __: Sweep, ___: int, ____: Limits) -> Plan:
    """There is nothing placed that a plan could show. Raises `NotForThisKind`."""
    detail = "a scenario of a key_skew sweep places no replicas and no members, so there is no plan of it"
    raise NotForThisKind(detail, kind="key_skew", operation="get_scenario")


def rows(definition: Mapping[str, Json], measured: Measured) -> list[dict[str, Json]]:
    """Every scenario's row, partitioner by partitioner. Raises `DatasetEmpty` where there is no record."""
    asked = cast("Mapping[str, Any]", definition)
    if not measured.records:
        path = asked["dataset"]["path"]
        raise DatasetEmpty(f"{path} has no records", path=("dataset", "path"), value=path)
    found: list[dict[str, Json]] = []
    for name in asked["partitioners"]:
        of_counts = {count: skew_of(measured.placed[name, count].records[1:]) for count in counts(definition)}
        best = suggested([(count, its.max_over_mean) for count, its in of_counts.items()])
        for count in of_counts:
            its = {"index": len(found), "axes": {"partitioner": name, "partitions": count}}
            figures = _figures(measured.placed[name, count], first=asked["partitions"], count=count)
            of_dataset = {
                "records": measured.records,
                "records_without_key": measured.null_records,
                "keys": measured.keys,
                "heaviest_keys": _heaviest(measured, name, count),
                "suggested_partitions": best,
            }
            found.append(cast("dict[str, Json]", its | of_dataset | figures | {"error": None}))
    return found


def _figures(placed: Placed, *, first: int, count: int) -> dict[str, Json]:
    by_records, by_bytes = skew_of(placed.records[1:]), skew_of(placed.record_bytes[1:])
    heaviest = int(by_records.per_partition.argmax())
    (keys, records), (moved_keys, moved_records) = placed.compared, placed.moved
    return {
        "max_over_mean": by_records.max_over_mean,
        "gini": by_records.gini,
        "bytes_max_over_mean": by_bytes.max_over_mean,
        "bytes_gini": by_bytes.gini,
        "heaviest_partition": heaviest,
        "heaviest_partition_records": int(by_records.per_partition[heaviest]),
        "records_without_partition": int(placed.records[0]),
        "moved_share": moved_records / records if records else 0.0,
        "moved_key_share": moved_keys / keys if keys else 0.0,
        "expected_moved_share": expected_moved_share(first, count),
        "records_per_partition": by_records.per_partition.tolist(),
        "bytes_per_partition": by_bytes.per_partition.tolist(),
    }


def _heaviest(measured: Measured, name: str, count: int) -> list[Json]:
    there = partition(PARTITIONERS[name], keys_of([key for key, _ in measured.heaviest]), count)
    return [
        {
            "key": _text(key[:_MOST_SHOWN]),
            "key_base64": b64encode(key[:_MOST_SHOWN]).decode(),
            "key_length": len(key),
            "records": records,
            "share": records / measured.records,
            "partition": partition_ if partition_ >= 0 else None,
        }
        for (key, records), partition_ in zip(measured.heaviest, np.asarray(there).tolist(), strict=True)
    ]


def _text(key: bytes) -> str | None:
    """A key as text where it is some; Postgres keeps no NUL in it."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
