"""From a running cluster to a plan, and from its archive back to the cluster."""

import io
import json
import os
import re
import signal
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.kafka.cluster import Cluster, wait_for

RUNS_WITHIN_S = 300
LEDGER: list[dict[str, Any]] = []
"""Measured executions of this run against predictions."""


def snapshot(client: httpx.Client, kafka: Cluster, *of_configs: str) -> str:
    """Store the output of four of Kafka's tools, `kafka-configs` with more options. Returns the snapshot's id."""
    files = {
        "brokers": kafka.tool("kafka-broker-api-versions"),
        "topics": kafka.tool("kafka-topics", "--describe"),
        "log_dirs": "\n".join([
            kafka.tool("kafka-log-dirs", "--describe"),
            kafka.tool("kafka-configs", "--describe", "--entity-type", "brokers", *of_configs),
        ]),
    }  # fmt: skip
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
    """`bash run.sh` in a folder with the files of an archive.

    Its tools share a JVM, unless `KAFKA_BIN` is the folder of those that each start one, as in operation.
    """
    quick = {"PATH": f"{kafka.commands}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "run.sh", *options],
        cwd=folder,
        env=environment(kafka, **quick | settings),
        capture_output=True,
        text=True,
        timeout=RUNS_WITHIN_S,
        check=False,
    )


def started(kafka: Cluster, folder: Path, *options: str, batch: str = "", **settings: str) -> subprocess.Popen[str]:
    """The script in a process group of its own, once it waits for a batch: any, or one of the pattern `batch`.

    Raises `AssertionError` with its output if it ends before.
    """
    script = subprocess.Popen(
        ["bash", "run.sh", *options], cwd=folder, env=environment(kafka, **settings), stdout=subprocess.PIPE, text=True,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    assert script.stdout is not None
    printed = []
    for line in script.stdout:
        printed.append(line)
        if re.search(f"batch {batch}.*in progress", line):
            return script
    script.wait()
    raise AssertionError("".join(printed))


def interrupt(script: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> None:
    """End a script and the tool that it runs, and wait for it."""
    os.killpg(script.pid, number)
    script.communicate(timeout=RUNS_WITHIN_S)
    assert script.returncode != 0


def progress(client: httpx.Client, kafka: Cluster, plan: dict[str, Any], log: str | None = None) -> dict[str, Any]:
    """The progress of a plan by the tools' current output."""
    body = {"snapshot_id": snapshot(client, kafka)} | ({} if log is None else {"log": log})
    response = client.post(f"/v1/plans/{plan['id']}/progress", json=body)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    LEDGER.extend([] if log is None or found["ledger"] is None else [found["ledger"]])
    return found


def reassign(kafka: Cluster, folder: Path, lists: Mapping[str, Sequence[int]], *options: str) -> None:
    """Execute lists by partition, as somebody else would, and wait until they are complete."""
    rows = [
        {"topic": name.rpartition("-")[0], "partition": int(name.rpartition("-")[2]), "replicas": [*replicas]}
        for name, replicas in lists.items()
    ]
    file = ("--reassignment-json-file", str(folder / "other.json"))
    (folder / "other.json").write_text(json.dumps({"version": 1, "partitions": rows}), encoding="utf-8")
    kafka.tool("kafka-reassign-partitions", *file, "--execute", *options)
    verify = ("kafka-reassign-partitions", *file, "--verify", "--preserve-throttles")
    wait_for(lambda: "in progress" not in kafka.tool(*verify), within_s=RUNS_WITHIN_S, what="another reassignment")


def uncordon(kafka: Cluster) -> None:
    """Let every broker get replicas again: a plan that empties one leaves it cordoned."""
    cordoned = "cordoned.log.dirs"
    if cordoned not in kafka.tool("kafka-configs", "--describe", "--entity-type", "brokers"):
        return
    for broker in map(str, kafka.brokers):
        if cordoned in kafka.tool("kafka-configs", "--describe", "--broker", broker):
            kafka.tool("kafka-configs", "--alter", "--delete-config", cordoned, "--broker", broker)
