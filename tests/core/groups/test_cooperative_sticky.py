"""The cooperative-sticky assignor: no partition has two owners, two phases are enough, and the vectors."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from app.core.groups.classic import cooperative_sticky
from app.core.groups.model import GroupMetadata
from app.errors.kafka import NoMembers
from tests import draws as st
from tests.conformance.groups import ANSWERS
from tests.core.groups.assignor_cases import differing
from tests.core.groups.sticky_cases import (
    Partition,
    after,
    by_hand,
    case,
    cases,
    counts,
    flat,
    member,
    moved,
    or_exception,
    owned_cases,
)
from tests.profiles import costly


def assigned(group: Mapping[str, Any]) -> dict[str, list[Partition]]:
    return {name: flat(its) for name, its in ANSWERS["consumer_cooperative_sticky"](group)["assignment"].items()}


def owners(group: Mapping[str, Any]) -> dict[Partition, set[str]]:
    claims: dict[Partition, set[str]] = {}
    for its in group["members"]:
        for partition in flat(its["owned"]):
            claims.setdefault(partition, set()).add(its["id"])
    return claims


class TestPromises:
    @costly()
    @given(owned_cases(odd=False))
    def test_no_member_is_given_what_another_must_first_give_up(self, group: dict[str, Any]) -> None:
        claims = owners(group)
        for name, own in assigned(group).items():
            assert all(claims.get(partition, {name}) == {name} for partition in own)

    @given(owned_cases(odd=False))
    def test_nothing_is_given_twice_and_only_what_is_owned_is_withheld(self, group: dict[str, Any]) -> None:
        given_out = [partition for own in assigned(group).values() for partition in own]
        subscribed = set().union(*(its["topics"] for its in group["members"]))
        everything = {(topic, p) for topic, count in counts(group).items() if topic in subscribed for p in range(count)}
        assert len(given_out) == len(set(given_out))
        assert everything - set(given_out) <= set(owners(group))

    @given(owned_cases(odd=False, racks=False, equal=True))
    def test_two_phases_are_enough(self, group: dict[str, Any]) -> None:
        """Withheld partitions have no owner in the second phase, and nothing else moves then."""
        first = assigned(group)
        second = assigned(after(group, first, generation=6))
        third = assigned(after(group, second, generation=7))
        assert sum(map(len, second.values())) == sum(counts(group).values())
        assert all(set(first[name]) <= set(second[name]) for name in first)
        assert moved(second, third) == 0

    @given(cases(racks=False))
    def test_nothing_is_withheld_where_nothing_is_owned(self, group: dict[str, Any]) -> None:
        subscribed = set().union(*(its["topics"] for its in group["members"]))
        wanted = sum(count for topic, count in counts(group).items() if topic in subscribed)
        assert sum(map(len, assigned(group).values())) == wanted


class TestExamples:
    def test_a_joiner_waits_for_one_phase(self) -> None:
        group = case({"t": 4}, member("A", ["t"], [("t", p) for p in range(4)]), member("B", ["t"]))
        first = assigned(group)
        assert first == {"A": [("t", 0), ("t", 1)], "B": []}
        assert assigned(after(group, first)) == {"A": [("t", 0), ("t", 1)], "B": [("t", 2), ("t", 3)]}

    def test_where_subscriptions_differ_too(self) -> None:
        group = case(
            {"t": 4, "u": 1}, member("A", ["t"], [("t", p) for p in range(4)]), member("B", ["t", "u"], [("u", 0)])
        )
        first = assigned(group)
        assert first["B"] == [("u", 0)]
        assert [len(own) for own in first.values()] == [3, 1]
        assert sorted(map(len, assigned(after(group, first)).values())) == [2, 3]

    def test_a_partition_that_two_members_claim_is_not_assigned_yet(self) -> None:
        """Even the one that it is meant for must wait: as far as Kafka can tell the other has it."""
        group = case({"t": 2}, member("A", ["t"], [("t", 0)]), member("B", ["t"], [("t", 0), ("t", 1)]))
        assert assigned(group) == {"A": [], "B": [("t", 1)]}

    def test_what_is_owned_without_a_generation_counts(self) -> None:
        group = case(
            {"t": 2}, member("A", ["t"], generation_id=None), member("B", ["t"], [("t", 0)], generation_id=None)
        )
        assert assigned(group) == {"A": [("t", 1)], "B": [("t", 0)]}

    def test_no_members(self) -> None:
        with pytest.raises(NoMembers):
            cooperative_sticky.assign([], GroupMetadata({}, {}))


class TestStepByStep:
    """Against the same steps over Java's collections, one after another."""

    @costly(300)
    @given(owned_cases(odd=True))
    def test_whatever_members_say(self, group: dict[str, Any]) -> None:
        self.compare(group)

    @given(owned_cases(odd=False), st.data())
    def test_a_member_leaves(self, group: dict[str, Any], data: st.DataObject) -> None:
        leaver = data.draw(st.sampled_from(group["members"]))
        self.compare({**group, "members": [its for its in group["members"] if its is not leaver]})

    def compare(self, group: Mapping[str, Any]) -> None:
        assert or_exception(assigned, group) == by_hand(group, cooperative=True)


def test_vectors() -> None:
    assert differing("consumer_cooperative_sticky", ("error", "assignment")) == {}
