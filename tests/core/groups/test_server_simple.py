"""The share groups' simple assignor: laws, examples by hand, and Kafka's answers."""

import pytest
from hypothesis import given

from app.core.groups.model import Member
from app.core.groups.server.group import SubscriptionType
from app.core.groups.server.simple import assign
from app.errors.kafka import SubscribedTopicMissing
from tests.core.groups.assignor_cases import differing, lists, server_groups

T1, T2 = "AAAAAAAAAAAAAAAAAAAABA", "AAAAAAAAAAAAAAAAAAAABQ"


class TestPromises:
    """Laws of every group."""

    @given(server_groups())
    def test_every_member_gets_all_that_it_reads(self, group: tuple[list[Member], dict[str, int]]) -> None:
        members, topics = group
        answer = assign(members, topics)
        expected = {
            member.id: [(name, p) for name in sorted(set(member.topics)) for p in range(topics[name])]
            for member in members
            if member.topics
        }
        assert lists(answer) == expected
        empty = {(answer.members[member], answer.topics[topic]) for member, topic in answer.without_partitions}
        assert empty == {(member.id, name) for member in members for name in member.topics if not topics[name]}


class TestExamples:
    """Small groups that can be checked by eye."""

    def test_partitions_are_shared(self) -> None:
        answer = assign([Member("M0", (T1,)), Member("M1", (T2, T1))], {T1: 2, T2: 1})
        assert lists(answer) == {"M0": [(T1, 0), (T1, 1)], "M1": [(T1, 0), (T1, 1), (T2, 0)]}

    def test_members_that_read_nothing_are_left_out(self) -> None:
        assert list(assign([Member("M0", ()), Member("M1", (T1,))], {T1: 1}).members) == ["M1"]

    def test_said_to_be_homogeneous_all_read_what_the_first_in_hash_order_reads(self) -> None:
        """One-letter ids hash to their letter, so that "a" comes before "b" though it is listed last."""
        members = [Member("b", (T1, T2)), Member("a", (T1,))]
        answer = assign(members, {T1: 1, T2: 1}, subscription_type=SubscriptionType.HOMOGENEOUS)
        assert lists(answer) == {"b": [(T1, 0)], "a": [(T1, 0)]}

    def test_a_topic_that_does_not_exist_is_rejected(self) -> None:
        with pytest.raises(SubscribedTopicMissing) as failure:
            assign([Member("M0", (T1,)), Member("M1", (T2,))], {T1: 1})
        message = f"Members are subscribed to topic {T2} which doesn't exist in the topic metadata."
        assert failure.value.kafka.message == message


class TestVectors:
    """Kafka's own answers."""

    def test_it_answers_as_kafka_did(self) -> None:
        assert differing("server_simple") == {}
