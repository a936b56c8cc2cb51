"""Capacity sweeps as a worker scores and keeps them, chunk after chunk, on Spark and in Postgres."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pyarrow as pa

from app.core.capacity.sweep import read_sweep
from app.errors import Json
from app.jobs.kernels import scenarios
from app.jobs.spark import Spark
from app.jobs.sweeps import run_chunk
from app.services import sweeps
from app.services.limits import Limits
from app.services.sweeps import SweepRequest
from app.store.database import Database
from benchmarks import service
from benchmarks.capacity import FAILURES, PARTITIONS, base
from benchmarks.measure import Floor, Result, Times

CORES = 2
SIZES = (1_000, 10_000, 100_000)
"""The cost of a scenario has to stay the same."""
ALONE = 2_000
"""Scenarios that the kernel scores alone, before each sweep."""
TARGET_MS = {100_000: 300_000}
_LOOKED_EVERY_S = 0.5


def run() -> Iterator[Result]:
    """Ever more scenarios, each a placement of ten thousand partitions under rack failures."""
    with service.database() as database, Spark(f"local[{CORES}]") as spark:
        _swept(database, spark, ALONE, seed=10**8)  # the session, and what its Python processes compile and load
        for size in SIZES:
            alone_ms = _alone(start=10**7 + size)
            with _peak_memory() as peak:
                ms = _swept(database, spark, size, seed=size)
            share = alone_ms * size / ALONE / CORES
            yield Result(
                name="score and keep a sweep",
                parameters={"master": f"local[{CORES}]", "scenarios": size, "partitions": PARTITIONS},
                times=Times((ms,), (ms,)),
                floor=Floor("the kernel alone over one core's share", Times((share,), (share,))),
                is_in_process=False,
                target_ms=TARGET_MS.get(size),
                facts={"ms_a_scenario": round(ms / size, 3), "peak_memory_mib": round(peak[0] / 2**20)},
            )


def _alone(*, start: int) -> float:
    """The time that the kernel takes here, without Spark."""
    prepared = scenarios.prepare(scenarios.payload(read_sweep, _definition(10**9, seed=0)))
    list(scenarios.KERNEL.run(prepared, iter([pa.record_batch({"start": [start], "stop": [start + 20]})])))
    started = time.perf_counter()
    list(scenarios.KERNEL.run(prepared, iter([pa.record_batch({"start": [start], "stop": [start + ALONE]})])))
    return (time.perf_counter() - started) * 1000


def _swept(database: Database, spark: Spark, size: int, *, seed: int) -> float:
    started = time.perf_counter()
    request = SweepRequest("capacity", _definition(size, seed=seed))
    with database.begin() as uow:
        sweep = sweeps.submit(uow, request, Limits(), principal="benchmark")
    while not sweep.has_ended:
        run_chunk(database, spark, sweep.id, limits=Limits())
        with database.begin() as uow:
            sweep = uow.sweeps.get(sweep.id)
    assert sweep.state == "succeeded", sweep.error
    return (time.perf_counter() - started) * 1000


def _definition(size: int, *, seed: int) -> dict[str, Json]:
    """As many scenarios, none of which another sweep has."""
    seeds: Json = {"from": seed, "to": seed + size - 1}
    return {"base": base("admin_utils", FAILURES["racks"]), "axes": {"placement.seed": seeds}}


@contextmanager
def _peak_memory() -> Iterator[list[int]]:
    """The most that this process and all that it started had in memory at once, in bytes; pages shared count once."""
    peak, ended = [0], threading.Event()

    def watch() -> None:
        own = psutil.Process()
        while not ended.wait(_LOOKED_EVERY_S):
            peak[0] = max(peak[0], sum(map(_resident, [own, *own.children(recursive=True)])))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield peak
    finally:
        ended.set()
        watching.join()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.NoSuchProcess:
        return 0
