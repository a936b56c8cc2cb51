"""Warnings about software that decides in place of Kafka's own code, or undoes a plan."""

import json

import pytest

from app.formats.snapshots.assembly import Assembled, assemble
from app.formats.snapshots.pasted import Upload
from app.services.snapshots import of_assembly
from tests.formats.strategies import sample

BROKERS = sample("kcat-list.txt")
OWN = "org.apache.kafka.coordinator.group.assignor.UniformAssignor"


def details(*texts: str) -> list[str]:
    made: Assembled = assemble("c", [Upload("\n".join(texts))])
    return [caution.detail for caution in of_assembly(made) if caution.code == "others_decide"]


def configs(name: str, value: str, of: str = "broker 101") -> str:
    return f"All configs for {of} are:\n  {name}={value} sensitive=false synonyms={{}}\n"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("group.consumer.assignors", "com.acme.Uniform,range", "has 'com.acme.Uniform'"),
        ("group.consumer.assignors", f"uniform, range,{OWN}", None),
        ("group.consumer.assignors", "UniformAssignor", "has 'UniformAssignor'"),
        ("group.streams.assignors", "sticky,com.acme.Sticky", "has 'com.acme.Sticky'"),
        ("group.streams.assignors", "sticky", None),
        ("confluent.balancer.enable", "true", "self-balancing moves replicas"),
        ("confluent.balancer.enable", "false", None),
    ],
)
def test_configurations_of_brokers(name: str, value: str, found: str | None) -> None:
    said = details(BROKERS, configs(name, value), configs(name, value, "broker 102"))
    assert len(said) == (found is not None)
    assert all(found in detail for detail in said if found)


def test_a_configuration_of_a_topic_decides_nothing() -> None:
    assert details(BROKERS, configs("confluent.balancer.enable", "true", "topic orders")) == []


KAFKA = (
    "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: a}\nspec:\n  kafka: {replicas: 3, config: {%s}}\n"
)


def test_strimzi_rebalances_by_itself_and_configures_assignors() -> None:
    modes = "  cruiseControl: {autoRebalance: [{mode: add-brokers}]}\n"
    assert details(KAFKA % "") == []
    assert ["autoRebalance" in detail for detail in details(KAFKA % "" + modes)] == [True]
    custom = details(KAFKA % "group.consumer.assignors: com.acme.Own")
    assert ["'com.acme.Own'" in detail for detail in custom] == [True]


def test_brokers_of_msk_express() -> None:
    nodes = json.loads(sample("msk-list-nodes.json"))
    assert details(json.dumps(nodes)) == []
    for node in nodes["NodeInfoList"]:
        node["InstanceType"] = "express.m7g.large"
    assert ["MSK Express" in detail for detail in details(json.dumps(nodes))] == [True]
