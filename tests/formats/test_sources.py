"""Texts of others' tools about a cluster: each alone, joined with the rest, broken and hostile."""

import json
import re
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import BrokerCapacity, Cluster
from app.formats.snapshots import snapshot_json
from app.formats.snapshots.assembly import Assembled, assemble
from app.formats.snapshots.pasted import Upload, read
from app.formats.sources.contents import Contents
from app.formats.sources.sources import SOURCES
from app.services.snapshots import of_assembly
from app.services.snapshots.cautions import of_cluster
from tests.formats.strategies import broken, reads_or_rejects, rejected, rejection_of, sample
from tests.profiles import costly, examples

CLIENTS = "a client's or an API's JSON"
SAMPLES = {
    "kcat-list.txt": "kcat -L",
    "kcat-list.json": CLIENTS,
    "rpk-cluster-info.txt": "rpk",
    "rpk-topic-describe-all.txt": "rpk",
    "msk-list-nodes.json": "aws kafka list-nodes",
    "kafka-metadata-quorum-status.txt": "kafka-metadata-quorum",
    "kafka-metadata-quorum-replication.txt": "kafka-metadata-quorum",
    "kafka-reassign-partitions-list.txt": "kafka-reassign-partitions --list",
    "strimzi-kafka.yaml": "Strimzi",
    "strimzi-node-pools.yaml": "Strimzi",
    "strimzi-pods-nodes.yaml": "Strimzi",
    "cruise-control-kafka-cluster-state.json": "Cruise Control",
    "cruise-control-load.json": "Cruise Control",
    "cruise-control-partition-load.json": "Cruise Control",
    "prometheus-log-size.json": "Prometheus",
    "prometheus-bytes-in.json": "Prometheus",
    "akhq-nodes.json": CLIENTS,
    "akhq-topics.json": CLIENTS,
    "kafka-ui-brokers.json": CLIENTS,
    "kafka-ui-topics.json": CLIENTS,
    "kafkajs-metadata.json": CLIENTS,
    "confluent-kafka-go-metadata.json": CLIENTS,
    "node-rdkafka-metadata.json": CLIENTS,
    "kafka-python-cluster.json": CLIENTS,
    "confluent-rest-replicas.json": CLIENTS,
    "rpk-cluster-partitions.json": CLIENTS,
    "rpk-topic-describe.json": CLIENTS,
    "msk-topic-partitions.json": CLIENTS,
    "msk-topic-partitions.yaml": CLIENTS,
}
ORDERS = {0: [102, 101, 103], 1: [103, 102, 101], 2: [101, 103, 102]}
"""The replicas of the topic that most samples describe."""


def joined(*texts: str) -> Assembled:
    return assemble("c", [Upload("\n".join(texts))])


def of(*names: str) -> Assembled:
    return joined(*map(sample, names))


def codes(assembled: Assembled) -> list[str]:
    return [caution.code for caution in (*of_cluster(assembled.cluster), *of_assembly(assembled))]


def replicas(cluster: Cluster, name: str = "orders") -> dict[int, list[int]]:
    topic = cluster.topic(name)
    assert topic is not None
    return dict(zip(topic.partition_ids.tolist(), topic.replicas.tolist(), strict=True))


def racks(assembled: Assembled) -> dict[int, str | None]:
    return {broker.id: broker.rack for broker in assembled.cluster.brokers}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_is_recognized_by_its_contents_alone(name: str, end: str) -> None:
    """Whatever the part is called, and with a prompt and log lines before it."""
    text = "user@host:~$ x\n[2026-01-02 03:04:05,678] WARN x\n" + sample(name)
    texts = read([Upload(text.replace("\n", end), "topics", "topics")])
    assert list(texts.sources) == [SAMPLES[name]]
    assert (texts.topics, texts.brokers, texts.log_dirs, texts.groups, texts.features) == (None,) * 5


@given(st.permutations(list(SAMPLES)), st.randoms())
@examples(30)
def test_all_of_them_in_any_order_are_one_cluster(names: list[str], random: Random) -> None:
    """Together with output of Kafka's own tools, which takes precedence."""
    texts = [*map(sample, names), sample("kafka-topics-describe.txt"), sample("kafka-broker-api-versions.txt")]
    random.shuffle(texts)
    cluster = joined(*texts).cluster
    assert {broker.rack for broker in cluster.brokers if broker.id in (104, 105)} == {"use1-az2"}
    own = assemble("c", [Upload(sample("kafka-topics-describe.txt"))]).cluster
    for topic in own.topics:
        assert replicas(cluster, topic.name) == replicas(own, topic.name)


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
@costly(60)
def test_a_broken_text_reads_or_is_rejected(name: str, data: st.DataObject) -> None:
    text = data.draw(broken(sample(name)))
    reads_or_rejects(SOURCES[SAMPLES[name]].read, text)
    rejection = rejection_of(lambda pasted: assemble("c", [Upload(pasted)]), text)
    assert rejection is None or rejection.expected


@pytest.mark.parametrize("name", SAMPLES)
def test_a_json_text_that_is_cut_off_is_rejected(name: str) -> None:
    text = sample(name)
    if name.endswith(".json"):
        detail = rejected(SOURCES[SAMPLES[name]].read, text[: len(text) * 2 // 3]).detail
        assert "as JSON" in detail


@pytest.mark.parametrize("kind", ["txt", "json"])
def test_kcat(kind: str) -> None:
    assembled = of(f"kcat-list.{kind}")
    assert racks(assembled) == {101: None, 102: None, 103: None}
    assert replicas(assembled.cluster) == ORDERS
    payments = assembled.cluster.topic("payments")
    assert payments is not None
    assert payments.leaders.tolist() == [101, -1]
    assert [topic.name for topic in assembled.cluster.topics] == ["orders", "payments"]
    assert "racks_not_in_source" in codes(assembled)


def test_what_another_text_has_is_no_longer_missing() -> None:
    brokers = "".join(f"k:9092 (id: {broker} rack: r{broker}) -> (\n" for broker in (101, 102, 103))
    assembled = joined(sample("kcat-list.txt"), brokers)
    assert racks(assembled) == {101: "r101", 102: "r102", 103: "r103"}
    assert "racks_not_in_source" not in codes(assembled)


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ("    partition 2, leader 101, replicas: 101,103,102, isrs: 101,103,102\n", "3 partitions of topic 'orders'"),
        ("  broker 103 at kafka-103.internal:9092\n", "3 brokers"),
        ('  topic "gone" with 0 partitions: Broker: Unknown topic or partition (try again)\n', "3 topics"),
    ],
)
def test_a_line_of_kcat_that_is_missing_is_noticed(cut: str, expected: str) -> None:
    text = sample("kcat-list.txt")
    assert cut in text
    assert f"expected {expected}" in rejected(SOURCES["kcat -L"].read, text.replace(cut, "")).detail


def test_rpk() -> None:
    assembled = of("rpk-cluster-info.txt", "rpk-topic-describe-all.txt")
    assert racks(assembled) == {0: "a", 1: "b", 2: "c"}
    assert replicas(assembled.cluster, "payments") == {0: [1, 0, 2], 1: [0, 1, 2]}
    orders = assembled.cluster.topic("orders")
    assert orders is not None
    assert orders.leaders.tolist() == [2, 1, -1]
    assert orders.isr.tolist() == [[2, 1, -1], [1, 0, 2], [0, 2, -1]]
    assert codes(assembled) == ["replicas_in_ascending_order"]


def test_configurations_of_topics_and_defaults_of_brokers() -> None:
    """rpk prints a table of them; Strimzi's KafkaTopic states its own, and Kafka states them for topics that do not."""
    described = "Topic: orders\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    described += "\tTopic: orders\tPartition: 0\tLeader: 0\tReplicas: 0\tIsr: 0\n"
    strimzi = joined(described, sample("strimzi-kafka.yaml")).cluster
    assert strimzi.topics[0].configs == {"min.insync.replicas": "2", "retention.ms": "604800000"}
    rpk = of("rpk-cluster-info.txt", "rpk-topic-describe-all.txt").cluster
    assert [topic.configs for topic in rpk.topics if topic.name == "payments"] == [
        {"cleanup.policy": "delete", "retention.ms": "604800000"}
    ]


def test_rpk_prints_no_name_with_p_alone() -> None:
    table = sample("rpk-topic-describe-all.txt").partition("==========\n")[2]
    named = joined("$ rpk topic describe payments -p", table)
    assert replicas(named.cluster, "payments") == {0: [1, 0, 2], 1: [0, 1, 2]}
    assert "the topic's name before its partitions" in rejected(SOURCES["rpk"].read, table).detail


def test_rpk_without_partitions() -> None:
    text = (
        "BROKERS\n=======\nID    HOST  PORT\n0*    rp-0  9092\n\nTOPICS\n======\nNAME  PARTITIONS  REPLICAS\nt  3  1\n"
    )
    assembled = joined(text)
    assert racks(assembled) == {0: None}
    assert "topics_without_partitions" in codes(assembled)


def test_rows_that_may_be_missing_are_named() -> None:
    """Of a topic whose partitions have a gap, and of a group that reads fewer partitions than the topic has."""
    kafkajs, groups = sample("kafkajs-metadata.json"), sample("kafka-consumer-groups-describe.txt")
    row = next(line for line in kafkajs.split("\n") if '"partitionId": 0' in line)
    owned = next(line for line in groups.split("\n") if line.split()[:3] == ["billing", "orders", "0"])
    found = assemble("c", [Upload(kafkajs.replace(f"{row}\n", "")), Upload(groups.replace(f"{owned}\n", ""))])
    [detail] = [caution.detail for caution in of_assembly(found) if caution.code == "rows_may_be_missing"]
    assert "there is no partition 0 of topic orders" in detail
    assert "group 'billing' has no orders-0" in detail


def test_rows_that_cannot_be_missing_are_not() -> None:
    """One partition has another factor on purpose, or a replica more while it is moved; a group is rebalancing."""
    described = "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: \n"
    described += "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n"
    described += "\tTopic: t\tPartition: 1\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
    moving = described.rstrip("\n") + "\tAdding Replicas: 3\tRemoving Replicas: 1\n"
    for text in (described, moving, sample("kcat-list.txt"), sample("rpk-topic-describe-all.txt")):
        assert "rows_may_be_missing" not in [caution.code for caution in of_assembly(joined(text))]
    groups = sample("kafka-consumer-groups-describe.txt")
    owned = next(line for line in groups.split("\n") if line.split()[:3] == ["billing", "orders", "0"])
    header = "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\nbilling k:9092 (1) range"
    for state, is_named in (("PreparingRebalance", False), ("Stable", True)):
        found = joined(groups.replace(f"{owned}\n", ""), f"{header} {state} 3\n")
        assert ("rows_may_be_missing" in [caution.code for caution in of_assembly(found)]) == is_named


def test_a_replica_that_has_a_row_may_be_missing() -> None:
    text = re.sub(r'([\[ ]){"broker"', r'\1\n{"broker"', sample("kafka-ui-topics.json")).replace(
        '}], "off', '}\n], "off'
    )
    replica = next(line for line in text.split("\n") if line.startswith('{"broker": 101'))
    found = joined(text.replace(f"{replica}\n", "", 1))
    [detail] = [note.detail for note in found.notes if note.code == "rows_may_be_missing"]
    assert "a row of a replica may be missing" in detail


def test_rpk_that_is_cut_off() -> None:
    text = sample("rpk-topic-describe-all.txt").rpartition("1          0")[0]
    assert "2 partitions of topic 'payments'" in rejected(SOURCES["rpk"].read, text).detail


def test_msk_has_subnets_in_place_of_racks() -> None:
    assembled = of("msk-list-nodes.json")
    assert racks(assembled) == {1: "subnet-0aa1", 2: "subnet-0bb2", 3: "subnet-0cc3", 4: "subnet-0aa1"}
    assert (assembled.cluster.kafka_version, assembled.cluster.controller) == ("3.6.0", "kraft")
    assert codes(assembled) == ["racks_assumed"]
    own = "".join(f"b-{broker}.x:9092 (id: {broker} rack: euw1-az{broker % 3}) -> (\n" for broker in (1, 2, 3, 4))
    both = joined(sample("msk-list-nodes.json"), own)
    assert racks(both) == {1: "euw1-az1", 2: "euw1-az2", 3: "euw1-az0", 4: "euw1-az1"}
    assert "racks_assumed" not in codes(both)


@pytest.mark.parametrize(
    ("version", "release", "controller"),
    [
        ("3.7.x.kraft", "3.7.0", "kraft"),
        ("2.8.2.tiered", "2.8.2", "zookeeper"),
        ("3.6.0", "3.6.0", None),
        ("?", None, None),
    ],
)
def test_the_release_of_msk(version: str, release: str | None, controller: str | None) -> None:
    info = {"BrokerId": 1.0, "CurrentBrokerSoftwareInfo": {"KafkaVersion": version}}
    cluster = joined(json.dumps({"NodeInfoList": [{"BrokerNodeInfo": info}]})).cluster
    assert (cluster.kafka_version, cluster.controller) == (release, controller)


@pytest.mark.parametrize("name", ["status", "replication"])
def test_the_quorum_says_kraft_and_its_observers_are_brokers(name: str) -> None:
    assembled = of(f"kafka-metadata-quorum-{name}.txt")
    assert racks(assembled) == {101: None, 102: None}
    assert assembled.cluster.controller == "kraft"
    older = joined("ClusterId: x\nCurrentVoters:          [1,2,3]\nCurrentObservers:       [4,5]\n")
    assert list(racks(older)) == [4, 5]
    assert list(racks(of(f"kafka-metadata-quorum-{name}.txt", "kcat-list.txt"))) == [101, 102, 103]


def test_reassignments_in_progress() -> None:
    """A topic text without these columns gets them; where the two are of different moments, a warning says so."""
    topic = "Topic:orders\tPartitionCount:{}\tReplicationFactor:3\tConfigs:\n"
    row = "\tTopic: orders\tPartition: {}\tLeader: 102\tReplicas: {}\tIsr: 102\n"
    at_once = [row.format(0, "104,102,103,101"), row.format(1, "102"), row.format(2, "102,103,104")]
    moving = joined(sample("kafka-reassign-partitions-list.txt"), topic.format(3), *at_once)
    orders = moving.cluster.topic("orders")
    assert orders is not None
    assert orders.is_moving.tolist() == [True, False, True]
    assert (orders.adding.tolist(), orders.removing.tolist()) == ([[104], [-1], [104]], [[101], [-1], [-1]])
    (caution,) = [one for one in of_cluster(moving.cluster) if one.code == "reassignment_in_progress"]
    assert caution.detail.startswith("2 partitions being reassigned")
    assert "orders-0, orders-2" in caution.detail
    assert caution.topics == ("orders",)
    later = joined(sample("kafka-reassign-partitions-list.txt"), topic.format(1), row.format(0, "104,102,103"))
    assert [one.code for one in of_assembly(later)] == ["reassignment_in_progress"]
    assert joined("No partition reassignments found.\n", topic.format(1), row.format(0, "1,102")).cluster.topics


def test_a_snapshot_of_a_reassignment_says_so() -> None:
    assembled = of("kafka-topics-describe-reassigning.txt")
    assert "reassignment_in_progress" in codes(assembled)
    assert "reassignment_in_progress" not in codes(of("kafka-topics-describe.txt"))


def test_strimzi() -> None:
    assembled = of("strimzi-node-pools.yaml", "strimzi-kafka.yaml", "strimzi-pods-nodes.yaml")
    assert racks(assembled) == {0: "eu-west-1a", 1: "eu-west-1b", 2: "eu-west-1c"}
    assert {broker.capacity for broker in assembled.cluster.brokers} == {BrokerCapacity(1524 * 2**30)}
    assert (assembled.cluster.kafka_version, assembled.cluster.controller) == ("3.9.0", "kraft")
    assert codes(assembled) == ["lines_skipped", "topics_without_placement"]
    (note,) = assembled.notes
    assert "'orders' (12 partitions, 3 replicas)" in note.detail
    bare = of("strimzi-node-pools.yaml", "strimzi-kafka.yaml")
    assert "topology.kubernetes.io/zone" in next(n.detail for n in bare.notes if n.code == "racks_not_in_source")


OLD_KAFKA = """apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: old}
spec:
  kafka: {version: 3.4.0, replicas: 3, storage: {type: persistent-claim, size: 100Gi}}
  zookeeper: {replicas: 3}
"""


def test_strimzi_without_node_pools() -> None:
    assembled = joined(OLD_KAFKA)
    assert list(racks(assembled)) == [0, 1, 2]
    assert {broker.capacity for broker in assembled.cluster.brokers} == {BrokerCapacity(100 * 2**30)}
    assert assembled.cluster.controller == "zookeeper"


def yaml_as_json() -> dict[str, object]:
    kafka = {"version": "3.4.0", "replicas": 3}
    return {
        "apiVersion": "kafka.strimzi.io/v1beta2",
        "kind": "Kafka",
        "metadata": {"name": "o"},
        "spec": {"kafka": kafka},
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_strimzi_as_json(indent: int | None) -> None:
    assert list(racks(joined(json.dumps(yaml_as_json(), indent=indent)))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apiVersion: v1\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "YAML without aliases"),
        ("apiVersion: v1\na: " + "[" * 100 + "]" * 100, "at most 64 levels"),
        ("apiVersion: v1\na: " + "[" * 50_000, "at most 64 levels"),
        ("apiVersion: v1\n\ta: 1\n", "expected YAML"),
        ("apiVersion: v1\na: 'x\n", "expected YAML"),
        (OLD_KAFKA + OLD_KAFKA.replace("old", "new"), "the resources of one Kafka cluster"),
    ],
)
def test_yaml_that_is_rejected(text: str, expected: str) -> None:
    assert expected in rejected(SOURCES["Strimzi"].read, text).detail


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system ['true']", "!!binary x", "!x {a: 1}", "1" * 9999])
def test_yaml_makes_no_objects(tag: str) -> None:
    assert SOURCES["Strimzi"].read(f"apiVersion: v1\nkind: Node\nmetadata: {tag}\n") == Contents()


def test_node_pools_without_ids_are_named() -> None:
    pool = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaNodePool\nmetadata: {name: a}\nspec: {roles: [broker]}\n"
    assert "node pools without status.nodeIds" in rejected(joined, pool).detail
    assert "node_ids_not_in_source" in codes(joined(pool, sample("kcat-list.txt")))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "apiVersion: kafka.strimzi.io/v1\nkind: KafkaRebalance\nspec: {mode: remove-brokers, brokers: [3]}\n",
            "rackplan plan reassignment --request takes it",
        ),
        ("apiVersion: kafka.strimzi.io/v1\nkind: KafkaConnect\nmetadata: {name: a}\n", "'KafkaConnect'"),
        ("apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: a}\nspec: {kafka: {}}\n", "none in the texts"),
        (
            '{"brokerCapacities": [{"brokerId": "-1", "capacity": {"DISK": "1"}}]}',
            "none in the texts of Cruise Control",
        ),
    ],
)
def test_what_says_nothing_of_a_cluster_is_refused(text: str, found: str) -> None:
    assert found in rejected(joined, text).detail
    assert racks(joined(text, sample("kcat-list.txt"))) == racks(of("kcat-list.txt"))


def test_the_capacities_of_cruise_control() -> None:
    brokers = "".join(f"k{broker}:9092 (id: {broker} rack: a) -> (\n" for broker in (1, 2))
    document = {
        "brokerCapacities": [
            {"brokerId": "-1", "capacity": {"DISK": {"/d1": "1000", "/d2": "500.5"}, "CPU": "100", "NW_IN": "625"}},
            {"brokerId": "2", "capacity": {"DISK": "7", "CPU": {"num.cores": "8"}, "NW_OUT": 1}, "doc": "MB"},
        ]
    }
    first, second = joined(brokers, json.dumps(document, indent=2)).cluster.brokers
    assert first.capacity == BrokerCapacity(round(1500.5 * 2**20), 625 * 2**10)
    assert second.capacity == BrokerCapacity(7 * 2**20, None, 2**10, 8.0)
    document["brokerCapacities"][0]["capacity"] = {"DISK": "much"}
    assert "brokerCapacities/0/capacity/DISK" in rejected(joined, brokers + json.dumps(document)).detail


def test_the_load_of_cruise_control_as_a_table() -> None:
    header = (
        "HOST BROKER RACK DISK_CAP(MB) DISK(MB)/_(%)_ CORE_NUM CPU(%) NW_IN_CAP(KB/s) NW_OUT_CAP(KB/s) NW_OUT(KB/s)"
    )
    row = "  h{0},  {0}, {1},  10000.000,  686.917/06.87,  1,  0.000,  200.5,  100.000,  209.129"
    text = "\n".join([header, row.format(0, "a"), row.format(1, "b"), ""])
    assembled = joined(text)
    assert racks(assembled) == {0: "a", 1: "b"}
    assert assembled.cluster.brokers[0].capacity == BrokerCapacity(10_000 * 2**20, round(200.5 * 2**10), 100 * 2**10)
    assert joined(text.replace("200.5", "-1.0")).cluster.brokers[0].capacity == BrokerCapacity(
        10_000 * 2**20, None, 100 * 2**10
    )
    assert [place.unknown for place in joined(text.replace("  1, b", "  x, b")).unknown] == [
        row.format("1", "b").replace("  1, b", "  x, b").strip()
    ]
    assert codes(joined(text.replace(" a,", " h0,").replace(" b,", " h1,")))[-1] == "racks_not_in_source"


def test_topics_in_zookeeper() -> None:
    nodes = (
        "[zk: localhost:2181(CONNECTED) 0] get /brokers/topics/orders\n"
        '{"version":3,"topic_id":"5m9Zq0sYQ1yX0mVb3oVnJw","partitions":{"1":[2,1,3],"0":[1,2]},'
        '"adding_replicas":{"1":[3]},"removing_replicas":{"1":[1]}}\ncZxid = 0x1f\n'
    )
    state = (
        "get /brokers/topics/orders/partitions/0/state\n"
        '{"controller_epoch":7,"leader":2,"version":1,"leader_epoch":0,"isr":[2]}\n'
    )
    assembled = joined(nodes + state)
    assert replicas(assembled.cluster, "orders") == {0: [1, 2, -1], 1: [2, 1, 3]}
    (topic,) = assembled.cluster.topics
    assert (topic.leaders.tolist(), topic.isr.tolist()) == ([2, 2], [[2, -1, -1], [2, 1, 3]])
    assert (topic.adding[1].tolist()[:1], topic.removing[1].tolist()[:1]) == ([3], [1])
    assert (assembled.cluster.controller, "state_not_in_source" in codes(assembled)) == ("zookeeper", True)
    whole = joined(nodes.replace(',"1":', ',"x":').replace('"1":[2,1,3],', "") + state)
    assert "state_not_in_source" not in codes(whole)
    assert "before the node" in rejected(joined, nodes.split("\n")[1]).detail
    assert "partitions/1" in rejected(joined, nodes.replace("[2,1,3]", "[2,2]")).detail


def test_cruise_control() -> None:
    state = of("cruise-control-kafka-cluster-state.json")
    assert replicas(state.cluster) == ORDERS
    assert list(racks(state)) == [101, 102, 103]
    both = of(
        "cruise-control-kafka-cluster-state.json", "cruise-control-load.json", "cruise-control-partition-load.json"
    )
    assert racks(both) == {101: "use1-az1", 102: "use1-az2", 103: "use1-az3"}
    first, _, last = both.cluster.brokers
    assert first.capacity == BrokerCapacity(500_000 * 2**20, 125_000 * 2**10, 125_000 * 2**10)
    assert (last.fenced, last.capacity) == (True, BrokerCapacity(None, 125_000 * 2**10, 125_000 * 2**10))
    topic = both.cluster.topic("orders")
    assert topic is not None
    assert topic.ingress_bytes_per_s is not None
    assert topic.ingress_bytes_per_s.tolist() == [31.5 * 1024, 28 * 1024, 29.1 * 1024]
    assert topic.size_bytes.tolist() == [round(size * 2**20) for size in (1068.25, 1070, 1066.25)]
    assert snapshot_json.read(snapshot_json.write(both.cluster)).topics[0].ingress_bytes_per_s is not None


def test_cruise_control_puts_hosts_where_there_are_no_racks() -> None:
    load = json.loads(sample("cruise-control-load.json"))
    for broker in load["brokers"]:
        broker["Rack"] = broker["Host"]
    assembled = joined(json.dumps(load))
    assert set(racks(assembled).values()) == {None}
    assert "racks_not_in_source" in codes(assembled)


def test_prometheus() -> None:
    assembled = of("kcat-list.txt", "prometheus-log-size.json", "prometheus-bytes-in.json")
    topic = assembled.cluster.topic("orders")
    assert topic is not None
    assert topic.size_bytes.tolist() == [1120141312, 1121976320, 1118044160]
    assert topic.ingress_bytes_per_s is not None
    assert topic.ingress_bytes_per_s.tolist() == [(90112.5 + 92160.5) / 2 / 3] * 3
    assert "series_assumed_ingress" in codes(assembled)


@pytest.mark.parametrize(
    ("labels", "is_rate"),
    [
        ({"__name__": "kafka_server_brokertopicmetrics_bytesin_oneminuterate", "topic": "t"}, True),
        ({"__name__": "kafka_server_BrokerTopicMetrics_OneMinuteRate", "name": "BytesInPerSec", "topic": "t"}, True),
        ({"__name__": "kminion_kafka_topic_log_dir_size_total_bytes", "topic_name": "t", "partition_id": "0"}, False),
        ({"__name__": "kafka_log_Log_Size", "topic": "t", "partition": "0"}, False),
    ],
)
def test_labels_of_the_exporters(labels: dict[str, str], is_rate: bool) -> None:
    contents = SOURCES["Prometheus"].read(answer(labels, "7"))
    assert (list(contents.ingress_bytes_per_s.values()), list(contents.size_bytes.values())) == (
        ([7.0], []) if is_rate else ([], [7])
    )


def answer(labels: dict[str, str], value: str) -> str:
    series = {"metric": labels, "value": [1, value]}
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": [series]}})


@pytest.mark.parametrize(
    ("labels", "value", "words"),
    [
        ({"__name__": "kafka_server_brokertopicmetrics_bytesin_total", "topic": "t"}, "7", "expected a rate"),
        ({"__name__": "up", "topic": "t"}, "7", "a metric of bytes in"),
        ({"topic": "t"}, "NaN", "a finite number"),
        ({"topic": "t"}, "-1", "a finite number"),
        ({"topic": "t", "partition": "x"}, "1", "a partition's number"),
        ({"topic": "../t"}, "1", "a topic name"),
    ],
)
def test_series_that_are_no_rates(labels: dict[str, str], value: str, words: str) -> None:
    assert words in rejected(SOURCES["Prometheus"].read, answer(labels, value)).detail


@pytest.mark.parametrize(
    "names", [("akhq-nodes.json", "akhq-topics.json"), ("kafka-ui-brokers.json", "kafka-ui-topics.json")]
)
def test_web_interfaces(names: tuple[str, str]) -> None:
    assembled = of(*names)
    assert replicas(assembled.cluster) == ORDERS
    topic = assembled.cluster.topic("orders")
    assert topic is not None
    assert topic.isr.tolist()[1] == [103, 102, -1]
    if names[0].startswith("akhq"):
        assert racks(assembled) == {101: "use1-az1", 102: "use1-az2", 103: "use1-az3"}
        assert topic.size_bytes.tolist() == [1120141312, 1121976320, 1118044160]
    else:
        assert set(racks(assembled).values()) == {None}
        assert topic.ingress_bytes_per_s is not None


def test_one_topic_of_kafka_ui_alone() -> None:
    (topic,) = json.loads(sample("kafka-ui-topics.json"))["topics"]
    assert replicas(joined(json.dumps(topic)).cluster) == ORDERS


Change = Callable[[list[dict[str, object]]], object]


def wrong(change: Change) -> str:
    document = json.loads(sample("kcat-list.json"))
    change(document["topics"][1]["partitions"])
    return json.dumps(document)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda rows: rows[1].update(partition=0), "each partition once"),
        (lambda rows: rows[0].update(replicas=[]), "at least one replica"),
        (lambda rows: rows[0].update(replicas=[{"id": 1}, {"id": 1}]), "each replica"),
        (lambda rows: rows[0].update(isrs=[{"id": 10}]), "in sync, found 10, not a replica"),
        (lambda rows: rows[0].update(leader=2**31), "a whole number from -1"),
    ],
)
def test_what_a_topic_contradicts_is_rejected(
    change: Callable[[list[dict[str, object]]], object], expected: str
) -> None:
    assert expected in rejected(SOURCES[CLIENTS].read, wrong(change)).detail


def test_a_rejection_names_the_upload_the_line_and_the_place() -> None:
    text = sample("kafka-topics-describe.txt") + wrong(lambda rows: rows[0].update(leader="x"))
    detail = rejected(lambda pasted: assemble("c", [Upload(pasted, "all.txt", "file")]), text).detail
    assert detail.startswith("line 124 of all.txt: topics/1/partitions/0/leader: expected a whole number")


STATE = """Summary: The cluster has 2 brokers
Brokers:
              BROKER           LEADER(S)            REPLICAS         OUT-OF-SYNC             OFFLINE       IS_CONTROLLER
                   1                   1                   2                   0                   0                true
                   2                   1                   2                   1                   0               false
                   3                   0                   0                   0                   0               false

All Partitions in the Cluster (verbose):
           TOPIC PARTITION    LEADER            REPLICAS             IN-SYNC    OUT-OF-SYNC       OFFLINE   MIN-ISR
Offline Partitions:
Under Replicated Partitions:
          orders         0         1              [1, 2]                 [1]            [2]            []         1
Under MinIsr Partitions:
Other Partitions:
          orders         1        -1              [2, 1]              [2, 1]             []            []         1
"""


def test_the_state_of_cruise_control_as_a_table() -> None:
    assembled = joined(STATE)
    assert replicas(assembled.cluster) == {0: [1, 2], 1: [2, 1]}
    (topic,) = assembled.cluster.topics
    assert (topic.leaders.tolist(), topic.isr.tolist()) == ([1, -1], [[1, -1], [2, 1]])
    assert list(racks(assembled)) == [1, 2, 3]
    assert "topics_without_partitions" not in codes(assembled)
    partly = joined(
        STATE.replace(
            "All Partitions in the Cluster (verbose)", "Under Replicated, Offline, and Under MinIsr Partitions"
        )
    )
    assert "topics_without_partitions" in codes(partly)


@pytest.mark.parametrize(
    ("before", "after"),
    [("[2, 1]              [", "[2, 1              ["), ("         0         1 ", "         x         1 ")],
)
def test_a_broken_row_of_the_state_is_named(before: str, after: str) -> None:
    assert any("orders" in place.unknown for place in joined(STATE.replace(before, after)).unknown)


def test_a_partition_twice_in_the_state_is_rejected() -> None:
    assert "each partition once" in rejected(joined, STATE.replace("orders         1", "orders         0")).detail


RPK_PARTITIONS = """NAMESPACE  TOPIC       PARTITION  LEADER-ID  REPLICA-CORE   DISABLED
kafka      orders      0          101        [101-0 102-1]  false
redpanda   controller  0          101        [101-0 103-0]  -
kafka      orders      1          102        [101-3 102-0]  -
"""
RPK_HEALTH = """CLUSTER HEALTH OVERVIEW
=======================
Healthy:                          false
Controller ID:                    101
All nodes:                        [101 102 103]
Nodes down:                       [103]
Leaderless partitions (0):        []
"""


def test_rpk_lists_partitions_and_health_as_text() -> None:
    cluster = joined(RPK_HEALTH, RPK_PARTITIONS).cluster
    assert replicas(cluster) == {0: [101, 102], 1: [102, 101]}
    assert len(cluster.topics) == 1
    assert [broker.id for broker in cluster.brokers if broker.fenced] == [103]
    for changed in (RPK_PARTITIONS.replace("101-3", "101-x"), RPK_PARTITIONS.replace("REPLICA-CORE", "REPLICA CORE")):
        assert rejected(joined, changed).line


def test_rpk_describes_a_group_without_members() -> None:
    text = "GROUP        g\nCOORDINATOR  1\nSTATE        Empty\nBALANCER     \nMEMBERS      0\nTOTAL-LAG    0\n"
    offsets = (
        "\nTOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  MEMBER-ID  CLIENT-ID  HOST\norders  0  5  9  4\n"
    )
    for rows, lags in (("", []), (offsets, [4]), (offsets.replace("9  4", "9  4  " + " " * 20), [4])):
        found = joined(text + rows)
        assert not any(skipped.unknown for skipped in found.unknown)
        [group] = found.cluster.groups
        assert (group.group_id, group.state, group.assignor, group.members) == ("g", "Empty", None, ())
        assert [offset.lag for offset in group.offsets] == lags
    cut = joined(text.replace("Empty", "Stable").replace("MEMBERS      0", "MEMBERS      1") + offsets)
    assert cut.unknown[-1].unknown == "orders  0  5  9  4"


@pytest.mark.parametrize(
    ("text", "racks"),
    [
        (
            """
ID  HOST  PORT   RACK  CORES  MEMBERSHIP  IS-ALIVE  VERSION  UUID
1   rp-1  33145  a     4      active      true      25.2.1   0a
2   rp-2  33145  -     4      active      false     25.2.1   0b
""",
            ["a", None],
        ),
        (
            """
NODE-ID  NUM-CORES  MEMBERSHIP-STATUS  IS-ALIVE  BROKER-VERSION
1        4          active             true      v23.2.1
2        4          active             false     v23.2.1
""",
            [None, None],
        ),
    ],
)
def test_rpk_lists_brokers_of_its_admin_api(text: str, racks: list[str | None]) -> None:
    brokers = joined(text).cluster.brokers
    assert [(broker.id, broker.rack, broker.fenced) for broker in brokers] == [
        (1, racks[0], False),
        (2, racks[1], True),
    ]
    assert rejected(joined, text.replace(" active ", "")).line == 3
