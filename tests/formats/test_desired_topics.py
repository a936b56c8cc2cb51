"""Topics as they are to be, in the files of several tools."""

import json

import pytest

from app.formats.sources.desired_topics import read
from tests.formats.strategies import rejected

TERRAFORM = {
    "format_version": "1.2",
    "planned_values": {
        "root_module": {
            "resources": [
                {
                    "address": "kafka_topic.orders",
                    "type": "kafka_topic",
                    "values": {"name": "orders", "partitions": 12, "replication_factor": 3, "config": {"a": "b"}},
                }
            ],
            "child_modules": [
                {"resources": [{"values": {"topic_name": "clicks", "partitions": 6, "replication": 2, "project": "p"}}]}
            ],
        }
    },
    "resource_changes": [{"change": {"before": {"name": "orders", "partitions": 6, "replication_factor": 3}}}],
}
FILES = {
    "Redpanda": """
apiVersion: cluster.redpanda.com/v1alpha2
kind: Topic
metadata: {name: orders-topic}
spec: {overwriteTopicName: orders, partitions: 12, replicationFactor: 3}
---
kind: Topic
metadata: {name: clicks}
spec: {partitions: 6, replicationFactor: 2}
""",
    "Conduktor": """
apiVersion: kafka/v2
kind: Topic
metadata: {cluster: prod-eu, name: orders}
spec: {replicationFactor: 3, partitions: 12, configs: {min.insync.replicas: '2'}}
---
apiVersion: kafka/v2
kind: Topic
metadata: {cluster: prod-eu, name: clicks}
spec: {replicationFactor: 2, partitions: 6}
""",
    "Ansible": """
- hosts: localhost
  tasks:
    - name: topics
      kafka_topic: {name: orders, partitions: 12, replica_factor: 3, bootstrap_servers: k}
    - name: others
      kafka_topics:
        topics:
          - {name: clicks, partitions: 6, replica_factor: 2}
          - {name: gone, partitions: 6, replica_factor: 2, state: absent}
""",
    "kafka-gitops": """
topics:
  orders: {partitions: 12, replication: 3, configs: {cleanup.policy: compact}}
  clicks: {partitions: 6, replication: 2}
services: {}
""",
    "Terraform": json.dumps(TERRAFORM, indent=2),
    "Terraform's language": """
variable "brokers" {
  default = 3
}
resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 12 # a month
  replication_factor = 3
  config = {
    "cleanup.policy" = "compact"
  }
}

# resource "kafka_topic" "gone" {
resource "kafka_topic" "clicks" {
  name               = "clicks"
  replication_factor = 2
  partitions         = 6
}
""",
    "Koperator": """
apiVersion: kafka.banzaicloud.io/v1alpha1
kind: KafkaTopic
metadata: {name: a}
spec: {clusterRef: {name: k}, name: orders, partitions: 12, replicationFactor: 3}
---
apiVersion: kafka.banzaicloud.io/v1alpha1
kind: KafkaTopic
metadata: {name: b}
spec: {clusterRef: {name: k}, name: clicks, partitions: 6, replicationFactor: 2}
""",
    "Crossplane": """
apiVersion: topic.kafka.crossplane.io/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {forProvider: {replicationFactor: 3, partitions: 12}}
---
apiVersion: topic.kafka.crossplane.io/v1alpha1
kind: Topic
metadata: {name: clicks}
spec: {forProvider: {replicationFactor: 2, partitions: 6}}
""",
    "Terraform's state": json.dumps({"values": TERRAFORM["planned_values"]}),
}


@pytest.mark.parametrize("name", FILES)
def test_the_topics_of_a_tool(name: str) -> None:
    topics = read(FILES[name])
    assert [(topic.name, topic.partitions, topic.replication_factor) for topic in topics] == [
        ("orders", 12, 3),
        ("clicks", 6, 2),
    ]
    assert {topic.cluster for topic in topics} == ({"prod-eu"} if name == "Conduktor" else {None})


def test_a_block_of_terraform_names_its_line() -> None:
    assert [topic.line for topic in read(FILES["Terraform's language"])] == [5, 15]


def test_topics_of_julie_have_the_names_of_their_project() -> None:
    text = """
context: fleet
source: eu
projects:
  - name: orders
    consumers: [{principal: 'User:a'}]
    topics:
      - name: placed
        config: {replication.factor: '3', num.partitions: '12'}
      - {name: paid, dataType: avro, config: {replication.factor: '2', num.partitions: '6'}}
"""
    assert [(topic.name, topic.partitions, topic.replication_factor) for topic in read(text)] == [
        ("fleet.eu.orders.placed", 12, 3),
        ("fleet.eu.orders.paid.avro", 6, 2),
    ]


def test_a_factor_that_is_not_stated_may_be_any() -> None:
    text = "settings: {topics: {defaults: {partitions: 1, replication: 3}}}\ntopics: {orders: {partitions: 12}}\n"
    (topic,) = read(text)
    assert (topic.name, topic.partitions, topic.replication_factor) == ("orders", 12, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FILES["Ansible"].replace("name: orders", "name: '{{ item }}'"), "the name of a topic"),
        (FILES["Ansible"].replace("partitions: 12", "partitions: many"), "a number from 1 on as partitions"),
        (FILES["kafka-gitops"].replace("clicks", "orders"), "each key once"),
        (FILES["Conduktor"].replace("name: clicks", "name: orders"), "orders again"),
        (FILES["Terraform's language"].replace("12 #", "3 * var.days #"), "'3 * var.days # a month, as terraform show"),
        (FILES["Terraform's language"].replace('"clicks"\n', "each.key\n"), "each.key, as terraform show -json"),
        ("topics: {orders: {configs: {}}}", "found none"),
        ("just a sentence", "found none"),
    ],
)
def test_what_is_wrong_is_rejected(text: str, words: str) -> None:
    assert words in rejected(read, text).detail


@pytest.mark.parametrize("prefix", ["### ", "kafka-1  | ", "kafka-1: ", "[pod/tools-0/topicctl] "])
def test_prefixes_of_lines_are_removed(prefix: str) -> None:
    text = "meta:\n  name: orders\n  cluster: prod\nspec:\n  partitions: 9\n  replicationFactor: 2\n"
    assert read("".join(f"{prefix}{line}\n" for line in text.splitlines())) == read(text)


def test_a_topic_of_confluents_operator() -> None:
    text = (
        "apiVersion: platform.confluent.io/v1beta1\nkind: KafkaTopic\nmetadata: {name: x}\nspec: {partitionCount: 3}\n"
    )
    [topic] = read(text)
    assert (topic.name, topic.partitions, topic.replication_factor) == ("x", 3, None)
    assert "as partitionCount of x, found '{n}'" in rejected(read, text.replace("3", "'{n}'")).detail


@pytest.mark.parametrize(
    "text",
    [
        "topics:\n  orders:\n    partitions: 12\n  payments:\n    partitions: 0\n",
        '{"topics": [\n{"name": "orders", "partitions": 12},\n\n\n{"name": "payments", "partitions": 0}]}\n',
        "kind: TopicList\nitems:\n- kind: x\n\n- kind: Topic\n  metadata: {name: t}\n  spec: {partitions: 0}\n",
    ],
)
def test_a_wrong_topic_of_a_document_is_named_by_its_line(text: str) -> None:
    assert rejected(read, text).line == 5
