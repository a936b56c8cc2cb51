"""The script of the demonstration, on running brokers: its topics have the documented faults."""

import os
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import ROOT
from tests.kafka.cluster import Cluster

SCRIPT = ROOT / "deploy" / "demo" / "demo.sh"
pytestmark = [pytest.mark.slow, pytest.mark.kafka]


def _run(kafka: Cluster, step: str) -> str:
    environment = os.environ | {"BOOTSTRAP": kafka.bootstrap, "BIN": str(kafka.bin)}
    return subprocess.run(
        ["sh", str(SCRIPT), step], env=environment, check=True, capture_output=True, text=True, timeout=300
    ).stdout


@pytest.fixture
def described(kafka: Cluster) -> Iterator[str]:
    """The script's output about its topics, which it makes twice."""
    _run(kafka, "make")
    _run(kafka, "make")
    yield _run(kafka, "describe")
    kafka.tool("kafka-topics", "--delete", "--topic", r"shop\..*")


def test_the_topics_have_what_the_document_says(described: str, client: httpx.Client) -> None:
    """Replicas, leaders and configurations by topic; a lost broker makes every payment unwritable."""
    stored = client.post(
        "/v1/snapshots", params={"cluster": "demo"}, content=described, headers={"Content-Type": "text/plain"}
    ).raise_for_status()
    document = client.get(f"/v1/snapshots/{stored.json()['id']}").json()["document"]
    topics = {topic["name"]: topic for topic in document["topics"]}
    orders, payments, clicks = (topics[f"shop.{name}"] for name in ("orders", "payments", "clicks"))
    assert sum({*partition["replicas"]} == {1, 2} for partition in orders["partitions"]) == 10
    assert sum(partition["replicas"][0] == 1 for partition in orders["partitions"]) == 8
    assert payments["configs"]["min.insync.replicas"] == "3"
    assert [partition["replicas"] for partition in clicks["partitions"]] == [[1], [1], [1], [2]]
    check = client.post("/v1/checks", json={"snapshot_id": stored.json()["id"]}).raise_for_status().json()
    unwritable = {broker: loss["unwritable"] for broker, loss in check["measures"]["losses"]["brokers"].items()}
    assert {broker: unwritable[broker] >= 6 for broker in ("1", "2", "3")} == dict.fromkeys(("1", "2", "3"), True)
