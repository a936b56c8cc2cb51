"""Accidents of copying that a value contradicts are refused or named: each kind once."""

import pytest

from app.services.snapshots import cautions
from tests.formats.strategies import rejected, sample
from tests.formats.test_harmless_lines import read, stored
from tests.fuzz import texts

TOPIC = (
    "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: {}\n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1{}\n"
)
STRIMZI = sample("strimzi-node-pools.yaml")
MEMBERS = sample("kafka-consumer-groups-members-verbose.txt")
RPK_GROUP = sample("../reports/group-rpk.txt")
STREAMS_MEMBERS = sample("kafka-streams-groups-members.txt")
PROCESS = "4f1d2c3b-5a69-4788-9b0a-1c2d3e4f5a6b"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (TOPIC.format("cleanup.policy=comp", ""), "cleanup.policy=comp"),
        (TOPIC.format("min.insync.replicas=1,retention", ""), "min.insync.replicas=1,retention"),
        (TOPIC.format("retention.ms=", ""), "retention.ms="),
        (TOPIC.format("segment.bytes=9 So far.", ""), "segment.bytes=9 So far."),
        (TOPIC.format("", "\tElr: 2\tLastKnownElr: "), "t-0 (2)"),
        (sample("msk-topic-partitions.yaml").replace("  Leader: 102\n", "", 1), "no leader"),
        (sample("kcat-list.json").replace('"leader"', '"lea#er"', 1), "lea#er"),
        (
            STRIMZI.replace("kind: KafkaNodePool", "kind: KafkaNodeP", 2).replace("NodeP\n", "NodePool\n", 1),
            "KafkaNodeP",
        ),
        (sample("rpk-cluster-info.txt").replace("3 replicas\n", "3 replicas ", 1), "_schemas"),
        (STRIMZI.replace("size: 1Ti", "size: ", 1), "has no size"),
        (
            sample("kafka-share-groups-describe-verbose.txt").replace("orders          1 ", "orders          9 "),
            "orders-1",
        ),
        (MEMBERS.replace("billing-2-c7b40c8e", "billing-2-c7b4_c8e"), "billing-2-c7b4_c8e"),
        (MEMBERS.replace("billing-2-c7b40c8e", "billingx2-c7b40c8e"), "billingx2"),
        (MEMBERS.replace("/127.0.0.1 ", "/127.0[0.1 ", 1), "/127.0[0.1"),
        (RPK_GROUP.replace("172.18.0.1", "172"), "'172'"),
        (RPK_GROUP.replace("Stable", "Stab&e"), "Stab&e"),
        (sample("kafka-consumer-groups-state.txt").replace("cooperative-", "c-operative-"), "c-operative-sticky"),
        (RPK_GROUP.replace("  cooperative", " #cooperative"), "#cooperative-sticky"),
        (sample("rpk-topic-describe.json").replace("offline_replicas", "offli-e_replicas"), "offli-e_replicas"),
        (sample("kafka-streams-groups-state-verbose.txt").replace("12              12", "12              15"), "15"),
        (STREAMS_MEMBERS.replace(f" {PROCESS} ", f" {PROCESS[:-1]}Z "), "is no UUID"),
        (STREAMS_MEMBERS.replace("uW9sYb7t", "uW9]Yb7t"), "is no UUID"),
        (STREAMS_MEMBERS.replace("ACTIVE: 0:[0,1]; ", "ACTIVE: 0:[0]; "), "task 0-1"),
        (TOPIC.format("segmentxbytes=9", ""), "segmentxbytes"),
        ("mind: KafkaNodePool".join(STRIMZI.rsplit("kind: KafkaNodePool", 1)), "'None'"),
        (sample("rpk-cluster-partitions.json").replace('"ns":"kafka"', '"ns":"kafkx"', 1), "kafkx"),
        (sample("cruise-control-partition-load.json").replace('"disk"', '"dixk"', 1), "dixk"),
        (sample("describe-groups.json").replace('"rack_id"', '"rackxid"', 1), "rackxid"),
        (
            TOPIC.format("", "")
            + "Metadata for all topics (from broker 1: k:9092/1):\n 1 brokers:\n  broker 1 at k:9092\n"
            ' 1 topics:\n  topic "t" with 1 partitions:\n    partition 0, leader -1, replicas: 1, isrs: 1\n',
            "another leader",
        ),
    ],
)
def test_what_a_value_contradicts_is_named(text: str, named: str) -> None:
    found = read(text)
    noted = [caution.detail for caution in (*cautions.of_assembly(found), *cautions.of_cluster(found.cluster))]
    assert any(named in detail for detail in noted), noted


def test_a_line_of_a_collector_that_is_cut_off_is_named() -> None:
    lines = [
        f'{{"time": "12:00", "message": "{line}"}}' for line in TOPIC.format("", "").replace("\t", "\\t").split("\n")
    ]
    found = read("\n".join([*lines[:2], '{"time": "12:00", "mess']))
    assert [place.unknown for place in found.skipped] == ['{"time": "12:00", "mess']


def test_rows_that_were_wrapped_are_named() -> None:
    wide = "kafka-1.example.com:9092 (id: 1 rack: a isFenced: false) -> (\n"
    assert not read(wide).notes
    found = read(wide[:50] + "\n" + wide[50:])
    assert found.cluster.brokers == read(wide).cluster.brokers
    assert any("joined" in note.detail for note in found.notes)


@pytest.mark.parametrize(
    "text",
    [
        TOPIC.format("", "\tElr: N/A\tLastKnownElr: "),
        MEMBERS.replace("GROUP ", "GRO#P ", 1),
        MEMBERS.replace("/127.0.0.1      ", "/127.0.0.1   ]  ", 1),
        sample("kafka-consumer-groups-state.txt").replace("clickstream     127", "clickstream   = 127"),
        sample("kafka-metadata-quorum-replication.txt").replace("\tLeader", "", 1),
        sample("rpk-topic-describe-all.txt").replace("SOURCE\n", "SOURCE ", 1),
        sample("rpk-topic-describe-all.txt").replace("PARTITIONS\n===", "PARTITIO\tS\n===", 1),
        sample("rpk-cluster-info.txt").replace("[0 1 2]   [0]", "[0 1 2]", 1),
        STREAMS_MEMBERS.replace("1:[1]; \n", "1:[1]\n", 1),
        sample("kafka-consumer-groups-state.txt").replace("ASSIGNMENT-", "ASSIG-MENT-", 1),
        sample("cruise-control-load.json").replace('"DEAD"', '"DEA_"', 1),
        sample("confluent-kafka-go-metadata.json").replace('"Topic":"orders"', '"Topic":"o_ders"', 1),
        TOPIC.format("", "").replace("ReplicationFactor: 1", "ReplicationFactor: 1\tTopicI;: _hfDXqHlQz6I7rB-JbQSVw"),
    ],
)
def test_what_no_tool_prints_is_refused(text: str) -> None:
    assert rejected(read, text).line is not None


def test_accidents_are_the_same_each_time_and_judged() -> None:
    for seed in range(40):
        name, change = texts.changed(seed, texts.WIDE)
        assert texts.changed(seed, texts.WIDE) == (name, change)
        assert texts.judged(name, change) in ("same", "refused", "noticed", "undetectable")


def test_a_value_that_nothing_explains_is_unnoticed() -> None:
    was, now = (frozenset({("brokers", 1, "rack", rack)}) for rack in "ab")
    change = texts.Change("exchange lines", "a\nb", "b\na")
    assert not texts.undetectable(change, was, now)
    assert texts.undetectable(texts.Change("another sign", "rack: a", "rack: b"), was, now)
    assert texts.undetectable(texts.Change("lose a line", "a\nb", "a"), was, frozenset())
    assert not texts.undetectable(texts.Change("join lines", "a\nb", "ab"), was, frozenset())


def test_a_string_of_no_json_is_no_failure_of_ours() -> None:
    lines = [f'{{"log": "{line}\\n"}}' for line in TOPIC.format("", "").replace("\t", "\\t").rstrip().split("\n")]
    assert rejected(read, "\n".join([*lines[:1], lines[1].replace("Isr: 1", "\\Isr: 1")])).line is not None


def test_members_of_two_moments_are_named() -> None:
    header = "GROUP  CONSUMER-ID  HOST        CLIENT-ID  #PARTITIONS\n"
    rows = [f"g      c-{one}          /127.0.0.1  c          1\n" for one in range(4)]
    found = read(f"{header}{rows[0]}{rows[1]}\n{header}{rows[2]}{rows[3]}")
    assert ["several moments" in one.detail for one in found.joined.disagreements] == [True]
    assert not read(header + "".join(rows)).joined.disagreements
    assert not read(f"{header}{rows[0]}\n{header}{rows[0]}").joined.disagreements
    assert not read(f"{header}{rows[0]}\n{header}{rows[1].replace('g ', 'h ')}").joined.disagreements


def test_a_leader_may_have_its_host() -> None:
    text = TOPIC.format("", "")
    assert stored(text.replace("Leader: 1", "Leader: 1 (kafka-1:9092)")) == stored(text)
