"""The coordinator's range assignor: laws, examples by hand, and Kafka's answers."""

from collections import Counter

import pytest
from hypothesis import given

from app.core.groups.model import Member
from app.core.groups.server.group import SubscriptionType
from app.core.groups.server.range import assign
from app.errors.kafka import SubscribedTopicMissing
from tests.core.groups.assignor_cases import differing, lists, server_groups, written

T1, T2, T3 = "AAAAAAAAAAAAAAAAAAAABA", "AAAAAAAAAAAAAAAAAAAABQ", "AAAAAAAAAAAAAAAAAAAABg"


class TestPromises:
    """Laws of every group."""

    @given(server_groups())
    def test_every_partition_goes_to_one_subscriber(self, group: tuple[list[Member], dict[str, int]]) -> None:
        members, topics = group
        answer = lists(assign(members, topics))
        topics_of = {member.id: member.topics for member in members}
        assert list(answer) == [member.id for member in members]
        assert all(topic in topics_of[member] for member, own in answer.items() for topic, _ in own)
        read = {name for member in members for name in member.topics}
        expected = {(name, partition) for name in read for partition in range(topics[name])}
        assert Counter(place for own in answer.values() for place in own) == Counter(expected)

    @given(server_groups())
    def test_each_topic_is_in_ranges_that_differ_by_one_at_most(
        self, group: tuple[list[Member], dict[str, int]]
    ) -> None:
        members, topics = group
        answer = lists(assign(members, topics))
        for name in topics:
            shares = [
                [partition for topic, partition in answer[member.id] if topic == name]
                for member in members
                if name in member.topics
            ]
            assert all(share == list(range(share[0], share[0] + len(share))) for share in shares if share)
            assert not shares or max(map(len, shares)) - min(map(len, shares)) <= 1

    @given(server_groups())
    def test_what_members_own_and_the_order_of_their_topics_decide_nothing(
        self, group: tuple[list[Member], dict[str, int]]
    ) -> None:
        members, topics = group
        bare = [
            Member(member.id, member.topics[::-1], group_instance_id=member.group_instance_id) for member in members
        ]
        assert lists(assign(members, topics)) == lists(assign(bare, topics))


class TestExamples:
    """Small groups that can be checked by eye."""

    def test_topics_of_the_same_size_are_dealt_out_alike(self) -> None:
        answer = assign([Member("M0", (T1, T2)), Member("M1", (T2, T1))], {T1: 3, T2: 3})
        assert written(answer) == {"M0": f"{T1}-0 {T1}-1 {T2}-0 {T2}-1", "M1": f"{T1}-2 {T2}-2"}

    def test_static_members_come_first_by_instance_id(self) -> None:
        members = [
            Member("M0", (T1,)),
            Member("M1", (T1,), group_instance_id="b"),
            Member("M2", (T1,), group_instance_id="a"),
        ]
        assert written(assign(members, {T1: 2})) == {"M0": "", "M1": f"{T1}-1", "M2": f"{T1}-0"}

    def test_each_topic_has_its_own_line_where_subscriptions_differ(self) -> None:
        members = [Member("M0", (T1,)), Member("M1", (T1, T2)), Member("M2", (T2, T3))]
        answer = assign(members, {T1: 3, T2: 2, T3: 1})
        assert written(answer) == {"M0": f"{T1}-0 {T1}-1", "M1": f"{T1}-2 {T2}-0", "M2": f"{T2}-1 {T3}-0"}

    def test_said_to_be_homogeneous_all_read_what_the_first_in_line_reads(self) -> None:
        members = [Member("M0", (T1,)), Member("M1", (T1, T2))]
        answer = assign(members, {T1: 2, T2: 2}, subscription_type=SubscriptionType.HOMOGENEOUS)
        assert written(answer) == {"M0": f"{T1}-0", "M1": f"{T1}-1"}

    @pytest.mark.parametrize("others", [[], [Member("M1", (T1,))]])
    def test_a_topic_that_does_not_exist_is_rejected(self, others: list[Member]) -> None:
        with pytest.raises(SubscribedTopicMissing) as failure:
            assign([Member("M0", (T2,)), *others], {T1: 1})
        assert failure.value.kafka.exception == "PartitionAssignorException"
        assert failure.value.context == {"topic": T2}

    def test_no_members_are_given_nothing(self) -> None:
        assert lists(assign([], {T1: 1})) == {}


class TestVectors:
    """Kafka's own answers."""

    def test_it_answers_as_kafka_did(self) -> None:
        assert differing("server_range") == {}
