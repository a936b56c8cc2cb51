"""The layouts of every release of Kafka's tools, made by hand from their formats, read to the same cluster."""

import json

import pytest

from app.formats.kafka_files import reassignment_output
from app.formats.snapshots import snapshot_json
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload

PARTITIONS = {0: "1,2", 1: "2,1"}
OLD_HEADER = "Topic:orders\tPartitionCount:2\tReplicationFactor:2\tConfigs:retention.ms=1,min.insync.replicas=2\n"
HEADER = "Topic: orders\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: min.insync.replicas=2,retention.ms=1\n"
WITH_ID = HEADER.replace("\tPart", "\tTopicId: 5m9Zq0sYQ1yX0mVb3oVnJw\tPart")


def rows(*, columns: str = "", indent: str = "\t") -> str:
    return "".join(
        f"{indent}Topic: orders\tPartition: {partition}\tLeader: {ids[0]}\tReplicas: {ids}\tIsr: {ids}{columns}\n"
        for partition, ids in PARTITIONS.items()
    )


TOPICS = {
    "0.8.2 to 2.1": OLD_HEADER + rows(),
    "0.10 of a topic that is deleted": OLD_HEADER.rstrip("\n") + "\tMarkedForDeletion:true\n" + rows(),
    "2.2 to 2.7": HEADER + rows(),
    "2.4 during a reassignment of nothing": HEADER + rows(columns="\tAdding Replicas: \tRemoving Replicas: "),
    "Confluent 5.4": HEADER + rows(columns="\tOffline: "),
}
TOPICS_WITH_ID = {
    "2.8 to 3.7": WITH_ID + rows(),
    "3.8 to 4.4 under KRaft": WITH_ID + rows(columns="\tElr: \tLastKnownElr: "),
    "3.8 to 3.9 under ZooKeeper": WITH_ID + rows(columns="\tElr: N/A\tLastKnownElr: N/A"),
    "from a web page, without tabs": (WITH_ID + rows()).replace("\t", "  "),
}
PROSE = "Querying brokers for log directories information\nReceived log directory information from brokers 1,2\n"
LOG_DIRS = {
    "1.0 to 3.9": '{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":'
    '[{"partition":"orders-0","size":7,"offsetLag":0,"isFuture":false}]}]}]}\n',
    "4.0 to 4.4": '{"brokers":[{"broker":1,"logDirs":[{"partitions":[{"partition":"orders-0","size":7,"offsetLag":0,'
    '"isFuture":false}],"error":null,"logDir":"/d"}]}],"version":1}\n',
}
CURRENT = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}'
PROPOSED = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[3,2]}]}'
WITH_LOG_DIRS = ',"log_dirs":["any","any"]}'
GENERATED = (
    f"Current partition replica assignment\n\n{CURRENT}\nProposed partition reassignment configuration\n\n{PROPOSED}\n"
)
SAVE = "Save this to use as the --reassignment-json-file option during rollback\n"
EXECUTED = {
    "0.8.2 to 0.11": f"Successfully started reassignment of partitions {PROPOSED}\n",
    "1.0 to 2.5": "Successfully started reassignment of partitions.\n",
    "1.1 to 2.5 with log directories": "Successfully started reassignment of partitions.\n",
    "2.6 to 4.4 of one": "Successfully started partition reassignment for orders-0\n",
    "2.6 to 4.4 of several": "Successfully started partition reassignments for orders-0,orders-1\n",
    "with a throttle": "Warning: You must run --verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed.\nThe inter-broker throttle limit was set to 1000 B/s\n"
    "Successfully started partition reassignment for orders-0\n",
}


def stored(*texts: str) -> dict[str, object]:
    """The cluster of the texts, without the controller, which some layouts say."""
    document = json.loads(snapshot_json.write(assemble("c", [Upload(text) for text in texts]).cluster))
    return {name: value for name, value in document.items() if name != "controller"}


@pytest.mark.parametrize(("layouts", "first"), [(TOPICS, OLD_HEADER), (TOPICS_WITH_ID, WITH_ID)])
def test_topics(layouts: dict[str, str], first: str) -> None:
    expected = stored(first + rows())
    for release, text in layouts.items():
        assert stored(text) == stored(text.replace("\n", "\r\n")) == expected, release


def test_eligible_leader_replicas_say_kraft() -> None:
    text = TOPICS_WITH_ID["3.8 to 4.4 under KRaft"]
    assert assemble("c", [Upload(text)]).cluster.controller == "kraft"


def test_log_directories() -> None:
    old, new = (stored(TOPICS["2.2 to 2.7"], PROSE + text) for text in LOG_DIRS.values())
    assert old == new == stored(TOPICS["0.8.2 to 2.1"], LOG_DIRS["1.0 to 3.9"])


def test_generated_reassignments() -> None:
    expected = reassignment_output.read(PROPOSED).reassignment
    for text in (GENERATED, GENERATED.replace("\n\n", "\n"), GENERATED.replace("\n", "\r\n")):
        output = reassignment_output.read(text)
        assert (output.source, output.reassignment, output.skipped) == ("generate", expected, ())
    with_dirs = reassignment_output.read(GENERATED.replace("]}]}", "]" + WITH_LOG_DIRS + "]}")).reassignment
    assert with_dirs is not None
    assert with_dirs.partitions[0].log_dirs == ("any", "any")


@pytest.mark.parametrize("release", EXECUTED)
def test_executed_reassignments(release: str) -> None:
    expected = reassignment_output.read(CURRENT).reassignment
    output = reassignment_output.read(f"Current partition replica assignment\n\n{CURRENT}\n\n{SAVE}{EXECUTED[release]}")
    assert (output.source, output.reassignment, output.skipped) == ("execute", expected, ())


def test_reassignments_in_progress() -> None:
    listed = "Current partition reassignments:\norders-0: replicas: 1,2. adding: 1. removing: 2.\n"
    cluster = assemble("c", [Upload(TOPICS["2.2 to 2.7"]), Upload(listed)]).cluster
    assert (cluster.topics[0].adding[0].tolist(), cluster.topics[0].removing[0].tolist()) == ([1], [2])
    assert stored(TOPICS["2.2 to 2.7"], "No partition reassignments found.\n") == stored(TOPICS["2.2 to 2.7"])
