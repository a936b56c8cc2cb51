"""What docs/spark.md says is what the tests on a real cluster do."""

import re
import shlex
from pathlib import Path

import pytest

from app.services.spark_master import SparkMaster
from app.settings import Settings
from tests.conftest import ROOT
from tests.documents import Document
from tests.jobs import cluster

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
