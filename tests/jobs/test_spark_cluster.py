"""Spark on a real standalone cluster, whose executors have Python, numpy, numba and pyarrow, and nothing of ours."""

import json
import os
import socket
import subprocess
import sysconfig
import time
import venv
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from app.core.compiled.entries import READ_ONLY_PATH, installed_folder
from app.errors.machine import SparkUnavailable
from app.jobs import shipping
from app.jobs.spark import Spark, _gist
from app.services.spark_master import SparkMaster
from tests.jobs import cluster as clusters
from tests.jobs import keys
from tests.jobs.cluster import Cluster, wait_for

pytestmark = pytest.mark.slow

BROUGHT_ALONG = ("numpy.libs", "llvmlite", "pyarrow.libs")
"""Dependencies of the packages that executors need."""


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with an executor's requirements by the docs: no pandas, no PySpark of its own, no Rackplan."""
    folder = tmp_path_factory.mktemp("executors") / "python"
    venv.create(folder, with_pip=False, symlinks=True)
    given = Path(sysconfig.get_path("purelib"))
    taken = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for name in (*clusters.EXECUTORS_NEED, *BROUGHT_ALONG):
        if (given / name).exists():
            (taken / name).symlink_to(given / name)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for the module; each test repairs its damage."""
    with clusters.running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def spark(
    spark: Spark, cluster: Cluster, bare_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Spark]:
    """A driver in this process, its properties from a file."""
    spark.close()  # a process has one session at a time
    properties = clusters.quick_java(tmp_path_factory.mktemp("driver"), executor_memory="512m")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", str(bare_python))
        with Spark(cluster.url, properties=properties, executors_within_s=40) as driver:
            yield driver


@pytest.mark.long
def test_what_is_shipped_runs_in_a_python_that_has_nothing_of_ours(bare_python: Path, tmp_path: Path) -> None:
    """As executors run it; the next test has executors."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import pyarrow as pa; from app.jobs.kernels import keys as kernel;"
        "job = kernel.prepare(kernel.payload(['murmur2'], [4], heaviest=1));"
        "columns = [pa.array([str(n) for n in range(1000)]), pa.array([1] * 1000), pa.array([0] * 1000)];"
        "keys = pa.record_batch(columns, ['key', 'records', 'value_bytes']);"
        "rows = [row for found in kernel.run(job, iter([keys])) for row in found.to_pylist()];"
        "loads = sorted((row['partition'], row['records']) for row in rows if row['what'] == 'load');"
        "print([records for _, records in loads])"
    )
    with zipfile.ZipFile(shipping.write_archive(tmp_path)) as archive:
        archive.extractall(tmp_path / "unpacked")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), READ_ONLY_PATH: str(installed_folder())}
    command = [str(bare_python), "-P", "-c", code, str(tmp_path / "unpacked")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == keys.expected(1_000)["murmur2", 4]


@pytest.mark.long
def test_a_job_says_what_the_core_says_on_executors_that_have_nothing_of_ours(spark: Spark) -> None:
    found = keys.hashed(spark, keys.numbered(10_000, tasks=4), group="first")
    assert keys.counts(found) == keys.expected(10_000)


@pytest.mark.long
def test_properties_of_the_file_hold_and_the_driver_is_on_loopback(spark: Spark) -> None:
    """Workers of another machine could not call a loopback address; the way to this master leads from nowhere else."""
    conf = spark.session().sparkContext.getConf()
    assert conf.get("spark.executor.memory") == "512m"
    assert (conf.get("spark.driver.host"), conf.get("spark.driver.bindAddress")) == ("127.0.0.1", "127.0.0.1")


@pytest.mark.long
def test_a_worker_killed_with_its_executor_changes_no_row(spark: Spark, cluster: Cluster) -> None:
    """Spark does a lost task again, and a kernel says the same each time."""
    wanted = 3_000_000
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(keys.hashed, spark, keys.numbered(wanted, tasks=24), group="interrupted")
        wait_for(lambda: 3 <= completed(spark.session()) < 20, within_s=60)
        cluster.kill(cluster.workers[0])
        found = job.result(timeout=120)
    assert keys.counts(found) == keys.expected(wanted)
    cluster.start_worker()


def completed(session: SparkSession) -> int:
    """Tasks done, of the stages in progress."""
    status = session.sparkContext.statusTracker()
    stages = [status.getStageInfo(stage) for stage in status.getActiveStageIds()]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


@pytest.mark.long
def test_a_master_that_is_gone_is_named_and_one_that_is_back_is_used(spark: Spark, cluster: Cluster) -> None:
    assert cluster.master is not None
    cluster.kill(cluster.master)
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(SparkUnavailable) as raised:
            keys.hashed(spark, keys.numbered(100, tasks=2), group="without-master")
        assert raised.value.context == {"master": cluster.url}
        assert f"{cluster.url} cannot be reached: Connection refused" in raised.value.detail
    assert time.monotonic() - began < 45, "Spark itself tries for a minute, each time"
    cluster.start_master()
    found = keys.hashed(spark, keys.numbered(100, tasks=2), group="with-master")
    assert keys.counts(found) == keys.expected(100)


@pytest.mark.long
def test_a_master_restarted_between_two_jobs_is_contacted_again(spark: Spark, cluster: Cluster) -> None:
    """The new one knows nothing of the session, and ends its executors; a job would wait for others for ever."""
    assert cluster.master is not None
    spark.session()
    cluster.kill(cluster.master)
    cluster.start_master()
    found = keys.hashed(spark, keys.numbered(100, tasks=2), group="restarted")
    assert keys.counts(found) == keys.expected(100)


@pytest.mark.long
def test_a_cluster_without_workers_is_no_place_for_a_job(cluster: Cluster, spark: Spark) -> None:
    """A master alone takes an application and lets it wait."""
    spark.close()  # a process has one session at a time
    for worker in list(cluster.workers):
        cluster.kill(worker)
    with (
        Spark(cluster.url, executors_within_s=2) as lonely,
        pytest.raises(SparkUnavailable, match="no executor for 2 s"),
    ):
        keys.hashed(lonely, keys.numbered(100, tasks=2), group="lonely")


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        ("local[*]", ()),
        ("yarn", ()),
        ("spark://one", (("one", 7077),)),
        ("spark://one:1,two:2", (("one", 1), ("two", 2))),
        ("spark://[::1]:7078", (("::1", 7078),)),
        ("k8s://https://kube.example:6443", (("kube.example", 6443),)),
        ("k8s://https://kube.example/clusters/c", (("kube.example", 443),)),
        ("k8s://kube.example:6443", (("kube.example", 6443),)),
    ],
)
def test_the_addresses_in_the_url_of_a_master(url: str, servers: tuple[tuple[str, int], ...]) -> None:
    assert SparkMaster(url).servers == servers


def test_no_session_is_tried_on_a_master_that_does_not_answer() -> None:
    port = clusters.free_port()
    with (
        Spark(f"spark://127.0.0.1:{port}") as spark,
        pytest.raises(SparkUnavailable, match=f"spark://127.0.0.1:{port} "),
    ):
        spark.session()
    assert "JAVA_HOME" not in os.environ or "rackplan-spark" not in os.environ["JAVA_HOME"]


def test_one_of_several_masters_is_enough() -> None:
    """With a standby master, either of them may be the one that is up."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        master = SparkMaster(f"spark://127.0.0.1:{clusters.free_port()},127.0.0.1:{port}")
        assert master.connect(within_s=2) == "127.0.0.1"


CRASHED = """An error occurred while calling o1.collect.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, \
most recent failure: Lost task 1.3 in stage 0.0 (TID 7) (host executor 1): org.apache.spark.SparkException: \
Python worker exited unexpectedly (crashed)
\tat a.B.c(D.scala:1)
Caused by: java.io.EOFException
\t... 24 more"""


@pytest.mark.parametrize(
    ("text", "gist"),
    [
        (CRASHED, "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"),
        ("Traceback (most recent call last):\nKeyError: 'a'\n\tat a.B.c(D.scala:1)", "KeyError: 'a'"),
        ("java.io.IOException: no space\n\tat a.B.c(D.scala:1)\n\t... 3 more", "java.io.IOException: no space"),
        ("one\ntwo\n\t... 24 more\n", "two"),
        ("", "Spark says nothing"),
    ],
)
def test_the_gist_of_an_error_of_spark(text: str, gist: str) -> None:
    assert _gist(text) == gist


@pytest.mark.parametrize(
    ("stated", "retrying"),
    [
        ("local", "local[1,4]"),
        ("local[*]", "local[*,4]"),
        ("local[3]", "local[3,4]"),
        ("local[3,9]", "local[3,9]"),
        ("spark://a:7077", "spark://a:7077"),
        ("yarn", "yarn"),
    ],
)
def test_a_local_master_tries_tasks_again(stated: str, retrying: str) -> None:
    assert SparkMaster(stated).retrying == retrying
