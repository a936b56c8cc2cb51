"""Reassignments of a few partitions, and limits for them, that the tests of batches draw from."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, padded
from app.core.reassignment.batches.model import BatchLimits, BrokerDisks, Hottest, ReassignedPartitions
from tests import draws as st

MOST_BYTES = 100
limits_or_none = st.none() | st.integers(1, 4)


def as_bools(values: list[bool]) -> NDArray[np.bool_]:
    """(values,) bool, also of none."""
    return np.array(values, np.bool_)


@st.composite
def reassignments(draw: st.DrawFn) -> ReassignedPartitions:
    """Up to twelve partitions on up to eight brokers; anything may become anything, new partitions among them."""
    brokers = draw(st.integers(1, 8))
    lists = st.builds(
        lambda order, size: order[:size], st.permutations(range(brokers)), st.integers(1, min(brokers, 5))
    )
    rows = draw(st.integers(0, 12))
    after = [draw(lists) for _ in range(rows)]
    before = [draw(st.one_of(st.permutations(row), lists, lists, st.just([]))) for row in after]
    sizes = st.integers(0, MOST_BYTES) | st.just(UNKNOWN_SIZE)
    size_bytes = np.array([draw(sizes) for _ in range(rows)], np.int64)
    stored = draw(st.none() | st.lists(st.integers(0, MOST_BYTES), min_size=rows, max_size=rows))
    racks = st.none() | st.lists(st.integers(0, 3), min_size=brokers, max_size=brokers)
    rack_of = draw(racks)
    leaders = [draw(st.sampled_from([*row, NO_REPLICA])) for row in before]
    return ReassignedPartitions(
        before=padded(before),
        after=padded(after),
        size_bytes=size_bytes,
        stored_bytes=None if stored is None else np.maximum(size_bytes, np.array(stored, np.int64)),
        heat=np.array([draw(st.integers(0, 3)) for _ in range(rows)], np.int64),
        broker_ids=np.arange(brokers, dtype=np.int32) + 100,
        rack_of=None if rack_of is None else np.array(rack_of, np.int32),
        is_barred=draw(st.none() | st.lists(st.booleans(), min_size=brokers, max_size=brokers).map(np.array)),
        waits=draw(st.none() | st.lists(st.booleans(), min_size=rows, max_size=rows).map(as_bools)),
        leaders=draw(st.none() | st.just(np.array(leaders, np.int32))),
    )


all_limits = st.builds(
    BatchLimits,
    max_moves_in_per_broker=limits_or_none,
    max_moves_out_per_broker=limits_or_none,
    max_bytes_in_per_broker=st.none() | st.integers(MOST_BYTES, 3 * MOST_BYTES),
    max_partitions=limits_or_none,
    throttle_bytes_per_s=st.none() | st.integers(1, 50),
    hottest=st.sampled_from(Hottest),
)


@st.composite
def disks_for(draw: st.DrawFn, reassigned: ReassignedPartitions) -> BrokerDisks:
    """Disks that hold the replicas, some with little room, some too full already."""
    used = np.zeros(len(reassigned.broker_ids), np.int64)
    for row, size in zip(reassigned.before.tolist(), reassigned.on_disk.tolist(), strict=True):
        for broker in row:
            used[broker] += max(size, 0) * (broker >= 0)
    room = [draw(st.integers(-20, 3 * MOST_BYTES)) for _ in used]
    return BrokerDisks(used, used + np.array(room, np.int64))


def small(
    before: list[list[int]], after: list[list[int]], *, size: int | list[int] = 1, brokers: int = 10
) -> ReassignedPartitions:
    """A reassignment written out; the larger a row, the hotter it is."""
    sizes = np.broadcast_to(np.array(size, np.int64), len(before)).copy()
    heat = np.arange(len(before), dtype=np.int64)
    return ReassignedPartitions(padded(before), padded(after), sizes, heat, np.arange(brokers, dtype=np.int32) + 100)


def with_cordons(reassigned: ReassignedPartitions, *cordoned: int) -> ReassignedPartitions:
    """The same where these positions are cordoned."""
    return replace(reassigned, is_barred=np.isin(np.arange(len(reassigned.broker_ids)), cordoned))


def with_racks(reassigned: ReassignedPartitions, racks: list[int]) -> ReassignedPartitions:
    """The same with racks."""
    return replace(reassigned, rack_of=np.array(racks, np.int32))
