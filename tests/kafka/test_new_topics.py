"""New topics: a pinned plan is created as it stands, and Kafka's own placement is within the envelope of a plan."""

import subprocess
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.kafka.cluster import TOOL_WITHIN_S, Cluster
from tests.kafka.handing import lists_of, snapshot

pytestmark = [pytest.mark.slow, pytest.mark.kafka]


def run(kafka: Cluster, script: Path) -> str:
    """Run a script of `kafka-topics` commands. Returns its output."""
    done = subprocess.run(
        ["bash", str(script)], env=kafka.environment | {"BOOTSTRAP_SERVER": kafka.bootstrap}, capture_output=True,
        text=True, timeout=TOOL_WITHIN_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_pinned_plan_is_created_as_it_stands(kafka: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Also by a second run of the script, after one that was stopped before the last topic."""
    topics = [
        {"name": name, "partitions": count, "replication_factor": 3}
        for name, count in (("pinned.a", 12), ("pinned.b", 5))
    ]
    body = {"snapshot_id": snapshot(client, kafka), "algorithm": "striped", "seed": 42, "topics": topics}
    plan = client.post("/v1/plans/replicas", json=body).raise_for_status().json()
    script = tmp_path / "plan.sh"
    script.write_text(client.get(f"/v1/plans/{plan['id']}/export", params={"format": "script"}).text, encoding="utf-8")
    planned = lists_of(client, plan)
    try:
        run(kafka, script)
        assert planned.items() <= kafka.replicas().items()
        kafka.tool("kafka-topics", "--delete", "--topic", "pinned.b")
        run(kafka, script)
        assert planned.items() <= kafka.replicas().items()
    finally:
        for topic in topics:
            kafka.tool("kafka-topics", "--delete", "--topic", str(topic["name"]))


@pytest.mark.parametrize("partitions", [1, 11])
def test_kafkas_own_placement_is_within_the_envelope(kafka: Cluster, client: httpx.Client, partitions: int) -> None:
    body = {
        "snapshot_id": snapshot(client, kafka),
        "topics": [{"name": "drawn", "partitions": partitions, "replication_factor": 2}],
    }
    plan = client.post("/v1/plans/replicas", json=body).raise_for_status().json()
    assert plan["prediction"] == "envelope"
    [envelope] = plan["envelope"]
    for _ in range(3):
        kafka.create_topic("drawn", partitions=partitions, factor=2)
        lists = kafka.replicas_of("drawn")
        kafka.tool("kafka-topics", "--delete", "--topic", "drawn")
        for role, brokers in (
            ("leaders", [each[0] for each in lists]),
            ("replicas", [broker for each in lists for broker in each]),
        ):
            counts, allowed = Counter(brokers), envelope[role]
            for broker in kafka.brokers:
                share = allowed["per_broker"][str(broker)]
                assert share["lowest"] <= counts[broker] <= share["highest"], (role, broker, lists)
            spread = max(counts[broker] for broker in kafka.brokers) - min(counts[broker] for broker in kafka.brokers)
            assert allowed["guaranteed_spread"] <= spread <= allowed["worst_case_spread"], (role, lists)
