"""Keys that Spark makes itself, and the core's results for them without Spark."""

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from app.core.keys.partitioners import PARTITIONERS, partition
from app.core.keys.skew import skew
from app.jobs.kernels import keys as kernel
from app.jobs.sources import Source
from app.jobs.spark import Spark
from tests.core.keys.serializers import string_keys

NAMES = ("murmur2", "consistent_random")
COUNTS = (4, 12)
PAYLOAD = kernel.payload(NAMES, COUNTS, heaviest=1)


def numbered(keys: int, *, tasks: int) -> Source:
    """The numbers 0 … keys − 1 as text, each the key of one record without value."""

    def source(session: SparkSession) -> DataFrame:
        numbers = session.range(0, keys, 1, tasks)
        return numbers.selectExpr("CAST(id AS string) AS key", "1L AS records", "0L AS value_bytes")

    return source


def counts(found: pa.Table) -> dict[tuple[str, int], list[int]]:
    """(partitioner, partitions) → records per partition, summed over tasks."""
    summed = {(name, count): [0] * count for name in NAMES for count in COUNTS}
    for row in found.to_pylist():
        if row["what"] == "load":
            summed[row["partitioner"], row["partitions"]][row["partition"]] += row["records"]
    return summed


def expected(keys: int) -> dict[tuple[str, int], list[int]]:
    """The same from the core, in this process."""
    made = string_keys(map(str, range(keys)))
    return {
        (name, count): skew(partition(PARTITIONERS[name], made, count), count).per_partition.tolist()
        for name in NAMES
        for count in COUNTS
    }


def hashed(spark: Spark, source: Source, *, group: str) -> pa.Table:
    """The kernel's result for a source's keys."""
    return spark.run("keys", payload=PAYLOAD, over=source, schema=kernel.SCHEMA, group=group)
