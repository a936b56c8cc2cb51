"""Cut a reassignment into batches that Kafka executes one after another, with figures and a lower bound."""

import numpy as np
from numpy.typing import NDArray

from app.core.model import UNKNOWN_SIZE, Int64s
from app.core.reassignment.batches.model import Batches, BatchLimits, BrokerDisks, ReassignedPartitions
from app.core.reassignment.batches.scheduling import NO_LIMIT, FinalOrders, StepChains, is_hottest_first, pack, steps
from app.core.replica_lists import sums_by


def cut_batches(reassigned: ReassignedPartitions, limits: BatchLimits, disks: BrokerDisks | None = None) -> Batches:
    """Cut a reassignment into batches, so that no broker exceeds a limit at any time while they run.

    Batches that move replicas come first, then those that set the final order of lists: leaders change last, except for
    partitions whose leader is removed. `scheduling` defines the steps of each partition and packs them greedily.

    Complexity: O(steps · log(steps)) for packing, compiled, and O(rows · widest²) for the steps.

    Parameters
    ----------
    reassigned : replica lists before and after.
    limits : of each batch.
    disks : what brokers use at any time stays within it; what a batch deletes is free after it. None: no limit.

    Raises
    ------
    MoveExceedsBatchLimit : one replica alone exceeds `max_bytes_in_per_broker`.
    BatchesOutOfDisk : at some point no further step fits on the disks.

    Examples
    --------
    Two partitions move from broker 0 to broker 1, which may receive one replica in a batch.

    >>> import numpy as np
    >>> from app.core.reassignment import BatchLimits, ReassignedPartitions, cut_batches
    >>> reassigned = ReassignedPartitions(
    ...     before=np.array([[0], [0]], np.int32), after=np.array([[1], [1]], np.int32), size_bytes=np.array([5, 7]),
    ...     heat=np.array([2, 1]), broker_ids=np.array([101, 102], np.int32))
    >>> batches = cut_batches(reassigned, BatchLimits(max_moves_in_per_broker=1))
    >>> len(batches), batches.lower_bound, batches.rows.tolist(), batches.moved_bytes.tolist()
    (2, 2, [1, 0], [7, 5])
    """
    chains, reordered = steps(reassigned, limits, hottest_first=is_hottest_first(limits, disks))
    batch_of = pack(reassigned, chains, limits, disks)
    moving = int(batch_of.max(initial=-1)) + 1
    at_the_end = moving + np.arange(len(reordered.rows)) // (limits.max_partitions or NO_LIMIT)
    batch = np.concatenate([batch_of, at_the_end])
    rows = np.concatenate([chains.rows[chains.chain_of], reordered.rows])
    order = np.lexsort((rows, batch))
    n_batches = int(batch.max(initial=-1)) + 1
    return Batches(
        rows[order],
        np.concatenate([[0], np.cumsum(np.bincount(batch, minlength=n_batches))]).astype(np.int64),
        np.concatenate([chains.before, reordered.before])[order],
        np.concatenate([chains.after, reordered.after])[order],
        moving,
        *_batch_figures(reassigned, chains, batch_of, n_batches, limits),
        lower_bound=batches_lower_bound(reassigned, chains, reordered, limits),
    )


def batches_lower_bound(
    reassigned: ReassignedPartitions, chains: StepChains, reordered: FinalOrders, limits: BatchLimits
) -> int:
    """Lower bound on the number of batches; may not be attainable.

    For batches that move replicas, the largest of what each limit alone requires, ⌈replicas that a broker receives in
    all / those it may receive in one batch⌉ and likewise for the other limits, and the steps of the partition that has
    most. To these the batches for the final orders are added.
    """
    brokers = len(reassigned.broker_ids)
    chain_of_add = np.repeat(chains.chain_of, np.diff(chains.adds_from))
    moves_in = np.bincount(chains.adds, minlength=brokers)
    moves_out = np.bincount(chains.source[chain_of_add], minlength=brokers)
    bytes_in = sums_by(chains.adds, chains.size[chain_of_add], brokers)
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


def _batch_figures(
    reassigned: ReassignedPartitions, chains: StepChains, batch_of: Int64s, n_batches: int, limits: BatchLimits
) -> tuple[Int64s, Int64s, Int64s, Int64s, NDArray[np.float64] | None]:
    """The figures of `Batches`: moved replicas and bytes, unknown sizes, most bytes in, seconds.

    Parameters
    ----------
    batch_of : (steps,) int64 batch of each step of the chains.
    """
    n_adds = np.diff(chains.adds_from)
    chain, batch = np.repeat(chains.chain_of, n_adds), np.repeat(batch_of, n_adds)
    size, is_unknown = chains.size[chain], reassigned.size_bytes[chains.rows[chain]] == UNKNOWN_SIZE
    bytes_in, seconds = _most(batch, chains.adds, size, n_batches), None
    if limits.throttle_bytes_per_s is not None:
        busiest = np.maximum(bytes_in, _most(batch, chains.source[chain], size, n_batches))
        seconds = busiest / limits.throttle_bytes_per_s
    moved, unknown = (np.bincount(each, minlength=n_batches) for each in (batch, batch[is_unknown]))
    return moved, sums_by(batch, size, n_batches), unknown, bytes_in, seconds


def _most(batch: Int64s, broker: NDArray[np.integer], size: Int64s, n_batches: int) -> Int64s:
    """(batches,) int64: the most bytes that one broker has in each batch."""
    most = np.zeros(n_batches, np.int64)
    if len(batch):
        # Sorted and summed, since a table of batches × brokers may be far larger than the moves.
        order = np.lexsort((broker, batch))
        batch, broker = batch[order], broker[order]
        begins = np.flatnonzero(np.diff(batch, prepend=-1) | np.diff(broker, prepend=-1))
        np.maximum.at(most, batch[begins], np.add.reduceat(size[order], begins))
    return most
