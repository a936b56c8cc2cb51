"""Capacity scenarios through Spark, beside the same kernel in as many processes of its own."""

import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from app.core.capacity.sweep import read_sweep
from app.jobs.kernels import scenarios
from app.jobs.kernels.loop import Payload
from app.jobs.sources import Ranges
from app.jobs.spark import Spark
from app.jobs.sweeps import TASKS_PER_CORE
from benchmarks.capacity import FAILURES, base
from benchmarks.measure import Floor, Result, interleaved
from tests.jobs import cluster

PER_CORE = 3_000
"""Scenarios that a core has of a job: some seconds, as a chunk of a sweep has."""
RUNS = 3
LEAST_SHARE = 0.85
"""Of what as many kernels alone would do."""


def run() -> Iterator[Result]:
    """One and two cores of this machine, and a cluster of two workers with a core each, beside the bare kernel.

    The kernel runs on as many cores at once: on a machine that others use, two cores are not twice one.
    """
    definition = {"base": base("admin_utils", FAILURES["racks"]), "axes": {"placement.seed": {"from": 0, "to": 10**9}}}
    payload = scenarios.payload(read_sweep, definition)
    starts = count(0, PER_CORE)
    for name, cores in (("local[1]", 1), ("local[2]", 2), ("standalone, two workers", 2)):
        with ProcessPoolExecutor(cores) as kernels, _spark(name) as spark:

            def alone(kernels: ProcessPoolExecutor = kernels, cores: int = cores) -> list[int]:
                return list(kernels.map(partial(_kernel, payload), [next(starts) for _ in range(cores)]))

            job = partial(_job, spark, payload, cores)
            times = interleaved({"spark": job, "alone": alone}, runs=RUNS)
        yield Result(
            name="score capacity scenarios on Spark",
            parameters={"master": name, "scenarios": PER_CORE * cores, "failures": "racks"},
            times=times["spark"],
            floor=Floor("the kernel without Spark in as many processes", times["alone"]),
            is_in_process=False,
            target_ratio=1 / LEAST_SHARE,
            facts={"scenarios_per_s": round(PER_CORE * cores / times["spark"].median_ms * 1000)},
        )


@contextmanager
def _spark(master: str) -> Iterator[Spark]:
    if master.startswith("local"):
        with Spark(master) as spark:
            yield spark
        return
    with (
        tempfile.TemporaryDirectory(prefix="rackplan-bench-") as folder,
        cluster.running(Path(folder)) as standalone,
        patch.dict("os.environ", PYSPARK_PYTHON=sys.executable),
        Spark(standalone.url, properties=cluster.quick_java(Path(folder), executor_memory="512m")) as spark,
    ):
        yield spark


def _kernel(payload: Payload, start: int) -> int:
    """Score one core's share; as Spark does, in tasks."""
    step = PER_CORE // TASKS_PER_CORE
    starts = list(range(start, start + PER_CORE, step))
    tasks = pa.record_batch({"start": starts, "stop": [first + step for first in starts]})
    return sum(len(batch) for batch in scenarios.KERNEL.run(scenarios.KERNEL.prepare(payload), iter([tasks])))


_next = count(10**8, 10**6)


def _job(spark: Spark, payload: Payload, cores: int) -> pa.Table:
    start = next(_next)  # no two jobs score the same
    over = Ranges(start, start + PER_CORE * cores, PER_CORE // TASKS_PER_CORE)
    return spark.run(scenarios.KERNEL.name, payload=payload, over=over, schema=scenarios.SCHEMA, group="benchmark")
