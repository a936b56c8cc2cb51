"""Moves between log directories of a broker, as steps that are packed with those of partitions.

A move is a step of its own: it copies a replica to another disk of its broker, and frees the first one when it is
complete. It may run beside a step of the same partition, which neither adds nor removes that replica.
"""

from dataclasses import replace

import numpy as np

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.model import LogDirMoves, ReassignedPartitions, ReplicaLogDirs
from app.core.reassignment.batches.scheduling import StepChains


def required_moves(reassigned: ReassignedPartitions, log_dirs: ReplicaLogDirs) -> LogDirMoves:
    """The moves between log directories, by row and broker, all in batch 0."""
    is_same = reassigned.before[:, :, None] == reassigned.after[:, None, :]
    is_same &= (reassigned.before != NO_REPLICA)[:, :, None]
    is_same &= log_dirs.before[:, :, None] != log_dirs.after[:, None, :]
    row, old, new = np.nonzero(is_same)
    return LogDirMoves(
        np.zeros(len(row), np.int64),
        row,
        reassigned.before[row, old],
        log_dirs.before[row, old],
        log_dirs.after[row, new],
    )


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
    sizes = reassigned.size_bytes[moves.row]
    each = np.arange(n_moves + 1)
    lists = np.full((n_moves, width), NO_REPLICA, np.int32)
    of_moves = StepChains(
        moves.row,
        each,
        lists,
        lists,
        moves.broker,
        moves.target,
        each,
        moves.source,
        each,
        moves.broker,
        np.where(sizes == UNKNOWN_SIZE, 0, sizes),
    )
    return _joined(of_moves, chains)


def _joined(one: StepChains, other: StepChains) -> StepChains:
    return StepChains(
        np.concatenate([one.rows, other.rows]),
        _continued(one.first, other.first),
        np.concatenate([one.before, other.before]),
        np.concatenate([one.after, other.after]),
        np.concatenate([one.adds, other.adds]),
        np.concatenate([one.fills, other.fills]),
        _continued(one.adds_from, other.adds_from),
        np.concatenate([one.frees, other.frees]),
        _continued(one.frees_from, other.frees_from),
        np.concatenate([one.source, other.source]),
        np.concatenate([one.size, other.size]),
        other.waiting,
    )


def _continued(first: Int64s, second: Int64s) -> Int64s:
    return np.concatenate([first, second[1:] + first[-1]]).astype(np.int64)


def unchanged_steps(
    reassigned: ReassignedPartitions, moves: LogDirMoves, rows: Int64s, batch: Int64s, after: Int32s
) -> tuple[Int64s, Int64s, Int32s]:
    """Rows, batches and lists of the rows that have moves in a batch and no other step.

    Parameters
    ----------
    rows, batch, after : (steps,) of the steps of partitions, with the lists that they request.
    """
    pairs = np.unique(np.column_stack([moves.row, moves.batch]), axis=0)
    n_batches = int(max(batch.max(initial=0), moves.batch.max(initial=0))) + 1
    keys, steps = pairs[:, 0] * n_batches + pairs[:, 1], rows * n_batches + batch
    is_alone = ~np.isin(keys, steps)
    pairs, keys = pairs[is_alone], keys[is_alone]
    lists = np.full((len(pairs), after.shape[1]), NO_REPLICA, np.int32)
    lists[:, : reassigned.before.shape[1]] = reassigned.before[pairs[:, 0]]
    # The list is that of the last step before, if the row has one.
    order = np.argsort(steps, kind="stable")
    previous = np.searchsorted(steps[order], keys) - 1
    has_previous = previous >= 0
    at = order[previous[has_previous]]
    has_previous[has_previous] = rows[at] == pairs[has_previous, 0]
    at = order[previous[has_previous]]
    lists[has_previous] = after[at]
    return pairs[:, 0], pairs[:, 1], lists
