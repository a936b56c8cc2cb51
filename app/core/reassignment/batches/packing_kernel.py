"""Pack steps into batches: first fit in the order of the chains, one batch after another.

A step that does not fit waits in the queue of the broker that had no room for it: brokers as receivers are queues
0 … n - 1, as sources n … 2n - 1, and 2n has the steps that copy nothing. A queue whose broker is full is left alone
for the rest of the batch, so that the work grows with the steps and not with steps × batches. Each queue is a skew heap
over the chains, of which every one has a single next step; the order of its chains is the order of the packing.

Bytes and disks may refuse a large step and take a smaller one behind it: of one queue no more than `_LOOKS` are tried
in vain in a batch, unless the batch would stay empty.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s

STUCK = -1
_FITS = -1
_LOOKS = 16


class Work(NamedTuple):
    """The chains and their steps, as `Chains` has them. With `is_backwards` each chain begins with its last step."""

    first: Int64s
    adds: Int32s
    adds_from: Int64s
    drops: Int32s
    drops_from: Int64s
    source: Int32s
    size: Int64s
    is_backwards: bool


class Room(NamedTuple):
    """What a batch takes of each broker, at most, and (brokers,) int64 bytes that its disk takes at any time."""

    moves_in: int
    moves_out: int
    bytes_in: int
    partitions: int
    disk: Int64s


class _State(NamedTuple):
    """How far everything is. Arrays of queues are (2n + 1,) int64, of chains (chains,), of brokers (n,).

    root : of each queue, the chain at its head or -1. left, right : of each chain in its heap. progress : steps done.
    moves : of each queue in this batch. bytes_in : of each broker in this batch. used : its disk. vain : of each queue,
    steps tried in vain in this batch. placed, aside : chains whose step is in this batch, and those to be put back.
    aside_to : the queues for them.
    """

    root: Int64s
    left: Int64s
    right: Int64s
    progress: Int64s
    moves: Int64s
    bytes_in: Int64s
    used: Int64s
    vain: Int64s
    placed: Int64s
    aside: Int64s
    aside_to: Int64s


@njit(cache=True, nogil=True)
def pack(work: Work, room: Room, used: Int64s, progress: Int64s, batch_of: Int64s) -> int:
    """Say for every step in which batch it is, and give how many batches there are, or `STUCK` for want of disk.

    used : (brokers,) int64 bytes, progress : (chains,) int64 zeros; both are brought to the state of the end.
    batch_of : (steps,) int64, written.
    """
    brokers, chains = len(used), len(progress)
    state = _State(
        np.full(2 * brokers + 1, -1, np.int64),
        np.full(chains, -1, np.int64),
        np.full(chains, -1, np.int64),
        progress,
        np.zeros(2 * brokers + 1, np.int64),
        np.zeros(brokers, np.int64),
        used,
        np.zeros(2 * brokers + 1, np.int64),
        np.empty(chains, np.int64),
        np.empty(chains, np.int64),
        np.empty(chains, np.int64),
    )
    for chain in range(chains):
        _push(state, _home(work, state, chain), chain)
    left, batch = len(batch_of), 0
    while left > 0:
        n_placed = _fill(work, room, state, _LOOKS)
        if n_placed == 0:
            n_placed = _fill(work, room, state, chains)
        if n_placed == 0:
            return STUCK
        _close(work, state, n_placed, batch, batch_of)
        left -= n_placed
        batch += 1
    return batch


@njit(cache=True, nogil=True)
def _fill(work: Work, room: Room, state: _State, looks: int) -> int:
    """Choose the steps of the next batch, and give how many they are."""
    state.moves[:] = 0
    state.bytes_in[:] = 0
    state.vain[:] = 0
    queues = len(state.root)
    heads = [chain * queues + queue for queue, chain in enumerate(state.root) if chain >= 0]
    heapq.heapify(heads)
    n_placed = n_aside = 0
    while len(heads) > 0 and n_placed < room.partitions:
        queue = heapq.heappop(heads) % queues
        if _is_closed(room, state, queue, looks):
            continue
        chain = _pop(state, queue)
        obstacle = _obstacle(work, room, state, chain)
        if obstacle == _FITS:
            _place(work, state, chain)
            state.placed[n_placed] = chain
            n_placed += 1
        elif _is_closed(room, state, obstacle, looks):
            _push(state, obstacle, chain)
        else:
            state.vain[obstacle] += 1
            state.aside[n_aside], state.aside_to[n_aside] = chain, obstacle
            n_aside += 1
        if state.root[queue] >= 0:
            heapq.heappush(heads, state.root[queue] * queues + queue)
    for k in range(n_aside):
        _push(state, state.aside_to[k], state.aside[k])
    return n_placed


@njit(cache=True, nogil=True)
def _close(work: Work, state: _State, n_placed: int, batch: int, batch_of: Int64s) -> None:
    """End a batch: what was given away is deleted, and the chains go on to their next steps."""
    for chain in state.placed[:n_placed]:
        step = _step(work, state, chain)
        batch_of[step] = batch
        for broker in work.drops[work.drops_from[step] : work.drops_from[step + 1]]:
            state.used[broker] -= work.size[chain]
        state.progress[chain] += 1
        if state.progress[chain] < work.first[chain + 1] - work.first[chain]:
            _push(state, _home(work, state, chain), chain)


@njit(cache=True, nogil=True)
def _step(work: Work, state: _State, chain: int) -> int:
    """The chain's next step."""
    if work.is_backwards:
        return int(work.first[chain + 1] - 1 - state.progress[chain])
    return int(work.first[chain] + state.progress[chain])


@njit(cache=True, nogil=True)
def _home(work: Work, state: _State, chain: int) -> int:
    """The queue in which the chain's next step waits first: of the first broker that receives."""
    step = _step(work, state, chain)
    if work.adds_from[step] == work.adds_from[step + 1]:
        return len(state.root) - 1
    return int(work.adds[work.adds_from[step]])


@njit(cache=True, nogil=True)
def _is_closed(room: Room, state: _State, queue: int, looks: int) -> bool:
    """Whether nothing more of a queue goes into this batch."""
    brokers = len(state.used)
    if state.vain[queue] >= looks:
        return True
    if queue < brokers:
        return bool(state.moves[queue] >= room.moves_in)
    return bool(queue < 2 * brokers and state.moves[queue] >= room.moves_out)


@njit(cache=True, nogil=True)
def _obstacle(work: Work, room: Room, state: _State, chain: int) -> int:
    """The queue that has no room for the chain's next step, or `_FITS`."""
    step, size = _step(work, state, chain), work.size[chain]
    begin, end = work.adds_from[step], work.adds_from[step + 1]
    source = len(state.used) + work.source[chain]
    if begin < end and state.moves[source] + end - begin > room.moves_out:
        return int(source)
    for broker in work.adds[begin:end]:
        if state.moves[broker] >= room.moves_in or state.bytes_in[broker] > room.bytes_in - size:
            return int(broker)
        # A broker that is too full already takes what has no bytes.
        if size > 0 and state.used[broker] > room.disk[broker] - size:
            return int(broker)
    return _FITS


@njit(cache=True, nogil=True)
def _place(work: Work, state: _State, chain: int) -> None:
    step, size = _step(work, state, chain), work.size[chain]
    begin, end = work.adds_from[step], work.adds_from[step + 1]
    state.moves[len(state.used) + work.source[chain]] += end - begin
    for broker in work.adds[begin:end]:
        state.moves[broker] += 1
        state.bytes_in[broker] += size
        state.used[broker] += size


@njit(cache=True, nogil=True)
def _push(state: _State, queue: int, chain: int) -> None:
    state.left[chain] = state.right[chain] = -1
    state.root[queue] = _merge(state.left, state.right, state.root[queue], chain)


@njit(cache=True, nogil=True)
def _pop(state: _State, queue: int) -> int:
    chain = int(state.root[queue])
    state.root[queue] = _merge(state.left, state.right, state.left[chain], state.right[chain])
    return chain


@njit(cache=True, nogil=True)
def _merge(left: Int64s, right: Int64s, one: int, other: int) -> int:
    """Merge two skew heaps, smallest first, and give the root; amortised logarithmic.

    Source: D. D. Sleator and R. E. Tarjan, "Self-Adjusting Heaps", 1986.
    """
    if one < 0 or other < 0:
        return max(one, other)
    root = min(one, other)
    node, rest = root, max(one, other)
    while True:
        # On the way down the right spine each node's sides change places.
        below = right[node]
        right[node] = left[node]
        if below < 0:
            left[node] = rest
            return root
        left[node] = min(below, rest)
        node, rest = left[node], max(below, rest)
