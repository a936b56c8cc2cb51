"""Cut a reassignment into batches that Kafka executes one after another, with figures and a lower bound.

Moves between log directories of a broker are steps, too, packed with the steps of partitions.

A move is a step of its own: it copies a replica to another disk of its broker, and frees the first one when it is
complete. It may run beside a step of the same partition, which neither adds nor removes that replica.
"""

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.model import (
    Batches,
    BatchLimits,
    BrokerDisks,
    LogDirMoves,
    ReassignedPartitions,
    ReplicaLogDirs,
)
from app.core.reassignment.batches.scheduling import NO_LIMIT, FinalOrders, StepChains, is_hottest_first, pack, steps
from app.core.replica_lists import sums_by, widened


def required_moves(reassigned: ReassignedPartitions, log_dirs: ReplicaLogDirs) -> LogDirMoves:
    """The moves between log directories, by row and broker, all in batch 0."""
    is_same = reassigned.before[:, :, None] == reassigned.after[:, None, :]
    is_same &= (reassigned.before != NO_REPLICA)[:, :, None]
    is_same &= log_dirs.before[:, :, None] != log_dirs.after[:, None, :]
    row, old, new = np.nonzero(is_same)
    source, target = log_dirs.before[row, old], log_dirs.after[row, new]
    return LogDirMoves(np.zeros(len(row), np.int64), row, reassigned.before[row, old], source, target)


def on_disks(chains: StepChains, reassigned: ReassignedPartitions, log_dirs: ReplicaLogDirs) -> StepChains:
    """The steps of partitions with the disks that they fill and free."""
    rows = chains.rows[chains.chain_of]
    adds_of, frees_of = (np.repeat(rows, np.diff(each)) for each in (chains.adds_from, chains.frees_from))
    return replace(
        chains,
        fills=_disk_of(adds_of, chains.adds, reassigned.after, log_dirs.after),
        frees=_disk_of(frees_of, chains.frees, reassigned.before, log_dirs.before),
    )


def _disk_of(rows: Int64s, brokers: Int32s, lists: Int32s, disks: Int32s) -> Int32s:
    if not len(rows):
        return np.zeros(0, np.int32)
    column = np.argmax(lists[rows] == brokers[:, None], axis=1)
    return np.asarray(disks[rows, column], np.int32)


def with_moves(chains: StepChains, moves: LogDirMoves, reassigned: ReassignedPartitions) -> StepChains:
    """The chains, and before them one of a single step for each move, so that moves come early."""
    n_moves, width = len(moves.row), chains.before.shape[1]
    each = np.arange(n_moves + 1)
    lists, broker = np.full((n_moves, width), NO_REPLICA, np.int32), moves.broker
    size = reassigned.on_disk[moves.row]
    of_moves = StepChains(moves.row, each, lists, lists, broker, moves.target, each, moves.source, each, broker, size)
    columns: dict[str, Any] = {
        column.name: _joined(getattr(of_moves, column.name), getattr(chains, column.name), column.name in _STARTS)
        for column in fields(chains)
        if column.name != "waiting"
    }
    return replace(chains, **columns)


_STARTS = ("first", "adds_from", "frees_from")
"""Columns of `StepChains` that say where others begin."""


def _joined(one: NDArray[Any], other: NDArray[Any], is_start: bool) -> NDArray[Any]:
    return np.concatenate([one, other[1:] + one[-1] if is_start else other])


def unchanged_steps(
    reassigned: ReassignedPartitions, moves: LogDirMoves, rows: Int64s, batch: Int64s, after: Int32s
) -> tuple[Int64s, Int64s, Int32s]:
    """Rows, batches and lists of the rows that have moves in a batch and no other step.

    Parameters
    ----------
    rows, batch, after : (steps,) of the steps of partitions, with the lists that they request.
    """
    n_batches = int(max(batch.max(initial=0), moves.batch.max(initial=0))) + 1
    steps = rows * n_batches + batch
    alone_rows, alone_batch = np.divmod(np.setdiff1d(moves.row * n_batches + moves.batch, steps), n_batches)
    lists = widened(reassigned.before[alone_rows], after.shape[1])
    # The list is the last earlier step's, if the row has one.
    order = np.argsort(steps, kind="stable")
    previous = np.searchsorted(steps[order], alone_rows * n_batches + alone_batch) - 1
    has_previous = previous >= 0
    has_previous[has_previous] = rows[order[previous[has_previous]]] == alone_rows[has_previous]
    lists[has_previous] = after[order[previous[has_previous]]]
    return alone_rows, alone_batch, lists


def cut_batches(
    reassigned: ReassignedPartitions,
    limits: BatchLimits,
    disks: BrokerDisks | None = None,
    log_dirs: ReplicaLogDirs | None = None,
) -> Batches:
    """Cut a reassignment into batches, so that no broker exceeds a limit at any time while they run.

    Batches that move replicas come first, then those that set the final order of lists: leaders change last, except for
    partitions whose leader is removed. Both are repeated for the partitions that wait for brokers that are down.
    `scheduling` defines the steps of each partition and packs them greedily.

    Complexity: O(steps · log(steps)) for packing, compiled, and O(rows · widest²) for the steps.

    Parameters
    ----------
    reassigned : replica lists before and after.
    limits : of each batch.
    disks : limits on bytes used at any time; bytes that a batch deletes are free after it. None: no limit.
    log_dirs : the disk of each replica; moves between a broker's disks are steps, too. None: each broker has one disk.

    Raises
    ------
    MoveExceedsBatchLimit : one replica alone exceeds `max_bytes_in_per_broker`.
    BatchesOutOfDisk : at some point no further step fits on the disks.

    Examples
    --------
    Two partitions move from broker 0 to broker 1, which may receive one replica in a batch.

    >>> import numpy as np
    >>> from app.core.reassignment.batches.cutting import cut_batches
    >>> from app.core.reassignment.batches.model import BatchLimits, ReassignedPartitions
    >>> reassigned = ReassignedPartitions(
    ...     before=np.array([[0], [0]], np.int32), after=np.array([[1], [1]], np.int32), size_bytes=np.array([5, 7]),
    ...     heat=np.array([2, 1]), broker_ids=np.array([101, 102], np.int32))
    >>> batches = cut_batches(reassigned, BatchLimits(max_moves_in_per_broker=1))
    >>> len(batches), batches.lower_bound, batches.rows.tolist(), batches.moved_bytes.tolist()
    (2, 2, [1, 0], [7, 5])
    """
    chains, reordered = steps(reassigned, limits, hottest_first=is_hottest_first(limits, disks))
    packed, moves = chains, None
    if log_dirs is not None:
        moves = required_moves(reassigned, log_dirs)
        chains = on_disks(chains, reassigned, log_dirs)
        if disks is None:
            raise ValueError("log directories are disks, and there are none")
        packed = with_moves(chains, moves, reassigned)
    batch, stage_sizes = _in_stages(pack(reassigned, packed, limits, disks), packed, reordered, limits)
    n_moves, n_packed = len(packed.before) - len(chains.before), len(packed.before)
    rows, listed_in = np.concatenate([chains.rows[chains.chain_of], reordered.rows]), batch[n_moves:]
    before = np.concatenate([chains.before, reordered.before])
    after = np.concatenate([chains.after, reordered.after])
    if moves is not None:
        moves = _by_batch(replace(moves, batch=batch[:n_moves]))
        more, more_in, lists = unchanged_steps(reassigned, moves, rows, listed_in, after)
        rows, listed_in = np.append(rows, more), np.append(listed_in, more_in)
        before, after = np.concatenate([before, lists]), np.concatenate([after, lists])
    order = np.lexsort((rows, listed_in))
    n_batches = int(listed_in.max(initial=-1)) + 1
    return Batches(
        rows[order],
        np.concatenate([[0], np.cumsum(np.bincount(listed_in, minlength=n_batches))]).astype(np.int64),
        before[order],
        after[order],
        np.repeat([True, False, True, False], stage_sizes),
        int(stage_sizes[2:].sum()),
        *_batch_figures(reassigned, chains, batch[n_moves:n_packed], n_batches, limits, moves),
        lower_bound=batches_lower_bound(chains, packed, reordered, limits),
        log_dir_moves=moves,
    )


def _in_stages(batch: Int64s, packed: StepChains, reordered: FinalOrders, limits: BatchLimits) -> tuple[Int64s, Int64s]:
    """The batches of packed steps and final orders, and (4,) int64 the number of batches in each stage.

    The stages follow one another: replicas move, final orders are set, and both again for partitions that wait.

    Parameters
    ----------
    batch : (steps,) int64 as of `pack`.
    """
    ordered = [len(reordered.rows) - reordered.waiting, reordered.waiting]
    others = int(packed.first[len(packed.rows) - packed.waiting])
    stage = np.repeat([0, 2, 1, 3], [others, len(batch) - others, *ordered])
    at_once = limits.max_partitions or NO_LIMIT
    numbers = np.concatenate([batch, *(np.arange(count) // at_once for count in ordered)])
    sizes = np.zeros(4, np.int64)
    np.maximum.at(sizes, stage, numbers + 1)
    return numbers + (np.cumsum(sizes) - sizes)[stage], sizes


def _by_batch(moves: LogDirMoves) -> LogDirMoves:
    order = np.lexsort((moves.broker, moves.row, moves.batch))
    return LogDirMoves(*(getattr(moves, each.name)[order] for each in fields(moves)))


def batches_lower_bound(chains: StepChains, packed: StepChains, reordered: FinalOrders, limits: BatchLimits) -> int:
    """Lower bound on the number of batches; may not be attainable.

    For batches that move replicas, the largest requirement of any limit alone, ⌈replicas that a broker receives in
    all / those it may receive in one batch⌉ and likewise for the other limits, and the steps of the partition that has
    most. To these the batches for the final orders are added.

    Parameters
    ----------
    chains : of the partitions. packed : with the moves between log directories, one of which may be listed with a step.
    """
    n_adds = np.diff(packed.adds_from)
    chain_of_add = np.repeat(packed.chain_of, n_adds)
    moves_in, moves_out = np.bincount(packed.adds), np.bincount(np.repeat(packed.source, n_adds))
    bytes_in = sums_by(packed.adds, packed.size[chain_of_add], len(moves_in))
    listed = len(chains.before) + len(np.setdiff1d(packed.rows, chains.rows))
    at_once = limits.max_partitions or NO_LIMIT
    moving = max(
        _batches(moves_in, limits.max_moves_in_per_broker),
        _batches(moves_out, limits.max_moves_out_per_broker),
        _batches(bytes_in, limits.max_bytes_in_per_broker),
        -(-listed // at_once),
        int(np.diff(packed.first).max(initial=0)),
    )
    return moving + -(-len(reordered.rows) // at_once)


def _batches(totals: Int64s, limit: int | None) -> int:
    return 0 if limit is None else -(-int(totals.max(initial=0)) // limit)


def _batch_figures(
    reassigned: ReassignedPartitions,
    chains: StepChains,
    batch_of: Int64s,
    n_batches: int,
    limits: BatchLimits,
    moves: LogDirMoves | None,
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
        busiest = np.maximum(bytes_in, _most(batch, np.repeat(chains.source, n_adds), size, n_batches))
        if moves is not None:
            within = _most(moves.batch, moves.broker, reassigned.on_disk[moves.row], n_batches)
            busiest = np.maximum(busiest, within)
        seconds = busiest / limits.throttle_bytes_per_s
    moved, unknown = (np.bincount(each, minlength=n_batches) for each in (batch, batch[is_unknown]))
    return moved, sums_by(batch, size, n_batches), unknown, bytes_in, seconds


def _most(batch: Int64s, broker: NDArray[np.integer], size: Int64s, n_batches: int) -> Int64s:
    """(batches,) int64: the most bytes that one broker has in each batch."""
    brokers, most = int(broker.max(initial=0)) + 1, np.zeros(n_batches, np.int64)
    # Summed by the pairs that there are: a table of batches × brokers may be far larger than the moves.
    pairs, pair_of = np.unique(batch * brokers + broker, return_inverse=True)
    np.maximum.at(most, pairs // brokers, sums_by(pair_of, size, len(pairs)))
    return most
