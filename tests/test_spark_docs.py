"""docs/spark.md agrees with the tests on a real cluster."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.services.spark_master import SparkMaster
from app.settings import Settings
from tests.conftest import ROOT
from tests.documents import Document
from tests.jobs import class_archive, cluster

DOC = Document(ROOT / "docs" / "spark.md")


def test_a_cluster_is_started_with_the_commands_that_are_shown() -> None:
    """`tests/jobs` starts its clusters with these words, ports and folders aside."""
    shown = [
        shlex.split(line.rstrip("& ")) for line in DOC.text.splitlines() if line.startswith(".venv/bin/spark-class ")
    ]
    assert [words[1] for words in shown] == [cluster.MASTER, cluster.WORKER]
    for words, given in zip(
        shown, (cluster.master_arguments(7077, 8081), cluster.worker_arguments(Path("work"))), strict=True
    ):
        options = [word for word in words[2:] if word.startswith("--")]
        assert options == [word for word in given if word.startswith("--")]


@pytest.mark.long
@pytest.mark.slow
def test_the_commands_start_a_cluster_as_they_are_printed(tmp_path: Path) -> None:
    """In a shell of a user, whose `python3` knows nothing of Spark; at free ports, and without the last line."""
    [block] = [text for kind, text in DOC.blocks if kind == "sh" and "deploy.master" in text]
    *lines, last = block.splitlines()
    assert last.endswith("make run")
    port, web_port = cluster.free_port(), cluster.free_port()
    script = "\n".join([*lines, "wait"]).replace("7077", str(port)).replace("8081", str(web_port))
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    (tmp_path / "app").symlink_to(ROOT / "app")
    quick = f"{cluster.QUICK} {class_archive.options()}"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    environment |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": quick}
    with (tmp_path / "log").open("wb") as log:
        shell = subprocess.Popen(
            ["bash", "-c", script], cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        cluster.wait_for(
            lambda: cluster.alive_workers(web_port) == 1,
            within_s=2 * cluster.STARTS_WITHIN_S,
            report=lambda: (tmp_path / "log").read_text()[-2000:],
        )
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait(20)


def test_executors_in_the_tests_have_what_is_said_to_be_needed() -> None:
    row = next(line for line in DOC.text.splitlines() if "what the algorithms are written with" in line)
    assert tuple(re.findall(r"`(\w+)`", row.split("|")[1])) == cluster.EXECUTORS_NEED


def test_every_master_that_is_shown_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = re.findall(r"^\| (`[^|]*`) \| [^|]* \|$", DOC.text, re.MULTILINE)
    shown = [url for cell in table for url in re.findall(r"`((?:local|spark|k8s|yarn)[^`]*)`", cell)]
    assert len(shown) >= 5
    for url in shown:
        monkeypatch.setenv("RACKPLAN_SPARK_MASTER", url)
        master = SparkMaster(Settings().spark_master)
        assert master.is_local or url == "yarn" or master.servers


def test_every_setting_that_is_shown_exists() -> None:
    for name in set(re.findall(r"RACKPLAN_(\w+)", DOC.text)):
        assert name.lower() in Settings.model_fields


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (ROOT / "docs" / path).exists()
