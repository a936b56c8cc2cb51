"""`kafka-consumer-groups --describe` in its three forms and every generation; groups described as JSON."""

import base64
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from app.formats.groups import consumer_groups, described_groups, group_tables
from app.formats.groups.consumer_groups import GroupMember, PartitionOffsets
from app.formats.groups.consumer_protocol import Subscription
from app.formats.groups.group_cells import Section, read
from app.formats.groups.group_tables import may_be_row, usual_row
from app.formats.snapshots.pasted import owner
from tests.formats.strategies import broken, line_texts, reads_or_rejects, rejected, sample, topic_names
from tests.formats.writers.consumer_protocol import write_subscription
from tests.formats.writers.group_tables import write_members, write_offsets, write_states
from tests.premises import reaches
from tests.profiles import costly, examples

read_offsets = partial(read, form=consumer_groups.OFFSETS)
read_members = partial(read, form=consumer_groups.MEMBERS)
read_states = partial(read, form=consumer_groups.STATES)
DESCRIBE = sample("kafka-consumer-groups-describe.txt")
MEMBERS = sample("kafka-consumer-groups-members-verbose.txt")
STATE = sample("kafka-consumer-groups-state.txt")
JSON = sample("describe-groups.json")
FORMS: list[tuple[str, Callable[[str], Any], Callable[[Any], str]]] = [
    (DESCRIBE, read_offsets, write_offsets),
    (MEMBERS, read_members, write_members),
    (STATE, read_states, write_states),
]
BEFORE_2_4 = """
TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
orders          0          -               7               -               -               -               -
orders          1          9               7               -2              -               -               -
"""
MEMBERS_3_9 = (
    "\nGROUP           CONSUMER-ID     GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT\n"
    "g               c-1-0001        i-1               /10.0.0.1       c-1             3               "
    "orders(0,10), payments(2)\n"
    "g               c-2-0002                          /10.0.0.2       c-2             0               -\n"
)
MEMBERS_PLAIN = (
    "\nGROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     \n"
    "my group        c-1-0001        /10.0.0.1       c 1             3               \n"
)
MIGRATING = (
    "\nGROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   "
    "CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT    UPGRADED\n"
    "g               c-1             /10.0.0.1       c               2               5               "
    "orders:0,1           6               orders:0;payments:3  true\n"
)
STATE_VERBOSE = (
    "\nGROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                GROUP-EPOCH     "
    "TARGET-ASSIGNMENT-EPOCH   #MEMBERS\n"
    "g               10.0.0.1:9092  (1)        uniform              Stable               3               "
    "3                         2\n"
)
VERBOSE = (
    "\nGROUP           TOPIC           PARTITION  LEADER-EPOCH    CURRENT-OFFSET  LOG-END-OFFSET  LAG             "
    "CONSUMER-ID     HOST            CLIENT-ID\n"
    "g               orders          0          4               5               9               4               "
    "c-1             /10.0.0.1       c\n"
)


@pytest.mark.parametrize(("text", "read", "write"), FORMS)
def test_the_real_captures_come_back_verbatim(
    text: str, read: Callable[[str], Any], write: Callable[[Any], str]
) -> None:
    """With the layout that was read, and with the one that Kafka 4.0 gives to the same rows."""
    sections = read(text)
    assert [section.rows[0].group for section in sections] == ["billing", "clickstream"]
    assert write(sections) == text
    assert write([Section(section.rows) for section in sections]) == text


class TestOffsets:
    """`--describe`."""

    def test_the_real_group(self) -> None:
        billing, clickstream = read_offsets(DESCRIBE)
        assert (len(billing.rows), len(clickstream.rows)) == (36, 66)
        assert billing.rows[0] == PartitionOffsets(
            group="billing",
            topic="orders",
            partition=23,
            current_offset=1550,
            log_end_offset=1550,
            lag=0,
            consumer_id="billing-2-c7b40c8e-45b1-4420-b30a-d50f4adbc9d7",
            host="/127.0.0.1",
            client_id="billing-2",
        )

    def test_no_reader_and_no_committed_offset(self) -> None:
        """Before 2.4 there was no group; a lag below 0 means that the log was cut back."""
        (section,) = read_offsets("Consumer group 'g' has no active members.\n" + BEFORE_2_4)
        assert [row.current_offset for row in section.rows] == [None, 9]
        assert [row.lag for row in section.rows] == [None, -2]
        assert {(row.group, row.consumer_id, row.host, row.client_id) for row in section.rows} == {(None,) * 4}
        assert write_offsets([section]) == BEFORE_2_4

    def test_leader_epochs(self) -> None:
        sections = read_offsets(VERBOSE)
        assert sections[0].rows[0].leader_epoch == 4
        assert write_offsets(sections) == write_offsets([Section(sections[0].rows)]) == VERBOSE

    def test_a_web_page_left_one_blank_of_many(self) -> None:
        text = "\n".join([" ".join(line.split()) for line in DESCRIBE.split("\n")])
        assert [section.rows for section in read_offsets(text)] == [section.rows for section in read_offsets(DESCRIBE)]

    def test_prose_and_log_lines_are_passed_over(self) -> None:
        prose = "[2025-01-27 19:50:51,936] WARN x\nWarning: Consumer group 'g' is rebalancing.\nNote: old tools.\n"
        assert read_offsets(prose + VERBOSE) == read_offsets(VERBOSE)
        assert read_offsets(prose) == ()
        assert read_offsets("") == ()

    def test_windows_line_ends(self) -> None:
        assert read_offsets(VERBOSE.replace("\n", "\r\n")) == read_offsets(VERBOSE)

    @pytest.mark.parametrize(
        ("text", "line", "found"),
        [
            ("Error: Consumer group 'x' does not exist.\n", 1, "does not exist"),
            (VERBOSE.replace("LOG-END-OFFSET", "LOG-END       "), 2, "LOG-END"),
            (VERBOSE.replace("LEADER-EPOCH  ", "PARTITION     "), 2, "PARTITION"),
            (VERBOSE.replace("\nGROUP", "\n GROUP"), 2, "GROUP"),
            (VERBOSE[: VERBOSE.rindex("c-1")] + "\n", 3, "orders"),
            (VERBOSE.replace("  0          4 ", "  x          4 "), 3, "'x'"),
            (VERBOSE.replace(" 9      ", " 9e9    "), 3, "'9e9'"),
            (VERBOSE.replace(" 9        ", " 9" + "9" * 19), 3, "64 bits"),
            (VERBOSE.replace("orders", "or/ers"), 3, "'or/ers'"),
            (VERBOSE + "and so on\n", 4, "and so on"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_line(self, text: str, line: int, found: str) -> None:
        rejection = rejected(read_offsets, text)
        assert rejection.line == line
        assert found in rejection.detail


class TestMembers:
    """`--describe --members`."""

    def test_the_real_group(self) -> None:
        billing, clickstream = read_members(MEMBERS)
        assert [member.partitions for member in clickstream.rows] == [16, 17, 16, 17]
        assert billing.rows[0].assignment == (
            ("orders", (16, 17, 18, 19, 20, 21, 22, 23)),
            ("payments", (10, 11, 8, 9)),
        )
        assert (billing.rows[0].current_epoch, billing.rows[0].target_assignment) == (None, ())

    def test_brackets_and_instance_ids_of_3_9(self) -> None:
        (section,) = read_members(MEMBERS_3_9)
        assert [member.group_instance_id for member in section.rows] == ["i-1", None]
        assert [member.assignment for member in section.rows] == [(("orders", (0, 10)), ("payments", (2,))), ()]
        assert write_members([section]) == MEMBERS_3_9

    def test_blanks_in_names(self) -> None:
        """Kafka takes any text for a group; the columns say where it ends."""
        (section,) = read_members(MEMBERS_PLAIN)
        (member,) = section.rows
        assert (member.group, member.client_id, member.assignment) == ("my group", "c 1", None)
        assert write_members([section]) == write_members([Section(section.rows)]) == MEMBERS_PLAIN

    def test_a_group_that_migrates(self) -> None:
        """Two protocols at once; a column that is not known is not read."""
        (section,) = read_members(MIGRATING)
        (member,) = section.rows
        assert (member.current_epoch, member.target_epoch) == (5, 6)
        assert member.target_assignment == (("orders", (0,)), ("payments", (3,)))

    def test_a_header_without_members(self) -> None:
        """Kafka 4 prints one for a group that does not exist."""
        (section,) = read_members(MEMBERS_PLAIN.split("my group", maxsplit=1)[0])
        assert section.rows == ()

    @pytest.mark.parametrize("assignment", ["orders", "orders:", "orders:a", "or/ers:0", "orders:0;", "orders()", ":0"])
    def test_an_assignment_that_is_none(self, assignment: str) -> None:
        rejection = rejected(read_members, MIGRATING.replace("orders:0,1", assignment.ljust(10)))
        assert rejection.line == 3
        assert "CURRENT-ASSIGNMENT" in rejection.detail


class TestState:
    """`--describe --state`."""

    def test_the_real_groups(self) -> None:
        (billing,), (clickstream,) = (section.rows for section in read_states(STATE))
        assert (billing.assignment_strategy, billing.state, billing.members) == ("range", "Stable", 3)
        assert billing.coordinator == "127.0.0.1:19199  (109)"
        assert clickstream.assignment_strategy == "cooperative-sticky"

    def test_epochs(self) -> None:
        sections = read_states(STATE_VERBOSE)
        assert (sections[0].rows[0].group_epoch, sections[0].rows[0].target_assignment_epoch) == (3, 3)
        assert write_states(sections) == write_states([Section(sections[0].rows)]) == STATE_VERBOSE

    def test_a_group_without_members_has_no_strategy(self) -> None:
        """The tool prints an empty cell, and not a dash."""
        text = STATE_VERBOSE.replace("uniform", " " * 7).replace("Stable", "Empty ").replace("   2\n", "   0\n")
        sections = read_states(text)
        (state,) = sections[0].rows
        assert (state.assignment_strategy, state.state, state.members) == ("", "Empty", 0)
        assert write_states(sections) == text

    def test_one_blank_of_many(self) -> None:
        text = "\n".join([" ".join(line.split()) for line in STATE.split("\n")])
        (billing,), (clickstream,) = (section.rows for section in read_states(text))
        assert (billing.coordinator, billing.members) == ("127.0.0.1:19199 (109)", 3)
        assert clickstream.assignment_strategy == "cooperative-sticky"

    def test_a_character_of_no_width_is_no_blank(self) -> None:
        """It is part of the name that contains it."""
        (section,) = read_states(STATE_VERBOSE.replace("\ng ", "\n\0g "))
        assert section.rows[0].group == "\0g"

    def test_a_coordinator_that_is_none(self) -> None:
        assert rejected(read_states, STATE_VERBOSE.replace("  (1)", "     ")).line == 3


counts = st.none() | st.integers(0, 2**31 - 1)
int64s = st.none() | st.integers(-(2**63), 2**63 - 1)
texts = line_texts.filter(lambda text: text not in ("", "-"))
assignments = st.lists(
    st.tuples(topic_names, st.lists(st.integers(0, 99), min_size=1, max_size=4).map(tuple)), max_size=3
).map(tuple)
offsets = st.builds(
    PartitionOffsets,
    group=texts,
    # A topic may be named -, which the tool prints like a missing one.
    topic=st.none() | topic_names.filter(lambda name: name != "-"),
    partition=counts,
    current_offset=int64s,
    log_end_offset=int64s,
    lag=int64s,
    consumer_id=st.none() | texts,
    host=st.none() | texts,
    client_id=st.none() | texts,
    leader_epoch=counts,
)
members = st.builds(
    GroupMember,
    group=texts,
    consumer_id=texts,
    host=texts,
    client_id=texts,
    partitions=st.integers(0, 2**31 - 1),
    group_instance_id=st.none() | texts,
    assignment=assignments,
    current_epoch=counts,
    target_epoch=counts,
    target_assignment=assignments,
)


@given(st.lists(offsets, min_size=1, max_size=5))
def test_offsets_that_are_written_are_read(rows: list[PartitionOffsets]) -> None:
    (section,) = read_offsets(write_offsets([Section(tuple(rows))]))
    assert section.rows == tuple(rows)


@given(
    st.sampled_from([DESCRIBE, MEMBERS, STATE, BEFORE_2_4, MEMBERS_PLAIN, MIGRATING, STATE_VERBOSE, VERBOSE]), st.data()
)
def test_a_usual_row_may_be_a_row_and_begins_no_other_text(table: str, data: st.DataObject) -> None:
    header = table.strip().split("\n")[0]
    width = len(header.replace("COORDINATOR (ID)", "COORDINATOR").split())
    numbers, words = ["7", "-", "-1", ""], ["g", "$", "kafka-topics.sh", "k:9092", "Topic:", "(1)", "...", "a b"]
    cells = data.draw(st.lists(st.sampled_from(numbers), min_size=width, max_size=width))
    for place in data.draw(st.sets(st.integers(0, width - 1))):
        cells[place] = data.draw(st.sampled_from(words))
    line = " ".join(cells)
    aligned = "".join([cell.ljust(len(name)) for name, cell in zip(re.findall(r"\S+ *", header), cells, strict=False)])
    for row in (line, aligned):
        is_usual = _is_usual(row, header)
        event(f"usual: {is_usual}")
        assert not is_usual or (may_be_row(row, header) and owner(row) is None)
        if is_usual:
            assert group_tables.read(f"{header}\n{row}\n", required=header.split()[:2])[0].rows == [tuple(row.split())]


def _is_usual(line: str, header: str) -> bool:
    row = usual_row(header)
    return row is not None and row.match(f"{header}\n{line}\n", len(header) + 1) is not None


def test_the_rows_of_offsets_are_usual_and_other_lines_are_not() -> None:
    for table in (DESCRIBE, BEFORE_2_4, VERBOSE):
        for header, *rows in (part.split("\n") for part in table.strip().split("\n\n")):
            assert all(_is_usual(row, header) for row in rows if "no active members" not in row)
            assert not _is_usual(header, header)
            assert not _is_usual(rows[-1].rsplit(maxsplit=1)[0], header)


@pytest.mark.long
@given(st.lists(offsets, min_size=1, max_size=5), st.lists(members, min_size=1, max_size=5))
def test_rows_are_read_alike_one_by_one(rows: list[PartitionOffsets], listed: list[GroupMember]) -> None:
    """A carriage return at the end of a line makes it an unusual one."""
    for text, read_rows in (
        (write_offsets([Section(tuple(rows))]), read_offsets),
        (write_members([Section(tuple(listed))]), read_members),
    ):
        assert read_rows(text.replace("\n", "\r\n")) == read_rows(text)


@costly()
@given(st.lists(members, min_size=1, max_size=5))
def test_members_that_are_written_are_read(rows: list[GroupMember]) -> None:
    (section,) = read_members(write_members([Section(tuple(rows))]))
    assert section.rows == tuple(rows)


@pytest.mark.parametrize(("text", "read", "write"), FORMS)
@reaches("read", 0.1)
@costly(200)
@given(data=st.data())
def test_broken_captures_are_read_or_rejected(
    text: str, read: Callable[[str], Any], write: Callable[[Any], str], data: st.DataObject
) -> None:
    """The written form of a read text reads the same, unless a column is damaged and not read."""
    damaged = data.draw(broken(text))
    reads_or_rejects(read, damaged)
    try:
        sections = read(damaged)
    except Exception:  # noqa: BLE001 — the law above says which
        return
    event("read")
    headers = {line for line in damaged.splitlines() if "CONSUMER-ID" in line or "STATE" in line or "OFFSET" in line}
    if headers <= {*text.splitlines()}:
        assert [section.rows for section in read(write(sections))] == [section.rows for section in sections]


class TestDescribedGroups:
    """A client's description of groups, as JSON."""

    @given(st.binary(max_size=12).filter(lambda data: b"\\x" not in data))
    def test_user_data_as_kafka_python_writes_it(self, data: bytes) -> None:
        """As text: 3.0 decodes bytes with `backslashreplace`; data of sticky assignors begin with a count."""
        data = b"\x00\x00\x00\x01" + data
        text = data.decode(errors="backslashreplace")
        document = json.loads(JSON)
        members = {"topics": ["t"], "user_data": text, "owned_partitions": [], "generation_id": 4, "rack_id": None}
        document["billing"]["members"][0]["member_metadata"] = members
        subscription = described_groups.read(json.dumps(document))[0].members[0].subscription
        assert subscription is not None
        assert (subscription.topics, subscription.user_data, subscription.generation_id) == (("t",), data, 4)

    def test_a_group_with_an_error_has_no_members(self) -> None:
        text = '{"a":{"error":"[Error 69] GroupIdNotFoundError: Group a is not a classic group."},"b":{"error":7}}'
        assert "b/error: expected a string" in rejected(described_groups.read, text).detail
        (group,) = described_groups.read(text.replace(',"b":{"error":7}', ""))
        assert (group.group_id, group.members) == ("a", ())
        assert group.error is not None
        assert "not a classic group" in group.error

    def test_the_real_groups(self) -> None:
        billing, clickstream = described_groups.read(JSON)
        assert (billing.group_id, billing.state, billing.protocol) == ("billing", "Stable", "range")
        assert [member.subscription.rack_id for member in billing.members if member.subscription] == [
            "use1-az1",
            "use1-az4",
            "use1-az2",
        ]
        generations = [member.subscription.generation_id for member in billing.members if member.subscription]
        assert generations == [None, 4, None]
        assert [len(member.assignment.partitions) for member in billing.members if member.assignment] == [2, 2, 2]
        assert (clickstream.state, clickstream.members) == ("Empty", ())

    def test_raw_bytes_are_read_as_they_are(self) -> None:
        """The coordinator's own answer, without anybody decoding it."""
        groups = json.loads(JSON)
        subscription = Subscription(("orders",), None, (), 4, "use1-az1")
        raw = base64.b64encode(write_subscription(subscription)).decode()
        groups["billing"]["members"][0] |= {"member_metadata": raw, "member_assignment": ""}
        member = described_groups.read(json.dumps(groups))[0].members[0]
        assert member.assignment is None
        assert member.subscription is not None
        assert (member.subscription.topics, member.subscription.generation_id) == (("orders",), 4)

    @pytest.mark.parametrize(("value", "found"), [("AAM=", "byte 2"), ("not base64", "base64")])
    def test_a_group_with_broken_bytes_says_so_and_the_others_are_read(self, value: str, found: str) -> None:
        groups = json.loads(JSON)
        groups["other"] = json.loads(JSON)["billing"]
        groups["billing"]["members"][1]["member_metadata"] = value
        read = {group.group_id: group for group in described_groups.read(json.dumps(groups, indent=1))}
        broken, whole = read["billing"], read["other"]
        assert (broken.members, whole.error) == ((), None)
        assert found in str(broken.error)
        assert len(whole.members) == len(groups["other"]["members"])

    def test_bytes_of_a_member_that_just_joined_are_read_as_kafka_python_prints_them(self) -> None:
        groups = json.loads(JSON)
        groups["billing"]["members"][0]["member_metadata"] = {"topics": ["orders"], "user_data": "\\xff\\xff\\xff\\xff"}
        [group] = [each for each in described_groups.read(json.dumps(groups)) if each.group_id == "billing"]
        assert group.members[0].subscription is not None
        assert group.members[0].subscription.user_data == b"\xff" * 4

    @pytest.mark.parametrize(
        ("key", "value", "found"),
        [
            ("member_metadata", {}, "topics"),
            ("member_metadata", {"topics": ["a/b"]}, "a/b"),
            ("member_metadata", {"topics": [], "generation_id": -2}, "-2"),
            ("member_metadata", {"topics": [], "user_data": 1}, "string"),
            ("member_assignment", {"assigned_partitions": [{"topic": "t"}]}, "partitions"),
            ("member_assignment", {"assigned_partitions": [{"topic": "t", "partitions": [-1]}]}, "-1"),
            ("member_id", None, "null"),
            ("member_id", "billing-0-ceff75a4-7af7-43f2-a9bb-25d3aa103f4f", "again"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(self, key: str, value: object, found: str) -> None:
        groups = json.loads(JSON)
        groups["billing"]["members"][1][key] = value
        rejection = rejected(described_groups.read, json.dumps(groups, indent=1))
        assert f"billing/members/1/{key}" in rejection.detail
        assert found in rejection.detail
        assert rejection.line is not None
        assert rejection.line > 1

    @examples(150)
    @given(broken(JSON))
    def test_broken_documents_are_read_or_rejected(self, text: str) -> None:
        reads_or_rejects(described_groups.read, text)
