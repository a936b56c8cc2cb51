"""The steps of the constrained builder, one partition after another.

progress : (6,) int64, see the names below; what one step leaves to the next.
under, exact : (members,), (2·members,) int64: those with fewer than the lower quota, and those with exactly as many
    that may get one more; sorted by id. `exact` is a queue from HEAD on.
sizes : (members,) int64: how many partitions each has.
deals : (deals, 2) int64 partition and member, in order: whatever is given beyond what is kept.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.groups.sticky_builders.group_kernel import is_near
from app.core.model import Int32s, Int64s

OVER, UNDER, HEAD, EXACT, DEALT, FAILED = range(6)
NOBODY_LEFT = 1
"""FAILED: partitions are left and every member is full."""


@njit(cache=True, nogil=True)
def owned_lists(numbers: Int64s, owner: Int64s, id_of: Int32s, members: int, most_id: int) -> tuple[Int64s, Int64s]:
    """Each owner's partitions by their own number, then by topic: bounds (members + 1,) and lists.

    Parameters
    ----------
    numbers : ascending, so by topic; owner : (len(numbers),). id_of : (numbers,), each in 0 … most_id.
    """
    starts = np.zeros(most_id + 2, np.int64)
    for number in numbers:
        starts[id_of[number] + 1] += 1
    starts = np.cumsum(starts)
    by_id = np.empty(len(numbers), np.int64)
    for index in range(len(numbers)):
        own_number = id_of[numbers[index]]
        by_id[starts[own_number]] = index
        starts[own_number] += 1
    bounds = np.zeros(members + 1, np.int64)
    for each in owner:
        bounds[each + 1] += 1
    bounds = np.cumsum(bounds)
    ends = bounds[:-1].copy()
    lists = np.empty(len(numbers), np.int64)
    for place in by_id:
        member = owner[place]
        lists[ends[member]] = numbers[place]
        ends[member] += 1
    return bounds, lists


@njit(cache=True, nogil=True)
def keep_owned(
    visits: Int64s, owned: Int64s, low: int, high: int, expected: int, under: Int64s, exact: Int64s, progress: Int64s
) -> Int64s:
    """How many of its owned partitions each member keeps; `owned` : (members,) how many they are."""
    kept = np.empty(len(owned), np.int64)
    for member in visits:
        if owned[member] < low:
            kept[member] = owned[member]
            under[progress[UNDER]] = member
            progress[UNDER] += 1
        elif owned[member] >= high and progress[OVER] < expected:
            kept[member] = high
            progress[OVER] += 1
            if progress[OVER] == expected:
                progress[EXACT] = 0
        else:
            kept[member] = low
            if progress[OVER] < expected:
                exact[progress[EXACT]] = member
                progress[EXACT] += 1
    return kept


@njit(cache=True, nogil=True)
def split(bounds: Int64s, lists: Int64s, kept: Int64s, free: NDArray[np.bool_], revoked_by: Int64s) -> None:
    """Mark as not free what members keep, and who gives up the rest; `free`, `revoked_by` : (numbers,)."""
    for member in range(len(kept)):
        for place in range(bounds[member], bounds[member + 1]):
            if place < bounds[member] + kept[member]:
                free[lists[place]] = False
            else:
                revoked_by[lists[place]] = member


@njit(cache=True, nogil=True)
def by_count(numbers: Int64s, counts: Int64s, most: int) -> Int64s:
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


@njit(cache=True, nogil=True)
def _next_near(racks: Int32s, counts: Int64s, names: Int64s, start: int, end: int, turn: int, rack_of: Int64s) -> int:
    """The first place in names[start:end], from `turn` on and around, whose member is near; or -1.

    `counts` : how many of the names are in each rack, so that nobody is looked for in vain.
    """
    some = False
    for rack in racks:
        some = some or (rack >= 0 and counts[rack] > 0)
    if not some:
        return -1
    place = start + turn
    for _ in range(end - start):
        if is_near(rack_of[names[place]], racks):
            return place
        place += 1
        if place == end:
            place = start
    return -1


@njit(cache=True, nogil=True)
def _remove(names: Int64s, place: int, end: int) -> None:
    for at in range(place, end - 1):
        names[at] = names[at + 1]


@njit(cache=True, nogil=True)
def _counted(names: Int64s, start: int, end: int, rack_of: Int64s, racks: int) -> Int64s:
    counts = np.zeros(racks, np.int64)
    for member in names[start:end]:
        if rack_of[member] >= 0:
            counts[rack_of[member]] += 1
    return counts


@njit(cache=True, nogil=True)
def deal_near(
    left: Int64s,
    racks_of: Int32s,
    rack_of: Int64s,
    racks: int,
    low: int,
    high: int,
    expected: int,
    under: Int64s,
    exact: Int64s,
    sizes: Int64s,
    deals: Int64s,
    progress: Int64s,
) -> Int64s:
    """Give each partition to a near member that has room, in turn; those for which there is none are returned."""
    rest = np.empty(len(left), np.int64)
    n_rest = 0
    turn = 0
    in_under = _counted(under, 0, progress[UNDER], rack_of, racks)
    in_exact = _counted(exact, progress[HEAD], progress[EXACT], rack_of, racks)
    for number in left:
        there = racks_of[number]
        place = _next_near(there, in_under, under, 0, progress[UNDER], turn, rack_of)
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
            place = _next_near(there, in_exact, exact, progress[HEAD], progress[EXACT], 0, rack_of)
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
        deals[progress[DEALT], 0] = number
        deals[progress[DEALT], 1] = member
        progress[DEALT] += 1
    return rest[:n_rest]


@njit(cache=True, nogil=True)
def deal_in_turn(
    left: Int64s,
    low: int,
    high: int,
    under: Int64s,
    exact: Int64s,
    sizes: Int64s,
    deals: Int64s,
    progress: Int64s,
) -> None:
    """Give partitions to those under the lower quota in turn, then one each to those who may get one more."""
    at = 0
    for number in left:
        if at >= progress[UNDER]:
            at = 0
        if at < progress[UNDER]:
            member = under[at]
        elif progress[HEAD] < progress[EXACT]:
            member = exact[progress[HEAD]]
            progress[HEAD] += 1
        else:
            progress[FAILED] = NOBODY_LEFT
            return
        sizes[member] += 1
        deals[progress[DEALT], 0] = number
        deals[progress[DEALT], 1] = member
        progress[DEALT] += 1
        at += 1
        if sizes[member] == low:
            at -= 1
            _remove(under, at, progress[UNDER])
            progress[UNDER] -= 1
            exact[progress[EXACT]] = member
            progress[EXACT] += 1
        elif sizes[member] == high:
            progress[OVER] += 1


@njit(cache=True, nogil=True)
def withheld(deals: Int64s, revoked_by: Int64s, disputed: NDArray[np.bool_]) -> Int64s:
    """Who of each partition must wait until another has given it up, or -1; of several the last."""
    waits = np.full(len(revoked_by), -1, np.int64)
    for deal in range(len(deals)):
        number = deals[deal, 0]
        member = deals[deal, 1]
        if disputed[number] or (revoked_by[number] >= 0 and revoked_by[number] != member):
            waits[number] = member
    return waits


@njit(cache=True, nogil=True)
def collect(
    bounds: Int64s, lists: Int64s, kept: Int64s, deals: Int64s, waits: Int64s, sizes: Int64s
) -> tuple[Int64s, Int64s]:
    """Each member's kept partitions, then those it was dealt, but for what it must wait for.

    Parameters
    ----------
    waits : (numbers,) a member of whose list the first such partition is left out; changed.
    sizes : (members,) how many there are, those left out included.

    Returns
    -------
    offsets : (members + 1,). numbers : (offsets[-1],).
    """
    members = len(kept)
    starts = np.zeros(members + 1, np.int64)
    starts[1:] = np.cumsum(sizes)
    ends = starts[:-1].copy()
    out = np.empty(starts[-1], np.int64)
    for member in range(members):
        for number in lists[bounds[member] : bounds[member] + kept[member]]:
            if waits[number] == member:
                waits[number] = -1
            else:
                out[ends[member]] = number
                ends[member] += 1
    for deal in range(len(deals)):
        number = deals[deal, 0]
        member = deals[deal, 1]
        if waits[number] == member:
            waits[number] = -1
        else:
            out[ends[member]] = number
            ends[member] += 1
    offsets = np.zeros(members + 1, np.int64)
    for member in range(members):
        size = ends[member] - starts[member]
        offsets[member + 1] = offsets[member] + size
        for at in range(size):
            out[offsets[member] + at] = out[starts[member] + at]
    return offsets, out[: offsets[members]]
