"""Measure a dataset of keys on Spark: count distinct keys, group the counts by key, add them up.

Only sums travel to the driver: for each task, every partition's, and its heaviest keys. By then all counts of a
key are in one task, so the heaviest of the tasks' heaviest keys are the heaviest of all.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from app.core.keys.sweep import DatasetSums, PartitionSums, heaviest_of
from app.errors import Json
from app.errors.machine import SparkJobFailed
from app.errors.requests import ColumnNotFound
from app.jobs.datasets import Dataset, unreadable
from app.jobs.kernels import key_counts, keys
from app.jobs.kernels.loop import FAILURE
from app.jobs.sources import Step
from app.jobs.spark import Spark
from app.services.sweeps.keys import counts, rows

LINE = "line"
"""The name of the one column of a dataset of lines, in failures."""


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
    """The sums of the dataset. Raises as `score` does."""
    given = cast("Mapping[str, Any]", definition)
    written, resolved = given["dataset"], given["resolved"]
    column, value_column = written.get("key_column", LINE), written.get("value_column")
    columns = (column,) if value_column is None else (column, value_column)
    kernel, source = Dataset(resolved["location"], resolved["roots"], written["format"], columns).source()
    payload = key_counts.payload(columns, written["key_encoding"])
    sums = _run(
        spark,
        written["path"],
        payload=keys.payload(given["partitioners"], counts(definition), heaviest=given["heaviest"]),
        over=Step(kernel.name, payload, source, key_counts.SCHEMA, _together),
        schema=keys.SCHEMA,
        group=group,
    )
    return _measured(definition, sums)


def measure_example(spark: Spark) -> None:
    """Measure one key a core: a session, and Python on its executors, has then loaded all code of datasets.

    Raises as `Spark.run` does.
    """
    spark.run(
        keys.KERNEL.name,
        payload=keys.payload(["murmur2"], [1], heaviest=1),
        over=Step(
            key_counts.KERNEL.name, key_counts.payload(["key"], "utf8"), _one_a_core, key_counts.SCHEMA, _together
        ),
        schema=keys.SCHEMA,
        group="example",
    )


def _one_a_core(session: SparkSession) -> DataFrame:
    cores = session.sparkContext.defaultParallelism
    return session.range(0, cores, 1, cores).select(sql.col("id").cast("string"))


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


def _measured(definition: Mapping[str, Json], sums: pa.Table) -> DatasetSums:
    given = cast("Mapping[str, Any]", definition)
    totals, nulls, heavy = (_of(sums, what) for what in ("total", "null", "heavy"))
    heavy_keys = zip(heavy.column("key").to_pylist(), heavy.column("records").to_pylist(), strict=True)
    measured = DatasetSums(
        keys=_sum(totals, "keys"),
        records=_sum(totals, "records"),
        null_records=_sum(nulls, "records"),
        heaviest=heaviest_of(list(heavy_keys), most=given["heaviest"]),
        sums={
            (name, count): _partition_sums(_at(sums, name, count), count)
            for name in given["partitioners"]
            for count in counts(definition)
        },
    )
    dataset = given["dataset"]
    if dataset["format"] == "json_lines" and measured.records and measured.records == measured.null_records:
        column = dataset["key_column"]
        raise ColumnNotFound(f"{column!r} is null in every record of {dataset['path']}", value=column)
    return measured


def _partition_sums(rows_of_count: pa.Table, count: int) -> PartitionSums:
    loads = _of(rows_of_count, "load")
    bins = loads.column("partition").to_numpy() + 1
    sums = PartitionSums.zeros(count)
    np.add.at(sums.records, bins, loads.column("records").to_numpy())
    np.add.at(sums.record_bytes, bins, loads.column("record_bytes").to_numpy())
    for what, total in (("compared", sums.compared), ("moved", sums.moved)):
        of_what = _of(rows_of_count, what)
        total[:] = _sum(of_what, "keys"), _sum(of_what, "records")
    return sums


def _of(sums: pa.Table, what: str) -> pa.Table:
    return sums.filter(pc.equal(sums.column("what"), what))


def _at(sums: pa.Table, name: str, count: int) -> pa.Table:
    is_name, is_count = pc.equal(sums.column("partitioner"), name), pc.equal(sums.column("partitions"), count)
    return sums.filter(pc.and_(is_name, is_count))


def _sum(sums: pa.Table, column: str) -> int:
    return int(pc.sum(sums.column(column)).as_py() or 0)
