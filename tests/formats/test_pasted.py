"""Several tools' texts in one paste."""

import itertools
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recorded import TopicPartitions
from app.formats import broker_api_versions, broker_features, broker_lists, log_dirs, recorded_groups, topic_describe
from app.formats.group_texts import read as read_groups
from app.formats.pasted import Pasted, read
from tests.formats.strategies import broken, reads_or_rejects, rejected, sample
from tests.profiles import examples

TEXTS = {
    "brokers": sample("kafka-broker-api-versions.txt"),
    "topics": sample("kafka-topics-describe.txt"),
    "log_dirs": sample("kafka-log-dirs-describe.txt"),
    "groups": "".join(
        [sample(f"kafka-consumer-groups-{form}.txt") for form in ("describe", "members-verbose", "state")]
    ),
}
FEATURES = (
    "Feature: group.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\tFinalizedVersionLevel: 1\tEpoch: 5\n"
    "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"
    "FinalizedVersionLevel: 4.1-IV1\tEpoch: 5\n"
)
TEXTS["features"] = FEATURES
DESCRIBED = sample("describe-groups.json")
READERS: dict[str, Callable[[str], object]] = {
    "brokers": broker_api_versions.read,
    "topics": topic_describe.read,
    "log_dirs": log_dirs.read,
    "groups": lambda text: recorded_groups.join(read_groups(text)),
    "features": broker_features.read,
}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_tool_gets_its_lines_in_any_order(count: int, end: str) -> None:
    for order in itertools.permutations(TEXTS, count):
        found = read("\n\n".join(TEXTS[tool] for tool in order).replace("\n", end))
        for tool, text in TEXTS.items():
            part = getattr(found, tool)
            assert (part is None) is (tool not in order)
            if part is not None:
                assert READERS[tool](part) == READERS[tool](text)


def test_command_lines_and_log_lines_belong_to_no_text() -> None:
    text = (
        "[appuser@kafka-1 ~]$ /opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka-1:9092 --describe\n"
        "[2025-01-27 19:50:51,936] WARN [AdminClient clientId=adminclient-1] x\n"
        f"{TEXTS['topics']}"
        "$ kafka-broker-api-versions --bootstrap-server kafka-1:9092\n"
        f"{TEXTS['brokers']}"
        "C:\\kafka>bin\\windows\\kafka-log-dirs.bat --describe\n"
        f"{TEXTS['log_dirs']}"
        "$ kafka-consumer-groups.sh --bootstrap-server kafka-1:9092 --describe --all-groups\n"
        "\nConsumer group 'old' has no active members.\n"
        f"{TEXTS['groups']}"
        "$ kafka-features --bootstrap-server kafka-1:9092 describe\n"
        f"{FEATURES}"
    )
    found = read(text)
    for tool, reader in READERS.items():
        assert reader(getattr(found, tool)) == reader(TEXTS[tool])


NOISE = (
    "OpenJDK 64-Bit Server VM warning: Option UseConcMarkSweepGC was deprecated in version 9.0\n"
    "SLF4J: Class path contains multiple SLF4J bindings.\n"
    "[2020-03-04 05:06:07,008] WARN [AdminClient clientId=adminclient-1] x (o.a.k.clients.NetworkClient)\n"
    "java.net.ConnectException: Connection refused\n"
    "\tat java.base/sun.nio.ch.SocketChannelImpl.checkConnect(Native Method)\n"
)
OLDER = {
    "brokers": "kafka-1:9092 (id: 1 rack: a) -> (\n\tProduce(0): 0 to 8 [usable: 8],\n\tFetch(1): UNSUPPORTED\n)\n",
    "topics": (
        "Topic:orders\tPartitionCount:1\tReplicationFactor:1\tConfigs:retention.ms=1\n"
        "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    ),
    "log_dirs": (
        "Querying brokers for log directories information\nReceived log directory information from brokers 1\n"
        '{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":[{"partition":'
        '"orders-0","size":7,"offsetLag":0,"isFuture":false}]}]}]}\n'
    ),
    "groups": (
        "\nGROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT\n"
        "billing         c-1             /10.0.0.1       c               1               orders(0)\n\n"
        "GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE           #MEMBERS\n"
        "billing                   kafka-1:9092 (1)          range                Stable          1\n"
    ),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_tools_of_2_and_3_print_with_log_lines_around(end: str) -> None:
    """Kafka 2.0 to 3.9: headers without blanks, a map's order in JSON, assignments in brackets."""
    pasted = read((NOISE + NOISE.join(OLDER.values()) + NOISE).replace("\n", end))
    for part, text in OLDER.items():
        lines = getattr(pasted, part)
        assert lines is not None
        assert READERS[part](lines) == READERS[part](text)
    assert pasted.groups is not None
    (group,) = recorded_groups.join(read_groups(pasted.groups)).groups
    assert (group.assignor, group.state, group.type) == ("range", "Stable", None)
    assert group.members[0].assigned == (TopicPartitions("orders", (0,)),)


def test_brokers_as_the_cluster_tool_lists_them() -> None:
    endpoints = sample("kafka-cluster-list-endpoints.txt")
    pasted = read(f"$ kafka-cluster.sh list-endpoints --include-fenced-brokers\n{endpoints}{TEXTS['topics']}")
    assert pasted.brokers is not None
    assert broker_lists.read(pasted.brokers) == broker_lists.read(endpoints)
    versions = read(f"$ kafka-cluster.sh api-versions --bootstrap-server kafka-1:9092\n{TEXTS['brokers']}")
    assert versions.brokers is not None
    assert READERS["brokers"](versions.brokers) == READERS["brokers"](TEXTS["brokers"])


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("order", [*itertools.permutations(["groups", "log_dirs", "topics"])])
def test_json_of_groups_and_of_log_directories_are_distinguished(order: tuple[str, ...], indent: int | None) -> None:
    """By what stands first in them, also where each brace has a line of its own."""
    directories = json.loads(TEXTS["log_dirs"].split("\n", maxsplit=2)[2])
    documents = {"groups": json.loads(DESCRIBED), "log_dirs": directories}
    texts = {part: json.dumps(document, indent=indent) for part, document in documents.items()}
    texts["topics"] = TEXTS["topics"]
    found = read("\n".join([texts[part] for part in order]))
    for part, text in texts.items():
        left = getattr(found, part)
        assert left is not None
        assert READERS[part](left) == READERS[part](text)


def test_a_group_may_be_called_as_a_document_starts() -> None:
    table = (
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n{team} t 0 1 2 1 - - -\n"
    )
    groups = read(table).groups
    assert groups is not None
    assert [group.group_id for group in recorded_groups.join(read_groups(groups)).groups] == ["{team}"]


def test_a_document_that_is_cut_off_is_refused_by_its_reader() -> None:
    """What it would be the end of is not looked for; the braces within it begin no other document."""
    found = read(DESCRIBED[:2000] + "\n" + TEXTS["topics"])
    assert found.log_dirs is None
    assert found.topics is not None
    assert found.groups is not None
    assert "described groups as JSON" in rejected(read_groups, found.groups).detail


def test_rejections_name_the_line_of_the_paste() -> None:
    """A text's other lines are blank, not gone."""
    broken_topics = TEXTS["topics"].replace("Isr: 109,103,104", "Isr: 109,103,10", 1)
    text = TEXTS["log_dirs"] + TEXTS["brokers"] + broken_topics
    topics = read(text).topics
    assert topics is not None
    line = text[: text.index("Isr: 109,103,10\t")].count("\n") + 1
    assert rejected(topic_describe.read, topics).line == line == 15


def test_lines_that_no_tool_prints_are_left_to_the_reader_of_the_text_they_stand_in() -> None:
    topics = read(TEXTS["topics"] + "what is this\n").topics
    assert topics is not None
    assert rejected(topic_describe.read, topics).line == 124


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("", 1, "found ''"),
        ("\n\nhello\n", 1, "found 'hello'"),
        ("$ kafka-topics.sh --describe\n", 1, "kafka-topics.sh"),
        ("\nhello\n" + TEXTS["topics"], 2, "found 'hello'"),
    ],
)
def test_what_is_not_recognised_is_refused(text: str, line: int, found: str) -> None:
    rejection = rejected(read, text)
    assert rejection.line == line
    assert "what kafka-topics --describe" in rejection.detail
    assert found in rejection.detail


@given(st.text())
def test_any_text_reads_or_is_refused(text: str) -> None:
    reads_or_rejects(read, text)


@examples(200)
@given(st.permutations(list(TEXTS.values())).flatmap(lambda texts: broken("".join(texts))))
def test_any_broken_paste_reads_or_is_refused(text: str) -> None:
    def through(left: str) -> None:
        found = read(left)
        assert found != Pasted()
        for tool, reader in READERS.items():
            part = getattr(found, tool)
            if part is not None:
                assert part.count("\n") == left.count("\n")
                reader(part)

    reads_or_rejects(through, text)
