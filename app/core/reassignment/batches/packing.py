"""Which step goes into which batch: greedily as early as it fits, or as late.

A partition's steps are in batches of their own, in their order. With the hottest last, batches are filled from the
last one back, the hottest partitions first, so that each moves as late as it can; with the hottest first, from the
first one on. Where disks are limited, what can move hangs on what was deleted before, so that time runs forward alone,
and the hottest last means that the coldest choose first.

It is a greedy search: `bounds` says how far from the fewest batches it may be, and where it finds no way round full
disks, another order of the moves may still be one.
"""

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.batches.model import BatchLimits, Disks, Hottest, Reassigned
from app.core.reassignment.batches.steps import NO_LIMIT, Chains
from app.errors import BatchesOutOfDisk, MoveExceedsBatchLimit


def is_backwards(limits: BatchLimits, disks: Disks | None) -> bool:
    """Whether batches are filled from the last one back."""
    return limits.hottest is Hottest.LAST and disks is None


def is_hottest_first(limits: BatchLimits, disks: Disks | None) -> bool:
    """Whether the hottest partitions are packed first."""
    return limits.hottest is Hottest.FIRST or is_backwards(limits, disks)


def pack(reassigned: Reassigned, chains: Chains, limits: BatchLimits, disks: Disks | None) -> Int64s:
    """(steps,) int64, the batch of every step of the chains.

    Raises
    ------
    MoveExceedsBatchLimit
        One replica alone is more than `max_bytes_in_per_broker`.
    BatchesOutOfDisk
        No further step fits on the disks.
    """
    from app.core.reassignment.batches import packing_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

    _check_single_moves(reassigned, chains, limits)
    brokers = len(reassigned.broker_ids)
    work = kernel.Work(
        chains.first,
        chains.adds,
        chains.adds_from,
        chains.drops,
        chains.drops_from,
        chains.source,
        chains.size,
        is_backwards(limits, disks),
    )
    room = kernel.Room(
        limits.max_moves_in_per_broker or NO_LIMIT,
        limits.max_moves_out_per_broker or NO_LIMIT,
        limits.max_bytes_in_per_broker or NO_LIMIT,
        limits.max_partitions or NO_LIMIT,
        np.full(brokers, NO_LIMIT, np.int64) if disks is None else disks.max_bytes.astype(np.int64),
    )
    used = np.zeros(brokers, np.int64) if disks is None else disks.used_bytes.astype(np.int64)
    progress = np.zeros(len(chains.rows), np.int64)
    batch_of = np.empty(len(chains.before), np.int64)
    n_batches = kernel.pack(work, room, used, progress, batch_of)
    if n_batches == kernel.STUCK:
        raise _out_of_disk(reassigned, chains, used, room.disk, progress)
    return n_batches - 1 - batch_of if work.is_backwards else batch_of


def _check_single_moves(reassigned: Reassigned, chains: Chains, limits: BatchLimits) -> None:
    limit = limits.max_bytes_in_per_broker
    if limit is None or not (chains.size > limit).any():
        return
    chain_of_add = np.repeat(chains.chain_of, np.diff(chains.adds_from))
    sizes = chains.size[chain_of_add]
    # Of the largest, the one of the lowest row, so that raising the limit to it is enough.
    worst = np.lexsort((chains.rows[chain_of_add], -sizes))[:1]
    if len(worst) and sizes[worst[0]] > limit:
        row, size = int(chains.rows[chain_of_add[worst[0]]]), int(sizes[worst[0]])
        broker = int(reassigned.broker_ids[chains.adds[worst[0]]])
        raise MoveExceedsBatchLimit(
            f"a replica of {size} bytes goes to broker {broker}, which may take {limit} bytes in one batch",
            path=("batches", "max_bytes_in_per_broker"),
            row=row,
            broker=broker,
            size_bytes=size,
            limit=limit,
        )


def _out_of_disk(
    reassigned: Reassigned, chains: Chains, used: Int64s, most: Int64s, progress: Int64s
) -> BatchesOutOfDisk:
    """What is missing least for going on: every chain's next step wants room on all brokers that it adds."""
    unfinished = np.flatnonzero(progress < np.diff(chains.first))
    steps = chains.first[unfinished] + progress[unfinished]
    n_adds = chains.adds_from[steps + 1] - chains.adds_from[steps]
    owner = np.repeat(np.arange(len(steps)), n_adds)
    at = np.arange(len(owner)) - np.repeat(np.cumsum(n_adds) - n_adds, n_adds) + chains.adds_from[steps][owner]
    brokers = chains.adds[at]
    short = used[brokers] + chains.size[unfinished][owner] - most[brokers]
    worst = np.full(len(steps), np.iinfo(np.int64).min)
    np.maximum.at(worst, owner, short)
    step = np.lexsort((chains.rows[unfinished], worst))[0]
    k = np.flatnonzero((owner == step) & (short == worst[step]))[0]
    broker = int(reassigned.broker_ids[brokers[k]])
    missing, limit = int(short[k]), int(most[brokers[k]])
    return BatchesOutOfDisk(
        f"no further replica can move: broker {broker} is {missing} bytes short for the one that needs least, with"
        f" {int(used[brokers[k]])} of {limit} bytes used by then and {len(unfinished)} partitions still to move",
        path=("batches",),
        row=int(chains.rows[unfinished[step]]),
        broker=broker,
        missing_bytes=missing,
        used_bytes=int(used[brokers[k]]),
        limit=limit,
        partitions_left=len(unfinished),
    )
