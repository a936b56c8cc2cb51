"""The script of an archive is killed, and brokers are, at random (KILLS=20 SEED=7; `make kills`)."""

import os
import random
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kafka.cluster import Cluster
from tests.kafka.handing import lists_of, planned, snapshot, uncordon, unpacked
from tests.kafka.kills import IN_ROUND, Killer

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

KILLS, SEED = int(os.environ.get("KILLS", "3")), int(os.environ.get("SEED", "1"))
SLOW = {"throttle_bytes_per_s": 300_000, "max_moves_in_per_broker": 1}
LEAST_ISR = {"orders": 2, "clicks.raw": 1}


def change(chance: random.Random, lists: dict[str, list[int]]) -> dict[str, Any]:
    """A request that moves replicas: a broker is emptied, all are balanced, or partitions are pinned."""
    kind = chance.choice(("remove", "balance", "pins", "pins"))
    if kind == "remove":
        return {"remove_brokers": [chance.choice((1, 2, 4, 5))]}  # broker 3 is the only one of its rack
    if kind == "balance":
        return {"balance": {"replicas": "tight", "leaders": "tight"}}
    pins = []
    for name in chance.sample(sorted(name for name in lists if name.rpartition("-")[0] in LEAST_ISR), 4):
        topic, _, partition = name.rpartition("-")
        replicas = chance.sample(range(1, 6), len(lists[name]))
        pins.append({"topic": topic, "partition": int(partition), "replicas": replicas})
    return {"pins": pins}


def test_kills_leave_nothing_behind(topics: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    topics.fill("orders", records=12_000)  # Kafka copies the first MiB before it throttles
    topics.fill("clicks.raw", records=6000)
    chance, kills, number = random.Random(SEED), 0, 0
    in_round = min(KILLS, IN_ROUND)
    while kills < KILLS:
        number += 1
        before = topics.replicas()
        plan = planned(client, snapshot(client, topics), {**change(chance, before), "batches": SLOW})
        if not plan["batches"]:
            continue
        killer = Killer(topics, chance, unpacked(client, plan, tmp_path / str(number)), LEAST_ISR)
        killer.run(kills=chance.randint(in_round // 2, in_round))
        killer.check(before | lists_of(client, plan))
        if chance.random() < 0.4:
            killer.run("--rollback", kills=chance.randint(in_round // 2, in_round))
            killer.check(before)
        uncordon(topics)
        kills += len(killer.killed)
        sys.stderr.write(f"round {number}, seed {SEED}: {kills} kills, the last {killer.killed}\n")
