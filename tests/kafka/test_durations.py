"""Plans at slow throttles, and batches soon after one another, take as long as the ledger predicts."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.core.model import Float64s
from app.core.reassignment.batches.execution import BatchCopies, batch_durations, throttled
from app.core.reassignment.batches.quota_credit import quota_credits
from tests.kafka.cluster import Cluster, running, wait_for
from tests.kafka.conftest import RACKS, release, require
from tests.kafka.handing import planned, progress, reassign, run, snapshot, uncordon, unpacked

pytestmark = [pytest.mark.slow, pytest.mark.kafka, pytest.mark.long]

LASTS_S, ROW, SAMPLED_S = 75, 6, 12
"""Seconds of a plan, partitions of a row, and seconds until Kafka's quotas have no sample of what was before."""
CHANGES: dict[str, dict[str, Any]] = {
    "remove broker 5": {"remove_brokers": [5]},
    "remove broker 4": {"remove_brokers": [4]},
    "lower one factor, raise another": {"replication_factor": {"orders": 2, "clicks.raw": 3}},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Five brokers, and two topics of 90 and 50 MB."""
    require()
    with running(tmp_path_factory.mktemp("kafka") / "fetches", RACKS, release=release()) as kafka:
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
    """The throttle of some 0.5 MB/s decides, and not the machine. Preferred leaders send, which are elected before."""
    filled.tool("kafka-leader-election", "--election-type", "preferred", "--all-topic-partitions")
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
def halves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Four brokers, and a topic of 30 MB on the first two, the first preferred; the second leads half of it."""
    require()
    folder = tmp_path_factory.mktemp("kafka") / "halves"
    with running(folder, (None,) * 4, release=release()) as kafka:
        lists = ["1:2"] * (ROW // 2) + ["2:1"] * (ROW // 2)
        kafka.tool("kafka-topics", "--create", "--topic", "halves", "--replica-assignment", ",".join(lists))
        kafka.fill("halves", records=30_000)
        reassign(kafka, folder, {f"halves-{number}": (1, 2) for number in range(ROW // 2, ROW)})
        yield kafka


def test_the_leader_sends_though_another_is_preferred(halves: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Two brokers send half of the bytes each; were all sent by the first, the batch would take twice as long."""
    pins = [{"topic": "halves", "partition": n, "replicas": [1, 2, 3 + n // (ROW // 2)]} for n in range(ROW)]
    limits = {"throttle_bytes_per_s": 400_000, "max_moves_in_per_broker": ROW}
    plan = planned(client, snapshot(client, halves), {"pins": pins, "batches": limits})
    [batch] = plan["batches"]
    assert batch["seconds"] == pytest.approx(batch["moved_bytes"] / 2 / limits["throttle_bytes_per_s"], rel=0.1)
    folder = unpacked(client, plan, tmp_path / "plan")
    done = run(halves, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    entry = progress(client, halves, plan, (folder / "run.log").read_text())["ledger"]
    assert entry["seconds_error"] <= 0.15, entry


@pytest.fixture
def row(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two brokers, and a topic of 15 MB in six partitions on the first."""
    require()
    with running(tmp_path_factory.mktemp("kafka") / "row", (None, None), release=release()) as kafka:
        kafka.tool("kafka-topics", "--create", "--topic", "row", "--replica-assignment", ",".join("1" * ROW))
        kafka.fill("row", records=15_000)
        yield kafka


def test_fetches_that_cut_record_batches_take_longer(row: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Each MiB has one batch of 800 kB, and the rest of it is sent for nothing."""
    size, throttle = 800_000, 500_000
    row.tool("kafka-topics", "--create", "--topic", "large", "--replica-assignment", "1,1,1")
    row.fill("large", records=30, size=size)
    pins = [{"topic": "large", "partition": number, "replicas": [1, 2]} for number in range(3)]
    limits = {"throttle_bytes_per_s": throttle, "max_moves_in_per_broker": 3, "record_batch_bytes": size}
    plan = planned(client, snapshot(client, row), {"pins": pins, "batches": limits})
    [batch] = plan["batches"]
    assert batch["seconds"] == pytest.approx(2**20 / size * batch["moved_bytes"] / throttle, rel=0.01)
    folder = unpacked(client, plan, tmp_path / "plan")
    done = run(row, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    entry = progress(client, row, plan, (folder / "run.log").read_text())["ledger"]
    assert entry["seconds_error"] <= 0.15, entry


def copied(kafka: Cluster, file: Path, partitions: Sequence[int], throttle: int) -> tuple[float, float]:
    """Begin and end of a batch that copies partitions of the row to the second broker."""
    rows = [{"topic": "row", "partition": number, "replicas": [1, 2]} for number in partitions]
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    one = ("kafka-reassign-partitions", "--reassignment-json-file", str(file))
    kafka.tool(*one, "--execute", "--throttle", str(throttle))
    began = time.monotonic()
    verify = (*one, "--verify", "--preserve-throttles")
    wait_for(lambda: "in progress" not in kafka.tool(*verify), within_s=60, what="a copy")
    return began, time.monotonic()


def predicted(
    kafka: Cluster, batches: Sequence[Sequence[int]], throttles: Sequence[int], began: Float64s, ended: Float64s
) -> Float64s:
    """Seconds of each batch of partitions, executed at its throttle."""
    numbers, partitions = np.array([(place, each) for place, its in enumerate(batches) for each in its]).T
    ends, alone = np.zeros(len(numbers), np.int32), np.ones(len(numbers), np.bool_)
    copies = BatchCopies(numbers, ends, ends + 1, np.array(sizes(kafka))[partitions], np.zeros(len(numbers)))
    executed, seconds = np.array(throttles, np.float64), np.empty(len(batches))
    for place, throttle in enumerate(throttles):
        rates = throttled(throttle, 2)
        credit = quota_credits(copies, rates, began, ended, alone, executed)
        seconds[place] = (batch_durations(copies, rates, len(batches)) - credit)[place]
    return seconds


def sizes(kafka: Cluster) -> list[int]:
    """Bytes of each partition of the row."""
    files = [kafka.brokers[1].folder.glob(f"*/row-{number}/*.log") for number in range(ROW)]
    return [sum(file.stat().st_size for file in its) for its in files]


def test_batches_soon_after_one_another_have_the_credit_of_the_quota(row: Cluster, tmp_path: Path) -> None:
    """Between the same two brokers, of 9 s each, 4 s apart: most take some 5 s."""
    seconds, pause = 9, 4
    throttle = min(sizes(row)) // seconds
    began, ended = np.zeros((2, ROW))
    for number in range(ROW):
        began[number], ended[number] = copied(row, tmp_path / "one.json", [number], throttle)
        time.sleep(pause)
    expected = predicted(row, [[number] for number in range(ROW)], [throttle] * ROW, began, ended).sum()
    assert expected == pytest.approx((ended - began).sum(), rel=0.15), (began, ended)


PAIRS = [
    (250_000, 2, 1_000_000), (1_000_000, 2, 250_000), (250_000, 5, 500_000),
    (500_000, 5, 250_000), (2_000_000, 1, 250_000), (250_000, 8, 2_000_000),
]  # fmt: skip
"""Throttles of two batches, and the seconds between them."""


def test_a_batch_after_one_of_another_throttle_takes_as_long_as_predicted(row: Cluster, tmp_path: Path) -> None:
    """Kafka keeps the samples of the first: the second has credit of them, or waits for them."""
    found: list[tuple[float, float]] = []
    for place, (first, pause, second) in enumerate(PAIRS):
        pair = [[2 * place % ROW], [(2 * place + 1) % ROW]]
        if place == ROW // 2:
            reassign(row, tmp_path, {f"row-{number}": [1] for number in range(ROW)})
        time.sleep(SAMPLED_S)
        began, ended = np.zeros((2, 2))
        for number, throttle in enumerate((first, second)):
            began[number], ended[number] = copied(row, tmp_path / "one.json", pair[number], throttle)
            time.sleep(pause)
        found.append((predicted(row, pair, [first, second], began, ended)[1], ended[1] - began[1]))
    expected, taken = np.array(found).T
    assert expected.sum() == pytest.approx(taken.sum(), rel=0.15), found


def test_what_a_fetch_sends_beyond_a_window_of_the_throttle_is_not_waited_for(row: Cluster, tmp_path: Path) -> None:
    """At 100 kB/s, 15 MB take less than half a minute: three fetches, 11 s apart."""
    throttle = 100_000
    began, ended = copied(row, tmp_path / "all.json", range(ROW), throttle)
    [expected] = predicted(row, [range(ROW)], [throttle], np.zeros(1), np.full(1, ended - began))
    assert sum(sizes(row)) / throttle > 100
    assert expected < 30
    assert expected == pytest.approx(ended - began, rel=0.15)
