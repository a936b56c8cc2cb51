"""Plans that run: their progress, concurrent changes, disks that fill, producers that write, and cordons."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kafka.cluster import Cluster
from tests.kafka.conftest import release
from tests.kafka.handing import (
    interrupt,
    lists_of,
    planned,
    progress,
    reassign,
    run,
    snapshot,
    started,
    uncordon,
    unpacked,
)
from tests.kafka.kills import lasting_throttles
from tests.kafka.vectors import number

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

SLOW: dict[str, Any] = {
    "remove_brokers": [5],
    "batches": {"throttle_bytes_per_s": 100_000, "max_moves_in_per_broker": 1},
}
"""Each batch takes some seconds."""
QUICK = {"THROTTLE": "5000000"}


@pytest.fixture
def led(kafka: Cluster) -> Iterator[Cluster]:
    """The cluster with a topic of which broker 5 leads every partition."""
    assignment = ",".join(f"5:{each}:{each % 4 + 1}" for each in (1, 2, 3, 4))
    kafka.tool("kafka-topics", "--create", "--topic", "led", "--replica-assignment", assignment)
    kafka.fill("led", records=12_000)
    yield kafka
    uncordon(kafka)
    kafka.tool("kafka-topics", "--delete", "--topic", "led")


def test_progress_and_drift_in_mid_batch(led: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    before = led.replicas()
    request = SLOW | {"topics": ["led"], "batches": SLOW["batches"] | {"max_partitions": 1}}
    plan = planned(client, snapshot(client, led), request)
    folder = unpacked(client, plan, tmp_path / "plan")
    assert len(plan["batches"]) >= 4
    interrupt(started(led, folder, batch="02"))
    found = progress(client, led, plan)
    states = [batch["state"] for batch in found["batches"]]
    done = states.index("in_progress")
    assert states == [*["done"] * done, "in_progress", *["not_started"] * (len(states) - done - 1)]
    assert (found["state"], found["drift"], found["next"]) == ("in_progress", [], f"batch/{done + 2}")

    files = [folder / f"{each:02}-execute.json" for each in range(done + 1, len(states) + 1)]
    moving, *later = (
        {f"{row['topic']}-{row['partition']}" for row in json.loads(file.read_text())["partitions"]} for file in files
    )
    # Any later batch: each partition of the next one may be in the batch in progress as well.
    drifting = min(set().union(*later) - moving)
    elsewhere = [broker for broker in (1, 2, 3, 4) if broker not in before[drifting]]
    planned_lists = lists_of(client, plan)
    other = next(
        lists for lists in ([broker, *before[drifting][1:]] for broker in elsewhere)
        if {*lists} != {*planned_lists[drifting]}
    )  # fmt: skip
    led.tool("kafka-configs", "--alter", "--broker", "5", "--delete-config", "cordoned.log.dirs")
    reassign(led, tmp_path, {drifting: other}, "--additional")
    found = progress(client, led, plan)
    assert (found["state"], found["drifted_partitions"]) == ("drifted", 1)
    [drift] = found["drift"]
    assert (f"{drift['topic']}-{drift['partition']}", drift["actual"]) == (drifting, other)
    stopped = run(led, folder, **QUICK)
    assert stopped.returncode == 1
    assert f"partition {drifting}" in stopped.stderr
    assert "have changed since" in stopped.stderr
    back = run(led, folder, "--rollback", **QUICK)
    assert back.returncode == 0, back.stdout + back.stderr
    assert led.replicas() == before
    assert lasting_throttles(led) == []


def test_a_batch_that_is_cancelled_is_begun_again_and_undone(
    led: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    """Kafka restores the brokers of a list, but not their order."""
    before = led.replicas()
    plan = planned(client, snapshot(client, led), SLOW)
    folder = unpacked(client, plan, tmp_path / "plan")
    script = started(led, folder)
    file = ("--reassignment-json-file", str(folder / "01-execute.json"))
    led.tool("kafka-reassign-partitions", *file, "--cancel", "--preserve-throttles")
    script.communicate(timeout=120)
    assert script.returncode == 1
    last = (folder / "run.log").read_text().splitlines()[-1]
    assert last.endswith("01-execute.json is neither complete nor in progress")
    assert lasting_throttles(led) == []
    assert {each["reason"] for each in progress(client, led, plan)["drift"]} == {"other_order"}
    done = run(led, folder, **QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert led.replicas() == before | lists_of(client, plan)
    back = run(led, folder, "--rollback", **QUICK)
    assert back.returncode == 0, back.stdout + back.stderr
    assert led.replicas() == before


def test_a_partition_of_two_batches_goes_on_in_the_first(led: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Kafka's tool calls it in progress in both."""
    request = {
        "pins": [{"topic": "led", "partition": 0, "replicas": [5, 4, 3]}],
        "balance": {"leaders": "preferred"},
        "rack_mode": "disabled",
        "batches": SLOW["batches"],
    }
    plan = planned(client, snapshot(client, led), request)
    assert [[each["partition"] for each in batch["partitions"]] for batch in plan["batches"]] == [[0], [0]]
    folder = unpacked(client, plan, tmp_path / "plan")
    interrupt(started(led, folder, batch="01"))
    done = run(led, folder, **QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert led.replicas_of("led")[0] == [5, 4, 3]


@contextmanager
def writing(kafka: Cluster, topic: str, rate: int) -> Iterator[None]:
    """A producer that writes to a topic until the context ends. rate : bytes/s, 0 for none."""
    counts = ["--num-records", "1000000", "--record-size", "1000", "--throughput", str(max(rate // 1000, 1))]
    properties = ["--producer-props", f"bootstrap.servers={kafka.bootstrap}", "batch.size=4096"]
    command = [f"{kafka.bin}/kafka-producer-perf-test.sh", "--topic", topic, *counts, *properties]
    quiet = subprocess.DEVNULL
    writes = subprocess.Popen(command, stdout=quiet, stderr=quiet) if rate else None
    try:
        yield
    finally:
        if writes is not None:
            writes.kill()
            writes.wait()


@pytest.mark.long
@pytest.mark.parametrize("rate", [0, 120_000])
def test_a_throttled_batch_takes_as_long_as_predicted(
    topics: Cluster, client: httpx.Client, tmp_path: Path, rate: int
) -> None:
    """Also if producers write to the partition meanwhile, which the new replica has to copy as well.

    Two fetches of 1 MiB at 250 kB/s take 8.4 s. At 200 kB/s they take 10.5, and the begins of the leader's samples,
    which no snapshot has, decide whether the third waits for the rest of a window of 11 s or for 5 s more.
    """
    throttle = 250_000
    topics.fill("orders", records=30_000)
    lists = topics.replicas_of("orders")
    other = next(broker for broker in topics.brokers if broker not in lists[0])
    request = {
        "pins": [{"topic": "orders", "partition": 0, "replicas": [*lists[0][:2], other]}],
        "batches": {"throttle_bytes_per_s": throttle}, "ingress_bytes_per_s": {"orders": rate},
    }  # fmt: skip
    plan = planned(client, snapshot(client, topics), request)
    predicted, size = plan["batches"][0]["seconds"], plan["batches"][0]["moved_bytes"]
    assert predicted == pytest.approx(size / (throttle - rate / len(lists)), rel=0.01)
    folder = unpacked(client, plan, tmp_path / "plan")
    with writing(topics, "orders", rate):
        done = run(topics, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    [batch, *_] = progress(client, topics, plan, (folder / "run.log").read_text())["ledger"]["batches"]
    assert batch["predicted_seconds"] <= predicted + 1  # a follower that is alone with its leader looks once a second
    assert batch["actual_seconds"] == pytest.approx(batch["predicted_seconds"], rel=0.15, abs=2), batch
    assert batch["actual_bytes"] == pytest.approx(size + rate / len(lists) * predicted, rel=0.1), batch


def used(kafka: Cluster) -> dict[int, int]:
    """The bytes of all replicas on each broker."""
    text = kafka.tool("kafka-log-dirs", "--describe")
    brokers = json.loads(next(line for line in text.splitlines() if line.startswith("{")))["brokers"]
    return {
        broker["broker"]: sum(one["size"] for log_dir in broker["logDirs"] for one in log_dir["partitions"])
        for broker in brokers
    }


@pytest.fixture
def chain(topics: Cluster) -> Iterator[Cluster]:
    """The cluster with a topic of two large partitions, on brokers 1 and 2."""
    topics.tool("kafka-topics", "--create", "--topic", "chain", "--replica-assignment", "1,2")
    topics.fill("chain", records=16_000)
    yield topics
    topics.tool("kafka-topics", "--delete", "--topic", "chain")


def test_no_disk_exceeds_its_share_while_a_plan_runs(chain: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Partition 0 goes to broker 2, which has space for it after partition 1 has left for broker 3."""
    before, share = used(chain), 0.9
    sizes = [
        sum(path.stat().st_size for path in chain.brokers[1 + each].folder.glob(f"*/chain-{each}/*.log"))
        for each in (0, 1)
    ]
    largest = before[2] + sizes[0] // 2
    request = {
        "pins": [{"topic": "chain", "partition": each, "replicas": [each + 2]} for each in (0, 1)],
        "capacity": {"*": {"disk_bytes": 10**9}, "2": {"disk_bytes": int(largest / share)}},
        "batches": {"throttle_bytes_per_s": 2_000_000, "max_disk_share": share},
    }  # fmt: skip
    plan = planned(client, snapshot(client, chain), request)
    assert len([batch for batch in plan["batches"] if batch["moves_data"]]) == 2
    folder = unpacked(client, plan, tmp_path / "plan")
    script, seen = started(chain, folder), []
    while script.poll() is None:
        seen.append(used(chain)[2])
        time.sleep(0.2)
    printed, _ = script.communicate()
    assert script.returncode == 0, printed
    assert max(seen) <= largest, seen
    assert chain.replicas_of("chain") == [[2], [3]]


@pytest.fixture
def shared(topics: Cluster) -> Iterator[Cluster]:
    """The cluster with a topic of one partition, on brokers 2, 4 and 3."""
    topics.tool("kafka-topics", "--create", "--topic", "shared", "--replica-assignment", "2:4:3")
    yield topics
    topics.tool("kafka-topics", "--delete", "--topic", "shared")


@pytest.mark.skipif(number(release()) < (4, 3), reason="brokers are cordoned since Kafka 4.3")
def test_a_cordoned_broker_keeps_what_it_has_and_gets_nothing(
    shared: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    shared.tool("kafka-configs", "--alter", "--broker", "2", "--add-config", "cordoned.log.dirs=*")
    before = shared.replicas()
    plan = planned(client, snapshot(client, shared), {"remove_brokers": [4]})
    assert "cordons_lifted" in {warning["code"] for warning in plan["warnings"]}
    wanted = before | lists_of(client, plan)
    assert all(2 in before[name] for name, lists in wanted.items() if 2 in lists)
    folder = unpacked(client, plan, tmp_path / "plan")
    done = run(shared, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert shared.replicas() == wanted
    shared.create_topic("elsewhere", partitions=6, factor=3)
    try:
        assert {broker for lists in shared.replicas_of("elsewhere") for broker in lists} == {1, 3, 5}
    finally:
        shared.tool("kafka-topics", "--delete", "--topic", "elsewhere")
    back = run(shared, folder, "--rollback")
    assert back.returncode == 0, back.stdout + back.stderr
    assert {name: lists for name, lists in shared.replicas().items() if name in before} == before
