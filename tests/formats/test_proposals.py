"""Reassignments that other planners propose, read as Kafka's file."""

import json

import pytest

from app.formats.kafka_files.reassignment import PartitionReassignment
from app.formats.kafka_files.reassignment_output import read
from tests.formats.strategies import rejected

PROPOSED = (PartitionReassignment("orders", 0, (104, 105)), PartitionReassignment("my.topic-1", 7, (101, 103, 102)))
TOPICMAPPR = """
Partition map changes:
  orders p0: [101 105] -> [104 105] replaced broker
  my.topic-1 p7: [103 101 102] -> [101 103 102] preferred leader

Broker distribution:
  degree [min/max/avg]: 2/2/2.00 -> 2/2/2.00
  Broker 101 - leader: 1, follower: 0, total: 1

New partition maps:
  orders.json
"""
CRUISE_CONTROL_TEXT = (
    "[{orders-0, oldLeader: 101, [101, 105] -> [104, 105]}, "
    "{my.topic-1-7, oldLeader: 103, [103, 101, 102] -> [101, 103, 102]}]\n\n"
    "Optimization has 1 inter-broker replica moves\n"
)


def cruise_control() -> dict[str, object]:
    rows = [("orders", 0, [101, 105], [104, 105]), ("my.topic-1", 7, [103, 101, 102], [101, 103, 102])]
    proposals = [
        {"topicPartition": {"hash": 0, "partition": partition, "topic": topic}}
        | {"oldLeader": old[0], "oldReplicas": old, "newReplicas": new}
        for topic, partition, old, new in rows
    ]
    return {"proposals": proposals, "summary": {"numReplicaMovements": 1}, "goalSummary": [], "version": 1}


@pytest.mark.parametrize("text", [TOPICMAPPR, CRUISE_CONTROL_TEXT, json.dumps(cruise_control(), indent=2)])
@pytest.mark.parametrize("prefix", ["", "kafka-1  | ", "> "])
def test_proposals_are_a_reassignment(text: str, prefix: str) -> None:
    output = read("".join(f"{prefix}{line}\n" for line in f"$ curl x\n{text}".split("\n")))
    assert output.source == "file"
    assert output.reassignment is not None
    assert output.reassignment.partitions == PROPOSED


def test_moves_between_log_directories_are_in_log_dirs_if_they_are_printed() -> None:
    moved = "[{Broker: 101, Logdir: /d1}, {Broker: 105}] -> [{Broker: 101, Logdir: /d2}, {Broker: 105}]"
    output = read(f"{{orders-0, oldLeader: 101, {moved}}}\n")
    assert output.reassignment is not None
    assert output.reassignment.partitions == (PartitionReassignment("orders", 0, (101, 105), ("/d2", "any")),)
    assert not output.notes
    rows = cruise_control()
    for text in (
        "{orders-0, oldLeader: 101, [101, 105] -> [101, 105]}\n",
        json.dumps(rows).replace("[104, 105]", "[101, 105]"),
    ):
        output = read(text)
        assert output.reassignment is not None
        assert output.reassignment.partitions[0].replicas == (101, 105)
        assert [note.code for note in output.notes] == ["log_dirs_not_in_source"]
        assert "orders-0" in output.notes[0].detail


def test_a_node_of_zookeeper_is_the_file() -> None:
    node = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[104,105]}]}'
    output = read(f"[zk: localhost:2181(CONNECTED) 0] get /admin/reassign_partitions\n{node}\n")
    assert output.reassignment is not None
    assert output.reassignment.partitions == PROPOSED[:1]


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        (TOPICMAPPR.replace("-> [104 105]", "-> [105 105]"), "distinct brokers", 3),
        (TOPICMAPPR.replace("my.topic-1 p7", "orders p0"), "orders-0 again", 4),
        (CRUISE_CONTROL_TEXT.replace("-> [104, 105]}", "-> [104, 105"), "oldLeader", 1),
        (CRUISE_CONTROL_TEXT.replace("[104, 105]", "[9999999999, 105]"), "distinct brokers", 1),
        (json.dumps({"summary": {}, "goalSummary": []}), "verbose=true", 1),
        (
            json.dumps(cruise_control(), indent=2).replace('"partition": 7', '"partition": -7'),
            "topicPartition/partition",
            22,
        ),
        (json.dumps(cruise_control()).replace("my.topic-1", "orders").replace(": 7", ": 0"), "each partition once", 1),
    ],
)
def test_what_is_wrong_is_rejected_with_its_line(text: str, words: str, line: int) -> None:
    rejection = rejected(read, text)
    assert words in rejection.detail
    assert rejection.line == line


def test_a_line_that_is_broken_is_named() -> None:
    output = read(TOPICMAPPR.replace("-> [104 105]", "-> [104 105"))
    assert output.reassignment is not None
    assert output.reassignment.partitions == PROPOSED[1:]
    assert "orders p0: [101 105] -> [104 105 replaced broker" in [place.unknown for place in output.skipped]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind: KafkaRebalance\nmetadata: {name: r}\nspec: {}\n", "rackplan plan reassignment --request reads it"),
        ('{"errorMessage": "x", "version": 1}', "a failure of an API"),
        ('{"version": 1, "topics": [{"topic": "t"}]}', "the file of --topics-to-move-json-file"),
    ],
)
def test_what_is_no_proposal_is_rejected_with_its_kind(text: str, words: str) -> None:
    assert words in rejected(read, text).detail
