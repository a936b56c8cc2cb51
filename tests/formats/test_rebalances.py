"""`KafkaRebalance` as a request for a reassignment."""

import pytest

from app.errors import Json
from app.errors.requests import MalformedText
from app.formats.sources import rebalances

START = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaRebalance\nmetadata: {name: r}\n"
GOALS = "goals: [RackAwareGoal, com.linkedin.kafka.cruisecontrol.analyzer.goals.DiskCapacityGoal, CpuCapacityGoal, "


@pytest.mark.parametrize(
    ("spec", "fields", "notes"),
    [
        ("{}", {}, 0),
        ("{mode: remove-brokers, brokers: [3, 4]}", {"remove_brokers": [3, 4]}, 0),
        ("{mode: add-brokers, brokers: [5]}", {"add_brokers": [{"id": 5}], "receivers": "added"}, 0),
        (
            f"{{{GOALS}DiskUsageDistributionGoal, CpuUsageDistributionGoal, MyGoal], skipHardGoalCheck: true}}",
            {"limits": {"disk": 0.8, "cpu": 0.7}, "balance": {"resources": ["disk", "cpu"]}},
            2,
        ),
        (
            "{goals: [PreferredLeaderElectionGoal, LeaderReplicaDistributionGoal], replicationThrottle: 500}",
            {
                "balance": {"leaders": "preferred", "leaders_move_replicas": True},
                "batches": {"throttle_bytes_per_s": 500},
            },
            0,
        ),
    ],
)
def test_what_becomes_of_it(spec: str, fields: dict[str, Json], notes: int) -> None:
    for _ in range(2):  # reading changes nothing for the next one
        found = rebalances.read(f"{START}spec: {spec}\n")
        assert found is not None
        assert found.fields == fields
        assert len(found.notes) == notes


def test_the_status_is_compared() -> None:
    status = "status: {optimizationResult: {numReplicaMovements: 23, dataToMoveMB: 14, numLeaderMovements: 0}}\n"
    found = rebalances.read(START + status)
    assert found is not None
    assert found.notes == (
        "Cruise Control proposes 23 replicas, 14 MB, 0 leader changes; compare the certificate of the plan",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spec: {mode: remove-disks}\n", "found 'remove-disks'; log_dirs.drain"),
        ("spec: {mode: remove-brokers}\n", "expected ids of brokers with the mode remove-brokers"),
        ("spec: {mode: add-brokers, brokers: [x]}\n", "spec/brokers/0: expected a whole number"),
        (f"---\n{START}", "line 5: kind: expected one KafkaRebalance"),
        ("spec: {\n", "expected YAML"),
    ],
)
def test_what_is_rejected(text: str, words: str) -> None:
    with pytest.raises(MalformedText, match=words):
        rebalances.read(START + text)


def test_other_texts_are_none() -> None:
    assert rebalances.read('{"labels": {"of": "KafkaRebalance"}}') is None


def test_a_resource_in_a_list_as_kubectl_prints_it() -> None:
    item = START.replace("\n", "\n  ").rstrip() + "\n  spec: {mode: remove-brokers, brokers: [3]}\n"
    read = rebalances.read(f"apiVersion: v1\nkind: List\nitems:\n- {item}")
    assert read is not None
    assert read.fields == {"remove_brokers": [3]}
    with pytest.raises(MalformedText, match="items/1/kind: expected one KafkaRebalance"):
        rebalances.read(f"apiVersion: v1\nkind: List\nitems:\n- {item}- {item}")
