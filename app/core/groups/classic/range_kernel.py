"""Compiled loops of the rack-aware range assignor.

Members are the subscribers of a topic, by position in the order in which Kafka visits them. Racks are indices or
`NO_RACK`.
"""

import numpy as np

from app.core.compiled.arrays import BoolVector, Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.counting_kernel import grouped
from app.core.model import NO_MEMBER, NO_RACK, Int32s, Int64s


@compiled
def distinguishes(replicas: Int32Matrix, rack_of_broker: Int32Vector, is_member_rack: BoolVector) -> bool:
    """Whether some replica is in a member's rack, and some partition is not in all racks of the replicas."""
    last_partition_in = np.full(len(is_member_rack), -1, np.int64)
    racks_with_replicas = 0
    matches_member = False
    fewest = len(is_member_rack)
    for partition in range(replicas.shape[0]):
        distinct = 0
        for replica in range(replicas.shape[1]):
            broker = replicas[partition, replica]
            rack = rack_of_broker[broker] if 0 <= broker < len(rack_of_broker) else NO_RACK
            if rack >= 0 and last_partition_in[rack] != partition:
                racks_with_replicas += last_partition_in[rack] < 0
                last_partition_in[rack] = partition
                distinct += 1
                matches_member |= is_member_rack[rack]
        fewest = min(fewest, distinct)
    return matches_member and fewest < racks_with_replicas


@compiled
def intersect_racks(racks: Int32Matrix, replicas: Int32Matrix, rack_of_broker: Int32Vector) -> None:
    """Replace by `NO_RACK` each partition's racks in which another topic's partition of that number has no replica."""
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
                racks[partition, place] = NO_RACK


@compiled
def divide_by_partition(racks: Int32Matrix, rack_of_member: Int32Vector, n_racks: int) -> Int32s:
    """Assign each partition to the first member below its share, in one of its racks or without one; then the rest."""
    n_members = len(rack_of_member)
    following, first = _queues(rack_of_member, n_racks)
    owners = np.full(racks.shape[0], NO_MEMBER, np.int32)
    sizes = np.zeros(n_members, np.int64)
    quota = racks.shape[0] // n_members
    extra = racks.shape[0] % n_members
    for partition in range(racks.shape[0]):
        best = n_members
        for place in range(racks.shape[1] + 1):
            # The last queue has the members without a rack, which match any.
            rack = racks[partition, place] if place < racks.shape[1] else n_racks
            if rack < 0:
                continue
            # A share never grows, so that a member that has reached it can leave its queue.
            while first[rack] < n_members and sizes[first[rack]] >= quota + (extra > 0):
                first[rack] = following[first[rack]]
            best = min(best, first[rack])
        if best < n_members:
            owners[partition] = best
            sizes[best] += 1
            extra -= sizes[best] > quota
    _divide_rest(owners, sizes, quota, extra)
    return owners


@compiled
def divide_by_member(racks: Int32Matrix, rack_of_member: Int32Vector, n_racks: int) -> Int32s:
    """Assign to each member in turn the first partitions of its rack, up to its share; then the rest."""
    n_partitions = racks.shape[0]
    n_members = len(rack_of_member)
    # Group 0 has the replicas without a rack.
    partitions = np.repeat(np.arange(n_partitions), racks.shape[1])
    bounds, partitions = grouped(partitions, racks.flatten().astype(np.int64) + 1, n_racks + 1)
    next_local = bounds[1:-1].copy()
    next_any = 0
    owners = np.full(n_partitions, NO_MEMBER, np.int32)
    sizes = np.zeros(n_members, np.int64)
    quota = n_partitions // n_members
    extra = n_partitions % n_members
    for member in range(n_members):
        rack = rack_of_member[member]
        most = quota + (extra > 0)
        if rack < 0:
            next_any = _take(owners, sizes, member, most, next_any)
        else:
            while sizes[member] < most and next_local[rack] < bounds[rack + 2]:
                partition = partitions[next_local[rack]]
                next_local[rack] += 1
                if owners[partition] == NO_MEMBER:
                    owners[partition] = member
                    sizes[member] += 1
        extra -= sizes[member] > quota
    _divide_rest(owners, sizes, quota, extra)
    return owners


@subroutine
def _queues(rack_of_member: Int32Vector, n_racks: int) -> tuple[Int64s, Int64s]:
    """The next member of the same rack, and each rack's first; the last queue is of members without a rack."""
    n_members = len(rack_of_member)
    first = np.full(n_racks + 1, n_members, np.int64)
    following = np.empty(n_members, np.int64)
    for member in range(n_members - 1, -1, -1):
        rack = rack_of_member[member] if rack_of_member[member] >= 0 else n_racks
        following[member] = first[rack]
        first[rack] = member
    return following, first


@subroutine
def _take(owners: Int32Vector, sizes: Int64Vector, member: int, most: int, at: int) -> int:
    """Assign unassigned partitions from `at` on to a member until it has `most`; returns where to continue."""
    while sizes[member] < most and at < len(owners):
        if owners[at] == NO_MEMBER:
            owners[at] = member
            sizes[member] += 1
        at += 1
    return at


@subroutine
def _divide_rest(owners: Int32Vector, sizes: Int64Vector, quota: int, extra: int) -> None:
    """Assign the remaining partitions in ranges, to each member in turn up to its share."""
    at = 0
    for member in range(len(sizes)):
        before = sizes[member]
        at = _take(owners, sizes, member, quota + (extra > 0), at)
        extra -= before < sizes[member] and sizes[member] > quota
