"""Spread bytes evenly over packed batches by local search; no batch is added, and the largest never grows.

A step of the largest batch moves to a batch with fewer bytes, or changes places with a smaller step of the same
receiving broker there, if both fit and the batch of the two that has more bytes then has fewer than the largest had.
Each change lowers the sum of the squares of the bytes of batches. A batch that has no such step is closed, and the
largest of the others continues.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.batches.first_fit_kernel import BatchCapacity, ChainArrays

_LARGEST_STEPS = 64
_SMALLEST_BATCHES = 32
_MOST_LOOKS = 2**28
"""Steps looked at in all: each turn looks at up to all of them."""


class _Batches(NamedTuple):
    """What is in each batch.

    chain_of, bytes : (steps,) chain of each step, and the bytes that it copies. batch_of : (steps,) its batch.
    totals, partitions : (batches,) bytes and steps. moves_in, moves_out, bytes_in : (batches, brokers).
    head, after, before : steps of each batch by the first broker that receives, as doubly linked lists that end
        with -1: (batches, brokers), (steps,), (steps,).
    """

    chain_of: Int64Vector
    bytes: Int64Vector
    batch_of: Int64Vector
    totals: Int64Vector
    partitions: Int64Vector
    moves_in: Int64Matrix
    moves_out: Int64Matrix
    bytes_in: Int64Matrix
    head: Int64Matrix
    after: Int64Vector
    before: Int64Vector


@compiled
def spread(work: ChainArrays, capacity: BatchCapacity, brokers: int, batches: int, batch_of: Int64Vector) -> None:
    """Exchange steps between batches. `batch_of` : (steps,) int64 batch of each step, updated."""
    steps = len(batch_of)
    state = _Batches(
        np.empty(steps, np.int64),
        np.empty(steps, np.int64),
        batch_of,
        np.zeros(batches, np.int64),
        np.zeros(batches, np.int64),
        np.zeros((batches, brokers), np.int64),
        np.zeros((batches, brokers), np.int64),
        np.zeros((batches, brokers), np.int64),
        np.full((batches, brokers), -1, np.int64),
        np.full(steps, -1, np.int64),
        np.full(steps, -1, np.int64),
    )
    for chain in range(len(work.size)):
        for step in range(work.first[chain], work.first[chain + 1]):
            state.chain_of[step] = chain
            state.bytes[step] = work.size[chain] * (work.adds_from[step + 1] - work.adds_from[step])
            _put(work, state, step, batch_of[step])
    by_bytes = np.argsort(-state.bytes, kind="mergesort")
    is_closed, turns = np.zeros(batches, np.bool_), 0
    while turns * steps < _MOST_LOOKS:
        largest = -1
        for batch in range(batches):
            if not is_closed[batch] and (largest < 0 or state.totals[batch] > state.totals[largest]):
                largest = batch
        if largest < 0:
            break
        is_closed[largest] = not _relieve(work, capacity, state, largest, by_bytes)
        turns += 1


@subroutine
def _relieve(work: ChainArrays, capacity: BatchCapacity, state: _Batches, batch: int, by_bytes: Int64Vector) -> bool:
    """Take bytes from a batch; whether any step could leave it."""
    targets = np.argsort(state.totals, kind="mergesort")[:_SMALLEST_BATCHES]
    looks = 0
    for step in by_bytes:
        if state.batch_of[step] != batch:
            continue
        if looks == _LARGEST_STEPS or state.bytes[step] == 0:
            break
        looks += 1
        earliest, latest = _window(work, state, step)
        broker = work.adds[work.adds_from[step]]
        for target in targets:
            gap = state.totals[batch] - state.totals[target]
            if target < earliest or target > latest or gap <= 0:
                continue
            if state.bytes[step] < gap and _moves(work, capacity, state, step, target):
                return True
            other = state.head[target, broker]
            while other >= 0:
                following = state.after[other]
                begin, end = _window(work, state, other)
                difference = state.bytes[step] - state.bytes[other]
                if 0 < difference < gap and begin <= batch <= end and _swaps(work, capacity, state, step, other):
                    return True
                other = following
    return False


@subroutine
def _moves(work: ChainArrays, capacity: BatchCapacity, state: _Batches, step: int, target: int) -> bool:
    """Move a step to a batch if it fits there."""
    if not _fits(work, capacity, state, step, target):
        return False
    _take(work, state, step)
    _put(work, state, step, target)
    return True


@subroutine
def _swaps(work: ChainArrays, capacity: BatchCapacity, state: _Batches, step: int, other: int) -> bool:
    """Let two steps change places if both fit."""
    batch, target = state.batch_of[step], state.batch_of[other]
    _take(work, state, step)
    _take(work, state, other)
    fits = _fits(work, capacity, state, step, target) and _fits(work, capacity, state, other, batch)
    _put(work, state, step, target if fits else batch)
    _put(work, state, other, batch if fits else target)
    return bool(fits)


@subroutine
def _window(work: ChainArrays, state: _Batches, step: int) -> tuple[int, int]:
    """The first and the last batch between those of the steps of the chain before and after."""
    chain = state.chain_of[step]
    earliest, latest = 0, len(state.totals) - 1
    if step > work.first[chain]:
        earliest = state.batch_of[step - 1] + 1
    if step + 1 < work.first[chain + 1]:
        latest = state.batch_of[step + 1] - 1
    return earliest, latest


@subroutine
def _fits(work: ChainArrays, capacity: BatchCapacity, state: _Batches, step: int, batch: int) -> bool:
    begin, end = work.adds_from[step], work.adds_from[step + 1]
    chain = state.chain_of[step]
    if state.partitions[batch] >= capacity.partitions:
        return False
    if begin < end and state.moves_out[batch, work.source[chain]] + end - begin > capacity.moves_out:
        return False
    for broker in work.adds[begin:end]:
        if state.moves_in[batch, broker] >= capacity.moves_in:
            return False
        if state.bytes_in[batch, broker] > capacity.bytes_in - work.size[chain]:
            return False
    return True


@subroutine
def _put(work: ChainArrays, state: _Batches, step: int, batch: int) -> None:
    _count(work, state, step, batch, 1)
    state.batch_of[step] = batch
    if work.adds_from[step] < work.adds_from[step + 1]:
        broker = work.adds[work.adds_from[step]]
        following = state.head[batch, broker]
        state.head[batch, broker], state.after[step], state.before[step] = step, following, -1
        if following >= 0:
            state.before[following] = step


@subroutine
def _take(work: ChainArrays, state: _Batches, step: int) -> None:
    batch = state.batch_of[step]
    _count(work, state, step, batch, -1)
    before, following = state.before[step], state.after[step]
    if before >= 0:
        state.after[before] = following
    else:
        state.head[batch, work.adds[work.adds_from[step]]] = following
    if following >= 0:
        state.before[following] = before


@subroutine
def _count(work: ChainArrays, state: _Batches, step: int, batch: int, sign: int) -> None:
    chain = state.chain_of[step]
    begin, end = work.adds_from[step], work.adds_from[step + 1]
    state.totals[batch] += sign * state.bytes[step]
    state.partitions[batch] += sign
    state.moves_out[batch, work.source[chain]] += sign * (end - begin)
    for broker in work.adds[begin:end]:
        state.moves_in[batch, broker] += sign
        state.bytes_in[batch, broker] += sign * work.size[chain]
