"""`kafka-share-groups --describe` in its three forms, of Kafka 4.0 to 4.4."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recorded import RecordedMember, RecordedOffset, TopicPartitions
from app.formats.groups import group_texts, recorded_groups, share_groups
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.group_cells import Section, TableForm, read
from tests.formats.strategies import broken, line_texts, reads_or_rejects, rejected, sample, topic_names
from tests.formats.writers.group_tables import write
from tests.profiles import costly, examples

OFFSETS = sample("kafka-share-groups-describe-verbose.txt")
MEMBERS = sample("kafka-share-groups-members-verbose.txt")
STATE = sample("kafka-share-groups-state-verbose.txt")
# Up to 4.1 there was neither LAG nor #PARTITIONS.
OFFSETS_4_1 = (
    "\nGROUP           TOPIC           PARTITION  START-OFFSET\nalerts          orders          0          -\n"
)
MEMBERS_4_1 = (
    "\nGROUP           CONSUMER-ID     HOST            CLIENT-ID       ASSIGNMENT\n"
    "alerts          c-1             /10.0.0.1       alerts-0        orders:0,10,2;payments:1\n"
    "alerts          c-2             /10.0.0.2       alerts-1        \n"
)
MEMBERS_PLAIN = (
    "\nGROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS  ASSIGNMENT\n"
    "alerts          c-1             /10.0.0.1       alerts-0        2            orders:0,1\n"
)
STATE_PLAIN = (
    "\nGROUP           COORDINATOR (ID)          STATE           #MEMBERS\n"
    "alerts          10.0.0.1:9092  (1)        Stable          3\n"
)

words = line_texts.filter(lambda text: text not in ("", "-"))
listed_topics = topic_names.filter(lambda name: name != "-")
counts = st.integers(0, 2**31 - 1)
offsets = st.none() | st.integers(-(2**63), 2**63 - 1)
assignments = st.dictionaries(topic_names, st.lists(counts, min_size=1, max_size=3).map(tuple), max_size=3).map(
    lambda by_topic: tuple([TopicPartitions(*item) for item in by_topic.items()])
)
nothing = st.none()
offset_rows = st.builds(
    PartitionOffsets,
    *(listed_topics, counts, offsets, nothing, offsets, nothing, nothing, nothing, words),
    leader_epoch=st.none() | counts,
)


@given(st.lists(offset_rows, min_size=1, max_size=4))
def test_written_offsets_read_back(rows: list[PartitionOffsets]) -> None:
    assert read(write([Section(tuple(rows))], share_groups.OFFSETS), share_groups.OFFSETS)[0].rows == tuple(rows)


@costly()
@given(
    st.lists(st.builds(GroupMember, words, words, words, counts, words, assignment=assignments), min_size=1),
    st.none() | counts,
)
def test_written_members_read_back(rows: list[GroupMember], epoch: int | None) -> None:
    given_rows = tuple(
        GroupMember(r.consumer_id, r.host, r.client_id, r.partitions, r.group, None, r.assignment, epoch) for r in rows
    )
    assert read(write([Section(given_rows)], share_groups.MEMBERS), share_groups.MEMBERS)[0].rows == given_rows


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (OFFSETS, share_groups.OFFSETS),
        (OFFSETS_4_1, share_groups.OFFSETS),
        (MEMBERS, share_groups.MEMBERS),
        (MEMBERS_4_1, share_groups.MEMBERS),
        (MEMBERS_PLAIN, share_groups.MEMBERS),
        (STATE, share_groups.STATES),
        (STATE_PLAIN, share_groups.STATES),
    ],
)
def test_a_printed_table_comes_back_verbatim_and_is_known_by_its_header(text: str, form: TableForm[Any]) -> None:
    assert write(read(text, form), form) == text
    assert group_texts.read(text).types == {"alerts": "share"}


def test_the_group_of_all_three_forms() -> None:
    joined = recorded_groups.join(group_texts.read(OFFSETS + STATE + MEMBERS))
    (group,) = joined.groups
    assert (group.group_id, group.type, group.state, group.assignor) == ("alerts", "share", "Stable", None)
    assert (group.group_epoch, group.assignment_epoch, group.topology_epoch) == (7, 7, None)
    both = (TopicPartitions("orders", (0, 1, 2)), TopicPartitions("payments", (0,)))
    assert group.members[0] == RecordedMember(
        "S9wKx0b1QiOQ0kq1m3x7gA", "alerts-0", "127.0.0.1", assigned=both, member_epoch=7
    )
    # A partition may be of several members, and a member may have none.
    assert [member.assigned and member.assigned[0] for member in group.members] == [both[0], both[0], ()]
    assert group.offsets[0] == RecordedOffset("orders", 0, current_offset=100, lag=3)
    assert group.offsets[2] == RecordedOffset("orders", 2)
    assert joined.disagreements == ()


def test_members_as_early_tools_print_them() -> None:
    """Partitions were in the order of strings, and in early 4.0 each had its topic."""
    (group,) = recorded_groups.join(group_texts.read(MEMBERS_4_1)).groups
    assert group.members[0].assigned == (TopicPartitions("orders", (0, 2, 10)), TopicPartitions("payments", (1,)))
    early = MEMBERS_4_1.replace("orders:0,10,2;payments:1", "orders:0,orders:1,payments:1")
    (group,) = recorded_groups.join(group_texts.read(early)).groups
    assert group.members[0].assigned == (TopicPartitions("orders", (0, 1)), TopicPartitions("payments", (1,)))


def test_prose_and_log_lines_around_the_tables() -> None:
    before = "[2026-01-27 19:50:51,936] WARN x\n\nShare group 'idle' has no active members.\n"
    after = "\nShare group 'idle' has no offset information.\n"
    found = group_texts.read(before + OFFSETS + after + STATE)
    assert found.offsets == group_texts.read(OFFSETS).offsets
    assert found.states[0].rows == (GroupState("127.0.0.1:19105  (105)", "Stable", 3, None, "alerts", 7, 7),)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (MEMBERS_PLAIN.replace("orders:0,1", "orders:0,x"), 3, "`orders:0,1;payments:2` under ASSIGNMENT"),
        (MEMBERS_PLAIN.replace("orders:0,1", "orders"), 3, "`orders:0,1;payments:2` under ASSIGNMENT"),
        (MEMBERS_PLAIN + MEMBERS_PLAIN.replace("/10.0.0.1", "/10.0.0.2"), 6, "member 'c-1' of group 'alerts' again"),
        (OFFSETS_4_1.replace("orders", "or/er "), 3, "a topic name"),
        (OFFSETS_4_1.replace(" -\n", " x\n"), 3, "a number of 64 bits"),
        (STATE_PLAIN.replace("10.0.0.1:9092  (1)", "10.0.0.1"), 3, "`host:port  (id)`"),
    ],
)
def test_a_malformed_text_is_named_by_line_and_expectation(text: str, line: int, says: str) -> None:
    rejection = rejected(lambda left: recorded_groups.join(group_texts.read(left)), text)
    assert rejection.line == line
    assert says in rejection.detail


@examples(100)
@given(st.permutations([OFFSETS, MEMBERS, MEMBERS_4_1, STATE]).flatmap(lambda texts: broken("".join(texts))))
def test_any_broken_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(lambda left: recorded_groups.join(group_texts.read(left)), text)
