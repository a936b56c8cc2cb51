"""The loops of the uniform assignor where subscriptions differ. Owners and readers are indices of members.

`readers[reader_starts[a] : reader_starts[a + 1]]` are the members of audience a, ascending; partition p of topic t is
owners[starts[t] + p]. A *line* is the readers of a topic by how much they have, and by index where they have as much.
"""

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s

NOBODY = -1
MOST_ROUNDS = 16
"""After so many rounds over all topics Kafka takes the balance as it is."""


@njit(cache=True, nogil=True)
def deal_out(
    order: Int64s,
    starts: Int64s,
    counts: Int64s,
    audience_of: Int32s,
    reader_starts: Int64s,
    readers: Int64s,
    owners: Int32s,
    sizes: Int64s,
) -> None:
    """Give the partitions that nobody owns to the readers that have least, topic by topic."""
    line = np.empty(len(sizes), np.int64)
    for topic in order:
        audience = readers[reader_starts[audience_of[topic]] : reader_starts[audience_of[topic] + 1]]
        first = starts[topic]
        end = at = level = 0
        for place in range(first, first + counts[topic]):
            if owners[place] != NOBODY:
                continue
            if end == 0:
                _line_up(audience, sizes, line)
                level = sizes[line[0]]
                end = _end_of_level(line, len(audience), sizes, 0, level)
            elif at == end:
                # All up to here have one more than before; those that have as many from the start join them.
                level += 1
                end = _end_of_level(line, len(audience), sizes, end, level)
                at = 0
            owners[place] = line[at]
            sizes[line[at]] += 1
            at += 1


@njit(cache=True, nogil=True)
def even_out(
    order: Int64s,
    starts: Int64s,
    counts: Int64s,
    audience_of: Int32s,
    reader_starts: Int64s,
    readers: Int64s,
    owners: Int32s,
    sizes: Int64s,
) -> Int64s:
    """Move partitions from the readers that have most to those that have least, until a round changes nothing.

    Returns what was given away: (moves, 2) of place in `owners` and former owner.
    """
    line = np.empty(len(sizes), np.int64)
    moves = np.empty((64, 2), np.int64)
    n_moves = 0
    last = -1
    for _ in range(MOST_ROUNDS):
        for turn in range(len(order)):
            if turn == last:
                return moves[:n_moves]
            topic = order[turn]
            audience = readers[reader_starts[audience_of[topic]] : reader_starts[audience_of[topic] + 1]]
            before = n_moves
            if _spread(audience, sizes) > 1:
                own = owners[starts[topic] : starts[topic] + counts[topic]]
                _line_up(audience, sizes, line)
                given = _even_out_topic(line[: len(audience)], own, sizes)
                n_moves += len(given)
                while n_moves > len(moves):
                    moves = np.concatenate((moves, np.empty_like(moves)))
                moves[before:n_moves, 0] = given[:, 0] + starts[topic]
                moves[before:n_moves, 1] = given[:, 1]
            if n_moves > before or last == -1:
                last = turn
    return moves[:n_moves]


@njit(cache=True, nogil=True)
def _even_out_topic(line: Int64s, own: Int32s, sizes: Int64s) -> Int64s:
    """Even out one topic; says what was given away: (moves, 2) of partition and former owner."""
    moves = np.empty((len(own), 2), np.int64)
    n_moves = 0
    partitions, first, end_of = _by_owner(own, len(sizes))
    # The poor come from the front of the line and the rich from its end, each range one level at a time. A rich
    # reader that has no partition of this topic is put behind the end of its range.
    poor_end = poor_at = 0
    poor_level = sizes[line[0]] - 1
    rich_start = rich_end = len(line)
    rich_at = len(line) - 1
    rich_level = sizes[line[-1]] + 1
    while rich_level - poor_level > 1:
        giver = -1
        while True:
            if rich_at < rich_start:
                if rich_end <= rich_start and rich_start > 0:
                    rich_level = sizes[line[rich_start - 1]]
                else:
                    rich_level -= 1
                while rich_start > 0 and sizes[line[rich_start - 1]] == rich_level:
                    rich_start -= 1
                rich_at = rich_end - 1
            if rich_at < 0:
                return moves[:n_moves]
            giver = line[rich_at]
            rich_at -= 1
            if end_of[giver] > first[giver]:
                break
            line[rich_at + 1] = line[rich_end - 1]
            line[rich_end - 1] = giver
            rich_end -= 1
        end_of[giver] -= 1
        partition = partitions[end_of[giver]]
        if poor_at >= poor_end:
            poor_level += 1
            poor_end = _end_of_level(line, len(line), sizes, poor_end, poor_level)
            poor_at = 0
        taker = line[poor_at]
        poor_at += 1
        if rich_level - poor_level <= 1:
            break
        moves[n_moves, 0] = partition
        moves[n_moves, 1] = giver
        n_moves += 1
        own[partition] = taker
        sizes[giver] -= 1
        sizes[taker] += 1
    return moves[:n_moves]


@njit(cache=True, nogil=True)
def _by_owner(own: Int32s, n_members: int) -> tuple[Int64s, Int64s, Int64s]:
    """A topic's partitions by owner, ascending for each, and where each owner's begin and end."""
    held = np.zeros(n_members, np.int64)
    for owner in own:
        held[owner] += 1
    ends = np.cumsum(held)
    free = ends - held
    first = free.copy()
    partitions = np.empty(len(own), np.int64)
    for partition in range(len(own)):
        partitions[free[own[partition]]] = partition
        free[own[partition]] += 1
    return partitions, first, ends


@njit(cache=True, nogil=True)
def _spread(audience: Int64s, sizes: Int64s) -> int:
    least = most = int(sizes[audience[0]])
    for member in audience:
        least = min(least, int(sizes[member]))
        most = max(most, int(sizes[member]))
    return most - least


@njit(cache=True, nogil=True)
def _line_up(audience: Int64s, sizes: Int64s, line: Int64s) -> None:
    """Fill the front of `line` with a topic's readers: a counting sort where that is cheap, as it nearly always is."""
    least = sizes[audience[0]]
    spread = 0
    for member in audience:
        least = min(least, sizes[member])
        spread = max(spread, sizes[member])
    spread -= least
    if spread > 4 * len(audience):
        keys = np.empty(len(audience), np.int64)
        for place in range(len(audience)):
            keys[place] = ((sizes[audience[place]] - least) << 32) | audience[place]
        keys.sort()
        for place in range(len(audience)):
            line[place] = keys[place] & 0xFFFFFFFF
        return
    free = np.zeros(spread + 2, np.int64)
    for member in audience:
        free[sizes[member] - least + 1] += 1
    for level in range(spread):
        free[level + 1] += free[level]
    for member in audience:
        level = sizes[member] - least
        line[free[level]] = member
        free[level] += 1


@njit(cache=True, nogil=True)
def _end_of_level(line: Int64s, n_line: int, sizes: Int64s, end: int, level: int) -> int:
    """How far along the line readers have as many as `level`, from `end` on."""
    while end < n_line and sizes[line[end]] == level:
        end += 1
    return end
