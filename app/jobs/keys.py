"""Measure a dataset of keys on Spark: count its distinct keys, group the counts by key, sum them by partition.

Only sums reach the driver: those of each task by partition, and its heaviest keys. After the grouping all counts of a
key are in one task, so the heaviest keys of the tasks include the heaviest of all.
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
"""Name of the one column of a dataset of lines in failures."""


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
    """The sums of a dataset as Spark counts them; raises as `score` does."""
    fields = cast("Mapping[str, Any]", definition)
    dataset_fields, resolved = fields["dataset"], fields["resolved"]
    column, value_column = dataset_fields.get("key_column", LINE), dataset_fields.get("value_column")
    columns = (column,) if value_column is None else (column, value_column)
    kernel, source = Dataset(resolved["location"], resolved["roots"], dataset_fields["format"], columns).source()
    payload = key_counts.payload(columns, dataset_fields["key_encoding"])
    table = _run(
        spark,
        dataset_fields["path"],
        payload=keys.payload(fields["partitioners"], counts(definition), most=fields["heaviest"]),
        over=Step(kernel.name, payload, source, key_counts.SCHEMA, _together),
        schema=keys.SCHEMA,
        group=group,
    )
    return _measured(definition, table)


def _run(spark: Spark, path: str, **job: Any) -> pa.Table:
    try:
        return spark.run(keys.KERNEL.name, **job)
    except SparkJobFailed as failed:
        if failure := unreadable(failed, path):
            raise failure from failed
        raise


def _together(counted: DataFrame) -> DataFrame:
    """One row per key, and one per failure that a task reports, whose other columns are null."""
    sums = counted.groupBy("key", FAILURE.name).sum("records", "value_bytes")
    return sums.toDF("key", FAILURE.name, "records", "value_bytes").select(
        "key", "records", "value_bytes", FAILURE.name
    )


def _measured(definition: Mapping[str, Json], table: pa.Table) -> DatasetSums:
    fields = cast("Mapping[str, Any]", definition)
    totals, nulls, heavy = (_of(table, section) for section in ("total", "null", "heavy"))
    heavy_keys = zip(heavy.column("key").to_pylist(), heavy.column("records").to_pylist(), strict=True)
    measured = DatasetSums(
        keys=_sum(totals, "keys"),
        records=_sum(totals, "records"),
        null_records=_sum(nulls, "records"),
        heaviest=heaviest_of(list(heavy_keys), most=fields["heaviest"]),
        sums={
            (name, count): _partition_sums(_at(table, name, count), count)
            for name in fields["partitioners"]
            for count in counts(definition)
        },
    )
    dataset = fields["dataset"]
    if dataset["format"] == "json_lines" and measured.records and measured.records == measured.null_records:
        column = dataset["key_column"]
        raise ColumnNotFound(f"{column!r} is null in every record of {dataset['path']}", value=column)
    return measured


def _partition_sums(table: pa.Table, count: int) -> PartitionSums:
    loads = _of(table, "load")
    bins = loads.column("partition").to_numpy() + 1
    sums = PartitionSums.zeros(count)
    np.add.at(sums.records, bins, loads.column("records").to_numpy())
    np.add.at(sums.record_bytes, bins, loads.column("record_bytes").to_numpy())
    for section, total in (("compared", sums.compared), ("moved", sums.moved)):
        rows_of = _of(table, section)
        total[:] = _sum(rows_of, "keys"), _sum(rows_of, "records")
    return sums


def _of(table: pa.Table, section: str) -> pa.Table:
    return table.filter(pc.equal(table.column("what"), section))


def _at(table: pa.Table, name: str, count: int) -> pa.Table:
    is_name, is_count = pc.equal(table.column("partitioner"), name), pc.equal(table.column("partitions"), count)
    return table.filter(pc.and_(is_name, is_count))


def _sum(table: pa.Table, column: str) -> int:
    return int(pc.sum(table.column(column)).as_py() or 0)
