"""The coordinator's uniform assignor: laws, examples by hand, Kafka's steps one by one, and its answers."""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from app.core.groups.arrays.owned import owned_after
from app.core.groups.model import GroupAssignment, Member, Owned
from app.core.groups.server.group import SubscriptionType
from app.core.groups.server.uniform import Remainder, assign
from app.core.jvm import JavaHashSet
from app.core.jvm.hashes import INTEGER
from app.errors.kafka import KafkaRefuses, OwnedPartitionMissing, PartitionsLeftUnassigned, SubscribedTopicMissing
from tests.core.groups.assignor_cases import differing, lists, server_groups, written
from tests.core.groups.uniform_by_hand import Answer, Heterogeneous, Thrown, homogeneous
from tests.profiles import costly

T1, T2 = "AAAAAAAAAAAAAAAAAAAABA", "AAAAAAAAAAAAAAAAAAAABQ"
HIGH = "gAAAAAAAAAAAAAAAAAAAAA"
"""An id whose first bit is set."""


def by_topic(assignment: GroupAssignment) -> Answer:
    """As the walk by hand answers."""
    answer: Answer = {member: {} for member in assignment.members}
    for member, own in lists(assignment).items():
        for topic, partition in own:
            answer[member].setdefault(topic, set()).add(partition)
    for member_index, topic_index in assignment.without_partitions:
        answer[assignment.members[member_index]][assignment.topics[topic_index]] = set()
    return answer


def by_hand(
    members: Sequence[Member],
    topics: Mapping[str, int],
    subscription_type: SubscriptionType,
    remainder: Remainder = Remainder.FIRST_MEMBERS,
) -> Answer | str:
    """Kafka's steps, or the exception's name."""
    try:
        if subscription_type is SubscriptionType.HOMOGENEOUS:
            return homogeneous(members, topics, to_owners=remainder is Remainder.OWNERS)
        return Heterogeneous(members, topics).answer()
    except Thrown as thrown:
        return str(thrown)


def answered(
    members: Sequence[Member],
    topics: Mapping[str, int],
    subscription_type: SubscriptionType,
    remainder: Remainder = Remainder.FIRST_MEMBERS,
) -> Answer | str:
    """The same of the assignor."""
    try:
        return by_topic(assign(members, topics, subscription_type=subscription_type, remainder=remainder))
    except KafkaRefuses as refusal:
        return refusal.kafka.exception


def owned(topic: str, *partitions: int) -> Owned:
    """A run that a member owns."""
    return Owned(topic, np.array(partitions, np.int32))


class TestPromises:
    """Laws of every group, as long as nothing is owned twice."""

    @given(server_groups(exclusive=True))
    def test_every_partition_goes_to_one_subscriber(self, group: tuple[list[Member], dict[str, int]]) -> None:
        members, topics = group
        answer = lists(assign(members, topics))
        topics_of = {member.id: member.topics for member in members}
        assert set(answer) <= set(topics_of)
        assert all(topic in topics_of[member] for member, own in answer.items() for topic, _ in own)
        read = {name for member in members for name in member.topics}
        expected = {(name, partition) for name in read for partition in range(topics[name])}
        assert Counter(place for own in answer.values() for place in own) == Counter(expected)

    @pytest.mark.parametrize("remainder", Remainder)
    @given(group=server_groups(exclusive=True, same_subscription=True))
    def test_counts_differ_by_one_at_most_where_all_read_the_same(
        self, remainder: Remainder, group: tuple[list[Member], dict[str, int]]
    ) -> None:
        counts = np.diff(assign(*group, remainder=remainder).offsets)
        assert not len(counts) or counts.max() - counts.min() <= 1

    @given(group=server_groups(exclusive=True, same_subscription=True))
    def test_since_4_0_1_no_partition_moves_if_the_group_is_balanced(
        self, group: tuple[list[Member], dict[str, int]]
    ) -> None:
        """Whichever members have the extra partitions, they keep them; before, the first members took them over."""
        members, topics = group
        assignment = assign(members, topics)
        owns = owned_after(assignment)
        settled = [Member(member.id, member.topics, owned=owns.get(member.id, ())) for member in reversed(members)]
        again = assign(settled, topics, remainder=Remainder.OWNERS)
        assert lists(again) == lists(assignment)

    @given(server_groups(exclusive=True, same_subscription=True))
    def test_a_member_keeps_what_it_owns_up_to_its_share(self, group: tuple[list[Member], dict[str, int]]) -> None:
        members, topics = group
        answer = lists(assign(members, topics))
        share = sum(topics[name] for name in set(members[0].topics)) // len(members) if members else 0
        for member in members:
            owns = {
                (run.topic, p) for run in member.owned if run.topic in member.topics for p in run.partitions.tolist()
            }
            assert len(owns & set(answer.get(member.id, ()))) >= min(len(owns), share)

    @given(server_groups(exclusive=True))
    def test_readers_of_one_topic_alone_are_balanced_whatever_they_own(
        self, group: tuple[list[Member], dict[str, int]]
    ) -> None:
        members, topics = group
        name = next(iter(topics))
        alone = [Member(m.id, (name,) if index % 3 else (), owned=m.owned) for index, m in enumerate(members)]
        answer = lists(assign(alone, topics))
        counts = [len(answer[member.id]) for member in alone if member.topics]
        assert not counts or max(counts) - min(counts) <= 1

    @given(server_groups(exclusive=True))
    def test_an_answer_that_members_own_is_answered_again(self, group: tuple[list[Member], dict[str, int]]) -> None:
        """Nothing moves once all members own their assignment, unless Kafka stopped evening out after 16 rounds."""
        members, topics = group
        first = assign(members, topics)
        owns = owned_after(first)
        settled = [Member(member.id, member.topics, owned=owns.get(member.id, ())) for member in members]
        assert lists(assign(settled, topics)) == lists(first)


class TestKafkasSteps:
    """The arrays find the same as the walk over Java's collections, whatever is owned."""

    @given(server_groups())
    def test_heterogeneous(self, group: tuple[list[Member], dict[str, int]]) -> None:
        kind = SubscriptionType.HETEROGENEOUS
        assert answered(*group, kind) == by_hand(*group, kind)

    @pytest.mark.parametrize("remainder", Remainder)
    @given(group=server_groups())
    def test_homogeneous_though_it_may_not_be_true(
        self, remainder: Remainder, group: tuple[list[Member], dict[str, int]]
    ) -> None:
        kind = SubscriptionType.HOMOGENEOUS
        assert answered(*group, kind, remainder) == by_hand(*group, kind, remainder)

    @pytest.mark.parametrize("remainder", Remainder)
    @given(group=server_groups(same_subscription=True))
    def test_homogeneous(self, remainder: Remainder, group: tuple[list[Member], dict[str, int]]) -> None:
        kind = SubscriptionType.HOMOGENEOUS
        assert answered(*group, kind, remainder) == by_hand(*group, kind, remainder)

    @given(group=server_groups(exclusive=True, same_subscription=True))
    def test_homogeneous_and_nothing_owned_twice(self, group: tuple[list[Member], dict[str, int]]) -> None:
        kind = SubscriptionType.HOMOGENEOUS
        assert answered(*group, kind, Remainder.OWNERS) == by_hand(*group, kind, Remainder.OWNERS)

    @costly()
    @pytest.mark.parametrize("remainder", Remainder)
    @given(group=server_groups(largest=400))
    def test_large_topics_in_hash_sets_of_many_bins(
        self, remainder: Remainder, group: tuple[list[Member], dict[str, int]]
    ) -> None:
        for kind in SubscriptionType:
            assert answered(*group, kind, remainder) == by_hand(*group, kind, remainder)

    @pytest.mark.parametrize("seed", range(8))
    def test_many_members_and_topics(self, seed: int) -> None:
        """Wide differences between counts, owners of half of everything, and rounds that run into Kafka's limit."""
        draw = np.random.default_rng(seed)
        ids = [base64.urlsafe_b64encode(draw.bytes(16)).decode().rstrip("=") for _ in range(25)]
        topics = {name: int(draw.choice([1, 3, 40, 150])) for name in ids}
        n_members = int(draw.integers(5, 60))
        kinds = [tuple(name for name in ids if draw.random() < 0.3) for _ in range(int(draw.integers(2, 20)))]
        by_member: list[list[Owned]] = [[] for _ in range(n_members)]
        for name, count in topics.items():
            for who in draw.integers(n_members, size=3):
                partitions = np.flatnonzero(draw.random(count) < 0.2 * (seed % 3)).astype(np.int32)
                by_member[who].append(Owned(name, draw.permutation(partitions)))
        members = [
            Member(f"m{draw.integers(10**6)}-{i}", kinds[draw.integers(len(kinds))], owned=tuple(by_member[i]))
            for i in range(n_members)
        ]
        for kind in SubscriptionType:
            for remainder in Remainder:
                assert answered(members, topics, kind, remainder) == by_hand(members, topics, kind, remainder)


class TestExamples:
    """Small groups that can be checked by eye. One-letter ids come in the order of the alphabet in a hash map."""

    def test_the_first_members_have_the_remainder(self) -> None:
        answer = assign([Member("b", (T1,)), Member("a", (T1,))], {T1: 3})
        assert written(answer) == {"b": f"{T1}-2", "a": f"{T1}-0 {T1}-1"}

    def test_since_4_0_1_an_owner_keeps_the_remainder_and_else_the_last_members_have_it(self) -> None:
        members = [Member("a", (T1,)), Member("b", (T1,), owned=(owned(T1, 0, 1),)), Member("c", (T1,))]
        answer = assign(members, {T1: 4}, remainder=Remainder.OWNERS)
        assert written(answer) == {"a": f"{T1}-2", "b": f"{T1}-0 {T1}-1", "c": f"{T1}-3"}
        fresh = assign([Member(name, (T1,)) for name in "abc"], {T1: 4}, remainder=Remainder.OWNERS)
        assert written(fresh) == {"a": f"{T1}-0", "b": f"{T1}-1", "c": f"{T1}-2 {T1}-3"}

    def test_a_newcomer_gets_what_the_owner_has_too_much_of(self) -> None:
        members = [Member("a", (T1,), owned=(owned(T1, 0, 1, 2, 3),)), Member("b", (T1,))]
        assert written(assign(members, {T1: 4})) == {"a": f"{T1}-0 {T1}-1", "b": f"{T1}-2 {T1}-3"}

    def test_retained_partitions_depend_on_the_order_of_a_hash_set(self) -> None:
        """In a table of 16 bins partition 16 is beside 0 and before 1; of nine members eight may have two."""
        members = [Member("a", (T1,), owned=(owned(T1, 0, 1, 16),)), *(Member(name, (T1,)) for name in "bcdefghi")]
        assert written(assign(members, {T1: 17}))["a"] == f"{T1}-0 {T1}-16"

    def test_differing_subscriptions_are_evened_out_over_all_topics(self) -> None:
        members = [Member("a", (T1,)), Member("b", (T1, T2)), Member("c", (T2,))]
        answer = assign(members, {T1: 4, T2: 4})
        assert written(answer) == {
            "a": f"{T1}-0 {T1}-2",
            "b": f"{T1}-1 {T1}-3 {T2}-3",
            "c": f"{T2}-0 {T2}-1 {T2}-2",
        }

    def test_an_id_of_which_the_first_bit_is_set_comes_first(self) -> None:
        """Kafka 4.0 compares ids as signed numbers. "a" has one more when the second topic is dealt out."""
        members = [Member("a", (T1, HIGH)), Member("b", (T1, HIGH)), Member("c", ())]
        answer = written(assign(members, {T1: 1, HIGH: 1}))
        assert answer == {"a": f"{HIGH}-0", "b": f"{T1}-0", "c": ""}

    def test_a_partition_of_two_owners_stays_with_both_where_subscriptions_differ(self) -> None:
        members = [Member("a", (T1,), owned=(owned(T1, 0),)), Member("b", (T1, T2), owned=(owned(T1, 0),))]
        assert written(assign(members, {T1: 1, T2: 1})) == {"a": f"{T1}-0", "b": f"{T1}-0 {T2}-0"}

    @pytest.mark.parametrize("partition", [0, 7])
    def test_a_partition_that_is_gone_or_has_two_owners_leaves_no_room_where_they_do_not(self, partition: int) -> None:
        members = [Member("a", (T1,), owned=(owned(T1, partition),)), Member("b", (T1,), owned=(owned(T1, 0),))]
        with pytest.raises(PartitionsLeftUnassigned) as failure:
            assign(members, {T1: 5})
        assert failure.value.kafka.message == "Partitions were left unassigned"
        assert failure.value.context == {"owned": 2, "distinct": 1}

    def test_a_partition_that_is_gone_can_fail_the_assignment(self) -> None:
        members = [Member("a", (T1,), owned=(owned(T1, 7),)), Member("b", (T1, T2))]
        with pytest.raises(OwnedPartitionMissing) as failure:
            assign(members, {T1: 2, T2: 1})
        assert failure.value.kafka.exception == "ArrayIndexOutOfBoundsException"
        assert failure.value.context == {"topic": T1, "partition": 7, "partitions": 2}

    def test_a_topic_owned_without_partitions_stays_named(self) -> None:
        members = [Member("a", (T1,), owned=(owned(T1),)), Member("b", (T1, T2)), Member("c", (T1,))]
        answer = assign(members, {T1: 0, T2: 1})
        assert by_topic(answer) == {"a": {T1: set()}, "b": {T2: {0}}, "c": {}}

    def test_a_topic_that_does_not_exist_is_rejected(self) -> None:
        with pytest.raises(SubscribedTopicMissing) as failure:
            assign([Member("a", (T1,)), Member("b", (T2,))], {T1: 1})
        assert failure.value.context == {"topic": T2}

    def test_what_is_no_topic_id_is_a_mistake_of_the_caller(self) -> None:
        with pytest.raises(ValueError, match="'orders' given"):
            assign([Member("a", ("orders",))], {"orders": 1})

    @pytest.mark.parametrize("members", [[], [Member("a", ())]])
    def test_a_group_that_reads_nothing_has_no_lists(self, members: list[Member]) -> None:
        assert lists(assign(members, {T1: 1})) == {}


class TestVectors:
    """Kafka's own answers."""

    def test_it_answers_as_kafka_did(self) -> None:
        assert differing("server_uniform") == {}


class TestHistory:
    """Known to the coordinator alone: the order in which it assigned a member's partitions."""

    @pytest.mark.parametrize("remainder", Remainder)
    @pytest.mark.parametrize("seed", range(15))
    def test_the_order_of_a_bucket_is_counted_exactly_if_it_decides(self, seed: int, remainder: Remainder) -> None:
        """Of a member above its quota, with every order."""
        random = Random(seed)
        numbers = random.sample([*range(0, 50, 16), *range(1, 50, 16), 2, 3], random.randint(4, 5))
        others = [Member(f"m{index}", (T1,)) for index in range(random.randint(18, 30))]
        answers = [
            assign([Member("owner", (T1,), owned=[owned(T1, *order)]), *others], {T1: 50}, remainder=remainder)
            for order in permutations(numbers)
        ]
        differs = any(by_topic(each) != by_topic(answers[0]) for each in answers)
        assert {each.arbitrary_choices > 0 for each in answers} == {differs}

    @pytest.mark.parametrize(("numbers", "is_counted"), [(range(12), False), ([*range(11), 16], True)])
    def test_the_size_of_a_table_is_counted_if_it_decides(self, numbers: Sequence[int], is_counted: bool) -> None:
        """Twelve partitions have 16 buckets since JDK 19, and 32 before: 16 is the second or the last."""
        answer = assign([Member("owner", (T1,), owned=[owned(T1, *numbers)]), Member("other", (T1,))], {T1: 17})
        orders = {tuple(JavaHashSet.copy_of(list(numbers), INTEGER, jdk=jdk)) for jdk in (17, 21)}
        assert (len(orders) > 1) == is_counted
        assert (answer.arbitrary_choices > 0) == is_counted

    def test_a_group_that_a_coordinator_assigned_otherwise(self) -> None:
        """(Kafka 4.2.1) 12 and 44 share a bucket, of which the member keeps one: it was 44, which it got first."""
        own = {
            "jlexmjJaTPWZ2nMlmQSdfg": [owned(T1, *range(6, 16), *range(36, 46))],
            "OGSwVSwpRdCArxa_oZHVXQ": [owned(T1, *range(16, 36))],
            "uEzXsb4XRjqVDd4rsAxtPA": [owned(T1, *range(6)), owned(T2, *range(14))],
            "sCoBTNS6Tk2ONHqJA3vHGA": [],
        }
        members = [Member(name, (T1, T2), owned=runs) for name, runs in own.items()]
        answer = assign(members, {T1: 46, T2: 14}, remainder=Remainder.OWNERS)
        kept = {partition for topic, partition in lists(answer)["jlexmjJaTPWZ2nMlmQSdfg"] if topic == T1}
        assert len({12, 44} & kept) == 1
        assert answer.arbitrary_choices > 0
