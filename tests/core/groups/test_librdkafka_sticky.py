"""librdkafka's cooperative-sticky assignor: its laws, its orders, and answers of the real client."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from app.core.groups.lifecycle.rebalance import Protocol, rebalance
from app.core.groups.model import GroupMetadata, Member
from app.core.groups.registry import ASSIGNORS, LIBRARY_ASSIGNORS, assignor_of_library
from app.errors.kafka import AssignorLosesCount, NoMembers
from tests import draws as st
from tests.conformance.groups import ANSWERS
from tests.core.groups.assignor_cases import differing
from tests.core.groups.small_groups import given_to, metadata, topic
from tests.core.groups.sticky_cases import Partition, after, case, cases, counts, flat, member, moved, owned_cases

NAME = "librdkafka_cooperative_sticky"


def assigned(group: Mapping[str, Any]) -> dict[str, list[Partition]]:
    return {name: flat(its) for name, its in ANSWERS[NAME](group)["assignment"].items()}


def assigned_or_none(group: Mapping[str, Any]) -> dict[str, list[Partition]] | None:
    """None if librdkafka's own code fails."""
    try:
        return assigned(group)
    except AssignorLosesCount:
        return None


class TestLaws:
    @given(cases())
    def test_a_new_group_is_assigned_every_partition_once(self, group: dict[str, Any]) -> None:
        own = assigned_or_none(group)
        if own is None:
            return
        subscribed = set().union(*(its["topics"] for its in group["members"]))
        everything = {(t, p) for t, count in counts(group).items() if t in subscribed for p in range(count)}
        assert sorted(partition for its in own.values() for partition in its) == sorted(everything)
        for its in group["members"]:
            assert {name for name, _ in own[its["id"]]} <= set(its["topics"])

    @given(owned_cases(odd=False, equal=True, racks=False))
    def test_equal_subscriptions_are_balanced_after_two_phases(self, group: dict[str, Any]) -> None:
        """Racks can prevent it: partitions that are in no member's rack are taken from their members in every phase."""
        first = assigned_or_none(group)
        second = None if first is None else assigned_or_none(after(group, first, generation=6))
        if second is None:
            return
        sizes = [len(own) for own in second.values()]
        assert sum(sizes) == sum(counts(group).values())
        assert max(sizes) - min(sizes) <= 1

    @given(owned_cases(odd=False, equal=True, racks=False))
    def test_what_is_balanced_and_complete_stays(self, group: dict[str, Any]) -> None:
        first = assigned(group)
        second = assigned(after(group, first, generation=6))
        assert moved(second, assigned(after(group, second, generation=7))) == 0

    @given(owned_cases(odd=True))
    def test_a_partition_that_another_member_claims_is_withheld(self, group: dict[str, Any]) -> None:
        """Of several claimants the last one counts, in any generation; unassigned partitions stay with it."""
        members = [its for its in group["members"] if its["topics"]]
        last = {partition: its["id"] for its in members for partition in flat(its["owned"])}
        own = assigned_or_none(group) if members else {}
        for name, partitions in (own or {}).items():
            assert all(last.get(partition, name) == name for partition in partitions)

    @given(owned_cases(odd=True), st.randoms())
    def test_the_order_of_members_without_claims_in_common_has_no_influence(self, group: Any, random: Any) -> None:
        claims = [partition for its in group["members"] for partition in flat(its["owned"])]
        members = [its for its in group["members"] if its["topics"]]
        if len(set(claims)) < len(claims) or not members:
            return
        shuffled = random.sample(members, len(members))
        own, other = assigned_or_none(group), assigned_or_none({**group, "members": shuffled})
        assert own == other


class TestOrders:
    def test_a_new_group_is_dealt_by_topic_and_number_to_the_smallest_id(self) -> None:
        group = case({"b": 3, "a": 3}, member("y", ["a", "b"]), member("x", ["a", "b"]))
        assert assigned(group) == {"y": [("a", 1), ("b", 0), ("b", 2)], "x": [("a", 0), ("a", 2), ("b", 1)]}

    def test_ids_are_compared_by_their_bytes(self) -> None:
        """U+1F600 is after U+FF61 in UTF-8, and before it in Java."""
        group = case({"t": 1}, member("\U0001f600", ["t"]), member("\uff61", ["t"]))
        assert assigned(group) == {"\U0001f600": [], "\uff61": [("t", 0)]}

    @pytest.mark.parametrize(
        ("topics", "expected"),
        [
            ({"b": 3, "a": 3}, {"x": [("a", 1), ("b", 1), ("b", 2)], "y": [("a", 0), ("a", 2), ("b", 0)]}),
            ({"a": 3, "b": 3}, {"x": [("b", 0), ("b", 1), ("b", 2)], "y": [("a", 0), ("a", 1), ("a", 2)]}),
        ],
    )
    def test_the_rest_is_dealt_from_the_end_of_the_metadata(
        self, topics: dict[str, int], expected: dict[str, list[Partition]]
    ) -> None:
        """Measured: a leader that left has freed three of six partitions, and the broker lists the topics so."""
        own = [member("y", ["a", "b"], [("a", 0), ("a", 2)]), member("x", ["a", "b"], [("b", 1)])]
        assert assigned(case(topics, *own)) == expected

    def test_a_topic_of_fewer_subscribers_is_before_others(self) -> None:
        group = case({"a": 2, "b": 2}, member("x", ["a", "b"]), member("y", ["a"]))
        assert assigned(group) == {"x": [("b", 0), ("b", 1)], "y": [("a", 0), ("a", 1)]}

    def test_a_joiner_waits_for_one_phase(self) -> None:
        group = case({"t": 4}, member("A", ["t"], [("t", p) for p in range(4)]), member("B", ["t"]))
        first = assigned(group)
        assert first == {"A": [("t", 2), ("t", 3)], "B": []}
        assert assigned(after(group, first)) == {"A": [("t", 2), ("t", 3)], "B": [("t", 0), ("t", 1)]}

    def test_a_partition_that_does_not_exist_stays_with_its_claimant(self) -> None:
        group = case({"t": 1}, member("A", ["t"], [("t", 0), ("t", 7), ("gone", 0)]))
        assert assigned(group) == {"A": [("gone", 0), ("t", 0), ("t", 7)]}

    def test_a_member_in_a_rack_is_before_others(self) -> None:
        brokers = [{"id": 0, "rack": "a"}, {"id": 1, "rack": "b"}]
        topics = [{"name": "t", "replicas": [[1], [0]]}]
        members = [member("A", ["t"], rack_id="a"), member("B", ["t"], rack_id="b")]
        group = {"brokers": brokers, "topics": topics, "members": members}
        assert assigned(group) == {"A": [("t", 1)], "B": [("t", 0)]}

    def test_members_without_a_subscription_are_left_out(self) -> None:
        assert assigned(case({"t": 1}, member("A", []), member("B", ["t"]))) == {"B": [("t", 0)]}
        with pytest.raises(NoMembers):
            assigned(case({"t": 1}, member("A", [])))


class TestRegistry:
    def test_a_group_settles(self) -> None:
        known: GroupMetadata = metadata({0: None}, topic("t", *[[0]] * 9))
        own = LIBRARY_ASSIGNORS["librdkafka", "cooperative-sticky"]
        members: tuple[Member, ...] = (Member("A", ("t",)),)
        for joiner in ("B", "C"):
            joined = (*members, Member(joiner, ("t",)))
            done = rebalance(joined, known, assign=own.assign, protocol=Protocol.COOPERATIVE)
            assert done.settled
            members = done.members
        sizes = sorted(len(its) for its in given_to(done.assignment).values())
        assert all(later - earlier <= 1 for earlier, later in pairwise(sizes))

    @pytest.mark.parametrize("client", [None, "java", "other", "kafka-python"])
    def test_other_libraries_have_the_java_clients(self, client: str | None) -> None:
        assert assignor_of_library(ASSIGNORS["cooperative-sticky"], client) is ASSIGNORS["cooperative-sticky"]


def test_the_real_clients_answers() -> None:
    """Measured on a leader with librdkafka 2.16.0; the coordinator was scripted (`FORMAT.md`)."""
    assert differing(NAME, ("error", "assignment")) == {}
