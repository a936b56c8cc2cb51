"""Measure a dataset of keys on Spark: count its distinct keys, bring each key's counts together, add them up.

Only sums travel to the driver: what each task has for every partition, and its heaviest keys. A key's counts are all
in one task by then, so the heaviest of the tasks' heaviest are the heaviest of all.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from app.core.keys.sweep import DatasetSums, PartitionSums, heaviest_of
from app.errors import ColumnNotFound, Json, SparkJobFailed
from app.jobs.datasets import Dataset, unreadable
from app.jobs.kernels import key_counts, keys
from app.jobs.kernels.loop import FAILURE
from app.jobs.spark import Spark, Step
from app.services.sweeps.keys import counts, rows

LINE = "line"
"""What the one column of a dataset of lines is called in failures."""


def score(spark: Spark, definition: Mapping[str, Json], *, group: str) -> list[tuple[int, bytes]]:
    """The rows of all scenarios of a sweep.

    Raises
    ------
    DatasetNotFound, DatasetNotAllowed, DatasetUnreadable, DatasetEmpty
    ColumnNotFound, KeyColumnOfAnotherType, ValueColumnOfAnotherType, MalformedKey
    As `Spark.run`.
    """
    measured = measure(spark, definition, group=group)
    return [(index, orjson.dumps(row)) for index, row in enumerate(rows(definition, measured))]


def measure(spark: Spark, definition: Mapping[str, Json], *, group: str) -> DatasetSums:
    """What Spark counts; raises as `score` does."""
    asked = cast("Mapping[str, Any]", definition)
    written, resolved = asked["dataset"], asked["resolved"]
    column, value_column = written.get("key_column", LINE), written.get("value_column")
    columns = (column,) if value_column is None else (column, value_column)
    kernel, source = Dataset(resolved["location"], resolved["roots"], written["format"], columns).source()
    payload = key_counts.payload(columns, written["key_encoding"])
    found = _run(
        spark,
        written["path"],
        payload=keys.payload(asked["partitioners"], counts(definition), most=asked["heaviest"]),
        over=Step(kernel.name, payload, source, key_counts.SCHEMA, _together),
        schema=keys.SCHEMA,
        group=group,
    )
    return _measured(definition, found)


def _run(spark: Spark, path: str, **job: Any) -> pa.Table:
    try:
        return spark.run(keys.KERNEL.name, **job)
    except SparkJobFailed as failed:
        if found := unreadable(failed, path):
            raise found from failed
        raise


def _together(counted: DataFrame) -> DataFrame:
    """A row a key; one more for each failure that a task reports, whose other columns are null."""
    sums = counted.groupBy("key", FAILURE.name).sum("records", "value_bytes")
    return sums.toDF("key", FAILURE.name, "records", "value_bytes").select(
        "key", "records", "value_bytes", FAILURE.name
    )


def _measured(definition: Mapping[str, Json], found: pa.Table) -> DatasetSums:
    asked = cast("Mapping[str, Any]", definition)
    totals, nulls, heavy = (_of(found, what) for what in ("total", "null", "heavy"))
    heavy_keys = zip(heavy.column("key").to_pylist(), heavy.column("records").to_pylist(), strict=True)
    measured = DatasetSums(
        keys=_sum(totals, "keys"),
        records=_sum(totals, "records"),
        null_records=_sum(nulls, "records"),
        heaviest=heaviest_of(list(heavy_keys), most=asked["heaviest"]),
        sums={
            (name, count): _partition_sums(_at(found, name, count), count)
            for name in asked["partitioners"]
            for count in counts(definition)
        },
    )
    dataset = asked["dataset"]
    if dataset["format"] == "json_lines" and measured.records and measured.records == measured.null_records:
        column = dataset["key_column"]
        raise ColumnNotFound(f"{column!r} is null in every record of {dataset['path']}", value=column)
    return measured


def _partition_sums(found: pa.Table, count: int) -> PartitionSums:
    loads = _of(found, "load")
    bins = loads.column("partition").to_numpy() + 1
    sums = PartitionSums.zeros(count)
    np.add.at(sums.records, bins, loads.column("records").to_numpy())
    np.add.at(sums.record_bytes, bins, loads.column("record_bytes").to_numpy())
    for what, total in (("compared", sums.compared), ("moved", sums.moved)):
        rows_of = _of(found, what)
        total[:] = _sum(rows_of, "keys"), _sum(rows_of, "records")
    return sums


def _of(found: pa.Table, what: str) -> pa.Table:
    return found.filter(pc.equal(found.column("what"), what))


def _at(found: pa.Table, name: str, count: int) -> pa.Table:
    is_name, is_count = pc.equal(found.column("partitioner"), name), pc.equal(found.column("partitions"), count)
    return found.filter(pc.and_(is_name, is_count))


def _sum(found: pa.Table, column: str) -> int:
    return int(pc.sum(found.column(column)).as_py() or 0)
