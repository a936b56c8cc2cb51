"""Pack steps into batches: first fit in the order of the chains, one batch after another.

A step that does not fit waits in the queue of the broker whose limit it exceeds: brokers as receivers are queues
0 … n - 1, as sources n … 2n - 1, and 2n has the steps that copy nothing. A queue whose broker is full is skipped for
the rest of the batch, so that the work grows with the steps and not with steps × batches. Each queue is a skew heap
over the chains, of which every one has a single next step; the order of its chains is the order of the packing.

Limits on bytes and disks may reject a large step and accept a smaller one behind it: of one queue at most `_LOOKS` are
rejected in a batch, unless the batch would stay empty.
"""

import heapq
from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine

STUCK = -1
_FITS = -1
_LOOKS = 16


class ChainArrays(NamedTuple):
    """The chains and their steps, as in `StepChains`. With `is_backwards` each chain begins with its last step.

    source : (steps,) broker that replicas are copied from. size, stored : (chains,) bytes that a replica copies, and
    that it has on its disk.
    """

    first: Int64Vector
    adds: Int32Vector
    fills: Int32Vector
    adds_from: Int64Vector
    frees: Int32Vector
    frees_from: Int64Vector
    source: Int32Vector
    size: Int64Vector
    stored: Int64Vector
    is_backwards: bool


class BatchCapacity(NamedTuple):
    """The most that a batch takes of each broker, and (disks,) int64 bytes that each disk takes at any time."""

    moves_in: int
    moves_out: int
    bytes_in: int
    partitions: int
    disk: Int64Vector


class _State(NamedTuple):
    """The progress of the packing. Arrays of queues are (2n + 1,) int64, of chains (chains,), of brokers (n,), of disks
    (disks,).

    root : of each queue, the chain at its head or -1. left, right : of each chain in its heap. progress : steps done.
    moves : of each queue in this batch. bytes_in : of each broker in this batch. used : of each disk. rejected : of
        each queue, steps rejected in this batch. batched, aside : chains whose step is in this batch, and those to be
        queued again. aside_to : the queues for them.
    """

    root: Int64Vector
    left: Int64Vector
    right: Int64Vector
    progress: Int64Vector
    moves: Int64Vector
    bytes_in: Int64Vector
    used: Int64Vector
    rejected: Int64Vector
    batched: Int64Vector
    aside: Int64Vector
    aside_to: Int64Vector


@compiled
def pack(
    work: ChainArrays,
    capacity: BatchCapacity,
    brokers: int,
    used: Int64Vector,
    progress: Int64Vector,
    batch_of: Int64Vector,
) -> int:
    """Assign every step to a batch; the number of batches, or `STUCK` if no step fits on the disks.

    used : (disks,) int64 bytes, progress : (chains,) int64 zeros; both are updated to the end of the packing.
    batch_of : (steps,) int64, written.
    """
    chains = len(progress)
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
        _push(state, _first_queue(work, state, chain), chain)
    # Typed, since a literal would compile a second version of the called function.
    left, batch, looks = len(batch_of), int(np.int64(0)), int(np.int64(_LOOKS))
    while left > 0:
        n_batched = _fill(work, capacity, state, looks)
        if n_batched == 0:
            n_batched = _fill(work, capacity, state, chains)
        if n_batched == 0:
            return STUCK
        _close(work, state, n_batched, batch, batch_of)
        left -= n_batched
        batch += 1
    return batch


@subroutine
def _fill(work: ChainArrays, capacity: BatchCapacity, state: _State, looks: int) -> int:
    """Choose the steps of the next batch; their number."""
    state.moves[:] = 0
    state.bytes_in[:] = 0
    state.rejected[:] = 0
    queues = len(state.root)
    heads = [chain * queues + queue for queue, chain in enumerate(state.root) if chain >= 0]
    heapq.heapify(heads)
    n_batched = n_aside = 0
    while len(heads) > 0 and n_batched < capacity.partitions:
        queue = heapq.heappop(heads) % queues
        if _is_closed(capacity, state, queue, looks):
            continue
        chain = _pop(state, queue)
        obstacle = _obstacle(work, capacity, state, chain)
        if obstacle == _FITS:
            _add_to_batch(work, state, chain)
            state.batched[n_batched] = chain
            n_batched += 1
        elif _is_closed(capacity, state, obstacle, looks):
            _push(state, obstacle, chain)
        else:
            state.rejected[obstacle] += 1
            state.aside[n_aside], state.aside_to[n_aside] = chain, obstacle
            n_aside += 1
        if state.root[queue] >= 0:
            heapq.heappush(heads, state.root[queue] * queues + queue)
    for k in range(n_aside):
        _push(state, state.aside_to[k], state.aside[k])
    return n_batched


@subroutine
def _close(work: ChainArrays, state: _State, n_batched: int, batch: int, batch_of: Int64Vector) -> None:
    """Complete a batch: removed replicas are deleted, and the chains go on to their next steps."""
    for chain in state.batched[:n_batched]:
        step = _step(work, state, chain)
        batch_of[step] = batch
        for disk in work.frees[work.frees_from[step] : work.frees_from[step + 1]]:
            state.used[disk] -= work.stored[chain]
        state.progress[chain] += 1
        if state.progress[chain] < work.first[chain + 1] - work.first[chain]:
            _push(state, _first_queue(work, state, chain), chain)


@subroutine
def _step(work: ChainArrays, state: _State, chain: int) -> int:
    """The chain's next step."""
    if work.is_backwards:
        return int(work.first[chain + 1] - 1 - state.progress[chain])
    return int(work.first[chain] + state.progress[chain])


@subroutine
def _first_queue(work: ChainArrays, state: _State, chain: int) -> int:
    """The queue in which the chain's next step waits first: of the first broker that receives."""
    step = _step(work, state, chain)
    if work.adds_from[step] == work.adds_from[step + 1]:
        return len(state.root) - 1
    return int(work.adds[work.adds_from[step]])


@subroutine
def _is_closed(capacity: BatchCapacity, state: _State, queue: int, looks: int) -> bool:
    """Whether no more of a queue goes into this batch."""
    brokers = len(state.bytes_in)
    if state.rejected[queue] >= looks:
        return True
    if queue < brokers:
        return bool(state.moves[queue] >= capacity.moves_in)
    return bool(queue < 2 * brokers and state.moves[queue] >= capacity.moves_out)


@subroutine
def _obstacle(work: ChainArrays, capacity: BatchCapacity, state: _State, chain: int) -> int:
    """The queue whose limit the chain's next step exceeds, or `_FITS`."""
    step, size, stored = _step(work, state, chain), work.size[chain], work.stored[chain]
    begin, end = work.adds_from[step], work.adds_from[step + 1]
    source = len(state.bytes_in) + work.source[step]
    if begin < end and state.moves[source] + end - begin > capacity.moves_out:
        return int(source)
    for k in range(begin, end):
        broker, disk = work.adds[k], work.fills[k]
        if state.moves[broker] >= capacity.moves_in or state.bytes_in[broker] > capacity.bytes_in - size:
            return int(broker)
        # A disk above its limit still takes replicas of no bytes.
        if stored > 0 and state.used[disk] > capacity.disk[disk] - stored:
            return int(broker)
    return _FITS


@subroutine
def _add_to_batch(work: ChainArrays, state: _State, chain: int) -> None:
    step, size = _step(work, state, chain), work.size[chain]
    begin, end = work.adds_from[step], work.adds_from[step + 1]
    state.moves[len(state.bytes_in) + work.source[step]] += end - begin
    for k in range(begin, end):
        state.moves[work.adds[k]] += 1
        state.bytes_in[work.adds[k]] += size
        state.used[work.fills[k]] += work.stored[chain]


@subroutine
def _push(state: _State, queue: int, chain: int) -> None:
    state.left[chain] = state.right[chain] = -1
    state.root[queue] = _merge(state.left, state.right, state.root[queue], chain)


@subroutine
def _pop(state: _State, queue: int) -> int:
    chain = int(state.root[queue])
    state.root[queue] = _merge(state.left, state.right, state.left[chain], state.right[chain])
    return chain


@subroutine
def _merge(left: Int64Vector, right: Int64Vector, one: int, other: int) -> int:
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
