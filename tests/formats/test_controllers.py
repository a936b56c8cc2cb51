"""KRaft or ZooKeeper, by the pasted texts."""

from pathlib import Path

import pytest

from app.core.kafka_versions import controller_of
from app.formats.snapshots import snapshot_json
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from tests.formats.strategies import sample

REPORTS = Path(__file__).parents[1] / "reports"
FEATURE = "Feature: metadata.version\tSupportedMinVersion: 3.0-IV1\tSupportedMaxVersion: 3.9-IV0\t"
LOGGED = "INFO Kafka version: {} (org.apache.kafka.common.utils.AppInfoParser)\n"
TOPIC = "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
ROW = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1"
BROKER = "kafka-1:9092 (id: 1 rack: a{}) -> ({}\n"
REGISTRATION = (
    'get /brokers/ids/1\n{"endpoints":["PLAINTEXT://k:9092"],"jmx_port":-1,"host":"k","timestamp":"1","port":9092,'
    '"version":2}\n'
)


@pytest.mark.parametrize(
    ("text", "controller"),
    [
        (sample("kafka-topics-describe.txt"), "kraft"),
        (sample("kafka-broker-api-versions.txt"), None),
        (sample("kafka-cluster-list-endpoints.txt"), "kraft"),
        (f"{FEATURE}FinalizedVersionLevel: 3.9-IV0\tEpoch: 5\n", "kraft"),
        (TOPIC + ROW + "\n", None),
        ((REPORTS / "elr-na-of-a-zookeeper-cluster.txt").read_text(), None),
        (f"{TOPIC}{ROW}\tElr: \tLastKnownElr: \n", "kraft"),
        (f"{TOPIC}{ROW}\tElr: 2\tLastKnownElr: N/A\n", "kraft"),
        (f"{TOPIC}{ROW}\tElr: N/A\tLastKnownElr: N/A\n", None),
        (f"$ kafka-topics.sh --zookeeper zk:2181 --describe\n{TOPIC}{ROW}\tElr: N/A\tLastKnownElr: N/A\n", "zookeeper"),
        (BROKER.format(" isFenced: false", ""), None),
        (BROKER.format(" isFenced: true", ""), "kraft"),
        (BROKER.format("", ""), None),
        (BROKER.format("", "\n\tDescribeQuorum(55): 0 to 1 [usable: 1],\n)"), "kraft"),
        (BROKER.format("", "\n\tDescribeQuorum(55): UNSUPPORTED,\n)"), "zookeeper"),
        (BROKER.format("", "\n\tLeaderAndIsr(4): 0 to 7 [usable: 7],\n)"), "zookeeper"),
        (BROKER.format("", "\n\tLeaderAndIsr(4): UNSUPPORTED,\n)"), None),
        (REGISTRATION, "zookeeper"),
        (f"$ kafka-topics.sh --zookeeper zk:2181 --describe\n{TOPIC}{ROW}\n", "zookeeper"),
        # Columns that depend on the release of the tool decide nothing.
        (BROKER.format(" isFenced: false", "\n\tLeaderAndIsr(4): 0 to 7 [usable: 7],\n)"), "zookeeper"),
        (f"{TOPIC}{ROW}\tElr: N/A\tLastKnownElr: N/A\n{REGISTRATION}", "zookeeper"),
    ],
)
def test_what_the_tools_say_of_the_controller(text: str, controller: str | None) -> None:
    cluster = assemble("c", [Upload(text)]).cluster
    assert cluster.controller == controller
    assert snapshot_json.read(snapshot_json.write(cluster)).controller == controller


@pytest.mark.parametrize(
    ("release", "controller"),
    [("0.10.2", "zookeeper"), ("3.2.3", "zookeeper"), ("3.3", None), ("3.9.1", None), ("4.0.0", "kraft"), (None, None)],
)
def test_what_a_release_says_of_the_controller(release: str | None, controller: str | None) -> None:
    assert controller_of(release) == controller
    if release is not None:
        text = BROKER.format("", "") + TOPIC + ROW + "\n"
        uploads = [Upload(text), Upload(LOGGED.format(release), "features", "features")]
        assert assemble("c", uploads).cluster.controller == controller
