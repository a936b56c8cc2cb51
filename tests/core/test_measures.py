"""The measures and the verifier against a slow, obvious count; meanings of terms, on examples the eye can check."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures.movement import movement
from app.core.measures.placement import Loss, measure
from app.core.measures.tally import LARGEST_LOOKUP, tally
from app.core.measures.violations import violations
from app.core.model import INT32_MAX, Assignment, Broker, padded

SIX = [Broker(1, "a"), Broker(2, "a"), Broker(3, "b"), Broker(4, "b"), Broker(5, "c"), Broker(6, "c")]


def assignment(*rows: list[int], first: int = 0) -> Assignment:
    """Partitions `first`, `first` + 1, …"""
    return Assignment(np.arange(first, first + len(rows), dtype=np.int32), padded(rows))


broker_ids = st.sampled_from([0, 1, 2, 3, 4, 5, 7, LARGEST_LOOKUP + 5, INT32_MAX])
brokers = st.lists(
    st.builds(Broker, broker_ids, st.sampled_from([None, "a", "b", "c"]), st.booleans()),
    max_size=7,
    unique_by=lambda broker: broker.id,
)
assignments = st.dictionaries(
    st.sampled_from(["t", "u", "v"]),
    st.lists(st.lists(broker_ids, max_size=4), max_size=8).map(lambda rows: assignment(*rows)),
    max_size=3,
)


@given(assignments, brokers)
def test_measures_equal_an_obvious_count(assigned: Mapping[str, Assignment], cluster: list[Broker]) -> None:
    rows = [[b for b in row if b >= 0] for topic in assigned.values() for row in topic.replicas.tolist()]
    rack_of = {broker.id: broker.rack for broker in cluster}
    racks = {rack for rack in rack_of.values() if rack is not None}
    found = measure(tally(assigned, cluster))
    assert found.partitions == len(rows)
    assert found.leaders.per_broker == {b: sum(row[:1] == [b] for row in rows) for b in sorted(rack_of)}
    assert found.replicas.per_broker == {b: sum(b in row for row in rows) for b in sorted(rack_of)}
    for broker, loss in found.exposure.brokers.items():
        assert loss.partitions_reduced == sum(broker in row for row in rows)
        assert loss.partitions_offline == sum(row == [broker] for row in rows)
    for rack, loss in found.exposure.racks.items():
        there = [[rack_of.get(b) == rack for b in row] for row in rows]
        assert loss == Loss(
            leaders=sum(bool(row) and row[0] for row in there),
            partitions_reduced=sum(map(any, there)),
            partitions_offline=sum(bool(row) and all(row) for row in there),
        )
    down = {broker.id for broker in cluster if broker.fenced and broker.rack is None}
    safe = []
    for row in rows:
        unplaced = len(down & {*row}) + sum(b not in rack_of for b in row)
        safe.append(max(1, len({rack_of.get(b) for b in row} & racks) + unplaced) >= min(len(row), len(racks)))
    if racks:
        assert found.rack_safe_share == pytest.approx(sum(safe) / len(safe) if safe else 1.0)
    else:
        assert found.rack_safe_share is None


@given(assignments, brokers)
def test_a_violation_is_named_exactly_where_the_rule_is_broken(
    assigned: Mapping[str, Assignment], cluster: list[Broker]
) -> None:
    known = {broker.id: broker for broker in cluster}
    racks = {broker.rack for broker in cluster if broker.rack is not None}
    expected = set()
    for name, topic in assigned.items():
        for partition, padded_row in enumerate(topic.replicas.tolist()):
            row = [b for b in padded_row if b >= 0]
            spanned = {known[b].rack for b in row if b in known} & racks
            # A broker that is unknown, or down and of unknown rack, may be in any.
            down = {b for b in row if b in known and known[b].fenced and known[b].rack is None}
            unplaced = len(down) + sum(b not in known for b in row)
            expected |= {
                (code, name, partition)
                for code, is_so in (
                    ("no_replicas", not row),
                    ("unknown_broker", any(b not in known for b in row)),
                    ("duplicate_replica", any(row.count(b) > 1 and b in known for b in row)),
                    ("fenced_leader", bool(row) and row[0] in known and known[row[0]].fenced),
                    ("too_few_racks", max(1, len(spanned) + unplaced) < min(len(row), len(racks))),
                )
                if is_so
            }
    found = violations(tally(assigned, cluster))
    assert {(v.code, v.topic, partition) for v in found for partition in v.partitions} == expected
    assert sum(v.count for v in found) == len(expected)


class TestWhatTheWordsMean:
    """Six brokers, two a rack."""

    def test_a_spread_over_three_racks_is_safe_and_loses_nothing_with_one(self) -> None:
        found = measure(tally({"t": assignment([1, 3, 5], [4, 6, 2])}, SIX))
        assert found.rack_safe_share == 1.0
        assert found.exposure.racks["a"] == Loss(leaders=1, partitions_reduced=2, partitions_offline=0)
        assert found.leaders.spread == 1

    def test_two_replicas_in_one_rack_go_with_it(self) -> None:
        counts = tally({"t": assignment([1, 2], first=7)}, SIX)
        assert measure(counts).exposure.racks["a"].partitions_offline == 1
        (violation,) = violations(counts)
        assert (violation.code, violation.severity, violation.partitions) == ("too_few_racks", "fragile", (7,))

    def test_one_replica_on_a_live_broker_without_a_rack_is_as_safe_as_on_any_other(self) -> None:
        counts = tally({"t": assignment([1], [2]), "u": assignment([2, 3])}, [Broker(1, "a"), Broker(2), Broker(3)])
        assert (violations(counts), measure(counts).rack_safe_share) == ([], 1.0)
        counts = tally({"u": assignment([2, 3])}, [Broker(1, "a"), Broker(2), Broker(3), Broker(4, "b")])
        assert [each.code for each in violations(counts)] == ["too_few_racks"]

    def test_a_cluster_without_racks_is_neither_safe_nor_unsafe(self) -> None:
        found = measure(tally({"t": assignment([1, 2])}, [Broker(1), Broker(2)]))
        assert found.rack_safe_share is None
        assert found.racks_per_partition is None

    def test_nothing_at_all(self) -> None:
        found = measure(tally({}, []))
        assert (found.partitions, found.leaders.max, found.rack_safe_share) == (0, 0, None)


class TestMovement:
    """The difference of two assignments."""

    def test_an_assignment_differs_from_itself_in_nothing(self) -> None:
        same = {"t": assignment([1, 3], [4, 5])}
        found = movement(same, same)
        assert (found.total, found.replicas_added, found.preferred_leaders_changed) == (0, 0, 0)
        assert found.partitions == 2

    def test_another_order_changes_the_leader_and_moves_nothing(self) -> None:
        found = movement({"t": assignment([1, 3])}, {"t": assignment([3, 1])})
        assert (found.partitions_changed, found.replicas_added, found.preferred_leaders_changed) == (1, 0, 1)

    def test_each_kind_of_change(self) -> None:
        before = {"gone": assignment([1]), "t": assignment([1, 3], [2, 4])}
        after = {"t": assignment([1, 5, 3], [2, 4], [6, 1]), "new": assignment([5])}
        found = movement(before, after)
        assert (found.partitions_added, found.partitions_removed, found.partitions_changed) == (2, 1, 1)
        assert (found.replicas_added, found.replicas_removed) == (1, 0)
        changes = found.changes(0, 10)
        assert [(c.topic, c.partition, c.before, c.after) for c in changes] == [
            ("gone", 0, (1,), None),
            ("new", 0, None, (5,)),
            ("t", 0, (1, 3), (1, 5, 3)),
            ("t", 2, None, (6, 1)),
        ]
        assert changes[2].adding_replicas == (5,)

    @given(assignments, assignments, st.integers(0, 12), st.integers(0, 12))
    def test_pages_of_changes_are_slices_of_all_of_them(
        self, before: Mapping[str, Assignment], after: Mapping[str, Assignment], start: int, size: int
    ) -> None:
        found = movement(before, after)
        everything = found.changes(0, found.total)
        assert len(everything) == found.total
        assert found.changes(start, start + size) == everything[start : start + size]

    @given(assignments, assignments)
    def test_back_is_the_inverse_of_there(
        self, before: Mapping[str, Assignment], after: Mapping[str, Assignment]
    ) -> None:
        there, back = movement(before, after), movement(after, before)
        assert (there.partitions_added, there.replicas_added) == (back.partitions_removed, back.replicas_removed)
        assert there.total == back.total
