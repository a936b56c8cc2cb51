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
_MOST_LOOKS = 2**28
"""Steps looked at in all: each turn looks at up to all of them."""


class _Batches(NamedTuple):
    """Content of each batch.

    chain_of, size, batch_of : (steps,) chain of each step, the bytes that it copies, and its batch.
    totals, partitions : (batches,) bytes and steps. moves_in, moves_out, bytes_in : (batches, brokers).
    """

    chain_of: Int64Vector
    size: Int64Vector
    batch_of: Int64Vector
    totals: Int64Vector
    partitions: Int64Vector
    moves_in: Int64Matrix
    moves_out: Int64Matrix
    bytes_in: Int64Matrix


@compiled
def spread(work: ChainArrays, capacity: BatchCapacity, brokers: int, batches: int, batch_of: Int64Vector) -> None:
    """Exchange steps between batches. `batch_of` : (steps,) int64 batch of each step, updated."""
    chain_of = np.repeat(np.arange(len(work.size)), work.first[1:] - work.first[:-1])
    n_adds = work.adds_from[1:] - work.adds_from[:-1]
    each = (batches, brokers)
    state = _Batches(
        chain_of,
        work.size[chain_of] * n_adds,
        batch_of,
        np.zeros(batches, np.int64),
        np.zeros(batches, np.int64),
        np.zeros(each, np.int64),
        np.zeros(each, np.int64),
        np.zeros(each, np.int64),
    )
    for step in range(len(batch_of)):
        _count(work, state, step, 1)
    by_size = np.argsort(-state.size)
    # Steps by the first broker that receives, the smallest first.
    receivers = np.full(len(batch_of), brokers, np.int64)
    receivers[n_adds > 0] = work.adds[work.adds_from[:-1][n_adds > 0]]
    rank = np.empty(len(batch_of), np.int64)
    rank[by_size] = np.arange(len(batch_of))
    by_receiver = np.argsort(receivers * len(batch_of) - rank)
    begins = np.searchsorted(receivers[by_receiver], np.arange(brokers + 1))
    is_closed = np.zeros(batches, np.bool_)
    for _ in range(_MOST_LOOKS // max(1, len(batch_of))):
        largest = int(np.argmax(np.where(is_closed, -1, state.totals)))
        if is_closed[largest]:
            break
        is_closed[largest] = not _relieve(work, capacity, state, largest, by_size, by_receiver, begins, receivers)


@subroutine
def _relieve(
    work: ChainArrays,
    capacity: BatchCapacity,
    state: _Batches,
    batch: int,
    by_size: Int64Vector,
    by_receiver: Int64Vector,
    begins: Int64Vector,
    receivers: Int64Vector,
) -> bool:
    """Take bytes from a batch; whether any of its largest steps could leave it."""
    steps = by_size[state.batch_of[by_size] == batch][:_LARGEST_STEPS]
    for step in steps[state.size[steps] > 0]:
        gaps = state.totals[batch] - state.totals
        for target in np.flatnonzero(gaps > state.size[step]):
            if _exchanged(work, capacity, state, step, -1, int(target)):
                return True
        for other in by_receiver[begins[receivers[step]] : begins[receivers[step] + 1]]:
            lighter = state.size[step] - state.size[other]
            target = state.batch_of[other]
            if 0 < lighter < gaps[target] and _exchanged(work, capacity, state, step, other, target):
                return True
    return False


@subroutine
def _exchanged(work: ChainArrays, capacity: BatchCapacity, state: _Batches, step: int, other: int, target: int) -> bool:
    """Move a step to a batch, and another one, if not -1, from there to its batch, if they fit."""
    batch = state.batch_of[step]
    _count(work, state, step, -1)
    if other >= 0:
        _count(work, state, other, -1)
    fits = _fits(work, capacity, state, step, target)
    if fits and other >= 0:
        fits = _fits(work, capacity, state, other, batch)
    if fits:
        state.batch_of[step] = target
        if other >= 0:
            state.batch_of[other] = batch
    _count(work, state, step, 1)
    if other >= 0:
        _count(work, state, other, 1)
    return fits


@subroutine
def _fits(work: ChainArrays, capacity: BatchCapacity, state: _Batches, step: int, batch: int) -> bool:
    """Whether a batch is within its limits with a step, and between the batches of the steps before and after it."""
    chain = state.chain_of[step]
    if step > work.first[chain] and state.batch_of[step - 1] >= batch:
        return False
    if step + 1 < work.first[chain + 1] and state.batch_of[step + 1] <= batch:
        return False
    adds = work.adds[work.adds_from[step] : work.adds_from[step + 1]]
    if len(adds) > 0 and state.moves_out[batch, work.source[step]] + len(adds) > capacity.moves_out:
        return False
    for broker in adds:
        if state.moves_in[batch, broker] >= capacity.moves_in:
            return False
        if state.bytes_in[batch, broker] > capacity.bytes_in - work.size[chain]:
            return False
    return bool(state.partitions[batch] < capacity.partitions)


@subroutine
def _count(work: ChainArrays, state: _Batches, step: int, sign: int) -> None:
    """Add a step to the counts of its batch, or subtract it."""
    chain, batch = state.chain_of[step], state.batch_of[step]
    adds = work.adds[work.adds_from[step] : work.adds_from[step + 1]]
    state.totals[batch] += sign * state.size[step]
    state.partitions[batch] += sign
    state.moves_out[batch, work.source[step]] += sign * len(adds)
    for broker in adds:
        state.moves_in[batch, broker] += sign
        state.bytes_in[batch, broker] += sign * work.size[chain]
