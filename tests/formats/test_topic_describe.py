"""`kafka-topics --describe` of every generation, and errors of a broken one."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from app.core.model import INT32_MAX, NO_LEADER, UNKNOWN_SIZE, unpadded
from app.errors.requests import MalformedText
from app.formats.clusters import topic_describe
from app.formats.clusters.topic_describe import TopicDescription, read, topics
from app.formats.clusters.topic_rows import PartitionDescription
from tests.formats.strategies import (
    broken,
    broker_ids,
    line_texts,
    reads_or_rejects,
    rejected,
    replica_lists,
    sample,
    topic_ids,
    topic_names,
)
from tests.formats.writers.topic_describe import write
from tests.profiles import costly, examples

CAPTURES = [
    "kafka-topics-describe.txt",
    "kafka-topics-describe-reassigning.txt",
    "kafka-topics-describe-two-brokers-down.txt",
]
KRAFT_4 = (
    "Topic: orders\tTopicId: 2axB58VyTMemnegrC2eNlQ\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: a=b,c=d:e,f\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: \n"
    "\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 2,1\tIsr: \tElr: 2\tLastKnownElr: 1\n"
)
KRAFT_3_9 = re.sub(r"Elr: \d?(?=[\t\n])", "Elr: N/A", KRAFT_4)
KAFKA_2_2 = (
    "Topic: test\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: segment.bytes=1073741824\tMarkedForDeletion: true\n"
    "\tTopic: test\tPartition: 0\tLeader: 0\tReplicas: 0\tIsr: 0\tMarkedForDeletion: true\n"
)
KAFKA_0_10 = (
    "Topic:test\tPartitionCount:2\tReplicationFactor:1\tConfigs:\n"
    "\tTopic: test\tPartition: 0\tLeader: 0\tReplicas: 0\tIsr: 0\n"
    "\tTopic: test\tPartition: 1\tLeader: none\tReplicas: 1\tIsr: \n"
)
WITH_OFFLINE = (
    "Topic: t\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tOffline: 2\tElr: \tLastKnownElr: \n"
)


MARKS = ["", "\t", " ", ",", ";", "|", "\r", "\n", "-", "0", "7", "3000000000", "00000000", "none", "٣", "Leader: "]
EXTRA = [
    "\tIsr: ",
    "\tElr: \tLastKnownElr: ",
    "\tElr: N/A\tLastKnownElr: N/A",
    "\tOffline: 1",
    "\tTopic: t\tPartition: 3",
]


@st.composite
def nearly_usual(draw: st.DrawFn) -> str:
    """The rows of a topic as in most texts, with some changes."""
    width, count = draw(st.integers(1, 3)), draw(st.integers(8, 10))
    eligible = draw(st.sampled_from(["", "\tElr: \tLastKnownElr: ", "\tElr: N/A\tLastKnownElr: N/A"]))
    rows = []
    for partition in range(count):
        ids = ",".join([str((partition + column) % 20) for column in range(width)])
        columns = [f"Partition: {partition}", f"Leader: {partition % 20}", f"Replicas: {ids}", f"Isr: {ids}{eligible}"]
        if not draw(st.integers(0, 15)):
            columns = draw(st.permutations(columns))
        rows.append("\t".join(["\tTopic: t", *columns]) + "\n")
    text = f"Topic: t\tPartitionCount: {count}\tReplicationFactor: {width}\tConfigs: \n" + "".join(rows)
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(st.sampled_from([*MARKS, *EXTRA])) + text[start + draw(st.integers(0, 3)) :]
    return text + draw(st.sampled_from(["", KAFKA_2_2]))


@st.composite
def partitions(draw: st.DrawFn, partition: int, with_elr: bool) -> PartitionDescription:
    replicas = draw(replica_lists)
    reassigning = draw(st.booleans())
    lists = st.lists(broker_ids, max_size=3, unique=True).map(tuple)
    elr, last_known_elr = draw(st.just((None, None)) | st.tuples(lists, lists)) if with_elr else (None, None)
    return PartitionDescription(
        partition=partition,
        leader=draw(st.none() | st.sampled_from(replicas) | st.integers(INT32_MAX - 9, INT32_MAX)),
        replicas=replicas,
        isr=tuple(draw(st.permutations(replicas)))[: draw(st.integers(0, len(replicas)))],
        adding=draw(replica_lists) if reassigning else (),
        removing=draw(replica_lists) if reassigning else (),
        elr=elr,
        last_known_elr=last_known_elr,
    )


@st.composite
def descriptions(draw: st.DrawFn) -> tuple[tuple[TopicDescription, ...], dict[str, Any]]:
    """Topics, and the layout in which they are written."""
    with_elr = draw(st.booleans())
    described = []
    for name in draw(st.lists(topic_names, unique=True, max_size=3)):
        ids = draw(st.lists(st.integers(0, 2000), unique=True, max_size=4))
        described.append(
            TopicDescription(
                name=name,
                replication_factor=draw(st.integers(1, 5)),
                partitions=tuple(draw(partitions(partition, with_elr)) for partition in ids),
                configs=draw(line_texts),
                topic_id=draw(st.none() | topic_ids),
            )
        )
    others = draw(st.dictionaries(st.sampled_from(["Offline", "MarkedForDeletion"]), line_texts, max_size=2))
    separator = draw(st.sampled_from([": ", ":"]))
    columns = [f"{name}: {value}" for name, value in others.items()]
    return tuple(described), {"with_elr": with_elr, "separator": separator, "others": columns}


def outcome(text: str) -> tuple[TopicDescription, ...] | str:
    """The result of reading, or the failure."""
    try:
        return read(text)
    except MalformedText as malformed:
        return f"{malformed.line} {malformed}"


class TestReadAndWrite:
    @costly()
    @given(descriptions())
    def test_what_is_written_reads_back(self, printed: tuple[tuple[TopicDescription, ...], dict[str, Any]]) -> None:
        """In every generation's layout, also with columns of other names, which are not read.

        The expression for usual rows matches exactly one blank before a value; others are read column by column.
        """
        described, layout = printed
        assert read(write(described, **layout)) == described
        assert read(write(described, **layout).replace("\tLeader: ", "\tLeader:  ")) == described

    @examples(200)
    @given(nearly_usual())
    def test_rows_are_read_at_once_as_they_are_line_by_line(self, text: str) -> None:
        at_once = outcome(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(topic_describe, "_LEAST_ROWS", 1 << 31)
            assert at_once == outcome(text)
        event(f"read: {isinstance(at_once, tuple)}")

    def test_usual_rows_are_read_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Else the law above would compare one way with itself."""
        text = "Topic: t\tPartitionCount: 8\tReplicationFactor: 2\tConfigs: \n" + "".join(
            [f"\tTopic: t\tPartition: {row}\tLeader: 5\tReplicas: 5,6\tIsr: 5,6\n" for row in range(8)]
        )
        monkeypatch.setattr(topic_describe._Reader, "_take_row", None)
        monkeypatch.setattr(topic_describe._Reader, "_add", None)
        assert [row.partition for row in read(text)[0].partitions] == [*range(8)]

    @pytest.mark.parametrize("name", CAPTURES)
    def test_real_captures_come_back_verbatim(self, name: str) -> None:
        assert write(read(sample(name)), with_elr=True) == sample(name)

    @pytest.mark.parametrize(
        ("text", "layout"),
        [
            (KRAFT_4, {"with_elr": True}),
            (KRAFT_3_9, {"with_elr": True}),
            (KAFKA_2_2, {"others": ["MarkedForDeletion: true"]}),
            (KAFKA_0_10, {"separator": ":"}),
            (WITH_OFFLINE, {"with_elr": True}),
        ],
    )
    def test_every_generation_comes_back_verbatim(self, text: str, layout: dict[str, Any]) -> None:
        assert write(read(text), **layout) == text.replace("\tOffline: 2", "")

    def test_nothing_is_the_answer_of_a_cluster_without_topics(self) -> None:
        assert read("\n") == ()

    def test_a_row_is_read_into_its_fields(self) -> None:
        text = sample("kafka-topics-describe-reassigning.txt")
        row = read(text)[0].partitions[0]
        assert (row.leader, row.replicas, row.isr) == (107, (109, 105, 103, 102, 107, 108), (107, 108, 102))
        assert (row.adding, row.removing) == ((103, 105, 109), (102, 107, 108))
        assert (row.elr, row.last_known_elr) == ((), ())

    def test_configs_keep_their_commas_colons_and_equals_signs(self) -> None:
        assert read(KRAFT_4)[0].configs == "a=b,c=d:e,f"

    @pytest.mark.parametrize(
        ("configs", "recorded"),
        [
            ("min.insync.replicas=2", {"min.insync.replicas": "2"}),
            (
                "cleanup.policy=compact,delete,min.insync.replicas=02,segment.ms=1",
                {"cleanup.policy": "compact,delete", "min.insync.replicas": "2"},
            ),
            ("retention.ms=-1, min.insync.replicas=3", {"min.insync.replicas": "3", "retention.ms": "-1"}),
            ("x.min.insync.replicas=2", {}),
            ("min.insync.replicas=0", {}),
            ("min.insync.replicas=9999999999", {}),
            ("leader.replication.throttled.replicas=0:101,1:102", {}),
            (
                "follower.replication.throttled.replicas=0:101,1:102,remote.storage.enable=true",
                {"follower.replication.throttled.replicas": "0:101,1:102", "remote.storage.enable": "true"},
            ),
            ("follower.replication.throttled.replicas=" + "0:101," * 700, {}),
            ("", {}),
        ],
    )
    def test_the_configurations_that_are_recorded(self, configs: str, recorded: dict[str, str]) -> None:
        """Others, and values that Kafka rejects or that are longer than a request may have, are left out."""
        (topic,) = topics([replace(description, configs=configs) for description in read(KRAFT_4)[:1]])
        assert topic.configs == recorded

    def test_a_leader_of_minus_one_is_none(self) -> None:
        described = read(KAFKA_0_10.replace("Leader: none", "Leader: -1"))
        assert described == read(KAFKA_0_10)

    @pytest.mark.parametrize("name", CAPTURES)
    @pytest.mark.parametrize("end", ["\r\n", "\n\n", "\n \n"])
    def test_line_ends_and_blank_lines_do_not_matter(self, name: str, end: str) -> None:
        assert read(sample(name).replace("\n", end)) == read(sample(name))

    @pytest.mark.parametrize("name", CAPTURES)
    def test_log_lines_do_not_matter(self, name: str) -> None:
        log = "[2025-01-27 19:50:51,936] WARN [AdminClient clientId=adminclient-1] Topic: x (org.apache.kafka)\n"
        assert read(log + "WARNING: deprecated\n" + sample(name)) == read(sample(name))

    @pytest.mark.parametrize("text", [*map(sample, CAPTURES), KRAFT_3_9, KAFKA_2_2, KAFKA_0_10, WITH_OFFLINE])
    def test_blanks_that_replace_tabs_are_read_as_tabs(self, text: str) -> None:
        """`expandtabs` acts like a terminal: a long value leaves one blank before the next column."""
        assert read(text.expandtabs()) == read(text)


class TestTopics:
    def test_topics_come_by_name_with_rows_by_partition(self) -> None:
        b = TopicDescription(
            "b", 1, (PartitionDescription(1, None, (3,), ()), PartitionDescription(0, 2, (2, 1), (2,)))
        )
        found = topics((b, replace(b, name="a", partitions=())))
        assert [topic.name for topic in found] == ["a", "b"]
        assert found[0].replicas.shape == (0, 0)
        assert found[1].partition_ids.tolist() == [0, 1]
        assert unpadded(found[1].replicas) == [[2, 1], [3]]
        assert unpadded(found[1].isr) == [[2], []]
        assert found[1].leaders.tolist() == [2, NO_LEADER]
        assert found[1].size_bytes.tolist() == [UNKNOWN_SIZE, UNKNOWN_SIZE]
        assert found[1].adding.shape == found[1].removing.shape == (2, 0)

    def test_topic_ids_are_known_since_2_8(self) -> None:
        assert [topic.topic_id for topic in topics(read(KRAFT_4))] == ["2axB58VyTMemnegrC2eNlQ"]
        assert [topic.topic_id for topic in topics(read(KAFKA_2_2))] == [None]
        assert [topic.topic_id for topic in topics(read(KRAFT_4.replace("2axB58VyTMemnegrC2eNlQ", "")))] == [None]

    def test_a_reassignment_shows_in_the_arrays(self) -> None:
        found = {topic.name: topic for topic in topics(read(sample(CAPTURES[1])))}
        inventory = found["inventory.changes"]
        assert inventory.adding[0].tolist() == [103, 105, 109]
        assert inventory.removing[1].tolist() == [104, -1, -1]


HEADER = "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: \n"
ROW_0 = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n"
ROW_1 = "\tTopic: t\tPartition: 1\tLeader: 2\tReplicas: 2,1\tIsr: 1\n"


@given(st.lists(st.sampled_from([ROW_0, ROW_1]), min_size=1, unique=True))
def test_rows_without_a_header_are_part_of_their_topic(rows: list[str]) -> None:
    """As `--under-replicated-partitions` prints them: alone, before a description, and after it."""
    (alone,) = read("".join(rows))
    whole = {row.partition: row for row in read(HEADER + ROW_0 + ROW_1)[0].partitions}
    assert (alone.name, alone.is_whole, alone.replication_factor) == ("t", False, 2)
    assert alone.partitions == tuple([whole[0 if row == ROW_0 else 1] for row in rows])
    described = HEADER + ROW_0 + ROW_1
    assert read("".join(rows) + described) == read(described + "".join(rows)) == read(described)
    of_another = described.replace("Topic: t", "Topic: u")
    assert set(read(of_another + "".join(rows))) == {alone, *read(of_another)}


OTHER = (
    "Topic: u\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    "\tTopic: u\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
)


@given(st.sampled_from([ROW_0, ROW_1]), st.sampled_from(["none", "1", "2"]), st.sampled_from(["", "1", "2", "1,2"]))
def test_of_a_state_that_is_printed_twice_the_last_one_counts(row: str, leader: str, isr: str) -> None:
    """As a description, and `--under-replicated-partitions` some seconds later, print it."""
    start, _, rest = row.partition("Leader: ")
    replicas = rest.split("\t")[1]
    later = f"{start}Leader: {leader}\t{replicas}\tIsr: {isr}\n"
    described = HEADER + ROW_0 + ROW_1
    (expected,) = read(described.replace(row, later))
    (first,) = read(described)
    for text in (described + later, described.replace(row, later) + row, described + described.replace(row, later)):
        (topic,) = [one for one in read(text) if one.name == "t"]
        is_last = later if not text.endswith(row) or later == row else row
        assert topic.partitions == (expected.partitions if is_last == later else first.partitions)
        assert (topic.changed is None) == (later == row)
    for text, counts in ((described + OTHER + later, expected), (later + OTHER + described, first)):
        (topic,) = [one for one in read(text) if one.name == "t"]
        assert topic.partitions == counts.partitions


class TestRejections:
    def test_the_text_they_start_from_is_read(self) -> None:
        assert len(read(HEADER + ROW_0 + ROW_1)[0].partitions) == 2

    @pytest.mark.parametrize(
        ("text", "line", "says"),
        [
            ("hello", 1, "a topic's header"),
            ("\n\nTopic t does not exist", 3, "a topic's header"),
            (ROW_0 + ROW_0.replace(": 1,2", ": 1,3"), 2, "partition 0 again"),
            (HEADER + ROW_0 + ROW_1 + ROW_1.replace("Replicas: 2,1", "Replicas: 1,2"), 4, "partition 1 again"),
            (HEADER, 1, "--topics-with-overrides"),
            (HEADER + ROW_0, 2, "rows for 2 partitions of topic 't', found 1: the text is cut off"),
            (HEADER, 1, "found 0: the text is cut off"),
            (HEADER + ROW_0 + HEADER.replace("t\t", "u\t", 1) + ROW_1, 2, "rows for 2 partitions of topic 't'"),
            (HEADER + ROW_0 + ROW_1 + ROW_1.replace("1\tL", "2\tL"), 4, "no more than 2 partitions"),
            (HEADER + ROW_0 + ROW_0, 3, "partition 0 again"),
            (
                HEADER + ROW_0 + ROW_1 + HEADER + ROW_0 + ROW_1.replace("Replicas: 2,1", "Replicas: 1,2"),
                4,
                "partition 1",
            ),
            (HEADER + ROW_0 + ROW_1 + HEADER.replace("Configs: ", "Configs: a=b") + ROW_0 + ROW_1, 4, "'t' again"),
            (HEADER + ROW_0 + ROW_1 + OTHER + ROW_0 + ROW_1.replace("Partition: 1", "Partition: 2"), 6, "partition 2"),
            (HEADER + ROW_0 + ROW_1.replace("Topic: t", "Topic: u"), 3, "a row of topic 't'"),
            (HEADER + ROW_0.replace("Replicas: 1,2", "Replicas: 1,2,1"), 2, "broker 1 twice"),
            (HEADER + ROW_0.replace("Isr: 1,2", "Isr: 1,1"), 2, "broker 1 twice"),
            (HEADER + ROW_0.replace("Replicas: 1,2", "Replicas: 1,23"), 2, "2, not a replica"),
            (HEADER + ROW_0.replace("Replicas: 1,2", "Replicas: 2147483648"), 2, "after `Replicas:`"),
            (HEADER + ROW_0.replace("Replicas: 1,2", "Replicas: "), 2, "at least one broker id"),
            (HEADER + ROW_0.replace("Replicas: 1,2", "Replicas: 1,-2"), 2, "after `Replicas:`"),
            (HEADER + ROW_0.replace("Leader: 1", "Leader: 2147483648"), 2, "after `Leader:`"),
            (HEADER + ROW_0.replace("Leader: 1", "Leader: "), 2, "after `Leader:`"),
            (HEADER + ROW_0.replace("Partition: 0", "Partition: x"), 2, "after `Partition:`"),
            (HEADER + ROW_0.replace("\tIsr: 1,2", ""), 2, "the column `Isr`"),
            (HEADER + ROW_0.replace("\tIsr: 1,2", "\tIs"), 2, "a column"),
            (HEADER + ROW_0.replace("\tLeader", "\tTopic: t\tLeader"), 2, "again"),
            (HEADER + ROW_0.replace("\n", "\tAdding Replicas: 3\n"), 2, "the column `Removing Replicas`"),
            (HEADER + ROW_0.replace("\n", "\tElr: \n"), 2, "the column `LastKnownElr`"),
            (HEADER + ROW_0.replace("\n", "\tElr: \tLastKnownElr: \n") + ROW_1, 3, "the column `Elr`"),
            (HEADER.replace("PartitionCount: 2", "PartitionCount: 1e3"), 1, "after `PartitionCount:`"),
            (HEADER.replace("ReplicationFactor: 2", "ReplicationFactor: -2"), 1, "after `ReplicationFactor:`"),
            (HEADER.replace("\tConfigs: ", ""), 1, "the column `Configs`"),
            (HEADER.replace("Topic: t", "Topic: t t"), 1, "a topic name"),
            (KRAFT_4.replace("2axB58VyTMemnegrC2eNlQ", "2axB58VyTMemnegrC2eNl"), 1, "after `TopicId:`"),
            (KRAFT_4.replace("2axB58VyTMemnegrC2eNlQ", "2axB58VyTMemnegrC2eNl/"), 1, "after `TopicId:`"),
            (HEADER.replace("Topic: t", "Topic: .."), 1, "a topic name"),
            (HEADER.replace("Topic: t", "Topic: " + "t" * 250), 1, "a topic name"),
            (HEADER + "…\n" + ROW_0 + ROW_1, 2, "a column"),
            (HEADER + ROW_0.replace(": 0", ": " + "0" * 5000), 2, "after `Partition:`"),
        ],
    )
    def test_a_malformed_text_is_named_by_line_and_expectation(self, text: str, line: int, says: str) -> None:
        rejection = rejected(read, text)
        assert rejection.line == line
        assert says in rejection.detail

    @costly(300)
    @given(st.data())
    @pytest.mark.parametrize("name", CAPTURES)
    def test_a_cut_in_the_middle_of_a_line_never_passes(self, name: str, data: st.DataObject) -> None:
        """Wherever a real text is cut within a line, the rejection names the last line that is left."""
        text = sample(name)
        cut = data.draw(st.integers(1, len(text) - 1))
        left = text[:cut]
        assume(not left.endswith("\n") and text[cut : text.index("\n", cut)].strip())
        assert rejected(read, left).line == left.rstrip().count("\n") + 1

    @pytest.mark.parametrize("name", CAPTURES)
    def test_a_cut_between_lines_passes_only_between_topics(self, name: str) -> None:
        lines = sample(name).splitlines(keepends=True)
        for count in range(1, len(lines)):
            left = "".join(lines[:count])
            if lines[count].startswith("Topic:"):
                assert write(read(left), with_elr=True) == left
            else:
                rejection = rejected(read, left)
                assert rejection.line == count
                assert "cut off" in rejection.detail


def test_a_topic_that_several_hosts_describe_alike_is_one() -> None:
    text = HEADER + ROW_0 + ROW_1
    assert read(text + text) == read(text)


class TestFuzz:
    @given(st.text())
    def test_any_text_reads_or_is_rejected(self, text: str) -> None:
        reads_or_rejects(read, text)

    @costly(200)
    @given(st.data())
    @pytest.mark.parametrize("text", [KRAFT_4, KAFKA_2_2, KAFKA_0_10, WITH_OFFLINE, *map(sample, CAPTURES)])
    def test_any_broken_capture_reads_or_is_rejected(self, text: str, data: st.DataObject) -> None:
        reads_or_rejects(lambda left: topic_describe.topics(read(left)), data.draw(broken(text)))
