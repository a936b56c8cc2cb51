"""A Spark cluster whose connections are authenticated and encrypted, and one whose are not."""

import sys
from pathlib import Path

import psutil
import pytest

from app.jobs.connection import unprotected
from app.jobs.spark import Spark
from tests.jobs import cluster as clusters
from tests.jobs import keys

PROTECTED = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": "hunter2-of-the-cluster",
    "spark.network.crypto.enabled": "true",
}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", ["spark.authenticate", "spark.network.crypto.enabled"]),
        ("spark.authenticate true\n spark.network.crypto.enabled=true\n", []),
        ("#spark.authenticate true\nspark.network.crypto.enabled: true\n", ["spark.authenticate"]),
        ("spark.authenticate false\nspark.network.crypto.enabled truely\n", [*list(PROTECTED)[::2]]),
        ("spark.authenticate.secret true\nspark.network.crypto.enabled\ttrue\n", ["spark.authenticate"]),
    ],
)
def test_what_a_cluster_lacks_is_noticed(text: str, missing: list[str], tmp_path: Path) -> None:
    properties = tmp_path / "spark.conf"
    properties.write_text(text)
    assert unprotected(properties) == missing


@pytest.mark.long
def test_the_secret_of_a_protected_cluster_is_on_no_command_line(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections are authenticated and encrypted, and a job runs."""
    spark.close()
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    unsafe = clusters.quick_java(tmp_path, executor_memory="512m")
    safe = tmp_path / "safe.conf"
    safe.write_text(unsafe.read_text() + "".join(f"{k} {v}\n" for k, v in PROTECTED.items()))
    (tmp_path / "cluster").mkdir()
    with (
        clusters.running(tmp_path / "cluster", workers=1, properties=PROTECTED) as cluster,
        Spark(cluster.url, properties=safe, executors_within_s=60) as driver,
    ):
        assert keys.counts(keys.hashed(driver, keys.numbered(10, tasks=1), group="a")) == keys.expected(10)
        commands = [" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"])]
        assert any("CoarseGrainedExecutorBackend" in command for command in commands)
        assert not any("hunter2-of-the-cluster" in command for command in commands)
