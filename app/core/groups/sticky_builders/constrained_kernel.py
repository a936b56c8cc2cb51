"""Compiled loops of the constrained builder, one partition after another.

progress : (6,) int64 state that one step leaves to the next, see the names below.
under : (members,) int64 members below the lower quota, by id (Kafka's `unfilledMembersWithUnderMinQuotaPartitions`).
exact : (2 · members,) int64 members at the lower quota that may get one more, by id; a queue from HEAD on (Kafka's
    `unfilledMembersWithExactlyMinQuotaPartitions`).
sizes : (members,) int64 number of partitions of each member.
additions : (additions, 2) int64 partition and member, in order: every assignment beyond the kept partitions.
"""

import numpy as np

from app.core.compiled.arrays import BoolVector, Int32Matrix, Int32Vector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.groups.sticky_builders.group_kernel import is_near
from app.core.model import NO_MEMBER, Int64s

OVER, UNDER, HEAD, EXACT, ADDED, FAILED = range(6)
ALL_FULL = 1
"""FAILED: partitions are unassigned and every member has reached its quota."""


@compiled
def owned_lists(
    numbers: Int64Vector, owner: Int64Vector, id_of: Int32Vector, members: int, most_id: int
) -> tuple[Int64s, Int64s]:
    """Each owner's partitions by id, then by topic: bounds (members + 1,) and lists.

    Parameters
    ----------
    numbers : ascending, so by topic.
    owner : (len(numbers),) members.
    id_of : (all numbers,) partition ids, each in 0 … most_id.
    """
    starts = np.zeros(most_id + 2, np.int64)
    for number in numbers:
        starts[id_of[number] + 1] += 1
    starts = np.cumsum(starts)
    by_id = np.empty(len(numbers), np.int64)
    for index in range(len(numbers)):
        partition_id = id_of[numbers[index]]
        by_id[starts[partition_id]] = index
        starts[partition_id] += 1
    bounds = np.zeros(members + 1, np.int64)
    for owning in owner:
        bounds[owning + 1] += 1
    bounds = np.cumsum(bounds)
    ends = bounds[:-1].copy()
    lists = np.empty(len(numbers), np.int64)
    for place in by_id:
        member = owner[place]
        lists[ends[member]] = numbers[place]
        ends[member] += 1
    return bounds, lists


@compiled
def keep_owned(
    visits: Int64Vector,
    owned: Int64Vector,
    low: int,
    high: int,
    expected: int,
    under: Int64Vector,
    exact: Int64Vector,
    progress: Int64Vector,
) -> Int64s:
    """Number of owned partitions that each member keeps: (members,) int64; `owned` : (members,) how many it owns."""
    kept_counts = np.empty(len(owned), np.int64)
    for member in visits:
        if owned[member] < low:
            kept_counts[member] = owned[member]
            under[progress[UNDER]] = member
            progress[UNDER] += 1
        elif owned[member] >= high and progress[OVER] < expected:
            kept_counts[member] = high
            progress[OVER] += 1
            if progress[OVER] == expected:
                progress[EXACT] = 0
        else:
            kept_counts[member] = low
            if progress[OVER] < expected:
                exact[progress[EXACT]] = member
                progress[EXACT] += 1
    return kept_counts


@compiled
def split(
    bounds: Int64Vector, lists: Int64Vector, kept_counts: Int64Vector, is_free: BoolVector, revoked_by: Int64Vector
) -> None:
    """Mark kept partitions as not free and set the member that revokes each other one; outputs are (numbers,)."""
    for member in range(len(kept_counts)):
        for place in range(bounds[member], bounds[member + 1]):
            if place < bounds[member] + kept_counts[member]:
                is_free[lists[place]] = False
            else:
                revoked_by[lists[place]] = member


@compiled
def by_count(numbers: Int64Vector, counts: Int64Vector, most: int) -> Int64s:
    """Sort partitions by their counts, each in 0 … most; stable."""
    starts = np.zeros(most + 2, np.int64)
    for number in numbers:
        starts[counts[number] + 1] += 1
    starts = np.cumsum(starts)
    out = np.empty(len(numbers), np.int64)
    for number in numbers:
        out[starts[counts[number]]] = number
        starts[counts[number]] += 1
    return out


@subroutine
def _next_near(
    racks: Int32Vector, counts: Int64Vector, members: Int64Vector, start: int, end: int, turn: int, rack_of: Int32Vector
) -> int:
    """The first place in members[start:end], from `turn` on and around, whose member is near; or -1.

    `counts` : (racks,) of these members in each rack; if a partition's racks have none, nothing is searched.
    """
    has_candidate = False
    for rack in racks:
        has_candidate = has_candidate or (rack >= 0 and counts[rack] > 0)
    if not has_candidate:
        return -1
    place = start + turn
    for _ in range(end - start):
        if is_near(rack_of[members[place]], racks):
            return place
        place += 1
        if place == end:
            place = start
    return -1


@subroutine
def _remove(members: Int64Vector, place: int, end: int) -> None:
    for at in range(place, end - 1):
        members[at] = members[at + 1]


@subroutine
def _counted(members: Int64Vector, start: int, end: int, rack_of: Int32Vector, racks: int) -> Int64s:
    counts = np.zeros(racks, np.int64)
    for member in members[start:end]:
        if rack_of[member] >= 0:
            counts[rack_of[member]] += 1
    return counts


@compiled
def assign_near(
    unassigned: Int64Vector,
    racks_of: Int32Matrix,
    rack_of: Int32Vector,
    racks: int,
    low: int,
    high: int,
    expected: int,
    under: Int64Vector,
    exact: Int64Vector,
    sizes: Int64Vector,
    additions: Int64Matrix,
    progress: Int64Vector,
) -> Int64s:
    """Assign each partition to a near member below its quota, in turn; returns the partitions without one."""
    rest = np.empty(len(unassigned), np.int64)
    n_rest = 0
    turn = 0
    in_under = _counted(under, 0, progress[UNDER], rack_of, racks)
    in_exact = _counted(exact, progress[HEAD], progress[EXACT], rack_of, racks)
    for number in unassigned:
        racks_of_replicas = racks_of[number]
        place = _next_near(racks_of_replicas, in_under, under, 0, progress[UNDER], turn, rack_of)
        if place >= 0:
            member = under[place]
            turn = place + 1
            if sizes[member] + 1 >= low:
                _remove(under, place, progress[UNDER])
                progress[UNDER] -= 1
                in_under[rack_of[member]] -= 1
                turn = place
                if sizes[member] + 1 < high and progress[OVER] < expected:
                    exact[progress[EXACT]] = member
                    progress[EXACT] += 1
                    in_exact[rack_of[member]] += 1
            if turn >= progress[UNDER]:
                turn = 0
        else:
            place = _next_near(racks_of_replicas, in_exact, exact, progress[HEAD], progress[EXACT], 0, rack_of)
            if place < 0:
                rest[n_rest] = number
                n_rest += 1
                continue
            member = exact[place]
            if sizes[member] + 1 == high:
                _remove(exact, place, progress[EXACT])
                progress[EXACT] -= 1
                in_exact[rack_of[member]] -= 1
                progress[OVER] += 1
                if progress[OVER] == expected:
                    progress[EXACT] = progress[HEAD]
                    in_exact[:] = 0
        sizes[member] += 1
        additions[progress[ADDED], 0] = number
        additions[progress[ADDED], 1] = member
        progress[ADDED] += 1
    return rest[:n_rest]


@compiled
def assign_in_turn(
    unassigned: Int64Vector,
    low: int,
    high: int,
    under: Int64Vector,
    exact: Int64Vector,
    sizes: Int64Vector,
    additions: Int64Matrix,
    progress: Int64Vector,
) -> None:
    """Assign partitions to members below the lower quota in turn, then one each to those that may get one more."""
    at = 0
    for number in unassigned:
        if at >= progress[UNDER]:
            at = 0
        if at < progress[UNDER]:
            member = under[at]
        elif progress[HEAD] < progress[EXACT]:
            member = exact[progress[HEAD]]
            progress[HEAD] += 1
        else:
            progress[FAILED] = ALL_FULL
            return
        sizes[member] += 1
        additions[progress[ADDED], 0] = number
        additions[progress[ADDED], 1] = member
        progress[ADDED] += 1
        at += 1
        if sizes[member] == low:
            at -= 1
            _remove(under, at, progress[UNDER])
            progress[UNDER] -= 1
            exact[progress[EXACT]] = member
            progress[EXACT] += 1
        elif sizes[member] == high:
            progress[OVER] += 1


@compiled
def withheld(additions: Int64Matrix, revoked_by: Int64Vector, disputed: BoolVector) -> Int64s:
    """The member that waits for each partition until another one revokes it, or `NO_MEMBER`; of several the last."""
    waiting = np.full(len(revoked_by), NO_MEMBER, np.int64)
    for addition in range(len(additions)):
        number = additions[addition, 0]
        member = additions[addition, 1]
        if disputed[number] or (revoked_by[number] >= 0 and revoked_by[number] != member):
            waiting[number] = member
    return waiting


@compiled
def collect(
    bounds: Int64Vector,
    lists: Int64Vector,
    kept_counts: Int64Vector,
    additions: Int64Matrix,
    waiting: Int64Vector,
    sizes: Int64Vector,
) -> tuple[Int64s, Int64s]:
    """Each member's kept partitions, then its additions, without the partitions it waits for.

    Parameters
    ----------
    waiting : (numbers,) the member from whose list the first occurrence is left out; changed.
    sizes : (members,) partitions of each member, those left out included.

    Returns
    -------
    offsets : (members + 1,). numbers : (offsets[-1],).
    """
    members = len(kept_counts)
    starts = np.zeros(members + 1, np.int64)
    starts[1:] = np.cumsum(sizes)
    ends = starts[:-1].copy()
    out = np.empty(starts[-1], np.int64)
    for member in range(members):
        for number in lists[bounds[member] : bounds[member] + kept_counts[member]]:
            if waiting[number] == member:
                waiting[number] = NO_MEMBER
            else:
                out[ends[member]] = number
                ends[member] += 1
    for addition in range(len(additions)):
        number = additions[addition, 0]
        member = additions[addition, 1]
        if waiting[number] == member:
            waiting[number] = NO_MEMBER
        else:
            out[ends[member]] = number
            ends[member] += 1
    offsets = np.zeros(members + 1, np.int64)
    offsets[1:] = np.cumsum(ends - starts[:-1])
    for member in range(members):
        for at in range(offsets[member + 1] - offsets[member]):
            out[offsets[member] + at] = out[starts[member] + at]
    return offsets, out[: offsets[members]]
