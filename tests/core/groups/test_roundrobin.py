"""The classic round-robin assignor: laws, examples by hand, the walk around the circle, and Kafka's answers."""

from collections import Counter
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given

from app.core.groups.classic.roundrobin import assign
from app.core.groups.model import GroupMetadata, Member
from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import STRING, utf16_order
from app.errors.kafka import NoMembers
from tests.core.groups.assignor_cases import Lists, classic_groups, differing, lists, metadata, written


def by_hand(members: list[Member], known: GroupMetadata) -> Lists:
    """Step around the circle, member by member."""
    group: JavaHashMap[str, Member] = JavaHashMap(STRING)
    for member in members:
        group[member.id] = member
    static = [member for member in group.values() if member.group_instance_id is not None]
    others = [member for member in group.values() if member.group_instance_id is None]
    circle = cycle(
        [
            *sorted(static, key=lambda member: utf16_order(member.group_instance_id or "")),
            *sorted(others, key=lambda member: utf16_order(member.id)),
        ]
    )
    answer: Lists = {member.id: [] for member in members}
    for name in sorted({name for member in members for name in member.topics}, key=utf16_order):
        for partition in range(len(known.topics[name].replicas) if name in known.topics else 0):
            taker = next(member for member in circle if name in member.topics)
            answer[taker.id].append((name, partition))
    return answer


class TestPromises:
    """Laws of every group."""

    @given(classic_groups(min_members=1))
    def test_every_partition_goes_to_one_subscriber(self, group: tuple[list[Member], GroupMetadata]) -> None:
        members, known = group
        answer = lists(assign(members, known))
        topics_of = {member.id: member.topics for member in members}
        assert list(answer) == [member.id for member in members]
        assert all(topic in topics_of[member] for member, own in answer.items() for topic, _ in own)
        read = {name for member in members for name in member.topics if name in known.topics}
        expected = {(name, partition) for name in read for partition in range(len(known.topics[name].replicas))}
        assert Counter(place for own in answer.values() for place in own) == Counter(expected)

    @given(classic_groups(min_members=1))
    def test_equal_subscriptions_have_counts_that_differ_by_one_at_most(
        self, group: tuple[list[Member], GroupMetadata]
    ) -> None:
        members, known = group
        alike = [Member(member.id, members[0].topics) for member in members]
        counts = np.diff(assign(alike, known).offsets)
        assert counts.max() - counts.min() <= 1

    @given(classic_groups(min_members=1, unique_instances=True))
    def test_the_order_in_which_members_are_listed_decides_nothing(
        self, group: tuple[list[Member], GroupMetadata]
    ) -> None:
        members, known = group
        assert lists(assign(members, known)) == lists(assign(members[::-1], known))

    @given(classic_groups(min_members=1))
    def test_it_is_what_a_walk_around_the_circle_finds(self, group: tuple[list[Member], GroupMetadata]) -> None:
        assert lists(assign(*group)) == by_hand(*group)


class TestExamples:
    """Small groups that can be checked by eye."""

    def test_equal_subscriptions(self) -> None:
        known = metadata({}, {"t0": [[], [], []], "t1": [[], [], []]})
        members = [Member("C0", ("t0", "t1")), Member("C1", ("t1", "t0"))]
        assert written(assign(members, known)) == {"C0": "t0-0 t0-2 t1-1", "C1": "t0-1 t1-0 t1-2"}

    def test_unequal_subscriptions_can_be_far_from_balance(self) -> None:
        known = metadata({}, {"t0": [[]], "t1": [[], []], "t2": [[], [], []]})
        members = [Member("C0", ("t0",)), Member("C1", ("t0", "t1")), Member("C2", ("t0", "t1", "t2"))]
        assert written(assign(members, known)) == {"C0": "t0-0", "C1": "t1-0", "C2": "t1-1 t2-0 t2-1 t2-2"}

    def test_static_members_come_first_in_the_circle(self) -> None:
        known = metadata({}, {"t0": [[], []]})
        members = [Member("C0", ("t0",)), Member("C9", ("t0",), group_instance_id="z")]
        assert written(assign(members, known)) == {"C0": "t0-1", "C9": "t0-0"}

    def test_no_members_are_rejected_as_kafkas_code_fails(self) -> None:
        with pytest.raises(NoMembers) as failure:
            assign([], metadata({}, {"t0": [[]]}))
        assert failure.value.kafka.exception == "IllegalArgumentException"


class TestVectors:
    """Kafka's own answers, to the order of each list."""

    def test_it_answers_as_kafka_did(self) -> None:
        assert differing("consumer_roundrobin") == {}
