"""Capacity scenarios through Spark, beside the same kernel alone on one core."""

import time
from collections.abc import Iterator
from functools import partial
from itertools import count

import pyarrow as pa

from app.jobs.kernels import scenarios
from app.jobs.spark import Ranges, Spark
from benchmarks.capacity import FAILURES, base
from benchmarks.measure import Floor, Result, Times, interleaved

PER_CORE = 1_000
"""Scenarios that a core has of a job: some seconds, as a chunk of a sweep has."""
TASKS_PER_CORE = 2
RUNS = 5
LEAST_SHARE = 0.85
"""Of what as many kernels alone would do."""
SIZES = (1_000, 10_000)


def run() -> Iterator[Result]:
    """One and two cores beside the bare kernel; then ever more scenarios, whose cost each has to stay the same."""
    definition = {"base": base("admin_utils", FAILURES["racks"]), "axes": {"placement.seed": {"from": 0, "to": 10**9}}}
    payload = scenarios.payload(definition)
    prepared = scenarios.CAPACITY.prepare(payload)
    starts = count(0, PER_CORE)

    def alone() -> object:
        start = next(starts)
        task = pa.record_batch({"start": [start], "stop": [start + PER_CORE]})
        return list(scenarios.CAPACITY.run(prepared, iter([task])))

    for cores in (1, 2):
        with Spark(f"local[{cores}]") as spark:
            job = partial(_job, spark, payload, cores)
            job(PER_CORE * cores)  # the session, and what its Python processes compile and load
            times = interleaved({"spark": partial(job, PER_CORE * cores), "alone": alone}, runs=RUNS)
            yield Result(
                name="score capacity scenarios on Spark",
                parameters={"master": f"local[{cores}]", "scenarios": PER_CORE * cores, "failures": "racks"},
                times=times["spark"],
                floor=Floor("the kernel alone over one core's share", times["alone"]),
                is_in_process=False,
                target_ratio=1 / LEAST_SHARE,
                facts={"scenarios_per_s": round(PER_CORE * cores / times["spark"].median_ms * 1000)},
            )
            if cores == 2:
                yield from (_linear(spark, payload, size) for size in SIZES)


def _linear(spark: Spark, payload: bytes, size: int) -> Result:
    started = time.perf_counter()
    _job(spark, payload, 2, size)
    ms = (time.perf_counter() - started) * 1000
    return Result(
        name="score ever more scenarios on Spark",
        parameters={"master": "local[2]", "scenarios": size, "failures": "racks"},
        times=Times((ms,), (ms,)),
        is_in_process=False,
        facts={"ms_a_scenario": round(ms / size, 3)},
    )


_next = count(10**8, 10**6)


def _job(spark: Spark, payload: bytes, cores: int, scenario_count: int) -> pa.Table:
    start = next(_next)  # no two jobs score the same
    step = -(-scenario_count // (cores * TASKS_PER_CORE))
    over = Ranges(start, start + scenario_count, step)
    return spark.run("score_scenarios", payload=payload, over=over, schema=scenarios.SCHEMA, group="benchmark")
