"""Whatever a text repeats, reading it takes time in proportion to its length, and its refusal is short."""

import csv
import io
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.errors import Failure
from app.formats.clusters import broker_api_versions, broker_registration, log_dirs, topic_describe
from app.formats.groups import described_groups, group_texts
from app.formats.kafka_files import reassignment
from app.formats.snapshots import assembly, pasted
from app.formats.sources.sources import SOURCES
from app.formats.streams import topology_text
from app.formats.tables import scenario_tables
from app.formats.tables.topic_tables import csv_row, markdown_cell
from tests.profiles import costly

READERS: dict[str, Callable[[str], Any]] = {
    module.__name__.rpartition(".")[2]: module.read
    for module in (
        broker_api_versions,
        broker_registration,
        described_groups,
        group_texts,
        log_dirs,
        reassignment,
        topic_describe,
        reassignment,
        topology_text,
    )
}
READERS |= {name: source.read for name, source in SOURCES.items()}
READERS |= {"assembly": lambda text: assembly.assemble("c", [pasted.Upload(text)])}
LENGTH = 100_000
LONGEST_S = 5.0
"""Far more than the few milliseconds that it takes, and far less than the minutes of a quadratic search."""
LONGEST_DETAIL = 1_000
HEADS = [
    "",
    "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: ",
    "a:1 (id: 1 rack: ",
    "Topic;Partition;Leader;Replicas;Isr\nt;0;1;",
    '{"version":1,"partitions":[',
    '{"g":{"members":[',
    "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\ng t 0 - - - ",
    "Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000000 (topics: ",
    "Received log directory information from brokers ",
    "Consumer group '",
    "ID HOST PORT RACK STATE ENDPOINT_TYPE\n1 h 1 ",
    "Dynamic configs for broker 1 are:\n  cordoned.log.dirs=",
    "GROUP MEMBER PROCESS CLIENT-ID ASSIGNMENTS\ng m p c ACTIVE: ",
    "GROUP CONSUMER-ID HOST CLIENT-ID MEMBER-EPOCH ASSIGNMENT\ng m h c 1 ",
    "Metadata for all topics (from broker 1: k:9092/1):\n ",
    '{"originating_broker":{},"brokers":[',
    "PARTITION LEADER EPOCH REPLICAS ",
    "CurrentObservers: [",
    "Current partition reassignments:\norders-0: replicas: ",
    "apiVersion: v1\na: ",
    "apiVersion: v1\nkind: List\nitems: [",
    '{"status":"success","data":{"resultType":"vector","result":[',
    '{"KafkaPartitionState":{"other":[',
    "['",
    "('a' ",
    "Topic\tPartition\tLeader\tReplicas\tIsr\n",
    "{orders-0, oldLeader: 1, [",
]
PIECES = [
    *(" ", "\t", ":", "(", ")", '{"', "[", "{", "}", "\\", "'", '"', "a", "1", ",", "-", ".", "$ ", "A: ", "\n", "\r"),
    *("0:[1]; ", "t:1,", ";t:1", "Picked up ", "\tat a"),
    *("1,", ":1", "a:1 ", "a:1 (", "(id: ", " isFenced: true", ") -> (", "Adding ", "Topic: ", "Topic: t\t", "kafka-"),
    *("' is rebalancing. ", "Note: ", " (topics: ", "Sub-topology: 0", "-->", "\\\\", '\\"', '{"a":\n', '{"a" : \n'),
    *(
        "partition 0, leader 1, replicas: 1,",
        " REPLICAS",
        "rpk topic describe ",
        "orders-0: ",
        '"id": 1',
        "a: &a [",
        "*a,",
    ),
    *("? ", "- ", "apiVersion: v1\n", "---\n", "!!a ", "1:"),
    *(
        "'a', ",
        "'a'\n",
        '"1","',
        "$\n",
        "^I",
        "\n\tIsr: 1",
        "<![CDATA[",
        '["1000000000000","a"],',
        "{Broker: 1, ",
        "t\t0\t1\t1\t1\n",
    ),
    *("{ \n \n", '{"a":1}\n', "\x1b[31m", "\u202e", "\u2028", "\x85", "\x00", "\ufeff"),
]


def detail_of(read: Callable[[str], Any], text: str) -> str:
    """The detail of the refusal; empty if the text is read."""
    try:
        read(text)
    except Failure as failure:
        return failure.detail
    return ""


@pytest.mark.parametrize("name", READERS)
@given(head=st.sampled_from(HEADS), pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3), tail=st.text())
@costly(25)
@example(head="CurrentObservers: [", pieces=[" "], tail="x")
def test_a_text_that_repeats_itself_is_read_or_rejected_in_time(
    name: str, head: str, pieces: list[str], tail: str
) -> None:
    piece = "".join(pieces)
    text = head + piece * (LENGTH // len(piece)) + tail
    started = time.thread_time()  # of other processes, nothing
    detail = detail_of(READERS[name], text)
    assert time.thread_time() - started < LONGEST_S
    assert len(detail) <= LONGEST_DETAIL, detail[:LONGEST_DETAIL]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_cell_of_markdown_begins_no_markup_and_ends_no_row(text: str) -> None:
    cell = markdown_cell(text)
    unescaped = cell.replace("\\\\", "")
    assert cell.isprintable()
    for sign in "|<>&[]`*~":
        assert unescaped.count(sign) == unescaped.count("\\" + sign)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("use1-az1", "use1-az1"),
        ("<img src=x onerror=alert(1)>", r"\<img src=x onerror=alert(1)\>"),
        ("[here](javascript:alert(1))", r"\[here\](javascript:alert(1))"),
        ("a|b\\", r"a\|b\\"),
        ("a\n| b", r"a\n\| b"),
    ],
)
def test_cells_by_hand(text: str, cell: str) -> None:
    assert markdown_cell(text) == cell


@pytest.mark.parametrize("text", ["=1+1", "+1", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_a_spreadsheet_runs_no_cell_of_csv(text: str) -> None:
    """Member ids and names of racks are strangers' text."""
    assert next(csv.reader(io.StringIO(csv_row(text, "=1"), newline=""))) == [f"'{text}", "'=1"]
    assert csv_row(text).strip('"').startswith("'")
    written = scenario_tables.write_csv([{"axes": {"name": text}}], [scenario_tables.Column.axis("name")]).decode()
    assert written == f'"axes.name"\n"\'{text}"\n'


def test_a_field_of_csv_with_a_line_end_is_in_quotes() -> None:
    assert csv_row('a\r\n"b",c') == '"a\r\n""b"",c"'
