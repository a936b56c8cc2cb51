"""Spark inside the worker's own JVM: what `make run` has."""

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from app.errors.kafka import InvalidPartitions
from app.errors.machine import SparkJobCancelled, SparkJobFailed, SparkUnavailable
from app.jobs.kernels import key_hashes, scenarios
from app.jobs.keys import measure_example
from app.jobs.spark import Ranges, Spark
from app.services.sweeps import KINDS
from tests.conftest import ROOT
from tests.jobs import keys
from tests.jobs.cluster import quick_java, wait_for
from tests.jobs.test_sweep_kernels import DEFINITIONS

pytestmark = pytest.mark.slow

ENDLESS = 10**12
"""Keys that no machine hashes while a test waits."""


def jvm() -> psutil.Process:
    """The JVM of the session that this process has."""
    found = [child for child in psutil.Process().children() if child.name() == "java"]
    assert len(found) == 1
    return found[0]


def test_a_session_that_a_job_has_started_is_not_prepared(spark: Spark) -> None:
    """The first test, for the others use the session, which takes seconds to start."""
    spark.close()
    assert keys.counts(keys.hashed(spark, keys.numbered(10, tasks=1), group="a")) == keys.expected(10)
    spark.prepare(0, measure_example)
    assert not spark.session().sparkContext.statusTracker().getJobIdsForGroup("example")


def test_a_job_says_what_the_core_says(spark: Spark) -> None:
    found = keys.hashed(spark, keys.numbered(10_000, tasks=3), group="a")
    assert found.schema == key_hashes.SCHEMA
    assert keys.counts(found) == keys.expected(10_000)


def test_limits_of_reassignments_are_scored_as_in_this_process(spark: Spark) -> None:
    """Executors load the search over resources, and need nothing but the definition."""
    definition = DEFINITIONS["reassignment"] | {"objective": "relieve"}
    kind = KINDS["reassignment"]
    count = kind.count(definition)
    found = spark.run(
        scenarios.KERNEL.name,
        payload=scenarios.payload(kind.reader, definition),
        over=Ranges(0, count, 4),
        schema=scenarios.SCHEMA,
        group="limits",
    ).to_pydict()
    rows = dict(zip(found["index"], map(json.loads, found["row"]), strict=True))
    expected = {row.index: json.loads(json.dumps(row.document)) for row in kind.score(definition, 0, count)}
    assert rows == expected
    assert {row["feasible"] for row in rows.values()} == {True}


def test_jobs_of_several_threads_run_beside_each_other(spark: Spark) -> None:
    sizes = [1_000, 2_000, 3_000, 4_000]
    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(keys.hashed, spark, keys.numbered(n, tasks=2), group=f"of-{n}") for n in sizes]
        assert [keys.counts(job.result()) for job in jobs] == [keys.expected(n) for n in sizes]


@pytest.mark.parametrize(
    ("ranges", "cut"),
    [
        (Ranges(0, 10, 4), [(0, 4), (4, 8), (8, 10)]),
        (Ranges(7, 9, 1), [(7, 8), (8, 9)]),
        (Ranges(3, 5, 100), [(3, 5)]),
        (Ranges(5, 5, 2), []),
    ],
)
def test_ranges_are_cut_into_a_task_each(spark: Spark, ranges: Ranges, cut: list[tuple[int, int]]) -> None:
    rows = ranges(spark.session())
    assert rows.rdd.getNumPartitions() == len(cut)
    assert [(row["start"], row["stop"]) for row in rows.collect()] == cut


def test_the_cores_failure_comes_back_as_itself(spark: Spark) -> None:
    with pytest.raises(InvalidPartitions) as raised:
        spark.run(
            "key_hashes",
            payload=key_hashes.payload(["murmur2"], [4, 0]),
            over=keys.numbered(10, tasks=1),
            schema=key_hashes.SCHEMA,
            group="refused",
        )
    assert (raised.value.path, raised.value.context["value"]) == (("partition_counts", 1), 0)


def test_what_else_goes_wrong_is_told_in_one_line(spark: Spark) -> None:
    """An executor's error arrives with a hundred lines of Java around it."""
    with pytest.raises(SparkJobFailed) as raised:
        keys.hashed(spark, lambda session: session.range(10), group="of-numbers")
    assert raised.value.detail == "TypeError: keys are binary or string; the column is int64"
    with pytest.raises(SparkJobFailed, match=r"does not exist: file:/no-such-folder"):
        keys.hashed(spark, lambda session: session.read.parquet("/no-such-folder"), group="of-nothing")
    other = pa.schema([("records", pa.int32())])
    with pytest.raises(SparkJobFailed, match="the kernel key_hashes yields"):
        spark.run("key_hashes", payload=keys.PAYLOAD, over=keys.numbered(9, tasks=1), schema=other, group="of-others")


def test_a_cancelled_job_ends_within_seconds_and_no_other_does(spark: Spark) -> None:
    with ThreadPoolExecutor(2) as threads:
        endless = threads.submit(keys.hashed, spark, keys.numbered(ENDLESS, tasks=2), group="endless")
        status = spark.session().sparkContext.statusTracker()
        wait_for(lambda: bool(status.getActiveStageIds()), within_s=30)
        spark.cancel("another")
        spark.cancel("endless")
        with pytest.raises(SparkJobCancelled, match="endless"):
            endless.result(timeout=30)
    assert keys.counts(keys.hashed(spark, keys.numbered(100, tasks=2), group="endless")) == keys.expected(100)


def test_a_job_that_spark_has_not_begun_is_cancelled_too(spark: Spark) -> None:
    """Spark forgets a cancellation for which it finds no job."""

    def slowly(session: SparkSession) -> DataFrame:
        spark.cancel("early")
        return keys.numbered(ENDLESS, tasks=2)(session)

    with pytest.raises(SparkJobCancelled, match="early"):
        keys.hashed(spark, slowly, group="early")


def test_a_job_whose_jvm_is_killed_is_done_again_in_another(spark: Spark) -> None:
    """As the kernel's own out-of-memory killer does it; nobody who waits for the rows has to know."""
    asked: list[int] = []

    def source(session: SparkSession) -> DataFrame:
        asked.append(jvm().pid)
        if len(asked) == 1:
            os.kill(asked[0], signal.SIGKILL)
        return keys.numbered(1_000, tasks=2)(session)

    assert keys.counts(keys.hashed(spark, source, group="killed")) == keys.expected(1_000)
    assert len(set(asked)) == 2


def test_the_end_of_the_worker_ends_the_wait_to_prepare() -> None:
    spark = Spark("local[1]")
    waiting = threading.Thread(target=spark.prepare, args=(3600.0, measure_example), daemon=True)
    waiting.start()
    spark.end()
    waiting.join(30)
    assert not waiting.is_alive()
    assert not spark.is_started


def test_a_session_that_cannot_be_prepared_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    """And not raised: the first sweep tries again, and says why it waits."""
    with Spark("spark://127.0.0.1:1") as spark:
        spark.prepare(0, measure_example)
        assert not spark.is_started
    assert "spark.not_prepared" in capsys.readouterr().out


def test_nothing_of_it_is_left_after_close(spark: Spark) -> None:
    spark.session()
    session_jvm = jvm()
    started = [session_jvm, *session_jvm.children(recursive=True)]
    spark.close()
    assert not spark.is_started
    wait_for(lambda: not any(alive(process) for process in started), within_s=10)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # PySpark drops the pipe of a JVM that it could not start
def test_a_jvm_that_does_not_start_is_a_failure_that_says_so(spark: Spark, capfd: pytest.CaptureFixture[str]) -> None:
    """Why, the JVM itself says."""
    spark.close()  # a process has one session at a time
    with Spark("local[1]", driver_memory="1000000t") as oversized:
        with pytest.raises(SparkUnavailable, match=r"on local\[1\]: \[JAVA_GATEWAY_EXITED\]") as raised:
            oversized.session()
        assert not oversized.is_started
    assert "object heap" in "".join(capfd.readouterr())
    del raised
    gc.collect()  # here, where the warning is expected


def test_a_prepared_session_has_run_a_job(spark: Spark) -> None:
    """So that the first sweep waits neither for the JVM nor for the first Python process.

    The last test of the session, which stays for the tests of other files.
    """
    spark.close()
    spark.prepare(0, measure_example)
    assert spark.is_started
    assert spark.session().sparkContext.statusTracker().getJobIdsForGroup("example")
    # A process that has ended has no command line any more.
    children = [each.info for each in psutil.process_iter(["ppid", "cmdline"]) if each.info["ppid"] == jvm().pid]
    assert any("pyspark.daemon" in (child["cmdline"] or ()) for child in children)


def test_nothing_outlives_a_worker_that_is_killed(tmp_path: Path) -> None:
    """Not its JVM, and not the Python processes that the JVM has started: SIGKILL lets nobody clean up."""
    code = (
        "import sys; from pathlib import Path; from app.jobs.spark import Spark; from tests.jobs import keys;"
        "spark = Spark('local[1]', properties=Path(sys.argv[1]));"
        "keys.hashed(spark, keys.numbered(10, tasks=1), group='first'); print('warm', flush=True);"
        "keys.hashed(spark, keys.numbered(10**12, tasks=1), group='endless')"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(quick_java(tmp_path))]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        assert b"warm\n" in iter(worker.stdout.readline, b"")
        mine = psutil.Process(worker.pid).children(recursive=True)
        assert {"java"} < {process.name() for process in mine}, "the JVM, and a Python that it started"
        worker.kill()
    wait_for(lambda: not any(alive(process) for process in mine), within_s=15, told=lambda: str(mine))


def alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):  # it may end while it is asked
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
