"""`kafka-streams-groups --describe` in its three forms: tasks, processes, epochs (KIP-1071)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recorded import RecordedOffset, RecordedTasks
from app.formats.groups import group_texts, recorded_groups, streams_groups
from app.formats.groups.consumer_groups import PartitionOffsets
from app.formats.groups.group_cells import Section, TableForm, read
from app.formats.groups.streams_groups import MemberTasks, StreamsMember
from tests.formats.strategies import broken, line_texts, reads_or_rejects, rejected, sample, topic_names
from tests.formats.writers.group_tables import write
from tests.profiles import costly, examples

OFFSETS = sample("kafka-streams-groups-describe-verbose.txt")
MEMBERS = sample("kafka-streams-groups-members-verbose.txt")
MEMBERS_PLAIN = sample("kafka-streams-groups-members.txt")
STATE = sample("kafka-streams-groups-state-verbose.txt")
OFFSETS_PLAIN = (
    "GROUP           TOPIC           PARTITION  OFFSET-LAG\nenrichment      orders          0          1532\n"
)
STATE_PLAIN = (
    "GROUP           COORDINATOR (ID)          STATE                     #MEMBERS\n"
    "enrichment      10.0.0.1:9092 (1)         Stable                    3\n"
)

words = line_texts.filter(lambda text: text not in ("", "-"))
listed_topics = topic_names.filter(lambda name: name != "-")
counts = st.integers(0, 2**31 - 1)
offsets = st.none() | st.integers(-(2**63), 2**63 - 1)
task_lists = st.lists(st.tuples(st.sampled_from(["0", "1", "10", "sub_2"]), counts), max_size=4).map(
    lambda tasks: tuple([f"{subtopology}_{partition}" for subtopology, partition in tasks])
)
recorded_tasks = st.builds(RecordedTasks, task_lists, task_lists, task_lists)


@st.composite
def member_tables(draw: st.DrawFn) -> tuple[StreamsMember, ...]:
    tasks, nothing = st.builds(MemberTasks, recorded_tasks), st.none()
    row = st.builds(StreamsMember, words, words, words, tasks, words, *[nothing] * 4)
    if draw(st.booleans()):
        tasks = st.builds(MemberTasks, recorded_tasks, recorded_tasks)
        protocols = st.sampled_from(["streams", "classic"])
        row = st.builds(StreamsMember, words, words, words, tasks, words, counts, counts, protocols, counts)
    return tuple(draw(st.lists(row, min_size=1, max_size=3)))


@costly()
@given(member_tables())
def test_written_members_read_back(rows: tuple[StreamsMember, ...]) -> None:
    text = write([Section(rows)], streams_groups.MEMBERS)
    assert read(text, streams_groups.MEMBERS)[0].rows == rows
    assert write(read(text, streams_groups.MEMBERS), streams_groups.MEMBERS) == text


@given(
    st.lists(
        st.builds(
            PartitionOffsets,
            *(listed_topics, counts, offsets, offsets, offsets, st.none(), st.none(), st.none(), words, counts),
        ),
        min_size=1,
    )
)
def test_written_offsets_read_back(rows: list[PartitionOffsets]) -> None:
    known = tuple(
        row if row.log_end_offset is not None else PartitionOffsets("t", 0, 1, 2, 1, group="g") for row in rows
    )
    assert read(write([Section(known)], streams_groups.OFFSETS), streams_groups.OFFSETS)[0].rows == known


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (OFFSETS, streams_groups.OFFSETS),
        (OFFSETS_PLAIN, streams_groups.OFFSETS),
        (MEMBERS, streams_groups.MEMBERS),
        (MEMBERS_PLAIN, streams_groups.MEMBERS),
        (STATE, streams_groups.STATES),
        (STATE_PLAIN, streams_groups.STATES),
    ],
)
def test_a_printed_table_comes_back_verbatim_and_is_known_by_its_header(text: str, form: TableForm[Any]) -> None:
    sections = read(text, form)
    assert write(sections, form) == text
    assert write([Section(section.rows) for section in sections], form) == text
    assert group_texts.read(text).types == {"enrichment": "streams"}


def test_the_group_of_all_three_forms() -> None:
    joined = recorded_groups.join(group_texts.read(STATE + OFFSETS + MEMBERS))
    (group,) = joined.groups
    assert (group.group_id, group.type, group.state) == ("enrichment", "streams", "Reconciling")
    assert (group.group_epoch, group.assignment_epoch, group.topology_epoch) == (12, 12, 0)
    assert [member.member_epoch for member in group.members] == [12, 12, 11]
    assert len({member.process_id for member in group.members}) == 2
    waiting = group.members[1]
    assert waiting.tasks == RecordedTasks(("0_2", "1_1"))
    assert waiting.target_tasks == RecordedTasks(("0_2",), (), ("1_1",))
    assert group.members[2].tasks == RecordedTasks(("1_2",), ("1_0",), ("1_1",))
    assert group.offsets[-2] == RecordedOffset("orders", 1, 1549, 1560, 11)
    assert joined.disagreements == ()


def test_without_verbose_the_target_is_unknown_and_with_it_it_may_be_empty() -> None:
    (plain,) = recorded_groups.join(group_texts.read(MEMBERS_PLAIN)).groups
    assert {member.target_tasks for member in plain.members} == {None}
    assert plain.members[0].tasks == RecordedTasks(("0_0", "0_1", "1_0"), ("1_2",))
    idle = MEMBERS[: MEMBERS.index("ACTIVE: 0:[0,1]")] + "\n"
    (group,) = recorded_groups.join(group_texts.read(idle)).groups
    assert (group.members[0].tasks, group.members[0].target_tasks) == (RecordedTasks(), RecordedTasks())


def test_a_web_page_left_one_blank_of_many() -> None:
    text = "\n".join([" ".join(line.split()) for line in MEMBERS.split("\n")])
    assert recorded_groups.join(group_texts.read(text)) == recorded_groups.join(group_texts.read(MEMBERS))


def test_prose_and_log_lines_around_the_tables() -> None:
    text = f"SLF4J: x\n\nError: Streams group 'idle' has no active members.\n{MEMBERS}\tat a.B(C.java:1)\n"
    assert group_texts.read(text.replace("\n", "\r\n")).streams_members == group_texts.read(MEMBERS).streams_members


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (MEMBERS_PLAIN.replace("0:[0,1]", "0:[0,1", 1), 2, "`ACTIVE: 0:[0,1]; STANDBY: 1:[0]; ` under ASSIGNMENTS"),
        (MEMBERS_PLAIN.replace("ACTIVE: 0:", "0:", 1), 2, "under ASSIGNMENTS"),
        (MEMBERS_PLAIN.replace("1:[2]; \n", "1:[x]; \n", 1), 2, "under ASSIGNMENTS"),
        (MEMBERS.replace(" 11  ", " xx  "), 4, "a number from 0 to 2147483647 under MEMBER-EPOCH"),
        (MEMBERS_PLAIN.replace("PROCESS", "process", 1), 1, "what kafka-consumer-groups"),
        (MEMBERS_PLAIN.replace("CLIENT-ID", "CLIENT_ID", 1), 1, "the column CLIENT-ID"),
        (OFFSETS_PLAIN + OFFSETS_PLAIN.replace("1532", "1533"), 4, "partition orders-0 of group 'enrichment' again"),
        ("Error: Streams group 'x' does not exist.\n", 1, "found"),
    ],
)
def test_a_malformed_text_is_named_by_line_and_expectation(text: str, line: int, says: str) -> None:
    rejection = rejected(lambda left: recorded_groups.join(group_texts.read(left)), text)
    assert rejection.line == line
    assert says in rejection.detail


@examples(100)
@given(st.permutations([OFFSETS, MEMBERS, MEMBERS_PLAIN, STATE]).flatmap(lambda texts: broken("".join(texts))))
def test_any_broken_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(lambda left: recorded_groups.join(group_texts.read(left)), text)
