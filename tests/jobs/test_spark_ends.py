"""The ends of a local Spark: a JVM that is killed, that is closed, that does not start, that outlives its worker.

These tests are the last that a process runs with its session.
"""

import gc
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from pyspark.sql import DataFrame, SparkSession

from app.errors.machine import SparkUnavailable
from app.jobs.keys import measure_example
from app.jobs.spark import Spark
from tests.conftest import ROOT
from tests.jobs import keys
from tests.jobs.cluster import quick_java, wait_for
from tests.jobs.test_spark_local import jvm

pytestmark = pytest.mark.slow


def alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):  # it may end meanwhile
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.long
def test_a_job_whose_jvm_is_killed_is_done_again_in_another(spark: Spark) -> None:
    """As the kernel's own out-of-memory killer does it; a caller that waits for the rows does not notice."""
    pids: list[int] = []

    def source(session: SparkSession) -> DataFrame:
        pids.append(jvm().pid)
        if len(pids) == 1:
            os.kill(pids[0], signal.SIGKILL)
        return keys.numbered(1_000, tasks=2)(session)

    assert keys.counts(keys.hashed(spark, source, group="killed")) == keys.expected(1_000)
    assert len(set(pids)) == 2


def test_a_session_that_a_job_has_started_is_not_prepared(spark: Spark) -> None:
    if spark.is_started and spark.session().sparkContext.statusTracker().getJobIdsForGroup("example"):
        spark.close()  # this one is prepared; after the test before, a job has started the session
    assert keys.counts(keys.hashed(spark, keys.numbered(10, tasks=1), group="a")) == keys.expected(10)
    spark.prepare(0, measure_example)
    assert not spark.session().sparkContext.statusTracker().getJobIdsForGroup("example")


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


@pytest.mark.long
def test_nothing_outlives_a_worker_that_is_killed(tmp_path: Path) -> None:
    """Not its JVM, and not the Python processes that the JVM has started: after SIGKILL no process cleans up."""
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
    wait_for(lambda: not any(alive(process) for process in mine), within_s=15, report=lambda: str(mine))
