"""Tables of partitions in CSV, with semicolons, tabs and blanks: read as the rows of `kafka-topics` are."""

import csv
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.formats.clusters.partition_tables import as_rows
from tests.formats.strategies import rejected
from tests.formats.test_sources import joined, replicas

NAMES = [("Topic", "topic_name"), ("Partition", "partition-id"), ("Leader", "LEADER ID"), ("Replicas", "replicas")]
COLUMNS = [*NAMES, ("Isr", "In Sync Replicas")]


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, dict[tuple[str, int], tuple[list[int], list[int], int]]]:
    """A text of a table, and by topic and partition the replicas, the in-sync ones and the leader."""
    rows: dict[tuple[str, int], tuple[list[int], list[int], int]] = {}
    topics = st.sampled_from(["orders", "a.b_c-d", "t"])
    for key in draw(st.lists(st.tuples(topics, st.integers(0, 9)), min_size=1, max_size=6, unique=True)):
        brokers = draw(st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True))
        isr = brokers[: draw(st.integers(0, len(brokers)))]
        rows[key] = brokers, isr, isr[0] if isr else -1
    mark, between = draw(st.sampled_from([(",", ";"), (";", ","), ("\t", ","), (",", ","), (",", ", "), ("\t", " ")]))
    bracket = draw(st.sampled_from(["%s", "[%s]", "{%s}"]))
    others = draw(st.permutations(range(1, 5)))
    text = StringIO()
    dialect = draw(st.sampled_from(["unix", "excel"]))
    writer = csv.writer(text, dialect, delimiter=mark, lineterminator="\n")
    order = [0, *others]
    writer.writerow([draw(st.sampled_from(COLUMNS[i])) for i in order] + ["size"])
    for (topic, partition), (brokers, isr, leader) in rows.items():
        listed = [bracket % between.join(map(str, ids)) for ids in (brokers, isr)]
        cells = [topic, str(partition), str(leader) if leader >= 0 else draw(st.sampled_from(["", "none", "-1", "-"]))]
        writer.writerow([[*cells, *listed][i] for i in order] + ["7"])
    return text.getvalue(), rows


@example(
    ("Topic\tIsr\tReplicas\tPartition\tLeader\tsize\nt\t[]\t[26]\t3\t-1\t7\n", {("t", 3): ([26], [], -1)}), "> ", True
)
@example(("Topic\tIsr\tReplicas\tPartition\tLeader\tsize\nt\t{}\t{7}\t7\t\t7\n", {("t", 7): ([7], [], -1)}), "", True)
@given(tables(), st.sampled_from(["", "kafka-1  | ", "> "]), st.booleans())
def test_a_table_reads_whatever_its_marks(
    table: tuple[str, dict[tuple[str, int], tuple[list[int], list[int], int]]], prefix: str, is_between: bool
) -> None:
    text, rows = table
    lines = [prefix + line for line in text.splitlines()]
    assert as_rows(text).count("\n") == text.count("\n")
    pasted = "\n".join(["Hello, this is it:", "", *lines, "", "That is all."] if is_between else lines)
    found = {
        (topic.name, partition): tuple([[one for one in ids if one >= 0] for ids in (brokers, isr)] + [leader])
        for topic in joined(pasted).cluster.topics
        for partition, brokers, isr, leader in zip(
            topic.partition_ids.tolist(),
            topic.replicas.tolist(),
            topic.isr.tolist(),
            topic.leaders.tolist(),
            strict=True,
        )
    }
    assert found == rows


def test_columns_of_blanks_and_tables_of_databases() -> None:
    expected = {0: [1, 2], 1: [2, 3]}
    of_psql = (
        " topic  | partition | leader | replicas | isr \n--------+-----------+--------+----------+-----\n"
        " orders |         0 |      1 | {1,2}    | {1,2}\n orders |         1 |      2 | {2,3}    | {2}\n(2 rows)\n"
    )
    for text in (
        "TOPIC   PARTITION  LEADER  REPLICAS  ISR\norders  0  1  1,2     1,2\norders  1  2  [2, 3]  [2]\n",
        of_psql,
    ):
        assert replicas(joined(text).cluster) == expected


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        ("orders;0;1;1,2;1\norders;0;1;1,2;1\n", 3, "partition 0 again"),
        ("orders;0;1;1,2;1\norders;1;1;1,x;1\n", 3, "broker ids"),
        ("orders;0;1;1,2;1\norders;1;1\n", 3, "cut off"),
        ("or ders;0;1;1,2;1\n", 2, "the name of a topic"),
        ("", 1, "rows below the heading"),
        ("That is all.\n", 1, "rows below the heading"),
    ],
)
def test_a_broken_row_is_rejected_with_its_line(rows: str, line: int, words: str) -> None:
    malformed = rejected(joined, "Topic;Partition;Leader;Replicas;Isr\n" + rows)
    assert (malformed.line, words in malformed.detail) == (line, True)


def test_a_table_without_a_column_is_named() -> None:
    assert "without a column that is needed" in rejected(joined, "Topic,Partition,Leader,Replicas\nt,0,1,1;2\n").detail


KAF = """Name:        orders
Internal:    false
Partitions:
  Partition  High Watermark  Leader  Replicas   ISR
  ---------  --------------  ------  --------   ---
  0          100             1       [1 2]      [1 2]
  1          7               2       [2 3]      [2]
Config:
  Name            Value    ReadOnly  Sensitive
  ----            -----    --------  ---------
  retention.ms    1000     false     false
"""
KAFKAT = (
    "Topic\t\tPartition\tLeader\t\tReplicas\t\t\tISRs\n"
    "orders\t\t0\t\t1\t\t[1, 2]\t\t\t[1, 2]\norders\t\t1\t\t2\t\t[2, 3]\t\t\t[2]\n"
)
CONFLUENT = """Topic: orders PartitionCount: 2 ReplicationFactor: 2
  Topic  | Partition | Leader | Replicas | ISR
+--------+-----------+--------+----------+--------+
  orders |         0 |      1 | [1 2]    | [1 2]
  orders |         1 |      2 | [2 3]    | [2]

Configuration
"""


@pytest.mark.parametrize("text", [KAF, KAFKAT, KAFKAT.expandtabs(), CONFLUENT])
def test_tables_of_command_lines_are_read(text: str) -> None:
    (topic,) = joined(text).cluster.topics
    assert topic.name == "orders"
    assert topic.replicas.tolist() == [[1, 2], [2, 3]]
    assert [[one for one in isr if one >= 0] for isr in topic.isr.tolist()] == [[1, 2], [2]]
    assert topic.leaders.tolist() == [1, 2]


def test_a_table_without_topics_is_of_the_one_that_was_named_before() -> None:
    assembled = joined(f"{KAF}$ kaf topic describe payments\n{KAF.replace('orders', 'payments')}")
    assert [topic.name for topic in assembled.cluster.topics] == ["orders", "payments"]
    rejected(joined, KAF.partition("Partitions:\n")[2])
    rejected(joined, KAF.replace("[", "").replace("]", ""))
    assert "Config:" in [place.unknown for place in assembled.unknown]
