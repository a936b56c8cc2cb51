"""Reports about an assignment, against slow and obvious counts."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given

from app.core.groups.arrays.owned import OwnedRuns, owning_members
from app.core.groups.arrays.partition_table import assigned_members, assignment_of, partition_table
from app.core.groups.measures.locality import handover, locality, member_loads
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned
from app.core.model import NO_MEMBER, Int64s
from tests import draws as st
from tests.core.groups.small_groups import (
    given_to,
    groups,
    is_in_rack,
    member,
    metadata,
    owner_of,
    readable,
    readers_of,
    snapshots,
    topic,
)

weights = st.fixed_dictionaries(
    dict.fromkeys(
        "tuvw",
        st.lists(st.integers(0, 2**40), min_size=6, max_size=6).map(lambda numbers: np.array(numbers, np.int64)),
    )
)
given_away = st.lists(
    st.tuples(st.sampled_from(["m0", "m1", "m2", "m3", "ghost"]), st.sampled_from("tuvz"), st.integers(0, 3)),
    max_size=12,
    unique_by=lambda entry: entry[1:],
)
"""Who is given which partition; members, topics and partitions that are not there among it."""


def assignment(entries: Sequence[tuple[str, str, int]]) -> GroupAssignment:
    names, members = sorted({entry[1] for entry in entries}), sorted({entry[0] for entry in entries})
    ordered = sorted(entries)
    counts = [sum(entry[0] == name for entry in ordered) for name in members]
    return GroupAssignment(
        members,
        names,
        np.cumsum([0, *counts]).astype(np.int64),
        np.array([names.index(entry[1]) for entry in ordered], np.int32),
        np.array([entry[2] for entry in ordered], np.int32),
    )


class TestLocality:
    """Where partitions are read."""

    @given(groups, snapshots, given_away, weights)
    def test_it_equals_an_obvious_count(
        self,
        members: list[Member],
        known: GroupMetadata,
        entries: list[tuple[str, str, int]],
        worth: dict[str, Int64s],
    ) -> None:
        by_id = {its.id: its for its in members}
        counted = {its.id: [0, 0, 0] for its in members}
        weighed = {its.id: [0, 0, 0] for its in members}
        strangers = 0
        for name, its_topic, partition in entries:
            its = by_id.get(name)
            if its is None or its_topic not in known.topics or partition >= len(known.topics[its_topic].replicas):
                strangers += 1
                continue
            replicas = known.topics[its_topic].replicas[partition].tolist()
            racks = {known.rack_of.get(broker) for broker in replicas if broker >= 0} - {None, ""}
            kind = 2 if not racks or not its.rack_id else 0 if is_in_rack(its, known, (its_topic, partition)) else 1
            counted[name][kind] += 1
            weighed[name][kind] += int(worth[its_topic][partition])
        found = locality(members, known, assignment(entries))
        assert found.per_member.tolist() == list(counted.values())
        sums = [sum(column) for column in zip(*counted.values(), strict=True)] or [0, 0, 0]
        assert [found.in_rack, found.cross_rack, found.unknown - strangers] == sums
        share = sums[0] / (sums[0] + sums[1]) if sums[0] + sums[1] else None
        assert found.in_rack_share == share
        heavy = locality(members, known, assignment(entries), weights=worth)
        assert heavy.per_member.tolist() == list(weighed.values())
        assert heavy.in_rack + heavy.cross_rack + heavy.unknown == sum(map(sum, weighed.values()))

    def test_what_the_words_mean(self) -> None:
        known = metadata({1: "a", 2: "b", 3: ""}, topic("t", [1, 2], [2], [3], [9]))
        members = [member("m0", "t", "a"), member("m1", "t", ""), member("m2", "t")]
        entries = [("m0", "t", 0), ("m0", "t", 1), ("m0", "t", 2), ("m1", "t", 3)]
        found = locality(members, known, assignment(entries))
        assert found.per_member.tolist() == [[1, 1, 1], [0, 0, 1], [0, 0, 0]]
        assert found.in_rack_share == 0.5

    def test_a_broker_with_a_huge_id_has_its_rack_too(self) -> None:
        known = metadata({2**31 - 1: "a", 5: "b"}, topic("t", [5, 2**31 - 1], [5, 7]))
        found = locality([member("m0", "t", "a")], known, assignment([("m0", "t", 0), ("m0", "t", 1)]))
        assert (found.in_rack, found.cross_rack, found.unknown) == (1, 1, 0)


class TestLoads:
    """How much each member reads."""

    @given(groups, snapshots, weights, st.data())
    def test_the_spread_is_between_members_that_could_share(
        self, members: list[Member], known: GroupMetadata, worth: dict[str, Int64s], data: st.DataObject
    ) -> None:
        entries = []
        for name, partition in readable(members, known):
            choices = [its.id for its in members if name in its.topics]
            entries.append((data.draw(st.sampled_from(choices)), name, partition))
        found = member_loads(members, known, assignment(entries), weights=worth)
        lag = {its.id: 0 for its in members}
        for name, its_topic, partition in entries:
            lag[name] += int(worth[its_topic][partition])
        differences = [
            lag[name] - lag[other.id]
            for name, its_topic, _ in entries
            for other in members
            if its_topic in other.topics
        ]
        assert found.per_member.tolist() == list(lag.values())
        assert (found.total, found.max) == (sum(lag.values()), max(lag.values(), default=0))
        assert found.min == min(lag.values(), default=0)
        assert found.spread == max(differences, default=0)

    def test_a_member_that_was_left_out_reads_nothing(self) -> None:
        known = metadata({}, topic("t", [1], [1]))
        found = member_loads(
            [member("m0", "t"), member("m1", "t")], known, assignment([("m0", "t", 0), ("m0", "t", 1)])
        )
        assert (found.per_member.tolist(), found.min, found.spread) == ([2, 0], 0, 2)


class TestHandover:
    """Handovers of partitions."""

    @given(snapshots, given_away, given_away)
    def test_it_equals_an_obvious_count(
        self, known: GroupMetadata, before: list[tuple[str, str, int]], after: list[tuple[str, str, int]]
    ) -> None:
        was = {entry[1:]: entry[0] for entry in before}
        now = {entry[1:]: entry[0] for entry in after}
        there = set(now.values())
        partitions = [(name, p) for name, its in known.topics.items() for p in range(len(its.replicas))]
        pairs = [(was.get(its), now.get(its)) for its in partitions]
        found = handover(known, assignment(before), assignment(after))
        assert found.kept == sum(old is not None and old == new for old, new in pairs)
        assert found.moved == sum(old is not None and new is not None and old != new for old, new in pairs)
        assert found.taken_up == sum(old is None and new is not None for old, new in pairs)
        assert found.dropped == sum(old is not None and new is None for old, new in pairs)
        assert found.revoked == sum(old in there and old != new for old, new in pairs)

    def test_one_of_each(self) -> None:
        known = metadata({}, topic("t", *[[0]] * 5))
        before = assignment([("a", "t", 0), ("a", "t", 1), ("a", "t", 2), ("gone", "t", 3)])
        after = assignment([("a", "t", 0), ("b", "t", 1), ("b", "t", 3), ("b", "t", 4)])
        found = handover(known, before, after)
        assert (found.kept, found.moved, found.taken_up, found.dropped, found.revoked) == (1, 2, 1, 1, 2)


class TestOwners:
    """Claims of members, and accepted ones."""

    @given(groups, snapshots)
    def test_the_newest_single_claim_is_believed(self, members: list[Member], known: GroupMetadata) -> None:
        table = partition_table(known)
        owned = owning_members(table, members)
        believed = {
            (name, row - int(table.starts[index])): int(owned[row])
            for index, name in enumerate(table.topics)
            for row in range(int(table.starts[index]), int(table.starts[index + 1]))
            if owned[row] != NO_MEMBER
        }
        exists = {(name, p) for name, its in known.topics.items() for p in range(len(its.replicas))}
        assert believed == {key: index for key, index in owner_of(members).items() if key in exists}

    @given(groups, snapshots)
    def test_runs_stored_as_arrays_give_the_same_figures(self, members: list[Member], known: GroupMetadata) -> None:
        table = partition_table(known)
        as_arrays = [Member(m.id, m.topics, m.rack_id, None, _runs(m.owned), m.generation_id) for m in members]
        assert owning_members(table, as_arrays).tolist() == owning_members(table, members).tolist()

    @given(snapshots, st.data())
    def test_holders_and_assignment_are_inverse(self, known: GroupMetadata, data: st.DataObject) -> None:
        table = partition_table(known)
        ids = ["m0", "m1", "m2"]
        readers = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=table.rows, max_size=table.rows)), np.int32)
        found = assignment_of(table, readers, ids)
        assert assigned_members(table, found, ids).tolist() == readers.tolist()
        assert all(entries == sorted(entries) for entries in given_to(found).values())
        assert len(readers_of([member(name, "") for name in ids], found)) == np.count_nonzero(readers != NO_MEMBER)


def _runs(owned: Sequence[Owned]) -> OwnedRuns:
    names = sorted({run.topic for run in owned})
    places = [np.full(len(run.partitions), names.index(run.topic), np.int32) for run in owned]
    empty = np.empty(0, np.int32)
    return OwnedRuns(names, np.concatenate([empty, *places]), np.concatenate([empty, *(r.partitions for r in owned)]))
