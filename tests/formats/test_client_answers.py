"""JSON and YAML of clients and of HTTP APIs: the same cluster under other names of keys."""

import json

import pytest
import yaml

from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.formats.sources.client_answers import SOURCE
from tests.formats.strategies import rejected, sample
from tests.formats.test_sources import codes, joined, of, racks, replicas

ORDERS = {0: [102, 101, 103], 1: [103, 102, 101], 2: [101, 103, 102]}
IN_SYNC = [[102, 101, -1], [103, 102, 101], [101, -1, -1]]
NODES = """NodeInfoList:
- BrokerNodeInfo:
    BrokerId: 1.0
    ClientSubnet: subnet-0aa1
    CurrentBrokerSoftwareInfo:
      KafkaVersion: 3.6.0
  NodeType: BROKER
"""


@pytest.mark.parametrize(
    "name",
    [
        "kafkajs-metadata.json",
        "confluent-kafka-go-metadata.json",
        "node-rdkafka-metadata.json",
        "kafka-python-cluster.json",
        "msk-topic-partitions.json",
        "msk-topic-partitions.yaml",
    ],
)
def test_the_same_topic_whatever_the_keys_are_called(name: str) -> None:
    assembled = of(name)
    assert replicas(assembled.cluster) == ORDERS
    (topic,) = assembled.cluster.topics
    assert topic.leaders.tolist() == [102, 103, -1]
    assert topic.isr.tolist() == IN_SYNC
    assert list(racks(assembled)) == [101, 102, 103]


def test_racks_and_fenced_brokers_are_read_if_they_are_there() -> None:
    assembled = of("kafka-python-cluster.json")
    assert racks(assembled) == {101: "use1-az1", 102: "use1-az2", 103: "use1-az3"}
    assert [broker.fenced for broker in assembled.cluster.brokers] == [False, False, True]
    assert "racks_not_in_source" not in codes(assembled)
    assert "racks_not_in_source" in codes(of("kafkajs-metadata.json"))


def test_brokers_may_stand_for_their_ids() -> None:
    node = {"id": 1, "host": "k", "port": 9092, "rack": "a"}
    partition = {"partition": 0, "leader": node, "replicas": [node, {**node, "id": 2}], "isr": [node]}
    assembled = joined(json.dumps({"topics": [{"name": "t", "partitions": [partition]}]}))
    assert replicas(assembled.cluster, "t") == {0: [1, 2]}


def test_replicas_of_the_rest_api_are_joined_to_partitions() -> None:
    assembled = of("confluent-rest-replicas.json")
    (topic,) = assembled.cluster.topics
    assert topic.replicas.tolist() == [[102, 101], [101, 102]]
    assert (topic.leaders.tolist(), topic.isr.tolist()) == ([102, 101], [[102, -1], [101, 102]])
    assert list(racks(assembled)) == [101, 102]


def test_rpk_has_no_order_of_replicas_and_knows_brokers_that_are_down() -> None:
    assembled = of("rpk-cluster-partitions.json")
    assert replicas(assembled.cluster) == {0: [2, 0, 1], 1: [1, 0, 2]}
    assert [(broker.id, broker.fenced) for broker in assembled.cluster.brokers] == [(0, False), (1, True), (2, False)]
    assert "replicas_in_assumed_order" in codes(assembled)
    described = of("rpk-topic-describe.json")
    assert replicas(described.cluster) == replicas(assembled.cluster)
    assert described.cluster.topics[0].isr.tolist() == [[2, 0, -1], [1, 0, 2]]


def test_partitions_of_msk_need_their_topic() -> None:
    _, _, answer = sample("msk-topic-partitions.json").partition("\n")
    assert "--topic-name" in rejected(joined, answer).detail
    described = '{"TopicName": "orders", "PartitionCount": 3, "Status": "ACTIVE"}\n'
    assert replicas(joined(described, answer).cluster) == ORDERS
    assert "describe-topic-partitions" in rejected(joined, described).detail
    assert "topics_without_partitions" in codes(joined(described, sample("kcat-list.txt")))


def test_nodes_of_msk_in_yaml() -> None:
    assembled = joined(f"$ aws kafka list-nodes --output yaml\n{NODES}")
    assert racks(assembled) == {1: "subnet-0aa1"}
    assert assembled.cluster.kafka_version == "3.6.0"
    rejection = rejected(joined, "\n\n" + NODES.replace("1.0", "1.5"))
    assert ("NodeInfoList/0/BrokerNodeInfo/BrokerId" in rejection.detail, rejection.line) == (True, 3)


@pytest.mark.parametrize(
    ("before", "after", "path", "line"),
    [
        ('"leader": 103', '"leader": "x"', "topics/0/partitions/1/leader", 16),
        ('[103, 102, 101], "isr"', '[103, 103], "isr"', "topics/0/partitions/1/replicas", 16),
        ('"nodeId": 102', '"nodeId": -3', "brokers/1/nodeId", 4),
        ('"partitionId": 1', '"partitionId": 0', "each partition once", 16),
        ('"name": "orders"', '"name": "a b"', "topics/0/name", 13),
    ],
)
def test_a_value_that_is_wrong_is_rejected_with_its_place(before: str, after: str, path: str, line: int) -> None:
    text = sample("kafkajs-metadata.json")
    assert before in text
    rejection = rejected(SOURCE.read, text.replace(before, after))
    assert path in rejection.detail
    assert rejection.line == line


def test_a_deep_document_is_none_of_these() -> None:
    assert rejected(joined, '{"data":' * 900 + "[]" + "}" * 900).detail
    assert rejected(joined, '{"brokers":' * 900 + "[]" + "}" * 900).detail


def test_rpk_cluster_info_as_json_and_yaml() -> None:
    """Its broker of the controller is a number, racks are left out if there are none, and empty lists are null."""
    partition = {"partition": 0, "leader": 2, "leader_epoch": 3, "replicas": [1, 2, 3], "offline_replicas": [3]}
    topic = {
        "name": "orders",
        "is_internal": False,
        "partition_count": 1,
        "replicas_count": 3,
        "partitions": [partition],
    }
    brokers = [{"id": one, "host": f"rp-{one}", "port": 9092} | ({"rack": "a"} if one < 3 else {}) for one in (1, 2)]
    answer = {"cluster_name": "redpanda.x", "controller_id": 1, "brokers": brokers, "topics": [topic]}
    for text in (json.dumps(answer), json.dumps(answer, indent=2), yaml.safe_dump(answer, sort_keys=False, indent=4)):
        found = assemble("c", [Upload(text)])
        assert [(broker.id, broker.rack) for broker in found.cluster.brokers] == [(1, "a"), (2, "a")]
        (described,) = found.cluster.topics
        assert (described.replicas.tolist(), described.isr.tolist()) == ([[2, 1, 3]], [[2, 1]])
        assert [note.code for note in found.notes] == ["replicas_in_assumed_order"]
    empty = assemble("c", [Upload(json.dumps({**answer, "topics": None}))])
    assert (len(empty.cluster.brokers), empty.cluster.topics) == (2, ())


def test_clients_of_go_and_the_console_of_redpanda() -> None:
    partition = {"Topic": "orders", "Partition": 0, "Leader": 2, "LeaderEpoch": 4, "Replicas": [1, 2], "ISR": [2]}
    brokers = [{"NodeID": one, "Host": f"k{one}", "Port": 9092, "Rack": "a"} for one in (1, 2)]
    topics = {"orders": {"Topic": "orders", "Partitions": {"0": partition}, "Err": None}}
    console = [{"brokerId": one, "address": f"k{one}:9092", "rack": "a"} for one in (1, 2)]
    for answer in (
        {"Cluster": "x", "Controller": 1, "Brokers": brokers, "Topics": topics},
        {"clusterInfo": {"status": "HEALTHY", "brokers": console}},
    ):
        cluster = assemble("c", [Upload(json.dumps(answer))]).cluster
        assert [(broker.id, broker.rack) for broker in cluster.brokers] == [(1, "a"), (2, "a")]
        assert [topic.replicas.tolist() for topic in cluster.topics] == [[[1, 2]]] * ("Topics" in answer)


@pytest.mark.parametrize("message", [{"id": 1, "name": "x"}, {"id": 1, "name": "a:b"}])
def test_a_message_with_an_id_and_a_name_is_no_broker(message: dict[str, object]) -> None:
    assert "JSON of an unknown tool" in rejected(joined, f"{json.dumps(message)}\n" * 2).detail


@pytest.mark.parametrize("broken", ['"Parttion": 1', '"BrokerD": 2'])
def test_an_item_without_the_key_that_names_it_is_rejected(broken: str) -> None:
    """It is not lost in silence."""
    partitions = ", ".join(f'{{"Partition": {one}, "Leader": 1, "Replicas": [1]}}' for one in (0, 1))
    brokers = ", ".join(f'{{"BrokerId": {one}, "host": "b"}}' for one in (1, 2))
    text = f'{{"brokers": [{brokers}], "topics": [{{"name": "t", "partitions": [{partitions}]}}]}}'
    key = {"P": '"Partition": 1', "B": '"BrokerId": 2'}[broken[1]]
    assert "something else among them" in rejected(SOURCE.read, text.replace(key, broken)).detail


def test_topics_of_kafkactl_have_addresses_for_leaders() -> None:
    rows = [
        {"id": i, "oldestOffset": 0, "newestOffset": 9, "leader": "k2:9092", "replicas": [1, 2], "inSyncReplicas": isr}
        for i, isr in enumerate([[1, 2], [2]])
    ]
    answer = {"name": "orders", "partitions": rows, "configs": [{"name": "min.insync.replicas", "value": "1"}]}
    go = json.dumps(answer).replace('"name"', '"Name"').replace('"partitions"', '"Partitions"')
    for text in (
        yaml.safe_dump(answer, sort_keys=False),
        f"$ kafkactl\n{yaml.safe_dump(answer, sort_keys=False)}$\n",
        go,
    ):
        assembled = joined(text)
        (topic,) = assembled.cluster.topics
        assert (topic.name, topic.replicas.tolist()) == ("orders", [[1, 2], [1, 2]])
        assert (topic.leaders.tolist(), topic.isr.tolist()) == ([1, 2], [[1, 2], [2, -1]])
        assert "replicas_in_assumed_order" in codes(assembled)
    brokers: list[dict[str, object]] = [{"ID": one, "Address": f"k{one}:9092", "Configs": []} for one in (1, 2)]
    assert list(racks(joined(json.dumps(brokers)))) == [1, 2]
    for texts in ((go, json.dumps(brokers)), (json.dumps(brokers), go)):
        assembled = joined("\n".join(texts))
        assert assembled.cluster.topics[0].leaders.tolist() == [2, 2]
        assert "replicas_in_assumed_order" not in codes(assembled)


def test_answers_of_the_rest_api_v2() -> None:
    partitions = [
        {
            "partition": i,
            "leader": leader,
            "replicas": [{"broker": one, "leader": one == leader, "in_sync": True} for one in brokers],
        }
        for i, (leader, brokers) in enumerate([(1, [1, 2]), (2, [2, 3])])
    ]
    named = {"name": "orders", "configs": {"cleanup.policy": "delete"}, "partitions": partitions}
    for text in (
        json.dumps(named),
        f"$ curl -s http://rest:8082/topics/orders/partitions | jq .\n{json.dumps(partitions, indent=2)}\n",
        f"GET /topics/orders/partitions HTTP/1.1\nHost: rest\n\nHTTP/1.1 200 OK\n\n{json.dumps(partitions)}\n",
    ):
        assert replicas(joined(text).cluster) == {0: [1, 2], 1: [2, 3]}
    assert list(racks(joined('{"brokers": [1, 2, 3]}\n'))) == [1, 2, 3]
    assert "a URL" in rejected(joined, json.dumps(partitions)).detail
