"""The sources of a Spark job: values that create its rows in the session in which the job runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from app.jobs.kernels.loop import Payload

Source: TypeAlias = Callable[[SparkSession], DataFrame]
"""Creates the rows of a job. It is called in each session in which the job runs."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """The indices start … stop − 1 as a source, `step` of them a task: rows (start int64, stop int64)."""

    start: int
    stop: int
    step: int

    def __call__(self, session: SparkSession) -> DataFrame:
        """One row per partition, so that each range is a task."""
        tasks = -(-(self.stop - self.start) // self.step)
        starts = session.range(self.start, self.stop, self.step, max(1, tasks))
        return starts.select(
            sql.col("id").alias("start"), sql.least(sql.col("id") + self.step, sql.lit(self.stop)).alias("stop")
        )


@dataclass(frozen=True, slots=True)
class Files:
    """Files that every executor can open by their paths as a source: rows (path string, columns list of strings).

    A task has an overhead of 50 ms or more, so a task reads several of many small files.
    """

    paths: tuple[str, ...]
    columns: tuple[str, ...]
    per_task: int = 1

    def __call__(self, session: SparkSession) -> DataFrame:
        """One partition for each `per_task` files."""
        tasks = -(-len(self.paths) // self.per_task)
        numbered = session.range(0, len(self.paths), 1, max(1, tasks))
        path = sql.element_at(sql.array(*map(sql.lit, self.paths)), sql.col("id").cast("int") + 1)
        return numbered.select(path.alias("path"), sql.array(*map(sql.lit, self.columns)).alias("columns"))


@dataclass(frozen=True, slots=True)
class Step:
    """A kernel over a source, whose rows are the input of the kernel of the job.

    Parameters
    ----------
    kernel, payload, schema : as `Spark.run` has them.
    together : turns the rows of this kernel into the input of the next one, as a `groupBy` does. The last column,
        `kernels.loop.FAILURE`, has to stay the last, and every row in which it is not null has to stay.
    """

    kernel: str
    payload: Payload
    over: Source
    schema: pa.Schema
    together: Callable[[DataFrame], DataFrame]
