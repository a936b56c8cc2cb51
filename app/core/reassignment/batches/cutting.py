"""Cut a reassignment into batches that Kafka executes one after another.

Cut a reassignment into batches that Kafka executes one after another.

No schedule of these steps has fewer batches than this.

What each batch moves, and how long that takes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.model import UNKNOWN_SIZE, Int64s
from app.core.reassignment.batches.model import Batches, BatchLimits, Disks, Reassigned
from app.core.reassignment.batches.scheduling import NO_LIMIT, Chains, Reordered, is_hottest_first, pack, steps


def cut(reassigned: Reassigned, limits: BatchLimits, disks: Disks | None = None) -> Batches:
    """Cut a reassignment into batches, so that no broker exceeds a limit at any time while they run.

    First the batches that move replicas, then those that give lists their final order: leaders change last, but for
    partitions whose leader goes. `steps` says what each partition goes through, `packing` in which order.

    Parameters
    ----------
    disks : what brokers use at any time stays within it. What a batch deletes is free after it.

    Raises
    ------
    MoveExceedsBatchLimit
        One replica alone is more than `max_bytes_in_per_broker`.
    BatchesOutOfDisk
        At some point no further step fits on the disks.
    """
    chains, reordered = steps(reassigned, limits, hottest_first=is_hottest_first(limits, disks))
    batch_of = pack(reassigned, chains, limits, disks)
    moving = int(batch_of.max(initial=-1)) + 1
    at_the_end = moving + np.arange(len(reordered.rows)) // (limits.max_partitions or NO_LIMIT)
    batch = np.concatenate([batch_of, at_the_end])
    rows = np.concatenate([chains.rows[chains.chain_of], reordered.rows])
    order = np.lexsort((rows, batch))
    n_batches = int(batch.max(initial=-1)) + 1
    counted = figures(reassigned, chains, batch_of, n_batches, limits)
    return Batches(
        rows=rows[order],
        offsets=_offsets(batch, n_batches),
        before=np.concatenate([chains.before, reordered.before])[order],
        after=np.concatenate([chains.after, reordered.after])[order],
        moving=moving,
        moved_replicas=counted.moved_replicas,
        moved_bytes=counted.moved_bytes,
        unknown_sizes=counted.unknown_sizes,
        max_bytes_in=counted.max_bytes_in,
        seconds=counted.seconds,
        lower_bound=lower_bound(reassigned, chains, reordered, limits),
    )


def _offsets(batch: Int64s, n_batches: int) -> Int64s:
    return np.concatenate([[0], np.cumsum(np.bincount(batch, minlength=n_batches))]).astype(np.int64)


def lower_bound(reassigned: Reassigned, chains: Chains, reordered: Reordered, limits: BatchLimits) -> int:
    """As few batches as the steps could be in, if that.

    Batches that move replicas: the most of what each limit alone calls for, as ⌈replicas that a broker takes in all /
    those it takes in one batch⌉, and the steps of the partition that has most. Then come those for the final orders.
    """
    brokers = len(reassigned.broker_ids)
    chain_of_add = np.repeat(chains.chain_of, np.diff(chains.adds_from))
    moves_in = np.bincount(chains.adds, minlength=brokers)
    moves_out = np.bincount(chains.source[chain_of_add], minlength=brokers)
    bytes_in = np.zeros(brokers, np.int64)
    np.add.at(bytes_in, chains.adds, chains.size[chain_of_add])
    at_once = limits.max_partitions or NO_LIMIT
    moving = max(
        _batches(moves_in, limits.max_moves_in_per_broker),
        _batches(moves_out, limits.max_moves_out_per_broker),
        _batches(bytes_in, limits.max_bytes_in_per_broker),
        -(-len(chains.before) // at_once),
        int(np.diff(chains.first).max(initial=0)),
    )
    return moving + -(-len(reordered.rows) // at_once)


def _batches(totals: Int64s, limit: int | None) -> int:
    return 0 if limit is None else -(-int(totals.max(initial=0)) // limit)


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """(batches,) arrays, as `Batches` has them."""

    moved_replicas: Int64s
    moved_bytes: Int64s
    unknown_sizes: Int64s
    max_bytes_in: Int64s
    seconds: NDArray[np.float64] | None


def figures(reassigned: Reassigned, chains: Chains, batch_of: Int64s, n_batches: int, limits: BatchLimits) -> Figures:
    """Count what the steps move in each of the batches; `batch_of` is (steps,) int64."""
    n_adds = np.diff(chains.adds_from)
    chain, batch = np.repeat(chains.chain_of, n_adds), np.repeat(batch_of, n_adds)
    size = chains.size[chain]
    moved_bytes = np.zeros(n_batches, np.int64)
    np.add.at(moved_bytes, batch, size)
    bytes_in = _most(batch, chains.adds, size, n_batches)
    seconds = None
    if limits.throttle_bytes_per_s is not None:
        busiest = np.maximum(bytes_in, _most(batch, chains.source[chain], size, n_batches))
        seconds = busiest / limits.throttle_bytes_per_s
    return Figures(
        moved_replicas=np.bincount(batch, minlength=n_batches),
        moved_bytes=moved_bytes,
        unknown_sizes=np.bincount(
            batch[reassigned.size_bytes[chains.rows[chain]] == UNKNOWN_SIZE], minlength=n_batches
        ),
        max_bytes_in=bytes_in,
        seconds=seconds,
    )


def _most(batch: Int64s, broker: NDArray[np.integer], size: Int64s, n_batches: int) -> Int64s:
    """(batches,) int64: the most bytes that one broker has in each batch."""
    most = np.zeros(n_batches, np.int64)
    if len(batch):
        # Sorted and added up, since a table of batches × brokers may be far larger than the moves.
        order = np.lexsort((broker, batch))
        batch, broker = batch[order], broker[order]
        begins = np.flatnonzero(np.diff(batch, prepend=-1) | np.diff(broker, prepend=-1))
        np.maximum.at(most, batch[begins], np.add.reduceat(size[order], begins))
    return most
