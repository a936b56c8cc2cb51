"""The script of an archive under disturbances: a dead broker, a kill, another's reassignment."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kafka.cluster import Cluster, wait_for
from tests.kafka.handing import (
    RUNS_WITHIN_S,
    environment,
    interrupt,
    lists_of,
    planned,
    progress,
    reassign,
    run,
    snapshot,
    started,
    unpacked,
)
from tests.kafka.kills import lasting_throttles, throttles

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

SLOW = {"remove_brokers": [5], "batches": {"throttle_bytes_per_s": 100_000, "max_moves_in_per_broker": 1}}
"""Each batch takes some seconds."""


@pytest.fixture
def without_one(topics: Cluster) -> Iterator[Cluster]:
    """The cluster while broker 5 is down."""
    topics.kill(5)
    topics.await_fenced(5)
    yield topics
    topics.start(5)


@pytest.fixture
def lonely(topics: Cluster) -> Iterator[Cluster]:
    """The cluster with a topic of one replica, on broker 5, which is down."""
    topics.tool("kafka-topics", "--create", "--topic", "lonely", "--replica-assignment", "5")
    topics.fill("lonely", records=100)
    topics.kill(5)
    topics.await_fenced(5)
    yield topics
    topics.revive(5)
    topics.tool("kafka-topics", "--delete", "--topic", "lonely")


def test_a_partition_without_a_live_replica_waits_for_its_broker(
    lonely: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    """Kafka never completes it before, and until then rejects every other batch: it is the last one."""
    before = lonely.replicas()
    plan = planned(client, snapshot(client, lonely), {"fix_offline_replicas": True})
    waits = [batch["completes"] is False for batch in plan["batches"]]
    assert waits == [*[False] * (len(waits) - 1), True]
    assert "no_in_sync_replica" in {warning["code"] for warning in plan["warnings"]}
    folder = unpacked(client, plan, tmp_path / "plan")
    stopped = run(lonely, folder)
    assert stopped.returncode == 1
    assert "waits for brokers that are down; without a leader: lonely-0" in stopped.stderr
    wanted = before | lists_of(client, plan)
    assert lonely.replicas() == wanted | {"lonely-0": [5]}
    lonely.revive(5)
    done = run(lonely, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert lonely.replicas() == wanted
    assert wanted["lonely-0"] != [5]
    back = run(lonely, folder, "--rollback")
    assert back.returncode == 0, back.stdout + back.stderr
    assert lonely.replicas() == before


def test_a_rollback_to_a_broker_that_has_died_since_is_for_later(
    topics: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    """Kafka's tool does not know the broker; no throttle is left."""
    before, lists = topics.replicas(), topics.replicas_of("orders")
    request = {"pins": exchanged(lists), "batches": {"throttle_bytes_per_s": 2_000_000}}
    plan = planned(client, snapshot(client, topics), request)
    folder = unpacked(client, plan, tmp_path / "plan")
    done = run(topics, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    dead = lists[0][-1]
    topics.kill(dead)
    try:
        topics.await_fenced(dead)
        stopped = run(topics, folder, "--rollback")
        assert stopped.returncode == 1
        assert f"Unknown broker id {dead}" in stopped.stdout + stopped.stderr
        assert lasting_throttles(topics) == []
    finally:
        topics.revive(dead)
    back = run(topics, folder, "--rollback")
    assert back.returncode == 0, back.stdout + back.stderr
    assert topics.replicas() == before
    assert lasting_throttles(topics) == []


def test_a_terminal_has_one_line_of_progress(topics: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """With partitions and bytes, the rate and the time left; elsewhere each look is a line."""
    topics.fill("orders", records=12_000)
    request = {"pins": exchanged(topics.replicas_of("orders")), "batches": {"throttle_bytes_per_s": 300_000}}
    plan = planned(client, snapshot(client, topics), request)
    folder = unpacked(client, plan, tmp_path / "plan")
    ours, its = pty.openpty()
    script = subprocess.Popen(
        ["bash", "run.sh"], cwd=folder, env=environment(topics), stdin=subprocess.DEVNULL, stdout=its, stderr=its
    )
    os.close(its)
    printed = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while some := os.read(ours, 4096):
            printed += some
    os.close(ours)
    assert script.wait(RUNS_WITHIN_S) == 0, printed
    looks = printed.decode().split("\r\x1b[K")
    figures = r"batch 01: in progress, \d of \d partitions, \d+ of \d+ bytes, \d+ bytes/s, \d+ s left"
    assert [look for look in looks if re.fullmatch(figures, look)], looks
    assert not any("in progress" in look and "\n" in look for look in looks)
    assert looks[-1].startswith("01-execute.json: complete")


def exchanged(lists: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Pins that put the last replica of each partition of `orders` on a broker without one."""
    others = [next(broker for broker in range(1, 6) if broker not in listed) for listed in lists]
    return [
        {"topic": "orders", "partition": number, "replicas": [*listed[:-1], other]}
        for number, (listed, other) in enumerate(zip(lists, others, strict=True))
    ]


def test_a_broker_that_is_down_does_not_stop_it(without_one: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Kafka's own --throttle would wait for it, and move nothing."""
    plan = planned(client, snapshot(client, without_one), {"fix_offline_replicas": True, **SLOW, "remove_brokers": []})
    assert plan["batches"]
    done = run(without_one, unpacked(client, plan, tmp_path / "plan"), THROTTLE="2000000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a broker of its lists is down" in done.stdout
    assert without_one.replicas() == lists_of(client, plan)
    assert lasting_throttles(without_one) == []


def test_partitions_below_min_isr_stop_it_unless_they_are_allowed(
    without_one: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    """A dead broker leaves them below; the plan gives them replicas elsewhere, if the script may."""
    entity = ("--alter", "--entity-type", "topics", "--entity-name", "orders")
    without_one.tool("kafka-configs", *entity, "--add-config", "min.insync.replicas=3")
    below = [name for name, listed in without_one.replicas().items() if name.startswith("orders-") and 5 in listed]
    assert below
    plan = planned(client, snapshot(client, without_one), {"fix_offline_replicas": True})
    folder = unpacked(client, plan, tmp_path / "plan")
    stopped = run(without_one, folder)
    assert stopped.returncode == 1
    expected = f"{len(below)} partitions are below their min.insync.replicas; the plan moves {len(below)} of these"
    assert expected in stopped.stderr
    allowed = {"MOST_BELOW_MIN_ISR": str(len(below))}
    lacking = [name for name, listed in without_one.replicas().items() if 5 in listed]
    stopped = run(without_one, folder, MOST_UNDER_REPLICATED=str(len(lacking) - 1), **allowed)
    assert stopped.returncode == 1
    assert f"{len(lacking)} partitions are under-replicated; the limit is {len(lacking) - 1}" in stopped.stderr
    done = run(without_one, folder, **allowed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert without_one.replicas() == lists_of(client, plan)


def test_a_killed_script_goes_on(topics: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    topics.fill("orders", records=12_000)  # Kafka copies the first MiB before it throttles
    before = topics.replicas()
    plan = planned(client, snapshot(client, topics), SLOW)
    folder = unpacked(client, plan, tmp_path / "plan")
    for number in (signal.SIGKILL, signal.SIGINT):
        interrupt(started(topics, folder), number)
    back = run(topics, folder, "--rollback", THROTTLE="5000000")
    assert back.returncode == 0, back.stdout + back.stderr
    assert topics.replicas() == before
    done = run(topics, folder, THROTTLE="5000000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert topics.replicas() == before | lists_of(client, plan)
    assert lasting_throttles(topics) == []
    assert (folder / "run.log").read_text().splitlines()[-1].endswith("finished execute")


@pytest.mark.parametrize("throttle", ["0", "20000000"])
def test_another_throttle_is_that_of_the_batch_in_progress_too(
    topics: Cluster, client: httpx.Client, tmp_path: Path, throttle: str
) -> None:
    """By the plan's each batch would take minutes."""
    topics.fill("orders", records=12_000)
    before = topics.replicas()
    slow = {"pins": exchanged(topics.replicas_of("orders")), "batches": {"throttle_bytes_per_s": 1000}}
    plan = planned(client, snapshot(client, topics), slow)
    folder = unpacked(client, plan, tmp_path / "plan")
    interrupt(started(topics, folder))
    assert throttles(topics) != []
    began = time.monotonic()
    done = run(topics, folder, THROTTLE=throttle)
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - began < plan["batches"][0]["seconds"] / 10
    assert topics.replicas() == before | lists_of(client, plan)
    assert lasting_throttles(topics) == []


def test_no_throttle_is_left_by_a_batch_that_ends_between_two_runs(
    topics: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    """The second run has none itself."""
    topics.fill("orders", records=12_000)
    plan = planned(client, snapshot(client, topics), {"pins": exchanged(topics.replicas_of("orders"))})
    folder = unpacked(client, plan, tmp_path / "plan")
    files = sorted(folder.glob("*-execute.json"))
    interrupt(started(topics, folder, batch=f"{len(files):02}", THROTTLE="300000"))
    verify = (
        "kafka-reassign-partitions",
        "--reassignment-json-file",
        str(files[-1]),
        "--verify",
        "--preserve-throttles",
    )
    wait_for(lambda: "in progress" not in topics.tool(*verify), within_s=60, what="the end of the batch")
    assert throttles(topics) != []
    done = run(topics, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert lasting_throttles(topics) == []


def test_it_begins_no_batch_beside_the_reassignment_of_somebody_else(
    topics: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    topics.fill("clicks.raw", records=12_000)  # Kafka copies the first MiB before it throttles
    before = topics.replicas()
    plan = planned(client, snapshot(client, topics), {"topics": ["orders"], **SLOW})
    folder = unpacked(client, plan, tmp_path / "plan")
    # The plan cordons the broker that it removes, after which Kafka rejects lists with it.
    stays = next(number for number in before["clicks.raw-0"] if number not in SLOW["remove_brokers"])
    gets = next(number for number in topics.brokers if number not in [*before["clicks.raw-0"], *SLOW["remove_brokers"]])
    other = {"topic": "clicks.raw", "partition": 0, "replicas": [stays, gets]}
    file = tmp_path / "other.json"
    file.write_text(json.dumps({"version": 1, "partitions": [other]}))
    options = ("--reassignment-json-file", str(file))
    topics.tool("kafka-reassign-partitions", *options, "--execute", "--throttle", "1000")
    refused = run(topics, folder)
    assert (refused.returncode, "another reassignment is running: clicks.raw-0" in refused.stderr) == (1, True)
    assert {name: there for name, there in topics.replicas().items() if "orders" in name} == {
        name: there for name, there in before.items() if "orders" in name
    }
    topics.tool("kafka-reassign-partitions", *options, "--execute", "--additional", "--throttle", "100000000")
    verify = ("kafka-reassign-partitions", *options, "--verify")
    wait_for(lambda: "in progress" not in topics.tool(*verify), within_s=60, what="the end of the other reassignment")
    done = run(topics, folder, THROTTLE="0")
    assert done.returncode == 0, done.stdout + done.stderr


def test_lists_that_have_changed_are_named(topics: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    reassign(topics, tmp_path, {"orders-0": [4, 2, 3]})  # whatever Kafka drew, it is neither list below
    plan = planned(
        client, snapshot(client, topics), {"pins": [{"topic": "orders", "partition": 0, "replicas": [1, 2, 3]}]}
    )
    folder = unpacked(client, plan, tmp_path / "plan")
    reassign(topics, tmp_path, {"orders-0": [5, 4, 3]})
    refused = run(topics, folder)
    assert refused.returncode == 1
    assert "orders-0" in refused.stderr
    assert "have changed since" in refused.stderr
    assert topics.replicas()["orders-0"] == [5, 4, 3]


def test_progress_records_what_its_log_says(topics: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Nothing is written meanwhile, so that each replica has the bytes that were predicted."""
    topics.fill("orders", records=12_000)
    plan = planned(client, snapshot(client, topics), SLOW)
    folder = unpacked(client, plan, tmp_path / "plan")
    done = run(topics, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    log = (folder / "run.log").read_text()
    found = progress(client, topics, plan, log)
    assert found["ledger"], (found["warnings"], log)
    copied = [number for number, batch in enumerate(plan["batches"], start=1) if batch["moves_data"]]
    assert [batch["index"] for batch in found["ledger"]["batches"] if batch["actual_bytes"]] == copied
    assert found["ledger"]["bytes_error"] <= 0.02, log
    assert all(batch["throttle_bytes_per_s"] == 100_000 for batch in found["ledger"]["batches"])
    assert all(batch["predicted_seconds"] is not None for batch in found["ledger"]["batches"])
    assert client.get("/v1/ledger", params={"cluster": "live"}).json()["count"] >= 1


def test_a_batch_of_which_kafka_executed_a_part_is_executed_again(
    topics: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    """Kafka answers for each partition by itself, and may reject some of a batch while it executes others."""
    before = topics.replicas()
    pins = [
        {"topic": "orders", "partition": number, "replicas": before[f"orders-{number}"][::-1]} for number in range(2)
    ]
    plan = planned(client, snapshot(client, topics), {"pins": pins})
    folder = unpacked(client, plan, tmp_path / "plan")
    reassign(topics, tmp_path, {"orders-0": before["orders-0"][::-1]})
    done = run(topics, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert topics.replicas() == before | lists_of(client, plan)
