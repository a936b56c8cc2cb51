"""Plans of every kind are executed by their archive's script, equal to the letter, and undone."""

from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kafka.cluster import Cluster, wait_for
from tests.kafka.handing import lists_of, planned, run, snapshot, unpacked

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

KINDS: dict[str, dict[str, Any]] = {
    "remove a broker": {"remove_brokers": [5]},
    "remove a rack's second broker, throttled": {
        "remove_brokers": [4],
        "batches": {"throttle_bytes_per_s": 50_000_000},
    },
    "a lower factor": {"replication_factor": {"orders": 2}},
    "a higher factor": {"replication_factor": {"clicks.raw": 3}},
    "balance": {"balance": {"replicas": "tight", "leaders": "tight"}},
    "leaders alone": {"leaders_only": True, "balance": {"leaders": "tight"}},
    "balance by bytes, batches of one": {
        "balance": {"replicas": "tight", "replicas_by": "bytes"},
        "batches": {"max_moves_in_per_broker": 1},
    },
    "more partitions": {"partitions": {"clicks.raw": 6}},
    "isolate a topic": {"isolate": [{"topics": ["clicks.raw"], "brokers": [1, 2]}]},
    "pin a partition": {"pins": [{"topic": "orders", "partition": 0, "replicas": [5, 3, 1]}]},
}
IN_OPERATION = "remove a rack's second broker, throttled"
"""The kind whose tools each have a JVM of their own."""


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_plan_is_executed_to_the_letter_and_undone(
    topics: Cluster, client: httpx.Client, tmp_path: Path, kind: str
) -> None:
    before = topics.replicas()
    directories = topics.directories(before)
    plan = planned(client, snapshot(client, topics), KINDS[kind])
    folder = unpacked(client, plan, tmp_path / "plan")
    wanted = before | lists_of(client, plan)
    properties = tmp_path / "client.properties"  # each tool has an option for it
    properties.write_text("client.id=rackplan\n", encoding="utf-8")
    settings = {"KAFKA_COMMAND_CONFIG": str(properties)}
    if kind == IN_OPERATION:
        settings["KAFKA_BIN"] = str(topics.bin)
    execute = partial(run, topics, folder, **settings)
    tried = execute("--dry-run")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert topics.replicas() == before, "a dry run changes nothing"
    done = execute()
    assert done.returncode == 0, done.stdout + done.stderr
    assert topics.replicas() == wanted
    for _ in range(2):  # the second time, as after a run that was killed at the end, there is nothing to do
        undone = execute("--rollback")
        assert undone.returncode == 0, undone.stdout + undone.stderr
    there = topics.replicas()
    assert {name: there[name] for name in before} == before
    wait_for(lambda: topics.directories(before) == directories, within_s=60, what="the directories before the plan")
    assert "throttled" not in topics.tool("kafka-configs", "--describe", "--entity-type", "brokers")
    assert "throttled" not in topics.tool("kafka-configs", "--describe", "--entity-type", "topics")
