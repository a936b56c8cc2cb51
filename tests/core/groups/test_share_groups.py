"""The share groups' assignors of 4.1 and of 4.2 and later: Kafka's steps one by one, promises, examples by eye."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.groups.arrays.owned import owned_after
from app.core.groups.model import GroupAssignment, Member, Owned
from app.core.groups.server import simple_hashed, simple_shared
from app.core.groups.server.group import SubscriptionType
from app.errors.kafka import AssignorRunsOutOfMembers, KafkaRefuses, SubscribedTopicMissing
from tests.core.groups import share_by_hand
from tests.core.groups.assignor_cases import lists, server_groups, written
from tests.core.groups.test_server_uniform import by_topic
from tests.core.groups.uniform_by_hand import Answer, Thrown

T1, T2 = "AAAAAAAAAAAAAAAAAAAABA", "AAAAAAAAAAAAAAAAAAAABQ"
Group = tuple[list[Member], dict[str, int]]
RELEASES = [
    pytest.param(simple_hashed.assign, share_by_hand.hashed, id="4.1"),
    pytest.param(simple_shared.assign, share_by_hand.shared, id="4.2"),
]


def outcome(answer: Callable[[], Answer]) -> Answer | str:
    """The answer, or the name of Kafka's exception."""
    try:
        return answer()
    except Thrown as thrown:
        return str(thrown)
    except KafkaRefuses as refusal:
        return refusal.kafka.exception


def share(group: Group, extra: Sequence[tuple[int, int, int]]) -> Group:
    """The group with further owners of partitions, since several members of a share group may own one."""
    members, topics = group
    names = list(topics)
    grown = list(members)
    for member, topic, partition in extra if members else ():
        at = member % len(grown)
        name = names[topic % len(names)]
        owned = [run for run in grown[at].owned if run.topic != name]
        before = [p for run in grown[at].owned if run.topic == name for p in run.partitions.tolist()]
        numbers = list(dict.fromkeys([*before, partition]))
        grown[at] = Member(grown[at].id, grown[at].topics, owned=(*owned, Owned(name, np.array(numbers, np.int32))))
    return grown, topics


EXTRA = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 12)), max_size=12)


class TestKafkasSteps:
    @pytest.mark.parametrize(("assign", "by_hand"), RELEASES)
    @pytest.mark.parametrize("kind", SubscriptionType)
    @given(
        group=server_groups(largest=40),
        extra=EXTRA,
        assignable=st.none() | st.lists(st.sets(st.integers(0, 40), max_size=40), min_size=5, max_size=5),
    )
    def test_every_step_is_kafkas(
        self,
        assign: Callable[..., GroupAssignment],
        by_hand: Callable[..., Answer],
        kind: SubscriptionType,
        group: Group,
        extra: list[tuple[int, int, int]],
        assignable: list[set[int]] | None,
    ) -> None:
        members, topics = share(group, extra)
        may: Mapping[str, Collection[int]] | None = None
        if assignable is not None:
            may = dict(zip(topics, assignable, strict=False))
        is_homogeneous = kind is SubscriptionType.HOMOGENEOUS
        assert outcome(lambda: by_topic(assign(members, topics, subscription_type=kind, assignable=may))) == outcome(
            lambda: by_hand(members, topics, may, is_homogeneous=is_homogeneous)
        )

    @pytest.mark.parametrize(("assign", "by_hand"), RELEASES)
    @pytest.mark.parametrize("kind", SubscriptionType)
    @given(group=server_groups(same_subscription=True, largest=6), names=st.sets(st.integers(0, 200), min_size=7))
    def test_so_it_is_with_many_members_a_partition(
        self,
        assign: Callable[..., GroupAssignment],
        by_hand: Callable[..., Answer],
        kind: SubscriptionType,
        group: Group,
        names: set[int],
    ) -> None:
        """Member ids of which many share a bin: "Aa0", "BB0" … have one hash code."""
        members, topics = group
        more = [Member(f"{'Aa' if name % 2 else 'BB'}{name // 2}", tuple(topics)) for name in sorted(names)]
        everyone = [*members, *more]
        is_homogeneous = kind is SubscriptionType.HOMOGENEOUS
        assert outcome(lambda: by_topic(assign(everyone, topics, subscription_type=kind))) == outcome(
            lambda: by_hand(everyone, topics, None, is_homogeneous=is_homogeneous)
        )


class TestPromises:
    @pytest.mark.parametrize(("assign", "_"), RELEASES)
    @given(n_members=st.integers(1, 30), sizes=st.lists(st.integers(1, 12), min_size=1, max_size=2))
    def test_in_a_fresh_group_every_partition_has_a_member_and_every_member_a_partition(
        self, assign: Callable[..., GroupAssignment], _: object, n_members: int, sizes: list[int]
    ) -> None:
        topics = dict(zip((T1, T2), sizes, strict=False))
        answer = lists(assign([Member(f"m{n}", tuple(topics)) for n in range(n_members)], topics))
        assert all(answer.values())
        everywhere = {(topic, partition) for topic, count in topics.items() for partition in range(count)}
        assert {partition for own in answer.values() for partition in own} == everywhere

    @given(n_members=st.integers(1, 30), sizes=st.lists(st.integers(1, 12), min_size=1, max_size=2))
    def test_since_4_2_a_fresh_group_is_balanced_and_stays_as_it_is(self, n_members: int, sizes: list[int]) -> None:
        topics = dict(zip((T1, T2), sizes, strict=False))
        members = [Member(f"m{n}", tuple(topics)) for n in range(n_members)]
        first = simple_shared.assign(members, topics)
        sharing = -(-n_members // sum(sizes))
        counts = Counter(partition for own in lists(first).values() for partition in own)
        assert set(counts.values()) == {sharing}
        loads = np.diff(first.offsets)
        assert loads.max() - loads.min() <= 1
        owned = owned_after(first)
        settled = [Member(member.id, member.topics, owned=owned[member.id]) for member in members]
        assert lists(simple_shared.assign(settled, topics)) == lists(first)


class TestExamples:
    def test_4_1_hashes_member_ids_to_partitions(self) -> None:
        """ "a" is 97 and "b" 98: 97 mod 3 = 1, 98 mod 3 = 2; partition 0 is dealt to the first member."""
        answer = simple_hashed.assign([Member("a", (T1,)), Member("b", (T1,))], {T1: 3})
        assert written(answer) == {"a": f"{T1}-0 {T1}-1", "b": f"{T1}-2"}

    def test_4_2_shares_partitions_if_there_are_more_members(self) -> None:
        answer = simple_shared.assign([Member(name, (T1,)) for name in "abc"], {T1: 2})
        assert written(answer) == {"a": f"{T1}-0 {T1}-1", "b": f"{T1}-0", "c": f"{T1}-1"}

    def test_since_4_2_the_assignor_fails_if_members_run_out_within_a_partition(self) -> None:
        """S = 2; a, which is to have two, owns a partition that does not exist, so that 0 and 1 lack a member."""
        members = [
            Member("a", (T1,), owned=(Owned(T1, np.array([9], np.int32)),)),
            Member("b", (T1,)),
            Member("c", (T1,)),
        ]
        with pytest.raises(AssignorRunsOutOfMembers) as failure:
            simple_shared.assign(members, {T1: 2})
        assert failure.value.kafka.exception == "NoSuchElementException"

    @pytest.mark.parametrize(("assign", "_"), RELEASES)
    def test_what_may_not_be_assigned_is_not(self, assign: Callable[..., GroupAssignment], _: object) -> None:
        answer = assign([Member("a", (T1, T2))], {T1: 3, T2: 2}, assignable={T1: {0, 2}})
        assert written(answer) == {"a": f"{T1}-0 {T1}-2"}

    @pytest.mark.parametrize(("assign", "_"), RELEASES)
    def test_a_topic_that_does_not_exist_is_rejected(self, assign: Callable[..., GroupAssignment], _: object) -> None:
        with pytest.raises(SubscribedTopicMissing):
            assign([Member("a", (T1,)), Member("b", (T2,))], {T1: 1})

    @pytest.mark.parametrize(("assign", "_"), RELEASES)
    @pytest.mark.parametrize("members", [[], [Member("a", ())]])
    def test_without_subscriptions_there_are_no_lists(
        self, assign: Callable[..., GroupAssignment], _: object, members: list[Member]
    ) -> None:
        assert lists(assign(members, {T1: 1})) == {}
