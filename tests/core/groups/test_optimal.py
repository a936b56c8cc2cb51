"""The optimum against all assignments, its bounds, and examples that the eye can check."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import event, given

from app.core.flow import InfeasibleFlow, Network, min_cost_flow
from app.core.groups.arrays.owned import owned_after
from app.core.groups.arrays.partition_table import assignment_of, partition_table
from app.core.groups.arrays.subscriptions import subscription_classes
from app.core.groups.classic import cooperative_sticky, roundrobin, sticky
from app.core.groups.classic import range as range_assignor
from app.core.groups.measures.locality import member_loads
from app.core.groups.measures.violations import violations
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member, TopicMetadata
from app.core.groups.optimum.by_load import balance_by_load, exact_readers
from app.core.groups.optimum.fair_shares import fair_shares
from app.core.groups.optimum.optimal import assign, optimum
from app.core.model import NO_MEMBER, Int32s, Int64s
from app.errors.kafka import KafkaRefuses
from app.errors.requests import LimitExceeded
from tests import draws as st
from tests.core.groups.small_groups import (
    every_assignment,
    given_to,
    groups,
    member,
    metadata,
    quality,
    readable,
    readers_of,
    snapshots,
    topic,
)
from tests.premises import reaches
from tests.profiles import costly, examples

THREE_RACKS = {broker: f"rack{broker % 3}" for broker in range(30)}


def zones(partitions: int, members: int, *, lacking: bool = False) -> tuple[list[Member], GroupMetadata]:
    """Topics of 100 partitions over 30 brokers in three racks; if `lacking`, each member lacks a third of them."""
    p = np.arange(100)
    known = [
        TopicMetadata(f"topic-{t:04d}", np.stack([(p + t) % 30, (p + t + 1) % 30], axis=1).astype(np.int32))
        for t in range(partitions // 100)
    ]
    group = [
        Member(
            f"member-{m:05d}",
            tuple(its.name for t, its in enumerate(known) if not lacking or (t + m) % 3),
            f"rack{m % 3}",
        )
        for m in range(members)
    ]
    return group, metadata(THREE_RACKS, *known)


def owning(members: Sequence[Member], assignment: GroupAssignment) -> list[Member]:
    owned = owned_after(assignment)
    return [replace(its, owned=owned.get(its.id, ()), generation_id=1) for its in members]


weights_of = st.lists(st.sampled_from([0, 1, 2, 7, 10**9]), min_size=6, max_size=6).map(
    lambda numbers: np.array(numbers, np.int64)
)
weights = st.fixed_dictionaries(dict.fromkeys("tuvw", weights_of))


class TestAgainstEveryAssignment:
    """At most six partitions and four members: at most 4,096 assignments, of which none is better."""

    @given(groups, snapshots)
    @costly(300)
    def test_none_is_fairer_then_more_in_rack_then_moves_less(
        self, members: list[Member], known: GroupMetadata
    ) -> None:
        found = optimum(members, known)
        best = min(quality(members, known, reader) for reader in every_assignment(members, known))
        assert quality(members, known, readers_of(members, found.assignment)) == best
        assert (found.in_rack, found.moved) == (-best[1], best[2])
        assert (found.in_rack, found.certificate.value, found.moves.lower_bound) == (
            -best[1],
            found.certificate.lower_bound,
            best[2],
        )
        assert found.certificate.optimal
        assert found.certificate.gap == 0.0

    @given(groups, snapshots, weights)
    @costly(300)
    def test_none_reads_more_weight_in_rack(
        self, members: list[Member], known: GroupMetadata, worth: dict[str, Int64s]
    ) -> None:
        found = optimum(members, known, weights=worth)
        best = min(quality(members, known, reader, worth) for reader in every_assignment(members, known))
        assert quality(members, known, readers_of(members, found.assignment), worth) == best
        assert (found.in_rack, found.moved, found.certificate.optimal) == (-best[1], best[2], True)

    @given(groups, snapshots, weights)
    @costly(200)
    def test_no_largest_load_is_smaller(
        self, members: list[Member], known: GroupMetadata, load: dict[str, Int64s]
    ) -> None:
        found = balance_by_load(members, known, load)
        assert not [its for its in violations(members, known, found.assignment) if its.severity == "illegal"]
        sums = [np.zeros(max(len(members), 1), np.int64)]
        for reader in every_assignment(members, known):
            sums.append(np.zeros(max(len(members), 1), np.int64))
            for (name, partition), index in reader.items():
                sums[-1][index] += load[name][partition]
        best = min(int(its.max()) for its in sums[1:])
        assert found.certificate.lower_bound == best == found.certificate.value
        assert found.certificate.value == member_loads(members, known, found.assignment, weights=load).max
        assert found.certificate.optimal == (found.certificate.lower_bound == found.certificate.value)

    @given(st.integers(0, 1_000), st.integers(2, 1_000))
    @costly(50)
    def test_units_of_loads_do_not_matter(self, seed: int, unit: int) -> None:
        load = np.array(Random(seed).choices(range(50), k=16))
        known, members = metadata({1: "a"}, topic("t", *[[1]] * 16)), [member(name, "t") for name in "abc"]
        one, other = (balance_by_load(members, known, {"t": load * factor}) for factor in (1, unit))
        assert given_to(one.assignment) == given_to(other.assignment)
        assert one.certificate.value * unit == other.certificate.value


class TestLaws:
    """Laws of a group of any size."""

    @given(groups, snapshots)
    def test_it_breaks_no_law_of_the_verifier(self, members: list[Member], known: GroupMetadata) -> None:
        found = optimum(members, known)
        assert violations(members, known, found.assignment) == []
        assert len(found.assignment.partitions) == len(readable(members, known))

    @given(groups, snapshots, st.randoms())
    def test_the_same_group_gets_the_same_assignment(
        self, members: list[Member], known: GroupMetadata, random: Random
    ) -> None:
        """The order of the metadata's mappings is arbitrary, and decides nothing."""
        names = list(known.topics)
        random.shuffle(names)
        shuffled = GroupMetadata(
            dict(reversed(list(known.rack_of.items()))), {name: known.topics[name] for name in names}
        )
        assert given_to(assign(members, known)) == given_to(assign(members, shuffled))

    @given(groups, snapshots)
    def test_what_is_optimal_stays(self, members: list[Member], known: GroupMetadata) -> None:
        """An optimum that its members own is an optimum that moves nothing."""
        first = optimum(members, known)
        second = optimum(owning(members, first.assignment), known)
        assert given_to(second.assignment) == given_to(first.assignment)
        assert second.moved == 0

    @given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 30))
    @examples(50)
    def test_no_chain_of_handovers_makes_it_fairer(self, seed: int, size: int, count: int) -> None:
        """The definition of the fairest loads, by a search along the chains, in groups too large to enumerate."""
        draw = np.random.default_rng(seed)
        names = [f"t{index}" for index in range(count)]
        known = metadata({}, *(topic(name, *[[0]] * int(draw.integers(0, 9))) for name in names))
        chosen = [draw.random(count) < draw.random() / 2 for _ in range(size)]
        members = [
            Member(f"m{index}", tuple(name for name, its in zip(names, mask, strict=True) if its))
            for index, mask in enumerate(chosen)
        ]
        readers = readers_of(members, assign(members, known))
        counts = [sum(index == reader for reader in readers.values()) for index in range(size)]
        gives: list[set[int]] = [set() for _ in members]
        for (name, _), reader in readers.items():
            gives[reader] |= {index for index, its in enumerate(members) if name in its.topics}
        for start in range(size):
            reached, queue = {start}, deque([start])
            while queue:
                for other in gives[queue.popleft()] - reached:
                    assert counts[other] >= counts[start] - 1
                    reached.add(other)
                    queue.append(other)

    @costly()
    @pytest.mark.parametrize(
        "theirs", [range_assignor.assign, roundrobin.assign, sticky.assign, cooperative_sticky.assign]
    )
    @reaches("compared", 0.3)
    @given(members=groups.filter(bool), known=snapshots)
    def test_no_assignor_of_kafka_beats_it(self, theirs: Assign, members: list[Member], known: GroupMetadata) -> None:
        """Kafka's may fail, assign topics without subscription, or withhold; its legal assignments are never better.

        The optimum is legal in either case.
        """
        best = assign(members, known)
        assert _is_legal(members, known, best)
        try:
            assignment = theirs(members, known)
        except KafkaRefuses:
            return
        if _is_legal(members, known, assignment):
            event("compared")
            found = quality(members, known, readers_of(members, best))
            assert found <= quality(members, known, readers_of(members, assignment))

    @pytest.mark.parametrize("lacking", [False, True])
    def test_a_thousand_partitions_in_three_zones(self, lacking: bool) -> None:
        members, known = zones(1_200, 24, lacking=lacking)
        fresh = optimum(members, known)
        assert (fresh.in_rack, fresh.moved, fresh.certificate.optimal) == (1_200, 0, True)
        left = optimum(owning(members[:-1], fresh.assignment), known)
        assert (left.in_rack, left.certificate.optimal) == (1_200, True)
        assert violations(members[:-1], known, left.assignment) == []


def _is_legal(members: list[Member], known: GroupMetadata, assignment: GroupAssignment) -> bool:
    return not any(its.severity == "illegal" for its in violations(members, known, assignment))


class TestWorkedExamples:
    """Matrices that the eye can check."""

    def test_balance_comes_before_the_rack(self) -> None:
        """Four partitions in rack a, one member there: it reads two of them, not four."""
        known = metadata({1: "a"}, topic("t", [1], [1], [1], [1]))
        found = optimum([member("here", "t", "a"), member("there", "t", "b")], known)
        assert [len(its) for its in given_to(found.assignment).values()] == [2, 2]
        assert found.in_rack == 2

    def test_the_rack_decides_which_member_reads_one_more(self) -> None:
        known = metadata({1: "a", 2: "b"}, topic("t", [1], [2], [2]))
        found = optimum([member("a", "t", "a"), member("b", "t", "b")], known)
        assert given_to(found.assignment) == {"a": [("t", 0)], "b": [("t", 1), ("t", 2)]}

    def test_the_rack_comes_before_staying(self) -> None:
        known = metadata({1: "a", 2: "b"}, topic("t", [1], [2]))
        found = optimum([member("a", "t", "a", {"t": [1]}), member("b", "t", "b", {"t": [0]})], known)
        assert given_to(found.assignment) == {"a": [("t", 0)], "b": [("t", 1)]}
        assert found.moved == 2

    def test_what_can_stay_stays(self) -> None:
        """A third member joins: it gets two of six, and the others keep all but one each."""
        known = metadata({}, topic("t", *[[0]] * 6))
        owned = [member("a", "t", None, {"t": [0, 1, 2]}), member("b", "t", None, {"t": [3, 4, 5]}), member("c", "t")]
        found = optimum(owned, known)
        assert found.moved == found.moves.lower_bound == 2

    def test_unequal_subscriptions_make_shares(self) -> None:
        """Only x reads t; y and z share u, and could take nothing from x: 5, then 2 and 1."""
        known = metadata({}, topic("t", *[[0]] * 5), topic("u", *[[0]] * 3))
        members = [member("x", "tu"), member("y", "u"), member("z", "u"), member("idle", "")]
        shares = fair_shares(subscription_classes(members, partition_table(known)))
        assert [(its.members, its.low, its.high) for its in shares] == [(1, 5, 5), (2, 1, 2)]
        assert [len(its) for its in given_to(assign(members, known)).values()] in ([5, 2, 1, 0], [5, 1, 2, 0])

    def test_a_chain_of_subscriptions_is_one_share(self) -> None:
        """a could give to b and b to c, so that c's lack is a's matter too: 2, 2, 2 instead of 4, 1, 1."""
        known = metadata({}, topic("t", *[[0]] * 4), topic("u", [0]), topic("v", [0]))
        found = optimum([member("a", "t"), member("b", "tu"), member("c", "uv")], known)
        assert [len(its) for its in given_to(found.assignment).values()] == [2, 2, 2]

    def test_a_heavy_partition_is_worth_two_light_ones(self) -> None:
        known = metadata({1: "a", 2: "b"}, topic("t", [1], [1], [2]), topic("u", [1]))
        members = [member("a", "t", "a"), member("b", "tu", "b")]
        heavy = {"t": np.array([9, 1, 1]), "u": np.array([0])}
        found = optimum(members, known, weights=heavy)
        assert ("t", 0) in given_to(found.assignment)["a"]
        assert found.in_rack == 11

    def test_no_members_no_topics_nothing_to_do(self) -> None:
        known = metadata({1: "a"}, topic("t", [1]))
        for members, snapshot in (([], known), ([member("a", "")], known), ([member("a", "x")], metadata({}))):
            found = optimum(members, snapshot)
            assert (len(found.assignment.partitions), found.in_rack, found.certificate.optimal) == (0, 0, True)

    def test_weights_beyond_exact_arithmetic_are_rejected(self) -> None:
        known = metadata({1: "a"}, topic("t", [1]))
        with pytest.raises(LimitExceeded, match="weights up to"):
            optimum([member("a", "t", "a")], known, weights={"t": np.array([2**62])})
        with pytest.raises(LimitExceeded, match="can be added exactly"):
            balance_by_load([member("a", "t", "a")], known, {"t": np.array([2**62])})

    def test_load_is_balanced_before_numbers_and_rack_where_it_is_free(self) -> None:
        """Lags 4, 3, 3 and 2 divide into 6 and 6; of the two ways, that which reads more in rack is found."""
        known = metadata({1: "a", 2: "b"}, topic("t", [1], [2], [2], [1]))
        found = balance_by_load([member("a", "t", "a"), member("b", "t", "b")], known, {"t": np.array([4, 3, 3, 2])})
        assert given_to(found.assignment) == {"a": [("t", 0), ("t", 3)], "b": [("t", 1), ("t", 2)]}
        assert (found.certificate.value, found.certificate.lower_bound, found.in_rack) == (6, 6, 4)
        assert found.certificate.optimal


class TestVerifier:
    """Each violation by name, on an assignment that has just that."""

    known = metadata({}, topic("t", [0], [0]), topic("u", [0], [0]))
    members = (member("a", "t"), member("b", "tu"))

    def codes(self, **given: list[tuple[str, int]]) -> list[tuple[str, str | None, tuple[int, ...]]]:
        names = ["t", "u", "z"]
        entries = [entry for its in given.values() for entry in its]
        assignment = GroupAssignment(
            tuple(given),
            names,
            np.cumsum([0, *(len(its) for its in given.values())]),
            np.array([names.index(name) for name, _ in entries], np.int32),
            np.array([partition for _, partition in entries], np.int32),
        )
        return [(its.code, its.topic, its.partitions) for its in violations(self.members, self.known, assignment)]

    def test_nothing_wrong(self) -> None:
        assert self.codes(a=[("t", 0), ("t", 1)], b=[("u", 0), ("u", 1)]) == []

    def test_each_wrong(self) -> None:
        rest = [("u", 0), ("u", 1)]
        assert self.codes(a=[("t", 0)], b=rest) == [("unassigned", "t", (1,))]
        assert self.codes(a=[("t", 0), ("t", 1)], b=[("t", 0), *rest]) == [("doubly_assigned", "t", (0,))]
        assert self.codes(a=[("t", 0), ("t", 1), ("u", 0)], b=[("u", 1)]) == [("not_subscribed", "u", (0,))]
        assert self.codes(a=[("t", 0), ("t", 1), ("t", 7)], b=rest) == [("unknown_partition", "t", (7,))]
        assert self.codes(a=[("t", 0), ("t", 1)], b=[*rest, ("z", 0)]) == [("unknown_partition", "z", (0,))]
        assert self.codes(a=[("t", 0), ("t", 1)], b=rest, ghost=[("z", 0)]) == [
            ("unknown_member", None, ()),
            ("unknown_partition", "z", (0,)),
        ]
        assert self.codes(a=[("t", 0)], b=[("t", 1), *rest]) == [("imbalance", None, ())]

    @given(groups, snapshots, st.data())
    def test_a_legal_assignment_is_uneven_exactly_if_its_loads_are_not_the_fairest(
        self, members: list[Member], known: GroupMetadata, data: st.DataObject
    ) -> None:
        table = partition_table(known)
        readers = np.full(table.rows, -1, np.int32)
        for name, partition in readable(members, known):
            choices = [index for index, its in enumerate(members) if name in its.topics]
            readers[int(table.starts[table.index_of[name]]) + partition] = data.draw(st.sampled_from(choices))
        assignment = _assignment(members, known, readers)
        best = min(quality(members, known, reader)[0] for reader in every_assignment(members, known))
        even = quality(members, known, readers_of(members, assignment))[0] == best
        assert [its.code for its in violations(members, known, assignment)] == ([] if even else ["imbalance"])


def _assignment(members: Sequence[Member], known: GroupMetadata, readers: Int32s) -> GroupAssignment:
    return assignment_of(partition_table(known), readers, [its.id for its in members])


class TestFlows:
    """The solver's edges, which no group reaches."""

    def test_supplies_that_cannot_be_sent(self) -> None:
        two = Network(np.array([5, -5]), np.zeros(1, np.int32), np.ones(1, np.int32), np.array([4]))
        with pytest.raises(InfeasibleFlow):
            min_cost_flow(two, (np.zeros(1, np.int64),))

    def test_each_cost_is_minimal_among_what_is_minimal_before_it(self) -> None:
        """Two units over three arcs: the first cost excludes the third arc, the second prefers the second."""
        tails, heads = np.zeros(3, np.int32), np.ones(3, np.int32)
        three = Network(np.array([2, -2]), tails, heads, np.array([2, 1, 2]))
        found = min_cost_flow(three, (np.array([1, 1, 2]), np.array([5, 3, 0])))
        assert found.amounts.tolist() == [1, 1, 0]
        assert found.costs == found.lower_bounds == (2, 8)

    def test_shares_hold_every_class_once(self) -> None:
        members, known = zones(900, 12, lacking=True)
        readers = subscription_classes(members, partition_table(known))
        shares = fair_shares(readers)
        assert sorted(np.concatenate([its.member_classes for its in shares]).tolist()) == list(
            range(len(readers.members))
        )
        assert sum(its.partitions for its in shares) == 900


def test_equal_heavy_partitions_are_balanced_in_bounded_time() -> None:
    """The detection of symmetries of OR-tools 9.15 does not end with such loads."""
    load = np.array([6_000_000_001, 6_000_000_001, 6_000_000_001, 1, 7])
    everywhere = np.ones((5, 2), np.bool_)
    everywhere[3, 0] = False
    readers = exact_readers(load, everywhere, everywhere, np.full(5, NO_MEMBER, np.int32))
    assert readers is not None
    assert sorted(np.bincount(readers, load).tolist()) == [6_000_000_009, 12_000_000_002]


def test_the_smallest_load_is_as_large_as_possible_with_loads_of_gigabytes() -> None:
    """Of every assignment of four partitions to three members; presolve of OR-tools 9.15 cuts this one off."""
    load = 5 * np.array([4_730_078_435, 26_440_944_599, 20_038_647_663, 8_116_701_850]) + 1
    is_in_rack = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 1], [1, 1, 0]], np.bool_)
    readers = exact_readers(load, np.ones((4, 3), np.bool_), is_in_rack, np.array([2, 1, 2, 1], np.int32))
    assert readers is not None
    every = [np.bincount(each, load, 3) for each in product(range(3), repeat=4)]
    found = np.bincount(readers, load, 3)
    assert (found.max(), -found.min()) == min((each.max(), -each.min()) for each in every)
