"""Several tools' texts in one paste."""

import itertools
import json
import re
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recorded import TopicPartitions
from app.errors.requests import MalformedText
from app.formats.clusters import broker_api_versions, broker_features, broker_lists, log_dirs, topic_describe
from app.formats.groups import recorded_groups
from app.formats.groups.group_texts import read as read_groups
from app.formats.snapshots import pasted, snapshot_json
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Pasted, Upload
from tests.formats.strategies import assembled, broken, reads_or_rejects, rejected, sample
from tests.profiles import costly

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


def read(text: str) -> Pasted:
    """One text of no name."""
    return pasted.read([Upload(text)])


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


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_that_are_taken_at_once_go_where_each_of_them_does(end: str) -> None:
    """Rows that are indented by blanks are looked at one by one."""
    text = (NOISE + TEXTS["topics"] + NOISE + TEXTS["brokers"] + TEXTS["topics"] + TEXTS["log_dirs"]).replace("\n", end)
    indented = re.sub(r"^\t?Topic: ", "  Topic: ", text, flags=re.MULTILINE)
    assert indented.count("  Topic: ") > 200
    at_once, one_by_one = read(text), read(indented)
    assert at_once.topics is not None
    assert one_by_one.topics == re.sub(r"^\t?Topic: ", "  Topic: ", at_once.topics, flags=re.MULTILINE)
    assert (at_once.brokers, at_once.log_dirs) == (one_by_one.brokers, one_by_one.log_dirs)
    assert [place.line for place in at_once.skipped] == [place.line for place in one_by_one.skipped]


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
    texts = read((NOISE + NOISE.join(OLDER.values()) + NOISE).replace("\n", end))
    for part, text in OLDER.items():
        lines = getattr(texts, part)
        assert lines is not None
        assert READERS[part](lines) == READERS[part](text)
    assert texts.groups is not None
    (group,) = recorded_groups.join(read_groups(texts.groups)).groups
    assert (group.assignor, group.state, group.type) == ("range", "Stable", None)
    assert group.members[0].assigned == (TopicPartitions("orders", (0,)),)


def test_brokers_as_the_cluster_tool_lists_them() -> None:
    endpoints = sample("kafka-cluster-list-endpoints.txt")
    texts = read(f"$ kafka-cluster.sh list-endpoints --include-fenced-brokers\n{endpoints}{TEXTS['topics']}")
    assert texts.brokers is not None
    assert broker_lists.read(texts.brokers) == broker_lists.read(endpoints)
    versions = read(f"$ kafka-cluster.sh api-versions --bootstrap-server kafka-1:9092\n{TEXTS['brokers']}")
    assert versions.brokers is not None
    assert READERS["brokers"](versions.brokers) == READERS["brokers"](TEXTS["brokers"])


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("order", [*itertools.permutations(["groups", "log_dirs", "topics"])])
def test_json_of_groups_and_of_log_directories_are_distinguished(order: tuple[str, ...], indent: int | None) -> None:
    """By their first key, also where each brace has a line of its own."""
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


def test_a_document_that_is_cut_off_is_rejected_by_its_reader() -> None:
    """The beginning that it would end is not searched; the braces within it begin no other document."""
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


def test_lines_that_no_tool_prints_are_skipped_and_those_that_are_broken_are_not() -> None:
    found = read("hello\n" + TEXTS["topics"] + "what is this\n")
    assert found.topics is not None
    assert READERS["topics"](found.topics) == READERS["topics"](TEXTS["topics"])
    assert [(place.line, place.unknown) for place in found.skipped] == [(1, "hello"), (125, "what is this")]
    broken = read(TEXTS["topics"] + "\tTopic: orders\tPartition: 0\tLeader: 1\tRepl").topics
    assert broken is not None
    assert rejected(topic_describe.read, broken).line == 124


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("", 1, "found ''"),
        ("\n\nhello\n", 3, "found 'hello'"),
        ("$ kafka-topics.sh --describe\n", 1, "kafka-topics.sh"),
    ],
)
def test_what_is_not_recognised_is_rejected(text: str, line: int, found: str) -> None:
    rejection = rejected(read, text)
    assert rejection.line == line
    assert "what kafka-topics --describe" in rejection.detail
    assert found in rejection.detail


@given(st.text())
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)


@costly(200)
@given(st.permutations(list(TEXTS.values())).flatmap(lambda texts: broken("".join(texts))))
def test_any_broken_paste_reads_or_is_rejected(text: str) -> None:
    def through(left: str) -> None:
        found = read(left)
        assert any(getattr(found, tool) is not None for tool in READERS)
        for tool, reader in READERS.items():
            part = getattr(found, tool)
            if part is not None:
                assert part.count("\n") == left.count("\n")
                reader(part)

    reads_or_rejects(through, text)


AROUND = (
    'Defaulted container "kafka" out of: kafka, exporter\n'
    "Unable to use a TTY - input is not a terminal or the right kind of file\n"
    "If you don't see a command prompt, try pressing enter.\n"
    "```console\n"
    "I have no name!@kafka-0:/$ kafka-topics.sh --bootstrap-server localhost:9092 \\\n"
    "    --describe \\\n"
    "    --topic orders\n"
    "sh-4.4$ exit\n"
    "exit\n"
    "PS C:\\kafka> Get-Content out.txt\n"
    "(prod) user@host:~/kafka$ \n"
    "# production\n"
    "12:34:56.789 [main] INFO org.apache.kafka.clients.admin.AdminClientConfig - AdminClientConfig values:\n"
    "INFO Registered signal handlers for TERM, INT, HUP (org.apache.kafka.common.utils.LoggingSignalHandler)\n"
    "[2025/01/27 19:50:51] x\n"
    "```\n"
    "real    0m2.004s\n"
    'pod "client" deleted\n'
)


def test_what_shells_kubectl_and_markdown_add_is_skipped_and_reported() -> None:
    texts = read(AROUND + TEXTS["topics"] + AROUND + TEXTS["brokers"] + AROUND)
    for part in ("topics", "brokers"):
        lines = getattr(texts, part)
        assert READERS[part](lines) == READERS[part](TEXTS[part])
    noise, topics, brokers = (text.count("\n") for text in (AROUND, TEXTS["topics"], TEXTS["brokers"]))
    starts = (0, noise + topics, 2 * noise + topics + brokers)
    logged = [line for line, content in enumerate(TEXTS["brokers"].split("\n"), start=1) if content.startswith("[")]
    expected = {start + line for start in starts for line in range(1, noise + 1)}
    assert {place.line for place in texts.skipped} == expected | {2 * noise + topics + line for line in logged}


@costly()
@given(st.permutations(list(TEXTS)), st.randoms())
def test_uploads_of_any_names_in_any_order_are_one_text(order: list[str], random: Random) -> None:
    """Whatever the names of the parts of a form are, right, swapped or unknown."""
    names = random.sample([*TEXTS, "file", "x"], len(order))
    texts = pasted.read([Upload(TEXTS[tool], name, name) for tool, name in zip(order, names, strict=True)])
    for tool, reader in READERS.items():
        assert reader(getattr(texts, tool)) == reader(TEXTS[tool])


@costly()
@given(st.permutations(list(TEXTS)), st.sampled_from(["topics", "brokers"]))
def test_a_rejection_names_the_upload_and_its_line(order: list[str], broken_tool: str) -> None:
    wrong = {"topics": "\tTopic: x\tPartition: 1\n", "brokers": "kafka-9:9092 (id: 9 rack\n"}[broken_tool]
    uploads = [Upload(TEXTS[tool] + (wrong if tool == broken_tool else ""), f"{tool}.txt", "file") for tool in order]
    with pytest.raises(MalformedText) as caught:
        assemble("c", uploads)
    line = TEXTS[broken_tool].count("\n") + 1
    assert caught.value.line == line
    assert caught.value.path == ("file",)
    assert caught.value.detail.startswith(f"line {line} of {broken_tool}.txt: expected ")


@costly()
@given(st.integers(60, 200))
def test_lines_that_a_terminal_wrapped_are_joined(width: int) -> None:
    """Tabs are blanks then, as text copied from a terminal has none."""
    wrapped = [
        line[start : start + width]
        for tool in ("topics", "brokers", "log_dirs")
        for line in TEXTS[tool].expandtabs().split("\n")
        for start in range(0, max(len(line), 1), width)
    ]
    cluster = assemble("c", [Upload("\n".join(wrapped))]).cluster
    expected = assembled("c", **{tool: TEXTS[tool] for tool in ("topics", "brokers", "log_dirs")}).cluster
    assert snapshot_json.write(cluster) == snapshot_json.write(expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("Topic:", "\x1b[01;31m\x1b[KTopic:\x1b[m\x1b[K").replace("\tPart", "\t\x1b[32mPart"),
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: "\x1b]0;user@host: ~\x07\x1b[?2004l" + text,
    ],
)
def test_colours_and_blanks_of_other_kinds(change: Callable[[str], str]) -> None:
    tools = ("topics", "brokers", "log_dirs")
    expected = assembled("c", **{tool: TEXTS[tool] for tool in tools}).cluster
    text = change("".join(TEXTS[tool] for tool in tools))
    assert snapshot_json.write(assemble("c", [Upload(text)]).cluster) == snapshot_json.write(expected)


def test_registrations_and_bytes_without_a_name() -> None:
    registration = '{"endpoints":["PLAINTEXT://kafka-1:9092"],"rack":"a","jmx_port":-1,"host":"k","timestamp":"1","port":9092,"version":3}'
    shell = f"Connecting to localhost:2181\n\nWATCHER::\n\nget /brokers/ids/1\n{registration}\n"
    (broker,) = assemble("c", [Upload(shell + OLDER["topics"])]).cluster.brokers
    assert (broker.id, broker.rack) == (1, "a")
    array = "[" + registration.replace("{", '{"id": 1, ', 1) + "]"
    assert assemble("c", [Upload(OLDER["topics"] + array)]).cluster.brokers == (broker,)
    metadata = "00000001 00000007 0002 6831 00002384 0001 72   00000007 00000000"
    assert [one.id for one in assemble("c", [Upload(metadata)]).cluster.brokers] == [7]


def test_a_session_of_the_zookeeper_shell() -> None:
    registration = (
        '{"endpoints":["SSL://k:9092"],"rack":"%s","jmx_port":-1,"host":null,"timestamp":"1","port":-1,"version":3}'
    )
    session = "Welcome to ZooKeeper!\nJLine support is disabled\nWATCHER::\n\nls /brokers/ids\n[7, 8]\n"
    for broker, rack in ((8, "b"), (7, "a")):
        session += f"get /brokers/ids/{broker}\n{registration % rack}\n"
    cluster = assemble("c", [Upload(session + "quit\n" + TEXTS["topics"])]).cluster
    assert [(broker.id, broker.rack) for broker in cluster.brokers] == [(7, "a"), (8, "b")]


HEADER_OF_T = "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2"
ROW_OF_T = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2"


@pytest.mark.parametrize(
    "columns",
    [
        "\tOffline: ",
        "\tOffline: 3\tObservers: 3",
        "\tLiveObservers: \tOffline: 3\tObservers: 3\tAssociatedOffline: ",
        "\tElr: 3\tLastKnownElr: ",
        "\tElr: N/A\tLastKnownElr: N/A",
        "\tMarkedForDeletion: true",
    ],
)
@pytest.mark.parametrize("separator", ["\t", "  "])
def test_columns_of_other_releases_and_vendors(columns: str, separator: str) -> None:
    """Kafka 0.10 to 4.4, Confluent's observers."""
    text = f"{HEADER_OF_T}\n{ROW_OF_T}{columns}\n".replace("\t", separator)
    found = assemble("c", [Upload(text.lstrip())])
    topic = found.cluster.topics[0]
    assert (topic.observers is not None) == ("Observers: 3" in columns)
    assert (topic.replicas.tolist(), topic.isr.tolist()) == ([[1, 2, 3]], [[1, 2]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("orders\npayments\n", "kafka-topics --list; run kafka-topics --describe"),
        ("bash: kafka-topics.sh: command not found\n", "a command that was not found"),
        ('{"version":1,"partitions":[]}', "a reassignment; POST /v1/checks"),
        ('Error from server (NotFound): pods "kafka-0" not found', "an error of kubectl"),
        ("num.partitions=3\n", "a properties file"),
        ("<!DOCTYPE html><html>", "a web page"),
        ("Error: Timed out", ""),
        (
            "NAME           READY   STATUS    RESTARTS   AGE\nprod-kafka-0   1/1   Running   0   3d\n",
            "a list of kubectl",
        ),
        ("CONTAINER ID   IMAGE   COMMAND\n", "a list of docker"),
        ("GROUP   TYPE   PROTOCOL\n", "kafka-consumer-groups --list; run it with --describe"),
        ("Configs for topic 'orders' are a=b\n", "kafka-configs of ZooKeeper; run it with --bootstrap-server"),
        (
            "Topic Partition Replica ClusterLink IsLeader IsObserver IsInIsr\norders 0 1 - true false true\n",
            "kafka-replica",
        ),
        ("# HELP kafka_server_brokertopicmetrics_bytesin_total\n", "metrics of an exporter"),
        ('{\n    "ClusterInfoList": [\n', "an answer of aws kafka; run aws kafka list-nodes"),
        ('{"progress":[{"operation":"LOAD"}],"version":1}', "a progress report of Cruise Control"),
        ('{"status":"error","errorType":"bad_data","error":"x"}', "a failure of an API"),
        ("HTTP/1.1 502 Bad Gateway\n", "the message of an HTTP server"),
        ('{"cats": 3}', "JSON of an unknown tool"),
        ('{"cluster": "c", "brokers": [{"id": 1}]}', "the JSON of a snapshot"),
        ('{"error":false,"message":"consumer status returned","status":{}}', "an answer of Burrow"),
        ("[2022-11-30 16:22:54]  INFO Partitions\n----+--------\n  ID | LEADER\n", "a table of topicctl"),
        ("meta:\n  name: orders\n", "topics as they are to be; rackplan diff --desired"),
        ("Error: Consumer group 'x' does not exist.\n", "a group that does not exist"),
        ("orders\r\npayments\r\ncustomers\r\ninvoices\r\n", "kafka-topics --list"),
        ('{"apiVersion":"v1","kind":"ConfigMap"}', ""),
        (
            "[2026-01-31 12:00:00,000] WARN Connection to node -1 (k) could not be established. (x.y)\n",
            "a tool that did not",
        ),
        ("% ERROR: Failed to acquire metadata: Local: Broker transport failure\n", "a tool that did not reach"),
        ("Traceback (most recent call last):\nkafka.errors.NoBrokersAvailable\n", "a tool that did not reach"),
        (
            "Error while executing topic command : Cluster authorization failed.\n",
            "a tool that the cluster does not let in",
        ),
        ("UnrecognizedOptionException: zookeeper is not a recognized option\n", "a tool without --zookeeper"),
        ("Error while executing topic command : Topic 'x' does not exist as expected\n", "a topic that does not exist"),
        ("%PDF-1.4\n1 0 obj\nendobj\n", "a document or an image"),
        (
            "\nAn error occurred (AccessDeniedException) when calling the ListNodes operation\n",
            "a failure of the AWS CLI",
        ),
        ("orders:0:10\norders:1:12\n", "kafka-get-offsets or kafka-dump-log; run kafka-topics"),
        ("Dumping /d/orders-0/0.log\n", "kafka-get-offsets or kafka-dump-log"),
        ("NAME   IMAGE   COMMAND   SERVICE\n", "a list of docker"),
        (
            "GROUP                         TYPE                          PROTOCOL\nb Consumer consumer\n",
            "kafka-consumer-groups",
        ),
        ("[orders, payments]\n", "names that zookeeper-shell lists; run get /brokers/topics"),
        ('{"error_code":40401,"message":"Topic not found."}', "a failure of an API"),
        ('{"timestamp":"2026","status":404,"error":"Not Found"}', "a failure of an API"),
        ("Topologies:\n   Sub-topology: 0\n", "a topology of Kafka Streams"),
        ("GROUP  TOPIC  PARTITION  NEW-OFFSET\nb  orders  0  0\n", "kafka-consumer-groups --reset-offsets"),
        ("TOPIC: ORDERS\tPARTITIONCOUNT: 1\n", "kafka-list-topic of Kafka 0.8.0, or capitals"),
        ("PARTITION  OLDEST_OFFSET  NEWEST_OFFSET  LEADER\n0 0 10 k1:9092\n", "a table of kafkactl"),
        ("{orders=(name=orders, internal=false, partitions=(partition=0))}\n", "an object of Java"),
        ('{"topic": {"cleanup_policy": "delete", "partitions": []}}', "an answer of Aiven"),
        ("PARTITION  LEADER  FOLLOWERS  CPU (%_CORES)\norders-0  1  [2]  0.1\n", "partition_load of Cruise Control"),
        ('{"MonitorState": {"state": "RUNNING"}, "ExecutorState": {}}', "the state or the tasks of Cruise Control"),
        ("USER TASK ID   CLIENT ADDRESS   START TIME\n", "the state or the tasks of Cruise Control"),
        ("  Cluster | Topic Name | Broker ID\n----------+------------+----\n", "a table of the confluent command"),
        (
            "context: x\nprojects:\n- name: p\n  topics:\n  - name: orders\n",
            "topics as they are to be; rackplan diff --desired",
        ),
    ],
)
def test_what_is_not_recognized_is_named(text: str, words: str) -> None:
    detail = rejected(lambda pasted: assemble("c", [Upload(pasted)]), text).detail
    assert ("this looks like " + words in detail) if words else ("this looks like" not in detail)
