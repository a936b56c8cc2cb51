"""From a running cluster to a plan, and from its archive back to the cluster."""

import io
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import httpx

from tests.kafka.cluster import Cluster

RUNS_WITHIN_S = 300


def snapshot(client: httpx.Client, kafka: Cluster) -> str:
    """Store what three of Kafka's tools print; the id of the snapshot."""
    files = {
        "brokers": kafka.tool("kafka-broker-api-versions"),
        "topics": kafka.tool("kafka-topics", "--describe"),
        "log_dirs": kafka.tool("kafka-log-dirs", "--describe"),
    }
    form = {"cluster": (None, "live"), **{name: (name, text) for name, text in files.items()}}
    response = client.post("/v1/snapshots", files=form)
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def planned(client: httpx.Client, snapshot_id: str, request: dict[str, Any]) -> dict[str, Any]:
    """A reassignment of the snapshot."""
    response = client.post("/v1/plans/reassignment", json={"snapshot_id": snapshot_id, **request})
    assert response.status_code == 201, response.text
    plan: dict[str, Any] = response.json()
    return plan


def unpacked(client: httpx.Client, plan: dict[str, Any], folder: Path) -> Path:
    """The folder with the files of the plan's archive."""
    response = client.get(f"/v1/plans/{plan['id']}/export", params={"format": "batches"})
    assert response.status_code == 200, response.text
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        archive.extractall(folder)
    return folder


def lists_of(client: httpx.Client, plan: dict[str, Any]) -> dict[str, list[int]]:
    """The replica list that a plan has for each partition, as `topic-partition`."""
    rows = (
        client.get(f"/v1/plans/{plan['id']}/partitions", params={"page_size": 500}).raise_for_status().json()["items"]
    )
    return {f"{row['topic']}-{row['partition']}": row["replicas"] for row in rows}


def environment(kafka: Cluster, **settings: str) -> dict[str, str]:
    """For the script: Kafka's tools on the path, and the address of the cluster."""
    return kafka.environment | {"KAFKA_BOOTSTRAP": kafka.bootstrap, "POLL_SECONDS": "0.5"} | settings


def run(kafka: Cluster, folder: Path, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """`bash run.sh` in a folder with the files of an archive."""
    return subprocess.run(
        ["bash", "run.sh", *options],
        cwd=folder,
        env=environment(kafka, **settings),
        capture_output=True,
        text=True,
        timeout=RUNS_WITHIN_S,
        check=False,
    )


def uncordon(kafka: Cluster) -> None:
    """Let every broker get replicas again: a plan that empties one leaves it cordoned."""
    for broker in kafka.brokers:
        if "cordoned.log.dirs" in kafka.tool("kafka-configs", "--describe", "--broker", str(broker)):
            options = ("--alter", "--delete-config", "cordoned.log.dirs", "--broker", str(broker))
            kafka.tool("kafka-configs", *options)
