"""Records with and without key together: each goes where its own rule says, whatever the others do."""

from typing import TypeAlias

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.keys.model import keys_of
from app.core.keys.null_keys import ProducerView
from app.core.keys.partitioners import PARTITIONERS, WITHOUT_KEY, partition, place_null_keys
from app.core.model import Int32s

Sent: TypeAlias = list[tuple[bytes | None, int]]
"""Key and bytes of each record."""

BATCH_BYTES = 100
names = st.sampled_from(sorted(PARTITIONERS))
records = st.lists(st.tuples(st.none() | st.binary(max_size=4), st.integers(0, 120)), max_size=40)
seeds = st.integers(-(2**63), 2**63 - 1)


@st.composite
def views(draw: st.DrawFn) -> ProducerView:
    partitions = draw(st.integers(1, 9))
    available = draw(st.none() | st.lists(st.integers(0, partitions - 1), unique=True))
    return ProducerView(
        partitions, None if available is None else np.array(available, np.int32), batch_bytes=BATCH_BYTES
    )


def place(name: str, sent: Sent, view: ProducerView, seed: int) -> tuple[Int32s, Int32s]:
    """By their keys, and with the others placed too."""
    by_key = partition(PARTITIONERS[name], keys_of([key for key, _ in sent]), view.partitions)
    record_bytes = np.array([size for _, size in sent], np.int32)
    return by_key, place_null_keys(PARTITIONERS[name], by_key, record_bytes, view, random=JavaRandom(seed))


@given(names, records, views(), seeds)
def test_keyed_records_land_where_they_land_anyway_and_the_others_land_somewhere(
    name: str, sent: Sent, view: ProducerView, seed: int
) -> None:
    """A key's partition hangs on the key and the count alone: no leader, seed or neighbour changes it."""
    by_key, placed = place(name, sent, view, seed)
    without = by_key == WITHOUT_KEY
    assert placed.dtype == np.int32
    assert (placed[~without] == by_key[~without]).all()
    assert ((placed[without] >= 0) & (placed[without] < view.partitions)).all()


@given(names, records, views(), seeds)
def test_a_seed_gives_the_same_bytes_twice(name: str, sent: Sent, view: ProducerView, seed: int) -> None:
    assert place(name, sent, view, seed)[1].tobytes() == place(name, sent, view, seed)[1].tobytes()


@given(names, records, views(), seeds)
def test_records_with_a_key_draw_nothing(name: str, sent: Sent, view: ProducerView, seed: int) -> None:
    """Left out, the others are placed as before."""
    by_key, placed = place(name, sent, view, seed)
    without = by_key == WITHOUT_KEY
    alone = [record for record, has_none in zip(sent, without.tolist(), strict=True) if has_none]
    assert place(name, alone, view, seed)[1].tolist() == placed[without].tolist()


@given(records, views(), seeds)
def test_in_turn_shares_differ_by_one_at_most(sent: Sent, view: ProducerView, seed: int) -> None:
    """Java 0.8.2 to 2.3, over the partitions that have a leader. A counter that passes 2³¹ is too rare to meet here."""
    by_key, placed = place("murmur2_round_robin", sent, view, seed)
    shares = np.bincount(placed[by_key == WITHOUT_KEY], minlength=view.partitions)
    available = view.candidates()
    assert np.ptp(shares[available]) <= 1
    assert shares.sum() == shares[available].sum()


@given(records, views(), seeds)
def test_a_sticky_partition_changes_only_where_a_batch_is_full(sent: Sent, view: ProducerView, seed: int) -> None:
    """And then it does, where another partition has a leader."""
    by_key, placed = place("murmur2_sticky", sent, view, seed)
    sizes = [size for (_, size), where in zip(sent, by_key.tolist(), strict=True) if where == WITHOUT_KEY]
    landed = placed[by_key == WITHOUT_KEY].tolist()
    can_choose = len(view.candidates()) > 1 and (view.available is None or len(view.available) > 1)
    filled = 0
    for index, size in enumerate(sizes):
        is_full = index > 0 and filled + size > BATCH_BYTES
        changes = index > 0 and landed[index] != landed[index - 1]
        if can_choose:
            assert changes == is_full
        assert is_full or not changes
        filled = size if is_full else filled + size


@given(records, views(), seeds)
def test_an_adaptive_partition_changes_only_after_a_batchs_bytes(sent: Sent, view: ProducerView, seed: int) -> None:
    """Java since 3.3: the record that gets there still goes to the partition before."""
    by_key, placed = place("murmur2_adaptive", sent, view, seed)
    sizes = [size for (_, size), where in zip(sent, by_key.tolist(), strict=True) if where == WITHOUT_KEY]
    landed = placed[by_key == WITHOUT_KEY].tolist()
    produced = 0
    for index, size in enumerate(sizes):
        if index and landed[index] != landed[index - 1]:
            assert produced >= BATCH_BYTES
        produced = size if produced >= BATCH_BYTES else produced + size


def test_every_record_has_a_key_for_a_partitioner_without_policy() -> None:
    """librdkafka's `murmur2` hashes no key as an empty one: there is nothing to draw."""
    by_key, placed = place("murmur2", [(None, 1), (b"a", 1)], ProducerView(7), 1)
    assert placed is by_key
    assert WITHOUT_KEY not in placed
