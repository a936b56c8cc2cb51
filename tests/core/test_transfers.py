"""Transfers of a reassignment: the books of every broker balance, and a flow pairs senders with receivers."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures.movement import movement
from app.core.measures.transfers import NOWHERE, PartitionTransfer, Transfers, transfers
from app.core.model import UNKNOWN_SIZE, Assignment, Broker, Int64s, padded
from tests.profiles import costly

SIX = [Broker(1, "a"), Broker(2, "a"), Broker(3, "b"), Broker(4, "b"), Broker(5, "c"), Broker(6, "c")]
KIB = 1024

rows = st.lists(st.integers(1, 8), min_size=1, max_size=4, unique=True)
sides = st.dictionaries(
    st.sampled_from(["t", "u", "v"]), st.dictionaries(st.integers(0, 6), rows, max_size=5), max_size=3
)
"""Partitions by topic and id; brokers 7 and 8 are not listed."""
Side = Mapping[str, Mapping[int, list[int]]]


def assignments(side: Side) -> dict[str, Assignment]:
    return {
        topic: Assignment(np.array(sorted(its), np.int32), padded([its[partition] for partition in sorted(its)]))
        for topic, its in side.items()
    }


def sizes_of(side: Side) -> dict[str, Int64s]:
    """The size of odd partitions is unknown, and so is every size of topic v."""
    return {
        topic: np.array([UNKNOWN_SIZE if partition % 2 else 10 + partition for partition in sorted(its)], np.int64)
        for topic, its in side.items()
        if topic != "v"
    }


def compared(before: Side, after: Side) -> Transfers:
    return transfers(assignments(before), assignments(after), sizes=sizes_of(before), brokers=SIX)


@given(sides, sides)
def test_what_a_broker_has_changes_by_what_arrives_leaves_and_is_created(before: Side, after: Side) -> None:
    found = compared(before, after)
    for name in ("replicas", "size_bytes", "unknown_size"):
        gained = getattr(found.after, name) - getattr(found.before, name)
        created = found.created if name == "replicas" else 0
        assert gained.tolist() == (getattr(found.arriving, name) - getattr(found.leaving, name) + created).tolist()


@given(sides, sides)
def test_flows_add_up_to_what_arrives_and_leaves(before: Side, after: Side) -> None:
    found = compared(before, after)
    ids = [broker.id for broker in found.brokers]
    for name in ("replicas", "size_bytes", "unknown_size"):
        taken: Counter[int] = Counter()
        given_: Counter[int] = Counter()
        flows = found.flows
        for giver, taker, amount in zip(
            flows.senders.tolist(), flows.receivers.tolist(), getattr(flows, name).tolist(), strict=True
        ):
            given_[giver] += amount
            taken[taker] += amount
        assert [taken[broker] for broker in ids] == getattr(found.arriving, name).tolist()
        assert [given_[broker] for broker in ids] == getattr(found.leaving, name).tolist()


@given(sides, sides, st.integers(0, 20))
def test_no_more_is_copied_than_a_replica_has(before: Side, after: Side, most: int) -> None:
    """Loads and what leaves stay; a bound that no replica reaches changes nothing."""
    books = assignments(before), assignments(after)
    plain = compared(before, after)
    found = transfers(*books, sizes=sizes_of(before), most_copied=dict.fromkeys("tuv", most), brokers=SIX)
    for side in ("before", "after", "leaving"):
        assert getattr(found, side).size_bytes.tolist() == getattr(plain, side).size_bytes.tolist()
    assert (found.arriving.size_bytes <= plain.arriving.size_bytes).all()
    assert (found.arriving.size_bytes <= most * found.arriving.replicas).all()
    assert found.flows.size_bytes.sum() >= found.arriving.size_bytes.sum()
    if most > 16:
        assert found.arriving.size_bytes.tolist() == plain.arriving.size_bytes.tolist()


@given(sides, sides)
def test_loads_equal_an_obvious_count(before: Side, after: Side) -> None:
    """A partition that is not named afterwards stays."""
    whole = {topic: {**before.get(topic, {}), **after.get(topic, {})} for topic in {*before, *after}}
    found = compared(before, after)
    for side, load in ((before, found.before), (whole, found.after)):
        placed = [(replicas, topic, partition) for topic, its in side.items() for partition, replicas in its.items()]
        for index, broker in enumerate(found.brokers):
            there = [(topic, partition) for replicas, topic, partition in placed if broker.id in replicas]
            known = [
                0 if partition not in before.get(topic, {}) else 10 + partition
                for topic, partition in there
                if partition not in before.get(topic, {}) or (topic != "v" and partition % 2 == 0)
            ]
            assert load.replicas[index] == len(there)
            assert load.leaders[index] == sum(replicas[0] == broker.id for replicas, _, _ in placed)
            assert load.size_bytes[index] == sum(known)
            assert load.unknown_size[index] == len(there) - len(known)


@given(sides, sides, st.integers(0, 8), st.integers(0, 8))
def test_the_partitions_that_differ_are_those_of_the_movement(before: Side, after: Side, start: int, stop: int) -> None:
    found = compared(before, after)
    everything = found.partitions(0, found.movement.total)
    changes = movement(assignments(before), assignments(after)).changes(0, 100)
    remaining = [change for change in changes if change.after is not None]
    assert [(c.topic, c.partition, c.before, c.after, c.adding_replicas, c.removing_replicas) for c in remaining] == [
        (p.topic, p.partition, p.before, p.after, p.adding_replicas, p.removing_replicas) for p in everything
    ]
    assert found.partitions(start, stop) == everything[start:stop]
    rack_of = {broker.id: broker.rack for broker in SIX}
    for partition in everything:
        assert partition.racks_after == len({rack_of.get(b) for b in partition.after} - {None})
        assert partition.racks_before == len({rack_of.get(b) for b in partition.before or ()} - {None})


@costly()
@given(sides)
def test_nothing_moves_where_nothing_changes(side: Side) -> None:
    found = compared(side, side)
    assert found.movement.total == 0
    assert not len(found.flows.senders)
    assert list(found.changed()) == []


def test_a_replica_passes_within_its_rack_where_it_can() -> None:
    """1 → 2 within rack a although 6 comes first in the list; then 3 → 6, across racks, in the order that is left."""
    found = transfers(
        {"t": Assignment(np.array([0], np.int32), padded([[3, 1, 5]]))},
        {"t": Assignment(np.array([0], np.int32), padded([[6, 2, 5]]))},
        sizes={"t": np.array([KIB])},
        brokers=SIX,
    )
    flows = found.flows
    assert list(zip(flows.senders.tolist(), flows.receivers.tolist(), flows.size_bytes.tolist(), strict=True)) == [
        (1, 2, KIB),
        (3, 6, KIB),
    ]


def test_a_worked_example() -> None:
    """A factor raised, one lowered, a partition of unknown size moved, a new one, and one that is not named."""
    before = {"t": {0: [1, 3], 1: [2, 4, 5], 2: [1, 3], 3: [6]}}
    after = {"t": {0: [1, 3, 5], 1: [4, 2], 2: [2, 3], 9: [6, 1]}}
    sizes = {"t": np.array([100, 20, UNKNOWN_SIZE, 7])}
    found = transfers(assignments(before), assignments(after), sizes=sizes, brokers=SIX)
    assert found.before.replicas.tolist() == [2, 1, 2, 1, 1, 1]
    assert found.after.replicas.tolist() == [2, 2, 2, 1, 1, 2]
    assert found.before.leaders.tolist() == [2, 1, 0, 0, 0, 1]
    assert found.after.leaders.tolist() == [1, 1, 0, 1, 0, 2]
    assert found.before.size_bytes.tolist() == [100, 20, 100, 20, 20, 7]
    assert found.after.size_bytes.tolist() == [100, 20, 100, 20, 100, 7]
    assert found.arriving.size_bytes.tolist() == [0, 0, 0, 0, 100, 0]
    assert found.arriving.unknown_size.tolist() == [0, 1, 0, 0, 0, 0]
    assert found.leaving.size_bytes.tolist() == [0, 0, 0, 0, 20, 0]
    assert found.created.tolist() == [1, 0, 0, 0, 0, 1]
    flows = found.flows
    assert list(zip(flows.senders.tolist(), flows.receivers.tolist(), flows.replicas.tolist(), strict=True)) == [
        (NOWHERE, 5, 1),
        (1, 2, 1),
        (5, NOWHERE, 1),
    ]
    assert found.partitions(1, 4) == [
        PartitionTransfer("t", 1, (2, 4, 5), (4, 2), (), (5,), True, 20, 3, 2),
        PartitionTransfer("t", 2, (1, 3), (2, 3), (2,), (1,), True, None, 2, 2),
        PartitionTransfer("t", 9, None, (6, 1), (6, 1), (), False, 0, 0, 2),
    ]


def test_an_unlisted_broker_has_transfers_too() -> None:
    before = {"t": Assignment(np.array([0], np.int32), padded([[9, 1]]))}
    after = {"t": Assignment(np.array([0], np.int32), padded([[2, 1]]))}
    found = transfers(before, after, sizes={"t": np.array([5])}, brokers=SIX)
    assert [broker.id for broker in found.brokers] == [1, 2, 3, 4, 5, 6, 9]
    assert found.leaving.size_bytes.tolist() == [0, 0, 0, 0, 0, 0, 5]
    assert found.partitions(0, 1)[0].racks_before == 1


def test_nothing_at_all_is_compared_like_anything_else() -> None:
    found = transfers({}, {}, sizes={}, brokers=[])
    assert (found.brokers, found.movement.total, list(found.changed())) == ((), 0, [])
