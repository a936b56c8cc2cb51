"""Tables of groups of Kafka 0.9 to 2.3 and of rpk."""

import pytest

from app.core.recorded import RecordedGroup, RecordedOffset, TopicPartitions
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from tests.conftest import ROOT
from tests.formats.strategies import rejected, sample

REPORTS = ROOT / "tests" / "reports"
OFFSETS_0_9 = """\
GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
billing, orders, 0, 5, 7, 2, consumer-1_/10.0.0.1
billing, orders, 1, 5, 7, 2, consumer-1_/10.0.0.2
"""
OFFSETS_0_8_2 = """\
Group           Topic                          Pid Offset          logSize         Lag             Owner
billing         orders                         0   5               7               2               billing_h-0a1b-0
billing         unknown                        1   unknown         7               unknown         none
"""
OFFSETS_0_10_0 = """\
GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  OWNER
billing  orders  0          5               7               2    consumer-1_/10.0.0.1
billing  orders  1          5               7               2    consumer-1_/10.0.0.2
"""
OFFSETS_0_10_2 = """\
TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID           HOST       CLIENT-ID
orders  0          5               7               2    consumer-1_/10.0.0.1  /10.0.0.1  consumer-1
orders  1          5               7               2    consumer-1_/10.0.0.2  /10.0.0.2  consumer-1
"""
STATE_2_0 = """\
COORDINATOR (ID)          ASSIGNMENT-STRATEGY       STATE                #MEMBERS
kafka-1:9092 (1)          range                     Stable               2
"""
MEMBERS_2_0 = """\
CONSUMER-ID          HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT
c-1                  /10.0.0.1       consumer-1      2               orders(0,1)
c-2                  /10.0.0.2       consumer-1      0               -
"""
COMMAND = "$ bin/kafka-consumer-groups.sh --bootstrap-server kafka-1:9092 --describe --group billing\n"
NOTICE = "Consumer group 'billing' has no active members.\n\n"


def groups(text: str) -> tuple[RecordedGroup, ...]:
    return assemble("c", [Upload(text)]).cluster.groups


def test_the_releases_read_to_the_same_groups() -> None:
    expected = groups(OFFSETS_0_10_0)
    assert [(group.group_id, [member.host for member in group.members]) for group in expected] == [
        ("billing", ["/10.0.0.1", "/10.0.0.2"])
    ]
    newest = OFFSETS_0_10_2.replace("TOPIC ", "GROUP   TOPIC ").replace("orders ", "billing orders ")
    for text in (OFFSETS_0_9, COMMAND + OFFSETS_0_10_2, NOTICE + OFFSETS_0_10_2, newest):
        assert groups(text) == expected
        assert groups("\n".join(f"    {line}" for line in text.split("\n"))) == expected


def test_offsets_of_the_checker_of_0_8_2() -> None:
    """A thread stands for a member; `unknown` is an offset that was not committed, but for a topic of that name."""
    (group,) = groups(OFFSETS_0_8_2)
    assert [(member.member_id, member.host) for member in group.members] == [("billing_h-0a1b-0", None)]
    assert group.offsets == (
        RecordedOffset("orders", 0, 5, 7, 2, "billing_h-0a1b-0"),
        RecordedOffset("unknown", 1, None, 7, None, None),
    )
    older = OFFSETS_0_9.replace("1, 5, 7, 2, consumer-1_/10.0.0.2", "1, unknown, 7, unknown, none")
    assert groups(older)[0].offsets[1] == RecordedOffset("orders", 1, None, 7, None, None)


def test_members_and_states_without_the_group() -> None:
    (group,) = groups(COMMAND.strip() + " --state\n\n" + STATE_2_0 + COMMAND.strip() + " --members\n\n" + MEMBERS_2_0)
    assert (group.group_id, group.state, group.assignor) == ("billing", "Stable", "range")
    assert [member.assigned for member in group.members] == [(TopicPartitions("orders", (0, 1)),), ()]


def test_an_owner_of_none_is_no_member() -> None:
    (group,) = groups(OFFSETS_0_10_0.replace("consumer-1_/10.0.0.1", "none").replace("consumer-1_/10.0.0.2", "none"))
    assert group.members == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "group_id", "members", "assignor"),
    [
        ("group-0.10.2-to-2.2.txt", "cc-17-2", 0, None),
        ("group-of-the-documentation.txt", "my-group", 4, None),
        ("group-0.10.0-owner.txt", "foobar-consumer", 2, None),
        ("group-rpk.txt", "bench-group", 2, "cooperative-sticky"),
    ],
)
def test_texts_as_they_were_pasted(name: str, group_id: str, members: int, assignor: str | None, end: str) -> None:
    text = (REPORTS / name).read_text(encoding="utf-8").replace("\n", end)
    (group,) = groups(text)
    assert (group.group_id, len(group.members), group.assignor) == (group_id, members, assignor)


def test_without_any_group_the_rejection_says_how_to_state_it() -> None:
    rejection = rejected(groups, "\n" + OFFSETS_0_10_2)
    assert "a line `--group NAME` before the table" in rejection.detail
    assert groups("--group billing\n" + OFFSETS_0_10_2) == groups(OFFSETS_0_10_0)


def test_a_sentence_within_an_older_table_is_skipped() -> None:
    first, second, third = OFFSETS_0_10_2.rstrip("\n").split("\n")
    assert groups("\n".join([COMMAND + first, second, "and now the other one", third])) == groups(OFFSETS_0_10_0)


def test_newer_tables_are_left_as_they_are() -> None:
    text = sample("kafka-consumer-groups-describe.txt")
    assert groups(COMMAND + text) == groups(text)
