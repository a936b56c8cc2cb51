"""The envelope of AdminUtils: the possible outcomes for one topic, over the random start index and shift.

The followers' shift is constant over a block of n partition ids, in which every broker of the list leads once. Whatever
the start index is, a whole block gives a broker a number of replicas that depends on the shift alone. So the blocks are
counted once for each shift, and their sum is a window over those counts; only the partitions before the first and after
the last whole block are looked at draw by draw.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.core.jvm import JavaRandom, independent_seed
from app.core.model import Broker, Int32s, Int64s, NewTopic
from app.core.replicas import admin_utils
from app.core.replicas import admin_utils_envelope_kernel as kernel
from app.core.replicas.envelope import Bounds, Envelope, ObservedRange, bounded_and_sampled, enumerated

TABULATED_REPLICAS = 1_000_000
"""A table of all rows with this number of replicas takes tens of milliseconds; without one the bounds are crude."""
ENUMERATED_COUNTS = 30_000_000
"""Counts that are enumerated in the same time, over all draws: of some 300 brokers."""
SAMPLED_REPLICAS = 1_000_000
SEEDS = 200


def envelope(brokers: Sequence[Broker], topic: NewTopic) -> Envelope:
    """The possible outcomes of placing one topic, over all draws of `admin_utils.place`.

    Every pair of a start index and a shift is an outcome, n² in all. They are enumerated if the incomplete blocks
    are few enough; else the bounds count each of their replicas as one that any broker may get.

    Raises the errors of `admin_utils.check`. Draws nothing.
    """
    admin_utils.check(brokers, topic)
    walk = admin_utils.BrokerWalk.of(brokers)
    n, factor = len(walk.ids), topic.replication_factor
    blocks = _Blocks.of(n, first=max(0, topic.start_partition_id), partitions=topic.partitions)
    observed = ObservedRange(np.ones(n, np.bool_))
    if n == 1:
        observed.add(np.full((1, 2, 1), topic.partitions, np.int64))
        return enumerated(walk.ids, observed)
    if n * (n - 1) * factor > TABULATED_REPLICAS:
        for counts in _placed_outcomes(brokers, walk, topic):
            observed.add(counts)
        nothing_known = replace(blocks, head=topic.partitions, whole=0, tail=0)
        return bounded_and_sampled(walk.ids, _bounds(np.zeros((1, n), np.int64), nothing_known, topic), observed)
    rows_of_shift = _positions(walk, factor)
    whole = _whole(rows_of_shift, blocks)
    starts = n if blocks.incomplete else 1
    if n * starts * (n + 2 * factor) <= ENUMERATED_COUNTS:
        _see_all(observed, rows_of_shift, whole, blocks, starts=starts)
        return enumerated(walk.ids, observed)
    for index in range(_affordable(blocks.incomplete * factor + n)):
        random = JavaRandom(independent_seed(0, index))
        observed.add(_outcome(rows_of_shift, whole, blocks, start=random.next_int(n), shift=random.next_int(n)))
    return bounded_and_sampled(walk.ids, _bounds(whole, blocks, topic), observed)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """How partitions fall into blocks of n ids: `head` ids before the first whole block, `tail` after the last one.

    `steps` is by how much the shift has grown at the first whole block.
    """

    first: int
    head: int
    whole: int
    tail: int
    steps: int

    @classmethod
    def of(cls, n: int, *, first: int, partitions: int) -> Self:
        begin, end = -(-first // n), (first + partitions) // n
        steps = int(first > 0)
        if end < begin:
            return cls(first, partitions, 0, 0, steps)
        return cls(first, begin * n - first, end - begin, first + partitions - end * n, steps)

    @property
    def incomplete(self) -> int:
        return self.head + self.tail


def _positions(walk: admin_utils.BrokerWalk, factor: int) -> Int32s:
    """(n − 1, n, factor) places in the line: by shift, then by the leader's place. Shifts repeat after n − 1."""
    n = len(walk.ids)
    rows = walk.rows(n * (n - 1), factor, first=0, start=0, shift=0)
    return _places(walk, rows).reshape(n - 1, n, factor)


def _places(walk: admin_utils.BrokerWalk, rows: Int32s) -> Int32s:
    """Each broker's place in the line."""
    by_id = np.argsort(walk.ids, kind="stable").astype(np.int32)
    return by_id[np.searchsorted(walk.ids[by_id], rows)]


def _whole(replicas: Int32s, blocks: _Blocks) -> Int64s:
    """(n, n) replicas that the whole blocks give each broker, by random shift."""
    shifts, n, _ = replicas.shape
    cells = replicas.reshape(shifts, -1) + n * np.arange(shifts)[:, None]
    per_block = np.bincount(cells.ravel(), minlength=shifts * n).reshape(shifts, n)
    rounds, remaining = divmod(blocks.whole, shifts)
    # A window of `remaining` blocks from each shift on, around the end.
    sums = np.concatenate([np.zeros((1, n), np.int64), np.cumsum(np.concatenate([per_block, per_block]), axis=0)])
    begin = (np.arange(n) + blocks.steps) % shifts
    return np.asarray(rounds * sums[shifts] + sums[begin + remaining] - sums[begin], np.int64)


def _see_all(observed: ObservedRange, replicas: Int32s, whole: Int64s, blocks: _Blocks, *, starts: int) -> None:
    """Take in every draw: each of n shifts with each of `starts` start indices, 1 if that makes no difference."""
    numbers = blocks.first, blocks.head, blocks.whole, blocks.tail, blocks.steps
    spreads = np.stack([observed.least_spread, observed.widest_spread], axis=1)
    kernel.widen(replicas, whole, numbers, starts, observed.lowest, observed.highest, spreads)
    observed.least_spread, observed.widest_spread = spreads.T.copy()
    observed.outcomes += len(whole) * starts


def _outcome(rows_of_shift: Int32s, whole: Int64s, blocks: _Blocks, *, start: int, shift: int) -> Int64s:
    """(1, 2, n) leaders and replicas of each broker, for one draw."""
    shifts, n, _ = rows_of_shift.shape
    head = (start + blocks.first + np.arange(blocks.head)) % n
    tail = (start + np.arange(blocks.tail)) % n
    after = (shift + blocks.steps + blocks.whole) % shifts
    replicas = np.concatenate([rows_of_shift[shift % shifts][head], rows_of_shift[after][tail]]).ravel()
    leaders = blocks.whole + np.bincount(np.concatenate([head, tail]), minlength=n)
    return np.stack([leaders, whole[shift] + np.bincount(replicas, minlength=n)])[None]


def _bounds(whole: Int64s, blocks: _Blocks, topic: NewTopic) -> Bounds:
    """Leaders are exact: P partitions in a row lead ⌊P/n⌋ or ⌈P/n⌉ times on each broker."""
    n, partitions = whole.shape[1], topic.partitions
    fewest, most = partitions // n, -(-partitions // n)
    spreads = np.ptp(whole, axis=1)
    return Bounds(
        lowest=np.stack([np.full(n, fewest), np.maximum(whole.min(axis=0), fewest)]),
        highest=np.stack([np.full(n, most), np.minimum(whole.max(axis=0) + blocks.incomplete, partitions)]),
        guaranteed_spread=np.array([most - fewest, max(0, int(spreads.min()) - blocks.incomplete)]),
        worst_case_spread=np.array([most - fewest, min(int(spreads.max()) + blocks.incomplete, partitions)]),
    )


def _affordable(replicas: int) -> int:
    """Number of sampled seeds, each of which places `replicas`."""
    return max(4, min(SEEDS, SAMPLED_REPLICAS // replicas))


def _placed_outcomes(brokers: Sequence[Broker], walk: admin_utils.BrokerWalk, topic: NewTopic) -> Iterator[Int64s]:
    """(1, 2, n) counts of placements with independent seeds."""
    for index in range(_affordable(topic.partitions * topic.replication_factor)):
        rows = admin_utils.place(brokers, topic, random=JavaRandom(independent_seed(0, index))).replicas
        places = _places(walk, rows)
        each = [np.bincount(indices.ravel(), minlength=len(walk.ids)) for indices in (places[:, 0], places)]
        yield np.stack(each)[None]
