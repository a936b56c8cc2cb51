"""Consumer groups joined from the texts that describe them."""

import itertools
import json
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recorded import RecordedMember, RecordedOffset, TopicPartitions
from app.formats.groups import recorded_groups
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.consumer_protocol import Assignment, Subscription
from app.formats.groups.group_cells import Section
from app.formats.groups.group_texts import read
from app.formats.groups.recorded_groups import FromTheFuture, JoinedGroups
from tests.formats.strategies import broken, reads_or_rejects, rejected, sample
from tests.formats.writers.consumer_protocol import write_assignment, write_subscription
from tests.formats.writers.group_tables import write_members, write_offsets, write_states
from tests.profiles import costly, examples

OFFSETS = sample("kafka-consumer-groups-describe.txt")
MEMBERS = sample("kafka-consumer-groups-members-verbose.txt")
STATES = sample("kafka-consumer-groups-state.txt")
DESCRIBED = sample("describe-groups.json") + "\n"
LINES = {text: text.count("\n") for text in (OFFSETS, MEMBERS, STATES, DESCRIBED)}

names = st.sampled_from(["a", "b", "my group"])
member_ids = st.sampled_from(["m-0", "m-1", "m-2"])
described_groups = st.dictionaries(
    names,
    st.lists(member_ids, unique=True, max_size=3).map(
        lambda ids: {
            "group_state": "Stable",
            "protocol_data": "range",
            "members": [
                {
                    "member_id": member,
                    "client_id": "c",
                    "client_host": "/h",
                    "member_metadata": {"topics": ["t"], "owned_partitions": [], "rack_id": "r"},
                    "member_assignment": {"assigned_partitions": [{"topic": "t", "partitions": [0]}]},
                }
                for member in ids
            ],
        }
    ),
)


def joined(*texts: str) -> JoinedGroups:
    return recorded_groups.join(read("".join(texts)))


def described(*members: dict[str, object], protocol: str = "range") -> str:
    """Described groups as a coordinator answers them: one group, g."""
    listed = [{"client_id": "c", "client_host": "/h", "member_assignment": "", **member} for member in members]
    return json.dumps({"g": {"group_state": "Stable", "protocol_data": protocol, "members": listed}}, indent=1) + "\n"


def raw(content: bytes) -> str:
    return b64encode(content).decode()


@st.composite
def some_texts(draw: st.DrawFn) -> list[str]:
    """Each kind of text, about groups and members that they have in common or not."""
    rows = st.builds(
        PartitionOffsets,
        topic=st.just("t"),
        partition=st.integers(0, 9),
        current_offset=st.integers(0, 9),
        log_end_offset=st.none(),
        lag=st.none(),
        consumer_id=st.none() | member_ids,
        host=st.just("/h"),
        client_id=st.just("c"),
        group=names,
        leader_epoch=st.none(),
    )
    nothing, none = st.none(), st.just(())
    members = st.builds(
        GroupMember,
        *(member_ids, st.just("/h"), st.just("c"), st.integers(0, 2), names, nothing, none, nothing, nothing, none),
    )
    states = st.builds(
        GroupState,
        *(st.just("h:1  (1)"), st.just("Stable"), st.integers(0, 3), st.just("range"), names, nothing, nothing),
    )
    tables = [
        write_offsets(
            [Section((row,)) for row in draw(st.lists(rows, unique_by=lambda row: (row.group, row.partition)))]
        ),
        write_members(
            [Section((row,)) for row in draw(st.lists(members, unique_by=lambda row: (row.group, row.consumer_id)))]
        ),
        write_states([Section((row,)) for row in draw(st.lists(states, unique_by=lambda row: str(row.group)))]),
    ]
    return [*tables, json.dumps(draw(described_groups)) + "\n"]


class TestLaws:
    """Whatever the texts are."""

    @costly()
    @given(some_texts())
    def test_any_order_of_the_texts_gives_the_same_groups(self, texts: list[str]) -> None:
        wanted = joined(*texts)
        for order in itertools.permutations(texts):
            assert joined(*order) == wanted

    @costly()
    @given(some_texts())
    def test_every_group_of_every_text_is_there_by_group_id(self, texts: list[str]) -> None:
        found = read("".join(texts))
        named = {str(row.group) for offsets in found.offsets for row in offsets.rows}
        named |= {str(row.group) for members in found.members for row in members.rows}
        named |= {str(row.group) for states in found.states for row in states.rows}
        named |= {group.group_id for group in found.described}
        assert [group.group_id for group in joined(*texts).groups] == sorted(named)

    @examples(150)
    @given(st.permutations([OFFSETS, MEMBERS, STATES, DESCRIBED]).map("".join).flatmap(broken))
    def test_broken_captures_are_joined_or_rejected(self, text: str) -> None:
        reads_or_rejects(lambda left: recorded_groups.join(read(left)), text)

    @given(st.text())
    def test_any_text_is_joined_or_rejected(self, text: str) -> None:
        reads_or_rejects(lambda left: recorded_groups.join(read(left)), text)


class TestTheRealGroups:
    """`billing` and `clickstream`, as a real cluster reported them."""

    def test_from_the_three_tables(self) -> None:
        found = joined(OFFSETS, MEMBERS, STATES)
        billing, clickstream = found.groups
        assert (found.disagreements, found.from_the_future) == ((), ())
        assert (billing.group_id, billing.state, billing.assignor) == ("billing", "Stable", "range")
        assert (clickstream.state, clickstream.assignor) == ("Stable", "cooperative-sticky")
        assert [len(group.members) for group in found.groups] == [3, 4]
        assert [len(group.offsets) for group in found.groups] == [36, 66]
        assert billing.members[0] == RecordedMember(
            member_id="billing-2-c7b40c8e-45b1-4420-b30a-d50f4adbc9d7",
            client_id="billing-2",
            host="/127.0.0.1",
            assigned=(
                TopicPartitions("orders", tuple(range(16, 24))),
                TopicPartitions("payments", (8, 9, 10, 11)),
            ),
        )
        assert billing.offsets[23] == RecordedOffset(
            "orders", 23, 1550, 1550, 0, "billing-2-c7b40c8e-45b1-4420-b30a-d50f4adbc9d7"
        )

    def test_offsets_alone_say_the_same_of_the_assignment(self) -> None:
        """The table of members adds nothing to them but order; neither states subscriptions."""
        by_table = {member.member_id: member for group in joined(MEMBERS).groups for member in group.members}
        by_offsets = {member.member_id: member for group in joined(OFFSETS).groups for member in group.members}
        assert by_offsets == by_table
        assert {member.topics for member in by_table.values()} == {None}

    def test_what_the_coordinator_says(self) -> None:
        billing, clickstream = joined(DESCRIBED).groups
        assert [member.rack_id for member in billing.members] == ["use1-az1", "use1-az4", "use1-az2"]
        assert [member.generation_id for member in billing.members] == [None, 4, None]
        assert {member.topics for member in billing.members} == {("orders", "payments")}
        assert {member.owned for member in billing.members} == {()}
        assert billing.members[0].assigned == (
            TopicPartitions("payments", (0, 1, 2, 3)),
            TopicPartitions("orders", tuple(range(8))),
        )
        assert (clickstream.state, clickstream.assignor, clickstream.members) == ("Empty", None, ())

    def test_texts_of_two_moments_are_distinguished(self) -> None:
        """Every member came back under another id between the tables and the JSON, which counts."""
        found = joined(DESCRIBED, OFFSETS, MEMBERS, STATES)
        assert [len(group.members) for group in found.groups] == [3, 0]
        assert [len(group.offsets) for group in found.groups] == [36, 66]
        said = {
            name: [one.detail for one in found.disagreements if one.group_id == name]
            for name in ("billing", "clickstream")
        }
        assert [text.split(",")[0] for text in said["billing"]] == [
            "3 members in tables that are not among its 3",
            "3 of its 3 members in no table",
        ]
        assert said["clickstream"][1:] == ["0 members where its state counts 4", "both 'Empty' and 'Stable'"]


class TestJoining:
    """One member of several texts."""

    LISTED = (TopicPartitions("t", (10, 2)), TopicPartitions("a", (0,)))
    MEMBER = GroupMember("m-1", "/10.0.0.1", "c-1", 2, "g", "i-1", LISTED)
    ROW = PartitionOffsets("t", 2, 5, 9, 4, "m-1", "/10.0.0.1", "c-1", "g")

    def test_each_field_comes_from_the_first_text_that_says_it(self) -> None:
        metadata = raw(write_subscription(Subscription(("t", "a"), b"\1", (), 3, "r")))
        found = joined(
            write_members([Section((self.MEMBER,))]), described({"member_id": "m-1", "member_metadata": metadata})
        )
        assert found.groups[0].members == (
            RecordedMember(
                member_id="m-1",
                client_id="c",
                host="/h",
                group_instance_id="i-1",
                rack_id="r",
                topics=("a", "t"),
                owned=(),
                generation_id=3,
                user_data=b"\1",
                assigned=(TopicPartitions("a", (0,)), TopicPartitions("t", (2, 10))),
            ),
        )

    def test_assignments_are_unknown_while_a_group_rebalances(self) -> None:
        (group,) = joined(described({"member_id": "m-1", "member_metadata": ""}, protocol="")).groups
        assert group.assignor is None
        assert group.members == (RecordedMember("m-1", "c", "/h"),)

    def test_owned_partitions_stay_in_their_order(self) -> None:
        """Each topic once: the second run of a topic joins the first."""
        owned = [{"topic": topic, "partitions": ids} for topic, ids in (("z", [3, 1]), ("a", [0]), ("z", [2]))]
        metadata = {"topics": ["z", "a"], "owned_partitions": owned}
        (group,) = joined(described({"member_id": "m-1", "member_metadata": metadata})).groups
        assert group.members[0].owned == (TopicPartitions("z", (3, 1, 2)), TopicPartitions("a", (0,)))

    def test_without_verbose_the_offsets_state_the_assignment(self) -> None:
        counted = self.MEMBER._replace(assignment=None, partitions=1)
        idle = counted._replace(consumer_id="m-2", partitions=0)
        unsaid = counted._replace(consumer_id="m-3")
        found = joined(write_members([Section((counted, idle, unsaid))]), write_offsets([Section((self.ROW,))]))
        assert [member.assigned for member in found.groups[0].members] == [(TopicPartitions("t", (2,)),), (), None]

    def test_a_member_that_reads_nothing_is_one_all_the_same(self) -> None:
        idle = self.ROW._replace(topic=None, partition=None, current_offset=None, lag=None, consumer_id="m-2")
        unowned = self.ROW._replace(partition=7, consumer_id=None)
        (group,) = joined(write_offsets([Section((self.ROW, idle, unowned))])).groups
        assert [(member.member_id, member.assigned) for member in group.members] == [
            ("m-1", (TopicPartitions("t", (2,)),)),
            ("m-2", ()),
        ]
        assert [(offset.partition, offset.member_id) for offset in group.offsets] == [(2, "m-1"), (7, None)]

    @pytest.mark.parametrize("is_first", [True, False])
    def test_members_beside_the_same_verbose_ones(self, is_first: bool) -> None:
        """`--members` prints the first columns of `--members --verbose`."""
        plain = "\n".join([" ".join(line.split()[:5]) for line in MEMBERS.split("\n")])
        texts = (plain + "\n", MEMBERS) if is_first else (MEMBERS, plain + "\n")
        assert joined("\n".join(texts)) == joined(MEMBERS)

    def test_a_state_alone_knows_no_members(self) -> None:
        empty, full = GroupState("h:1  (1)", "Empty", 0, "", "a"), GroupState("h:1  (1)", "Stable", 2, "range", "b")
        found = joined(write_states([Section((empty,)), Section((full,))]))
        assert [(group.state, group.assignor, group.members) for group in found.groups] == [
            ("Empty", None, ()),
            ("Stable", "range", ()),
        ]
        assert found.disagreements == ()

    def test_versions_from_the_future_are_named(self) -> None:
        metadata = raw(b"\0\7" + write_subscription(Subscription(("t",)))[2:] + b"more")
        assignment = raw(b"\0\4" + write_assignment(Assignment(()))[2:])
        found = joined(
            described(
                {"member_id": "m-1", "member_metadata": metadata, "member_assignment": assignment},
                {"member_id": "m-2", "member_metadata": raw(write_subscription(Subscription(("t",))))},
            )
        )
        assert found.from_the_future == (
            FromTheFuture("g", "m-1", "subscription", 7),
            FromTheFuture("g", "m-1", "assignment", 4),
        )
        assert [member.topics for member in found.groups[0].members] == [("t",), ("t",)]


class TestRejections:
    """A malformed text names its line."""

    def test_a_command_that_ran_twice_says_no_more(self) -> None:
        for text in (OFFSETS, STATES, MEMBERS):
            assert joined(text + text) == joined(text)

    def test_nothing_is_no_group(self) -> None:
        for text in ("", "\nConsumer group 'g' has no active members.\n", "{}"):
            assert joined(text) == JoinedGroups()

    @pytest.mark.parametrize(
        ("text", "line", "says"),
        [
            ("hello\n" + OFFSETS, 1, "what kafka-consumer-groups --describe prints"),
            ("[1]\n", 1, "found '[1]'"),
            (OFFSETS + STATES + "and so on\n", LINES[OFFSETS] + LINES[STATES] + 1, "and so on"),
            (OFFSETS + MEMBERS.replace(" 12 ", " xx ", 1), LINES[OFFSETS] + 3, "under #PARTITIONS"),
            (STATES + OFFSETS.replace(" 1550 ", " 15x0 ", 1), LINES[STATES] + 3, "under CURRENT-OFFSET"),
            (
                OFFSETS + OFFSETS.replace(" 1550 ", " 1551 ", 1),
                LINES[OFFSETS] + 3,
                "partition orders-23 of group 'billing' again",
            ),
            (STATES + STATES.replace("Stable", "Empty "), LINES[STATES] + 3, "the state of group 'billing' again"),
            (
                MEMBERS + MEMBERS.replace("/127.0.0.1", "/127.0.0.2"),
                LINES[MEMBERS] + 3,
                "d50f4adbc9d7' of group 'billing' again",
            ),
            (STATES + '{"brokers":[{"broker":1,"logDirs":[]}]}\n', LINES[STATES] + 1, "brokers: expected an object"),
            (STATES + DESCRIBED + DESCRIBED, LINES[STATES] + LINES[DESCRIBED] + 1, "'billing' again"),
            (STATES + DESCRIBED[:2000], LINES[STATES] + DESCRIBED.count("\n", 0, 2000) + 1, "described groups as JSON"),
            (
                "TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\nt 0 1 2 1 - - -\n",
                2,
                "GROUP",
            ),
        ],
    )
    def test_what_is_wrong_is_said_with_its_line(self, text: str, line: int, says: str) -> None:
        rejection = rejected(lambda left: recorded_groups.join(read(left)), text)
        assert says in rejection.detail
        assert rejection.line == line

    @pytest.mark.parametrize(
        ("metadata", "says"),
        [("AAMAAAAB", "byte 2"), ("AAMAAAABAAFh", "byte 9"), ("AAM", "bytes in base64"), ("AAM=", "byte 2")],
    )
    def test_a_member_with_broken_bytes_leaves_out_its_group_alone(self, metadata: str, says: str) -> None:
        broken: dict[str, object] = {"member_id": "m-2", "member_metadata": metadata}
        joined = recorded_groups.join(read(STATES + described({"member_id": "m-1", "member_metadata": ""}, broken)))
        [undescribed] = joined.undescribed
        assert "g/members/1/member_metadata" in undescribed.detail
        assert says in undescribed.detail
        assert all(not group.members for group in joined.groups if group.group_id == "g")
        assert [group for group in joined.groups if group.group_id != "g"] == [
            *recorded_groups.join(read(STATES)).groups
        ]
        assert len(joined.groups) > 1

    def test_a_member_of_another_shape_is_rejected_with_its_line(self) -> None:
        text = STATES + described({"member_id": "m-2", "member_metadata": {"topics": 7}})
        rejection = rejected(read, text)
        assert "g/members/0/member_metadata" in rejection.detail
        assert rejection.line is not None
        assert text.split("\n")[rejection.line - 1].strip().startswith('"topics": 7')
