"""Steps that change racks are those that change the coordinator's hash of the topic (KIP-1101)."""

from uuid import UUID

import numpy as np
from hypothesis import event, given

from app.core.model import Int32s, padded
from app.core.reassignment.batches.model import changes_racks, changes_racks_meanwhile
from tests import draws as st
from tests.conformance.topic_hash import topic_hash
from tests.core.reassignment.small_reassignments import small
from tests.premises import reaches
from tests.profiles import examples

TOPIC = UUID(int=7)
racks = st.lists(st.integers(-1, 3), min_size=6, max_size=6).map(lambda numbers: np.array(numbers, np.int32))
lists = st.permutations(range(6)).flatmap(lambda order: st.integers(1, 4).map(lambda size: list(order[:size])))


def hash_of(replicas: Int32s, rack_of: Int32s) -> int:
    """The hash of a topic whose partitions have these replicas; rack 0 is the empty text, as Kafka allows."""
    names = {broker: None if rack < 0 else "r" * rack for broker, rack in enumerate(rack_of.tolist())}
    return topic_hash("t", TOPIC, replicas, names)


@reaches("changed", 0.3)
@reaches("not changed", 0.05)
@examples(300)
@given(st.lists(st.tuples(lists, lists), min_size=1, max_size=4), racks)
def test_a_topic_has_another_hash_if_any_of_its_partitions_changes_racks(
    moves: list[tuple[list[int], list[int]]], rack_of: Int32s
) -> None:
    before, after = padded([old for old, _ in moves]), padded([new for _, new in moves])
    changed = bool(changes_racks(before, after, rack_of).any())
    event("changed" if changed else "not changed")
    assert changed == (hash_of(before, rack_of) != hash_of(after, rack_of))


@examples(300)
@given(st.lists(st.tuples(lists, lists), min_size=1, max_size=4), racks)
def test_while_data_moves_a_partition_has_the_racks_of_both_lists(
    moves: list[tuple[list[int], list[int]]], rack_of: Int32s
) -> None:
    """Kafka lists the new replicas, then those that leave."""
    before, after = padded([old for old, _ in moves]), padded([new for _, new in moves])
    both = padded([[*new, *(broker for broker in old if broker not in new)] for old, new in moves])
    expected = hash_of(before, rack_of) != hash_of(both, rack_of)
    assert bool(changes_racks_meanwhile(before, after, rack_of).any()) == expected


def test_by_hand() -> None:
    """Brokers 0 and 1 are in rack 0, 2 in rack 1, 3 has none."""
    rack_of = np.array([0, 0, 1, -1], np.int32)
    moves = small([[0, 2], [0, 2], [0, 3], [0, 2], [0]], [[1, 2], [2, 0], [0], [0, 1], [3]], brokers=4)
    assert changes_racks(moves.before, moves.after, rack_of).tolist() == [False, False, False, True, True]
    meanwhile = changes_racks_meanwhile(moves.before, moves.after, rack_of)
    assert meanwhile.tolist() == [True, False, False, True, False]
