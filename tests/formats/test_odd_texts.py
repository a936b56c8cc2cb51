"""Texts as terminals, pagers, log collectors, web pages and other languages show them, and hints at the others."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.snapshots import snapshot_json
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.prefixes import without_prefixes
from app.formats.syntax.printed_objects import as_json
from tests.formats.strategies import rejected, sample

LINES = sample("kafka-topics-describe.txt").splitlines()
PLAIN = "\n".join(LINES) + "\n"
MOMENT = "2026-11-27T10:00:00"
KAFKAJS = json.dumps(
    {
        "brokers": [{"nodeId": 1, "host": "k1", "port": 9092}, {"nodeId": 2, "host": "k2", "port": 9092}],
        "topics": [
            {
                "name": "orders",
                "partitions": [
                    {"partitionId": 0, "leader": 1, "replicas": [1, 2], "isr": [1, 2]},
                    {"partitionId": 1, "leader": 2, "replicas": [2, 1], "isr": [2]},
                ],
            }
        ],
    },
    indent=2,
)
ROWS = [("orders", 0, 1, "1,2", "1,2"), ("orders", 1, 2, "2,1", "2")]
HEADING = ("Topic", "Partition", "Leader", "Replicas", "ISR")


def read(text: str) -> bytes:
    return snapshot_json.write(assemble("c", [Upload(text)]).cluster)


def each(around: Callable[[str], str]) -> str:
    return "\n".join(map(around, LINES)) + "\n"


def wrapped(width: int) -> str:
    lines = [line.expandtabs() for line in LINES]
    return "\n".join(line[at : at + width] for line in lines for at in range(0, len(line), width))


def boxed(line: str) -> str:
    return f"│ {line.expandtabs().ljust(200)} │"


def html_row(cells: tuple[object, ...], cell: str) -> str:
    return "<tr>" + "\n  ".join([f"<{cell} class='c'>{one}</{cell}>" for one in cells]) + "</tr>"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN + "~\n~\n(END)", id="less"),
        pytest.param(f"Every 2.0s: kafka-topics.sh --describe   host1: Fri\n\n{PLAIN}", id="watch"),
        pytest.param(each(lambda line: line.expandtabs().ljust(200) + "│"), id="tmux"),
        pytest.param(
            f'Script started on 2026 [TERM="x"]\n\x1b[?2004hu@h:~$ ls\r\n\x1b[?2004l\r{PLAIN}\nScript done on []',
            id="script",
        ),
        pytest.param(wrapped(80), id="80 columns"),
        pytest.param(wrapped(120), id="120 columns"),
        pytest.param(each(lambda line: "> > " + line.replace("\t", "    ")), id="quoted twice"),
        pytest.param(each(lambda line: f"topics.txt:7:{line}"), id="grep -nH"),
        pytest.param(each(lambda line: f"+{line}"), id="diff"),
        pytest.param(each(lambda line: f"[pod/kafka-0/kafka] {MOMENT}.1Z {line}"), id="kubectl"),
        pytest.param(each(lambda line: f"\x1b[36mkafka-1  | \x1b[0m{line}"), id="docker compose"),
        pytest.param(each(lambda line: f"{MOMENT}+00:00 ecs/kafka/0a1b2c {line}"), id="aws logs tail"),
        pytest.param(each(lambda line: f"{MOMENT}+00:00 app[kafka.1]: {line}"), id="heroku"),
        pytest.param(each(lambda line: json.dumps({"MESSAGE": line, "_PID": "7"})), id="journald"),
        pytest.param('"_time","_raw",host\n' + each(lambda line: f'"{MOMENT}","{line}",h1'), id="Splunk"),
        pytest.param(
            "Date,Host,Service,Message\n" + each(lambda line: f'"{MOMENT}Z","h","kafka","{line}"'),
            id="four quoted columns",
        ),
        pytest.param(each(lambda line: f'level=info pod=k-0 msg={json.dumps(line)} host="h"'), id="logfmt"),
        pytest.param(each(lambda line: f"I1127 10:00:00.123456       1 main.go:12] {line}"), id="klog"),
        pytest.param("timestamp,message\n" + each(lambda line: f'1700000000000,"{line}"'), id="CloudWatch"),
        pytest.param("Date,Host,Message\n" + each(lambda line: f'"{MOMENT}Z","h","{line}"'), id="Datadog"),
        pytest.param(f"[Pipeline] sh\n+ kafka-topics.sh --describe\n{PLAIN}[Pipeline] }}\n", id="Jenkins"),
        pytest.param(f"{{noformat}}\n{PLAIN}{{noformat}}\n", id="Jira"),
        pytest.param(f"{{code:bash}}{PLAIN.rstrip()}{{code}}\n", id="Jira, on the lines"),
        pytest.param(PLAIN.replace("\n", " "), id="echo $rows"),
        pytest.param(PLAIN.replace("\t", "&emsp;"), id="entities"),
        pytest.param(each(lambda line: f"<14>1 {MOMENT}.1Z host app - - - {line}"), id="RFC 5424"),
        pytest.param(each(lambda line: f"{MOMENT}.123 INFO  [main] c.e.Runner - {line}"), id="Logback"),
        pytest.param(each(lambda line: f"27/11/2026, 10:00 - Anna: {line}"), id="WhatsApp"),
        pytest.param(each(lambda line: f"[   12.345678] {line}"), id="dmesg"),
        pytest.param("Look:\n" + each(lambda line: f"=> {line}") + "done\n", id="arrows"),
        pytest.param(each(lambda line: json.dumps({"textPayload": line, "severity": "INFO"})), id="Cloud Logging"),
        pytest.param(f"┌{'─' * 202}┐\n{each(boxed)}└{'─' * 202}┘\n", id="k9s"),
    ],
)
def test_a_description_with_something_around_it_is_read_alike(text: str) -> None:
    assert read(text) == read(PLAIN)


@pytest.mark.parametrize(
    "name",
    [
        "kafka-consumer-groups-describe.txt",
        "kafka-consumer-groups-state.txt",
        "kafka-share-groups-members-verbose.txt",
        "kafka-streams-groups-members-verbose.txt",
    ],
)
@pytest.mark.parametrize("end", ["\t", " \t ", None])
def test_blanks_and_tabs_at_the_ends_of_rows_say_nothing(name: str, end: str | None) -> None:
    """Without them a last cell that is empty, as of a member without partitions, is still a cell."""
    text = sample(name)
    other = "\n".join(line.rstrip() if end is None else line + end for line in text.split("\n"))
    assert read(other) == read(text)


OLDER_TABLES = (
    """Consumer group 'billing' has no active members.
TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
orders  0          70              70              0    -            -     -
orders  1          71              71              0    -            -     -
""",
    """GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  OWNER
billing  orders  1          45678           45680           2    consumer-1_/10.0.0.1
billing  orders  0          91011           91012           1    none
""",
)


@pytest.mark.parametrize("text", OLDER_TABLES)
def test_a_table_of_older_releases_may_be_double_spaced(text: str) -> None:
    assert read(text.replace("\n", "\n\n")) == read(text)


@pytest.mark.parametrize(
    "prefix",
    [
        f"{MOMENT}.123 DEBUG [main] c.e.Client - metadata: ",
        "2026-11-27 10:00:00 INFO  response: ",
        "const metadata = ",
        "body=",
    ],
)
def test_json_on_one_line_of_a_log(prefix: str) -> None:
    assert read(f"{prefix}{KAFKAJS}\n") == read(KAFKAJS)


BROKERS = sample("kafka-broker-api-versions.txt").rstrip("\n").split("\n")


@pytest.mark.parametrize(
    "prefix", ["Notice: /Stage[main]/Exec[kafka]/returns: ", "10:00:00.123 [main] INFO  c.e.Tool - STDOUT: "]
)
def test_a_prefix_of_lines_of_which_few_are_known_is_removed(prefix: str) -> None:
    """Of a broker a line says the id and the rack, and sixty lines the versions of its requests."""
    ranges = [f"\tRequest{i}({i}): 0 to {i} [usable: {i}]," for i in range(60)]
    lines = [prefix + line for broker in BROKERS if "(id: " in broker for line in (broker, *ranges)]
    assert read("\n".join(lines)) == read("\n".join(BROKERS))


def test_an_indent_of_most_lines_is_no_prefix() -> None:
    """YAML would mean something else without it, whichever lines are known alone."""
    text = "b:\n  a: 1\n  a: 2\n" * 20
    assert without_prefixes(text, lambda line: line.startswith("a: ")) == ([text], "")


def test_windows_may_write_no_byte_order_mark() -> None:
    assert Upload.of(PLAIN.encode("utf-16-le"), "topics") == Upload(PLAIN, "topics")


@pytest.mark.parametrize(
    "text",
    [
        f"<html><body><table>{html_row(HEADING, 'th')}\n" + "\n".join(html_row(row, "td") for row in ROWS) + "</table>",
        "| Topic | Partition | Leader | Replicas | ISR |\n|:--|--:|:-:|---|---|\n"
        + "\n".join(f"| `{row[0]}` | **{row[1]}** | {row[2]} | {row[3]} | {row[4]} |" for row in ROWS),
        "Cluster,Partition,Topic,Leader,Replicas,ISR\n"
        + "\n".join(f'c,{row[1]},{row[0]},{row[2]},"{row[3]}","{row[4]}"' for row in ROWS),
        "    Topic  Partition  Leader Replicas     ISR\n"
        + "\n".join(f"{i}  {row[0]}  {row[1]}  {row[2]}  [{row[3]}]  [{row[4]}]" for i, row in enumerate(ROWS)),
        "+------+---------+\n| Topic|Partition|Leader|Replicas|ISR|\n+------+---------+\n"
        + "\n".join(f"|{row[0]}|{row[1]}|{row[2]}|[{row[3]}]|[{row[4]}]|" for row in ROWS),
        "Topic | Partition | Leader | Replicas | ISR\n---|---|---|---|---\n"
        + "\n".join(" | ".join(map(str, row)) for row in ROWS),
    ],
)
def test_tables_of_pages_are_read_as_csv(text: str) -> None:
    csv = ["\t".join(map(str, row)) for row in (HEADING, *ROWS)]
    assert read(text) == read("\n".join(csv))


@pytest.mark.parametrize(
    "text",
    [
        KAFKAJS.replace("]\n", "],\n").replace("}\n", "},\n"),
        KAFKAJS.replace('"port": 9092', '"port": 9092, // the listener\n "load": NaN'),
        KAFKAJS.replace('"topics"', '/* all\n of them */ "topics"').replace('"isr"', "# in sync\n" + '"isr"'),
        KAFKAJS.replace('": ', '"=>').replace("9092", "nil"),
    ],
)
def test_json_of_other_languages_is_read_as_json(text: str) -> None:
    assert read(text) == read(KAFKAJS)


@given(st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9), st.lists, max_leaves=9))
def test_json_stays_as_it_is(value: object) -> None:
    """Also if a text in it looks like a comment: only what is no JSON is written anew."""
    text = json.dumps({"a": value, "b": "x, // [1,] # =>"}, ensure_ascii=False)
    assert as_json(text) == text
    assert json.loads(as_json(text.replace("}", ",}") if "}" not in str(value) else text)) == json.loads(text)


@pytest.mark.parametrize("wrong", ['"nodeId": 1 "host"', '"nodeId": 1,, "host"', '"nodeId": 1, # "host"'])
def test_what_is_no_json_in_any_language_is_rejected(wrong: str) -> None:
    """A comment that takes an address away leaves no broker; a comma that is missing, or there twice, is an error."""
    rejected(lambda text: assemble("c", [Upload(text)]), KAFKAJS.replace('"nodeId": 1,\n      "host"', wrong))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("TOPIC   PARTITION   NEWEST_OFFSET   OLDEST_OFFSET   CONSUMER_OFFSET   LEAD   LAG\n", "a table of kafkactl"),
        ("  TOPIC  | ID | LEADER |  REPLICAS\n+--------+----+--------+---\n", "a table of topicctl"),
        ("NAME      STATE     CONSUMERS\nbilling   Stable    1\n", "groups of kaf"),
        ('{"consumerGroups": [{"groupId": "billing", "state": "Stable"}]}', "groups of Redpanda Console"),
        ('{"topicIdentities": [{"topic": "orders", "partitions": 2}]}', "topics of CMAK"),
        ('{"topics": [{"topic": "orders", "error": null}]}', "topics of CMAK"),
        ("Broker\t\tSocket\n1\t\t10.0.0.1:9092\n", "brokers without racks of kafkat or kaf"),
        ("ID  ADDRESS       CONTROLLER\n1   kafka-1:9092  true\n", "brokers without racks of kafkat or kaf"),
        ("Valid replica already elected for partitions payments-0\n", "kafka-leader-election"),
        ("Successfully cancelled partition reassignments for: orders-0\n", "a cancelled reassignment"),
        ('{"name": "s", "connector": {"state": "RUNNING"}, "tasks": []}', "connectors"),
        ('{"version": 4, "terraform_version": "1.9.0", "resources": []}', "Terraform's file"),
        ("PARTITION  ISR  SIZE  EARLIEST_OFFSET\n0  3  7  0\n", "an answer of Aiven"),
        ("(groupId=billing, isSimpleConsumerGroup=false, members=(memberId=m", "an object of Java"),
        ("Partition\tFirst Offset\tLast Offset\tSize\n0\t0\t7\t7\n", "a page of one topic"),
        ("Partition Information\nPartition\tLatest Offset\tLeader\n0\t7\t1\n", "a page of one topic"),
        ("(name=orders, internal=false, partitions=(partition=0, leader=k1:9092))", "an object of Java"),
        ("{Brokers:[{ID:1 Host:k1 Port:9092 Rack:a}]}", "an object of Go"),
        ('Broker { id: 1, host: "k1" }', "an object of Go, Rust"),
        ("$ kafka-consumer-groups.sh --list\nbilling\n", "kafka-consumer-groups --list"),
        ('{"topics": [{"topic": "orders"}], "version": 1}', "the file of --topics-to-move-json-file"),
        (
            "Name:        orders\nInternal:    false\nPartitions:\n  Partition  Leader  ISR\n",
            "topics without the replicas",
        ),
        ("Call(callName=listNodes) timed out at 2 after 1 attempt(s)\n", "a tool that did not reach the cluster"),
        ('kafka_topic_partition_leader{partition="0",topic="orders"} 1\n', "metrics of an exporter"),
        ("#mbean = kafka.server:type=ReplicaManager:\n", "metrics of an exporter"),
        ("Partition\tLeader\tReplicas\tIn Sync\n0\t1\t1,2\t1,2\n", "a page of one topic"),
        ("Optimization has 10 inter-broker replica(0 MB) moves\n", "a summary of Cruise Control"),
        ("{orders-0, oldLeader: 1, [1, 2] -> [3, 2]}\n", "a reassignment"),
        ("services:\n  kafka-1:\n    image: kafka\n", "a file of docker compose"),
        ('  + resource "kafka_topic" "orders" {\n      + partitions = 3\n    }\n', "topics as they are to be"),
    ],
)
def test_other_texts_have_a_hint(text: str, hint: str) -> None:
    assert hint in str(rejected(lambda one: assemble("c", [Upload(one)]), text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "% Metadata for all topics (from broker 1: k1:9092/1):\n 2 brokers:\n  broker 1 at k1:9092\n"
            '  broker 2 at k2:9092\n 1 topics:\n  topic "orders" with 2 partitions:\n'
            "    partition 0, leader 1, replicas: 1,2, isrs: 1,2\n    partition 1, leader 2, replicas: 2,1, isrs: 2\n",
            id="rdkafka_example",
        ),
        pytest.param(
            "Cluster q1Sh metadata (response from broker k1:9092/1):\n 2 brokers:\n  k1:9092/1  (controller)\n"
            '  k2:9092/2\n 1 topics:\n  "orders" with 2 partition(s)\n    partition 0 leader: 1, replicas: [1, 2], '
            "isrs: [1, 2]\n    partition 1 leader: 2, replicas: [2, 1], isrs: [2]\n",
            id="list_topics.py",
        ),
        json.dumps(
            [
                *(
                    {"cluster": "c", "topic_name": "orders", "partition_id": one, "broker_id": broker, **state}
                    for one, broker, state in (
                        (0, 1, {"is_leader": True, "is_in_isr": True}),
                        (0, 2, {"is_leader": False, "is_in_isr": True}),
                        (1, 2, {"is_leader": True, "is_in_isr": True}),
                        (1, 1, {"is_leader": False, "is_in_isr": False}),
                    )
                )
            ]
        ),
    ],
)
def test_examples_of_clients_and_the_confluent_command_are_read(text: str) -> None:
    assert read(text) == read(KAFKAJS)
