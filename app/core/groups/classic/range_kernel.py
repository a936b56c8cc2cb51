"""The rack-aware half of the range assignor, partition by partition.

A *seat* is a subscriber's place in the order of the subscribers. Racks are indices; −1 is none. Owners are seats.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s

NOBODY = -1


@njit(cache=True, nogil=True)
def racks_of(replicas: Int32s, rack_of_broker: Int32s) -> Int32s:
    """The rack of each replica: (partitions, widest)."""
    racks = np.full(replicas.shape, -1, np.int32)
    for partition in range(replicas.shape[0]):
        for replica in range(replicas.shape[1]):
            broker = replicas[partition, replica]
            if 0 <= broker < len(rack_of_broker):
                racks[partition, replica] = rack_of_broker[broker]
    return racks


@njit(cache=True, nogil=True)
def distinguishes(replicas: Int32s, rack_of_broker: Int32s, wanted: NDArray[np.bool_]) -> bool:
    """Whether some rack of the replicas is wanted, and some partition is not on all of the replicas' racks."""
    seen_by = np.full(len(wanted), -1, np.int64)
    seen_at_all = 0
    is_wanted = False
    least = len(wanted)
    for partition in range(replicas.shape[0]):
        distinct = 0
        for replica in range(replicas.shape[1]):
            broker = replicas[partition, replica]
            rack = rack_of_broker[broker] if 0 <= broker < len(rack_of_broker) else -1
            if rack >= 0 and seen_by[rack] != partition:
                seen_at_all += seen_by[rack] < 0
                seen_by[rack] = partition
                distinct += 1
                is_wanted |= wanted[rack]
        least = min(least, distinct)
    return is_wanted and least < seen_at_all


@njit(cache=True, nogil=True)
def keep_shared(racks: Int32s, replicas: Int32s, rack_of_broker: Int32s) -> None:
    """Strike out of each partition's racks those where another topic's partition of that number has no replica."""
    for partition in range(racks.shape[0]):
        for place in range(racks.shape[1]):
            rack = racks[partition, place]
            if rack < 0:
                continue
            is_shared = False
            for replica in range(replicas.shape[1]):
                broker = replicas[partition, replica]
                if 0 <= broker < len(rack_of_broker) and rack_of_broker[broker] == rack:
                    is_shared = True
                    break
            if not is_shared:
                racks[partition, place] = -1


@njit(cache=True, nogil=True)
def deal_partition_by_partition(racks: Int32s, rack_of_seat: Int32s, n_racks: int) -> Int32s:
    """Each partition to the first seat in one of its racks, or without a rack, that may have more; then the rest."""
    n_seats = len(rack_of_seat)
    following, first = _queues(rack_of_seat, n_racks)
    owners = np.full(racks.shape[0], NOBODY, np.int32)
    held = np.zeros(n_seats, np.int64)
    quota = racks.shape[0] // n_seats
    extra = racks.shape[0] % n_seats
    for partition in range(racks.shape[0]):
        best = n_seats
        for place in range(racks.shape[1] + 1):
            # The last queue is of those without a rack, who match any.
            rack = racks[partition, place] if place < racks.shape[1] else n_racks
            if rack < 0:
                continue
            # What a seat may have more never grows, so that a full one can leave its queue.
            while first[rack] < n_seats and held[first[rack]] >= quota + (extra > 0):
                first[rack] = following[first[rack]]
            best = min(best, first[rack])
        if best < n_seats:
            owners[partition] = best
            held[best] += 1
            extra -= held[best] > quota
    _deal_rest(owners, held, quota, extra)
    return owners


@njit(cache=True, nogil=True)
def deal_seat_by_seat(racks: Int32s, rack_of_seat: Int32s, n_racks: int) -> Int32s:
    """Each seat in turn takes the first partitions of its rack, as many as it may; then the rest."""
    n_partitions = racks.shape[0]
    n_seats = len(rack_of_seat)
    local, ends = _partitions_by_rack(racks, n_racks)
    next_local = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    next_any = 0
    owners = np.full(n_partitions, NOBODY, np.int32)
    held = np.zeros(n_seats, np.int64)
    quota = n_partitions // n_seats
    extra = n_partitions % n_seats
    for seat in range(n_seats):
        rack = rack_of_seat[seat]
        most = quota + (extra > 0)
        if rack < 0:
            next_any = _take(owners, held, seat, most, next_any)
        else:
            while held[seat] < most and next_local[rack] < ends[rack]:
                partition = local[next_local[rack]]
                next_local[rack] += 1
                if owners[partition] == NOBODY:
                    owners[partition] = seat
                    held[seat] += 1
        extra -= held[seat] > quota
    _deal_rest(owners, held, quota, extra)
    return owners


@njit(cache=True, nogil=True)
def _queues(rack_of_seat: Int32s, n_racks: int) -> tuple[Int64s, Int64s]:
    """The next seat of the same rack, and each rack's first; the last queue is of seats without a rack."""
    n_seats = len(rack_of_seat)
    first = np.full(n_racks + 1, n_seats, np.int64)
    following = np.empty(n_seats, np.int64)
    for seat in range(n_seats - 1, -1, -1):
        rack = rack_of_seat[seat] if rack_of_seat[seat] >= 0 else n_racks
        following[seat] = first[rack]
        first[rack] = seat
    return following, first


@njit(cache=True, nogil=True)
def _partitions_by_rack(racks: Int32s, n_racks: int) -> tuple[Int32s, Int64s]:
    """The partitions of each rack, ascending, one rack after another, and where each rack's end."""
    sizes = np.zeros(n_racks, np.int64)
    for rack in racks.flat:
        if rack >= 0:
            sizes[rack] += 1
    ends = np.cumsum(sizes)
    local = np.empty(ends[n_racks - 1] if n_racks else 0, np.int32)
    free = ends - sizes
    for partition in range(racks.shape[0]):
        for replica in range(racks.shape[1]):
            rack = racks[partition, replica]
            if rack >= 0:
                local[free[rack]] = partition
                free[rack] += 1
    return local, ends


@njit(cache=True, nogil=True)
def _take(owners: Int32s, held: Int64s, seat: int, most: int, at: int) -> int:
    """Let a seat take partitions that nobody has, from `at` on, until it holds `most`; says where to go on."""
    while held[seat] < most and at < len(owners):
        if owners[at] == NOBODY:
            owners[at] = seat
            held[seat] += 1
        at += 1
    return at


@njit(cache=True, nogil=True)
def _deal_rest(owners: Int32s, held: Int64s, quota: int, extra: int) -> None:
    """What no rack decided: in ranges, each seat in turn up to its share."""
    at = 0
    for seat in range(len(held)):
        before = held[seat]
        at = _take(owners, held, seat, quota + (extra > 0), at)
        extra -= before < held[seat] and held[seat] > quota
