"""Compiled loops of the constrained builder, one partition after another."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.groups.sticky_builders.group_kernel import is_near
from app.core.model import NO_MEMBER, Int64s

OVER, UNDER, HEAD, EXACT, LISTED, FAILED = range(6)
ALL_FULL = 1
"""FAILED: partitions are unassigned and every member has reached its quota."""


class Filling(NamedTuple):
    """An assignment in the making.

    low, high : a member gets minQuota or maxQuota partitions. expected : number of members that get more than `low`.
    progress : (6,) int64 state that one step leaves to the next, see the names above.
    under : (members,) int64 members below the lower quota, by id (Kafka's
        `unfilledMembersWithUnderMinQuotaPartitions`).
    exact : (2 · members,) int64 members at the lower quota that may get one more, by id; a queue from HEAD on (Kafka's
        `unfilledMembersWithExactlyMinQuotaPartitions`).
    sizes : (members,) int64 number of partitions of each member.
    revoked_by : (numbers,) int64 the member that has to revoke a partition first, a number beyond all members if
        several have to, or `NO_MEMBER`.
    numbers, owners : int64 partitions and their members, LISTED of them: those that are kept, then additions in order,
        without those that another member has to revoke first.
    """

    low: int
    high: int
    expected: int
    progress: Int64Vector
    under: Int64Vector
    exact: Int64Vector
    sizes: Int64Vector
    revoked_by: Int64Vector
    numbers: Int64Vector
    owners: Int64Vector


@compiled
def keep_owned(visits: Int64Vector, owned: Int64Vector, filling: Filling) -> None:
    """Set the number of owned partitions that each member keeps; `owned` : (members,) int64 how many it owns."""
    progress = filling.progress
    for member in visits:
        filling.sizes[member] = filling.low
        if owned[member] < filling.low:
            filling.sizes[member] = owned[member]
            filling.under[progress[UNDER]] = member
            progress[UNDER] += 1
        elif owned[member] >= filling.high and progress[OVER] < filling.expected:
            filling.sizes[member] = filling.high
            progress[OVER] += 1
            if progress[OVER] == filling.expected:
                progress[EXACT] = 0
        elif progress[OVER] < filling.expected:
            filling.exact[progress[EXACT]] = member
            progress[EXACT] += 1


@compiled
def keep(bounds: Int64Vector, owned: Int64Vector, filling: Filling) -> None:
    """List the first owned partitions of each member and set the member that revokes each other one."""
    at = 0
    for member in range(len(filling.sizes)):
        end_of_kept = bounds[member] + filling.sizes[member]
        for place in range(bounds[member], end_of_kept):
            filling.numbers[at], filling.owners[at] = owned[place], member
            at += 1
        for place in range(end_of_kept, bounds[member + 1]):
            filling.revoked_by[owned[place]] = member
    filling.progress[LISTED] = at


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


@subroutine
def _add(number: int, member: int, filling: Filling) -> None:
    filling.sizes[member] += 1
    at, waits_for = filling.progress[LISTED], filling.revoked_by[number]
    filling.numbers[at], filling.owners[at] = number, member
    filling.progress[LISTED] = at + (waits_for in (NO_MEMBER, member))


@compiled
def assign_near(
    unassigned: Int64Vector, racks_of: Int32Matrix, rack_of: Int32Vector, racks: int, filling: Filling
) -> Int64s:
    """Assign each partition to a near member below its quota, in turn; returns the partitions without one."""
    progress, under, exact = filling.progress, filling.under, filling.exact
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
            if filling.sizes[member] + 1 >= filling.low:
                _remove(under, place, progress[UNDER])
                progress[UNDER] -= 1
                in_under[rack_of[member]] -= 1
                turn = place
                if filling.sizes[member] + 1 < filling.high and progress[OVER] < filling.expected:
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
            if filling.sizes[member] + 1 == filling.high:
                _remove(exact, place, progress[EXACT])
                progress[EXACT] -= 1
                in_exact[rack_of[member]] -= 1
                progress[OVER] += 1
                if progress[OVER] == filling.expected:
                    progress[EXACT] = progress[HEAD]
                    in_exact[:] = 0
        _add(number, member, filling)
    return rest[:n_rest]


@compiled
def assign_in_turn(unassigned: Int64Vector, filling: Filling) -> None:
    """Assign partitions to members below the lower quota in turn, then one each to those that may get one more."""
    progress, under, exact = filling.progress, filling.under, filling.exact
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
        _add(number, member, filling)
        at += 1
        if filling.sizes[member] == filling.low:
            at -= 1
            _remove(under, at, progress[UNDER])
            progress[UNDER] -= 1
            exact[progress[EXACT]] = member
            progress[EXACT] += 1
        elif filling.sizes[member] == filling.high:
            progress[OVER] += 1
