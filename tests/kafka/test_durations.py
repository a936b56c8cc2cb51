"""Plans of more than a minute take as long as predicted if fetches are small against the throttle, as in production."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.core.reassignment.batches.execution import BatchCopies, throttled
from app.core.reassignment.batches.quota_credit import quota_credits
from tests.kafka.cluster import Cluster, running, wait_for
from tests.kafka.conftest import RACKS, release, require
from tests.kafka.handing import planned, progress, run, snapshot, uncordon, unpacked

pytestmark = [pytest.mark.slow, pytest.mark.kafka, pytest.mark.long]

SMALL_FETCHES: dict[str, Any] = {"replica_fetch_max_bytes": 2**16, "replica_fetch_response_max_bytes": 2**18}
"""A fortieth of the default 10 MiB of a response: against 0.3 to 1 MB/s what that is against 10 to 40 MB/s."""
LASTS_S, ROW = 75, 6
CHANGES: dict[str, dict[str, Any]] = {
    "remove broker 5": {"remove_brokers": [5]},
    "remove broker 4": {"remove_brokers": [4]},
    "lower one factor, raise another": {"replication_factor": {"orders": 2, "clicks.raw": 3}},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Five brokers with small fetches, and two topics of 90 and 50 MB."""
    require()
    with running(tmp_path_factory.mktemp("kafka") / "fetches", RACKS, release=release(), **SMALL_FETCHES) as kafka:
        kafka.create_topic("orders", partitions=6, factor=3, min_insync_replicas=2)
        kafka.create_topic("clicks.raw", partitions=4, factor=2)
        for topic, times in (("orders", 3), ("clicks.raw", 2)):
            for _ in range(times):
                kafka.fill(topic, records=30_000)
        yield kafka


@pytest.mark.parametrize("change", CHANGES)
def test_a_plan_of_a_minute_takes_as_long_as_predicted(
    filled: Cluster, client: httpx.Client, tmp_path: Path, change: str
) -> None:
    """The throttle of some 0.5 MB/s decides, and not the machine."""
    snapshot_id, fast = snapshot(client, filled), 1_000_000
    once = planned(client, snapshot_id, CHANGES[change] | {"batches": {"throttle_bytes_per_s": fast}})
    throttle = int(fast * sum(batch["seconds"] for batch in once["batches"]) / LASTS_S)
    plan = planned(client, snapshot_id, CHANGES[change] | {"batches": {"throttle_bytes_per_s": throttle}})
    folder = unpacked(client, plan, tmp_path / "plan")
    done = run(filled, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    entry = progress(client, filled, plan, (folder / "run.log").read_text())["ledger"]
    back = run(filled, folder, "--rollback", THROTTLE="50000000")
    assert back.returncode == 0, back.stdout + back.stderr
    uncordon(filled)
    assert entry["bytes_error"] <= 0.02
    assert entry["seconds_error"] <= 0.15, entry


@pytest.fixture
def row(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two brokers with small fetches, and a topic of 15 MB in six partitions on the first."""
    require()
    with running(tmp_path_factory.mktemp("kafka") / "row", (None, None), release=release(), **SMALL_FETCHES) as kafka:
        kafka.tool("kafka-topics", "--create", "--topic", "row", "--replica-assignment", ",".join("1" * ROW))
        kafka.fill("row", records=15_000)
        yield kafka


def test_batches_soon_after_one_another_have_the_credit_of_the_quota(row: Cluster, tmp_path: Path) -> None:
    """Between the same two brokers, of 9 s each, 4 s apart: most take some 5 s."""
    seconds, pause = 9, 4
    files = [row.brokers[1].folder.glob(f"*/row-{number}/*.log") for number in range(ROW)]
    sizes = [sum(file.stat().st_size for file in its) for its in files]
    throttle = min(sizes) // seconds
    file = tmp_path / "one.json"
    one = ("kafka-reassign-partitions", "--reassignment-json-file", str(file))
    verify = (*one, "--verify", "--preserve-throttles")
    began, ended = np.zeros((2, ROW))
    for number in range(ROW):
        rows = [{"topic": "row", "partition": number, "replicas": [1, 2]}]
        file.write_text(json.dumps({"version": 1, "partitions": rows}))
        row.tool(*one, "--execute", "--throttle", str(throttle))
        began[number] = time.monotonic()
        wait_for(lambda: "in progress" not in row.tool(*verify), within_s=60, what="a copy")
        ended[number] = time.monotonic()
        time.sleep(pause)
    ends = np.zeros(ROW, np.int32)
    copies = BatchCopies(np.arange(ROW), ends, ends + 1, np.array(sizes), np.zeros(ROW))
    predicted = seconds * ROW - quota_credits(copies, throttled(throttle, 2), began, ended).sum()
    taken = (ended - began).sum()
    assert predicted == pytest.approx(taken, rel=0.15), (began, ended)
