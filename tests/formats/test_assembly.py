"""The tools' texts as one cluster."""

import pytest

from app.core.model import UNKNOWN_SIZE, Broker, unpadded
from app.errors.requests import MalformedText
from app.formats.clusters import log_dirs
from tests.formats.strategies import assembled, sample

BROKERS = sample("kafka-broker-api-versions.txt")
TOPICS = sample("kafka-topics-describe.txt")
LOG_DIRS = sample("kafka-log-dirs-describe.txt")
GROUPS = sample("kafka-consumer-groups-describe.txt")


def test_the_real_cluster() -> None:
    found = assembled("prod", brokers=BROKERS, topics=TOPICS, log_dirs=LOG_DIRS)
    cluster = found.cluster
    assert cluster.name == "prod"
    assert [broker.id for broker in cluster.brokers] == list(range(101, 110))
    assert {broker.rack for broker in cluster.brokers} == {"use1-az1", "use1-az2", "use1-az4"}
    names = ["audit-log", "clicks", "inventory.changes", "orders", "payments", "sessions"]
    assert [topic.name for topic in cluster.topics] == names
    assert sum(topic.replicas.size for topic in cluster.topics) == 285
    sizes = log_dirs.sizes(log_dirs.read(LOG_DIRS))
    described = set()
    for topic in cluster.topics:
        assert topic.partition_ids.tolist() == list(range(len(topic.replicas)))
        for partition, size in enumerate(topic.size_bytes.tolist()):
            described.add((topic.name, partition))
            assert size == sizes[topic.name, partition]
    assert found.partitions_without_topic == tuple(sorted(set(sizes) - described))


def test_unlisted_brokers_are_those_of_replicas() -> None:
    topics = TOPICS.replace("Replicas: 107,108,102\tIsr: 107,108,102", "Replicas: 107,108,999\tIsr: 107,108,999")
    cluster = assembled("c", topics=topics).cluster
    assert cluster.brokers == tuple(Broker(broker) for broker in (*range(101, 110), 999))
    assert set(cluster.topics[0].size_bytes.tolist()) == {UNKNOWN_SIZE}
    alone = '{"brokers":[{"broker":7,"logDirs":[]}]}'
    assert assembled("c", log_dirs=alone).cluster.brokers == (Broker(7),)


CONFIGS = """Dynamic configs for topic orders are:
  min.insync.replicas=3 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=3}
  compression.type=lz4 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:compression.type=lz4}
Default configs for brokers in the cluster are:
  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=2}
  follower.fetch.last.tiered.offset.enable=true sensitive=false synonyms={}
  log.retention.ms=60000 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:log.retention.ms=60000}
"""
OF_BROKERS = "".join(
    f"All configs for broker {broker} are:\n  log.segment.bytes={{}} sensitive=false synonyms={{{{}}}}\n"
    for broker in range(101, 110)
)


@pytest.mark.parametrize("with_log_dirs", [True, False])
def test_configurations_of_topics_and_of_the_cluster(with_log_dirs: bool) -> None:
    """A topic's own value counts before the default of the cluster; values that differ by broker are no default."""
    texts = CONFIGS + OF_BROKERS.format(*[7] * 9) + (LOG_DIRS if with_log_dirs else "")
    topics = assembled("prod", brokers=BROKERS, topics=TOPICS, log_dirs=texts).cluster.topics
    configs = {topic.name: topic.configs for topic in topics}
    defaults = {"follower.fetch.last.tiered.offset.enable": "true", "retention.ms": "60000", "segment.bytes": "7"}
    assert configs["orders"] == {"min.insync.replicas": "3", **defaults}
    assert configs["payments"] == {"min.insync.replicas": "2", **defaults}
    differing = assembled("prod", brokers=BROKERS, topics=TOPICS, log_dirs=OF_BROKERS.format(*range(9)))
    assert {tuple(topic.configs) for topic in differing.cluster.topics} == {()}


def test_eligible_leader_replicas() -> None:
    described = "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: \n" + "".join(
        f"\tTopic: t\tPartition: {partition}\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: {elr}\tLastKnownElr: \n"
        for partition, elr in enumerate(("2", ""))
    )
    (topic,) = assembled("c", topics=described).cluster.topics
    assert topic.elr is not None
    assert unpadded(topic.elr) == [[2], []]
    (topic,) = assembled("c", topics=described.replace("Elr: 2", "Elr: ")).cluster.topics
    assert topic.elr is None


def test_brokers_alone_are_a_cluster_without_topics() -> None:
    cluster = assembled("c", brokers=BROKERS).cluster
    assert (len(cluster.brokers), cluster.topics) == (9, ())


def test_partitions_on_disk_without_topic_are_reported() -> None:
    text = (
        '{"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","partitions":['
        '{"partition":"gone-1","size":3},{"partition":"gone-0","size":3},{"partition":"t-0","size":5}]}]}]}'
    )
    topics = (
        "Topic: t\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: \n"
        "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
        "\tTopic: t\tPartition: 1\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    )
    found = assembled("c", topics=topics, log_dirs=text)
    assert found.cluster.topics[0].size_bytes.tolist() == [5, UNKNOWN_SIZE]
    assert found.partitions_without_topic == (("gone", 0), ("gone", 1))


@pytest.mark.parametrize("part", ["brokers", "topics", "log_dirs", "groups"])
def test_a_refusal_names_the_text_it_is_about(part: str) -> None:
    texts = {"brokers": BROKERS, "topics": TOPICS, "log_dirs": LOG_DIRS, "groups": GROUPS}
    texts[part] = "\nhello"
    with pytest.raises(MalformedText) as caught:
        assembled("c", **texts)
    assert caught.value.path == (part,)
    assert caught.value.line == 2


def test_groups_alone_are_a_cluster_of_nothing_else() -> None:
    cluster = assembled("c", groups=GROUPS).cluster
    assert (cluster.brokers, cluster.topics) == ((), ())
    assert [group.group_id for group in cluster.groups] == ["billing", "clickstream"]
    billing = cluster.group("billing")
    assert billing is cluster.groups[0]
    assert cluster.group("none") is None


def test_no_text_at_all_is_rejected() -> None:
    with pytest.raises(MalformedText, match="the text of at least one Kafka tool"):
        assembled("c")
