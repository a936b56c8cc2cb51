"""Spark inside the worker's own JVM, as in `make run`."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import psutil
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from app.errors.kafka import InvalidPartitions
from app.errors.machine import SparkJobCancelled, SparkJobFailed
from app.jobs.kernels import keys as kernel
from app.jobs.kernels import scenarios
from app.jobs.keys import measure_example
from app.jobs.sources import Ranges
from app.jobs.spark import Spark
from app.services.sweeps import KINDS
from tests.jobs import keys
from tests.jobs.cluster import wait_for
from tests.jobs.test_sweep_kernels import DEFINITIONS

pytestmark = pytest.mark.slow

ENDLESS = 10**12
"""Keys that no machine hashes while a test waits."""


def jvm() -> psutil.Process:
    """The JVM of the session that this process has."""
    found = [child for child in psutil.Process().children() if child.name() == "java"]
    assert len(found) == 1
    return found[0]


SECRETS = {
    "RACKPLAN_DATABASE_URL": "postgresql://rackplan:hunter2@127.0.0.1/rackplan",
    "PGPASSWORD": "hunter2",
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization=hunter2",
}


@pytest.mark.long
def test_a_prepared_session_has_run_a_job(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the first sweep waits neither for the JVM nor for the first Python process.

    The first test, for the others use the session, which takes seconds to start.
    """
    spark.close()
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    spark.prepare(0, measure_example)
    assert spark.is_started
    assert spark.session().sparkContext.statusTracker().getJobIdsForGroup("example")
    # A process that has ended has no command line any more.
    children = [each.info for each in psutil.process_iter(["ppid", "cmdline"]) if each.info["ppid"] == jvm().pid]
    assert any("pyspark.daemon" in (child["cmdline"] or ()) for child in children)


def test_no_process_of_spark_has_a_secret_of_the_service(spark: Spark) -> None:
    """Neither the JVM nor a Python process, in its environment or on its command line."""
    keys.hashed(spark, keys.numbered(10, tasks=2), group="a")
    processes = [jvm(), *jvm().children(recursive=True)]
    assert any("pyspark" in " ".join(process.cmdline()) for process in processes[1:])
    for process in processes:
        inherited = process.environ()
        assert inherited["PATH"]
        assert not SECRETS.keys() & inherited.keys()
        assert "hunter2" not in " ".join([*inherited.values(), *process.cmdline()])


def test_ports_of_spark_are_on_loopback(spark: Spark) -> None:
    keys.hashed(spark, keys.numbered(10, tasks=2), group="a")
    processes = [jvm(), *jvm().children(recursive=True)]
    listening = [c.laddr.ip for p in processes for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert listening
    assert {ip.removeprefix("::ffff:") for ip in listening} <= {"127.0.0.1", "::1"}
    assert spark.session().sparkContext.uiWebUrl is None


def test_a_job_says_what_the_core_says(spark: Spark) -> None:
    found = keys.hashed(spark, keys.numbered(10_000, tasks=3), group="a")
    assert found.schema == kernel.SCHEMA
    assert keys.counts(found) == keys.expected(10_000)


@pytest.mark.long
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
            "keys",
            payload=kernel.payload(["murmur2"], [4, 0], heaviest=1),
            over=keys.numbered(10, tasks=1),
            schema=kernel.SCHEMA,
            group="refused",
        )
    assert (raised.value.path, raised.value.context["value"]) == (("partition_counts", 1), 0)


@pytest.mark.long
def test_other_failures_are_reported_in_one_line(spark: Spark) -> None:
    """An executor's error arrives with a hundred lines of Java around it."""
    with pytest.raises(SparkJobFailed) as raised:
        keys.hashed(spark, lambda session: session.range(10).selectExpr("id", "1L", "0L"), group="of-numbers")
    assert raised.value.detail == "TypeError: keys are binary or string; the column is int64"
    with pytest.raises(SparkJobFailed, match=r"does not exist: file:/no-such-folder"):
        keys.hashed(spark, lambda session: session.read.parquet("/no-such-folder"), group="of-nothing")
    other = pa.schema([("records", pa.int32())])
    with pytest.raises(SparkJobFailed, match="the kernel keys yields"):
        spark.run("keys", payload=keys.PAYLOAD, over=keys.numbered(9, tasks=1), schema=other, group="of-others")


@pytest.mark.long
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
