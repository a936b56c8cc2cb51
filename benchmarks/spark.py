"""Spark beside the bare kernel: what its start costs, what a job of one key costs, keys counted in its tasks."""

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from app.jobs.kernels import files, key_counts
from app.jobs.kernels.loop import run_task
from app.jobs.kernels.registry import KERNELS
from app.jobs.sources import Files, Source
from app.jobs.spark import Spark
from benchmarks.keys import LENGTHS, arrow_keys
from benchmarks.measure import Floor, Result, Times, interleaved

CORES = 2
FILE_KEYS, DISTINCT_KEYS = 4_000_000, 20_000
REPEATS = 4
"""How often a task reads its file: an answer comes after seconds, and not after what starting a job takes."""
RUNS = 5
EMPTY_RUNS = 15
PAYLOAD = key_counts.payload(["key"], "utf8")
START_TARGET_MS = 20_000


def run() -> Iterator[Result]:
    """Session start and first job, once each; then warm ones."""
    with Spark(f"local[{CORES}]") as spark:
        yield _once("start a Spark session", spark.session, target_ms=START_TARGET_MS)
        yield _once("first job of a session", lambda: _job(spark, _numbers(CORES)))
        yield _nearly_empty(spark)
        with tempfile.TemporaryDirectory(prefix="rackplan-bench-") as folder:
            arrow, parquet = _written(Path(folder))
            for name, path in (("Arrow files", arrow), ("Parquet files", parquet)):
                yield _counted(spark, name, path, _in_a_task_a_core(path), REPEATS)
            yield _counted(spark, "Parquet by Spark's reader", parquet, _read_by_spark(parquet), 1)


def _once(name: str, call: Callable[[], object], *, target_ms: float | None = None) -> Result:
    started, cpu_started = time.perf_counter(), time.process_time()
    call()
    ms, cpu_ms = (time.perf_counter() - started) * 1000, (time.process_time() - cpu_started) * 1000
    times = Times((ms,), (cpu_ms,))
    return Result(name, {"master": f"local[{CORES}]"}, times, is_in_process=False, target_ms=target_ms)


def _nearly_empty(spark: Spark) -> Result:
    times = interleaved({"job": lambda: _job(spark, _numbers(1))}, runs=EMPTY_RUNS)["job"]
    return Result("a job of one key", {"master": f"local[{CORES}]", "tasks": 1}, times, is_in_process=False)


def _counted(spark: Spark, name: str, path: Path, source: Source, repeats: int) -> Result:
    """As many keys on each core as the floor counts on one, so that a core's figures compare."""
    keys = FILE_KEYS * repeats

    def alone() -> object:
        batches = (batch for _ in range(repeats) for batch in files.batches_of(str(path), ["key"]))
        return list(run_task(KERNELS, "key_counts", PAYLOAD, key_counts.SCHEMA, batches))

    times = interleaved({"spark": partial(_job, spark, source), "alone": alone}, runs=RUNS, warm_ups=1)
    keys_per_s = keys / times["spark"].median_ms * 1000
    return Result(
        name=f"key_counts on Spark, {name}",
        parameters={
            "master": f"local[{CORES}]",
            "keys": keys * CORES,
            "key_bytes": list(LENGTHS),
            "distinct_keys": DISTINCT_KEYS,
        },
        times=times["spark"],
        floor=Floor("the kernel without Spark over one core's share of the keys, read from the file", times["alone"]),
        is_in_process=False,
        facts={
            "keys_per_s_a_core": round(keys_per_s),
            "kernel_keys_per_s_a_core": round(keys / times["alone"].median_ms * 1000),
        },
    )


def _job(spark: Spark, source: Source) -> pa.Table:
    kernel = "key_counts_of_files" if isinstance(source, Files) else "key_counts"
    return spark.run(kernel, payload=PAYLOAD, over=source, schema=key_counts.SCHEMA, group="benchmark")


def _numbers(tasks: int) -> Source:
    def source(session: SparkSession) -> DataFrame:
        return session.range(0, tasks, 1, tasks).selectExpr("CAST(id AS string) AS key")

    return source


def _in_a_task_a_core(path: Path) -> Files:
    return Files((str(path),) * REPEATS * CORES, ("key",), per_task=REPEATS)


def _read_by_spark(path: Path) -> Source:
    def source(session: SparkSession) -> DataFrame:
        read = session.read.parquet(*[str(path)] * CORES)
        return read.select("key")

    return source


def _written(folder: Path) -> tuple[Path, Path]:
    """The same keys as an Arrow and as a Parquet file, in pieces that tasks take in one go."""
    keys = arrow_keys(DISTINCT_KEYS)
    buffers = [None, pa.py_buffer(keys.offsets), pa.py_buffer(keys.data)]
    distinct = pa.Array.from_buffers(pa.binary(), DISTINCT_KEYS, buffers)
    table = pa.table({"key": distinct.take(pa.array(np.arange(FILE_KEYS) % DISTINCT_KEYS))})
    arrow, parquet = folder / "keys.arrow", folder / "keys.parquet"
    with pa.ipc.new_file(arrow, table.schema) as file:
        file.write_table(table, max_chunksize=files.ROWS_AT_ONCE)
    pq.write_table(table, parquet, use_dictionary=False, row_group_size=FILE_KEYS // 8)
    return arrow, parquet
