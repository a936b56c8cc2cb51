"""The steps of each partition, and the batch of each step.

During a step Kafka has the replicas of both lists, so that one list after another may replace one replica. With a
replicas to add, d to remove, and factors f before and g after:

- At no time does Kafka have more than max(f, g) + 1 replicas of the partition, nor are fewer than min(f, g) requested.
- Each step replaces one replica, in its place in the list. If the factor grows, the first step adds the additional
  replicas as well (several steps, if the leader may not send as many in one batch); if it shrinks, the last step
  removes the surplus, so that copies exist as long as possible. That is max(1, min(a, d)) steps, undone likewise.
- No list spans fewer racks than both ends do: a replica is replaced within its rack if possible, and new racks are
  opened first.
- No list contains a cordoned broker that the final one does not contain, since Kafka rejects it: the steps until such
  brokers have left are one step, and the partition has as many more replicas meanwhile. If its leader may not send as
  many in one batch, the steps stay apart, and the broker has to be uncordoned for them.
- Partitions whose lists Kafka never completes while brokers are down have batches of their own, after all others.
- The first replica stays first while data moves: if it leads, followers copy from it. If it is removed, that happens in
  the partition's last step, in which the leader has to change. If it stays without staying first, or if only the order
  of the list changes, a further step at the very end, which copies nothing, requests the final order.

A partition's steps are in different batches, in their order, and each step in the first batch in which it fits. With
the hottest partitions last, batches are filled from the last one back, the hottest first, so that each moves as late as
possible; with the hottest first, from the first one on. If disks are limited, possible moves depend on earlier
deletions, so that batches are filled forwards only, and hottest last means that the coldest are packed first.

To spread bytes, batches are packed with the hottest partitions last, and then exchange steps: their number stays, and
the largest has no more bytes than before. If disks are limited they exchange none.

The search is greedy: `cutting.batches_lower_bound` bounds how far it is from the fewest batches, and if it finds no
order that full disks allow, there may still be one.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import Bools, Int32s, Int64s
from app.core.reassignment.batches import first_fit_kernel, spreading_kernel, steps_kernel
from app.core.reassignment.batches.model import BatchLimits, BrokerDisks, Hottest, ReassignedPartitions
from app.core.reassignment.model import NO_LIMIT
from app.core.replica_lists import not_among, senders, widened
from app.errors.quotation import quoted
from app.errors.requests import BatchesOutOfDisk, MoveExceedsBatchLimit

_MOST_SPREAD = 2**22
"""Batches × brokers up to which steps are exchanged: tables of 128 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class StepChains:
    """The steps of each partition whose replicas change, in the order in which partitions are packed.

    Parameters
    ----------
    rows : (chains,) int64. first : (chains + 1,) int64; chain c has steps `first[c]` … `first[c + 1]` - 1.
    before, after : (steps, widest) int32 replica lists.
    adds, adds_from : step s adds brokers `adds[adds_from[s]:adds_from[s + 1]]`. fills : the disk of each.
    frees, frees_from : likewise, the disks of the replicas that the step removes.
    source : (steps,) int32 broker that new replicas are copied from. size : (chains,) int64 bytes, 0 if unknown.
    waiting : number of chains at the end that `ReassignedPartitions.waits` names.
    """

    rows: Int64s = field(repr=False)
    first: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    adds: Int32s = field(repr=False)
    fills: Int32s = field(repr=False)
    adds_from: Int64s = field(repr=False)
    frees: Int32s = field(repr=False)
    frees_from: Int64s = field(repr=False)
    source: Int32s = field(repr=False)
    size: Int64s = field(repr=False)
    waiting: int = 0

    @property
    def chain_of(self) -> Int64s:
        """(steps,) int64 chain of each step."""
        return np.repeat(np.arange(len(self.rows)), np.diff(self.first))


@dataclass(frozen=True, slots=True, eq=False)
class FinalOrders:
    """Partitions whose list gets its final order at the end, in the requested order of heat, and their lists.

    Parameters
    ----------
    rows : (rows,) int64. before, after : (rows, widest) int32 replica lists.
    waiting : number of rows at the end that `ReassignedPartitions.waits` names.
    """

    rows: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    waiting: int


def steps(
    reassigned: ReassignedPartitions, limits: BatchLimits, *, hottest_first: bool
) -> tuple[StepChains, FinalOrders]:
    """The steps of every partition that changes; chains in the order in which they are packed, ties by row."""
    width = max(reassigned.before.shape[1], reassigned.after.shape[1], 1)
    before, after = (
        np.ascontiguousarray(widened(lists, width), np.int32) for lists in (reassigned.before, reassigned.after)
    )
    most_adds = limits.max_moves_out_per_broker or NO_LIMIT
    n_steps, is_reordered = steps_kernel.count(before, after, most_adds)
    rows, waiting = _ordered(reassigned, n_steps > 0, hottest_first=hottest_first)
    first = np.concatenate([[0], np.cumsum(n_steps[rows])]).astype(np.int64)
    rack_of = reassigned.rack_of if reassigned.rack_of is not None else np.zeros(len(reassigned.broker_ids), np.int32)
    listed, requested, adds, adds_from, drops, drops_from = steps_kernel.fill(
        before, after, rows, first, rack_of, most_adds
    )
    sizes = np.maximum(reassigned.size_bytes[rows], 0)
    leaders = before[:, 0] if reassigned.leaders is None else reassigned.leaders
    source = senders(listed, np.repeat(leaders[rows], n_steps[rows]))
    # Without log directories, the disk of a broker has its position.
    chains = StepChains(
        rows, first, listed, requested, adds, adds, adds_from, drops, drops_from, source, sizes, waiting
    )
    if reassigned.is_barred is not None:
        chains = _without_barred_lists(chains, after, reassigned.is_barred, most_adds)
    final, waiting = _ordered(reassigned, is_reordered, hottest_first=limits.hottest is Hottest.FIRST)
    return chains, FinalOrders(final, steps_kernel.unordered(before, after, final), after[final], waiting)


def _without_barred_lists(chains: StepChains, goals: Int32s, is_barred: Bools, most_adds: int) -> StepChains:
    """Join the steps whose lists have a barred broker that leaves with the step after them.

    A broker leaves once, so that these are the first steps of a chain, and never its last.

    Parameters
    ----------
    goals : (rows, widest) int32 final lists. most_adds : replicas that one step may add.
    """
    chain_of = chains.chain_of
    leaves = np.append(is_barred, False)[chains.after] & not_among(chains.after, goals[chains.rows[chain_of]])
    is_joined = leaves.any(axis=1)
    n_joined = np.bincount(chain_of, is_joined, minlength=len(chains.rows)).astype(np.int64)
    begins = chains.first[:-1]
    n_adds = chains.adds_from[begins + n_joined + 1] - chains.adds_from[begins]
    is_joined &= (n_adds <= most_adds)[chain_of]
    if not is_joined.any():
        return chains
    stays = np.flatnonzero(~is_joined)
    # A step that stays begins where the joined ones before it began.
    starts = np.concatenate([[0], stays[:-1] + 1])
    counts = np.bincount(chain_of[stays], minlength=len(chains.rows))
    return replace(
        chains,
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        before=chains.before[starts],
        after=chains.after[stays],
        source=chains.source[starts],
        adds_from=np.concatenate([[0], chains.adds_from[stays + 1]]),
        frees_from=np.concatenate([[0], chains.frees_from[stays + 1]]),
    )


def _ordered(reassigned: ReassignedPartitions, chosen: Bools, *, hottest_first: bool) -> tuple[Int64s, int]:
    """Returns (the chosen rows by heat, ties by row, those that wait last; number of rows that wait)."""
    rows = np.flatnonzero(chosen)
    heat = reassigned.heat[rows]
    waits = np.zeros(len(rows), np.bool_) if reassigned.waits is None else reassigned.waits[rows]
    # Negated, and not turned round, so that ties stay by ascending row.
    return rows[np.lexsort((-heat if hottest_first else heat, waits))], int(np.count_nonzero(waits))


def is_backwards(limits: BatchLimits, disks: BrokerDisks | None) -> bool:
    """Whether batches are filled from the last one back."""
    return limits.hottest is not Hottest.FIRST and disks is None


def is_hottest_first(limits: BatchLimits, disks: BrokerDisks | None) -> bool:
    """Whether the hottest partitions are packed first."""
    return limits.hottest is Hottest.FIRST or is_backwards(limits, disks)


def pack(
    reassigned: ReassignedPartitions, chains: StepChains, limits: BatchLimits, disks: BrokerDisks | None
) -> Int64s:
    """(steps,) int64, the batch of every step of the chains; those that wait, which are last, count from 0 again.

    Raises
    ------
    MoveExceedsBatchLimit : one replica alone exceeds `max_bytes_in_per_broker`.
    BatchesOutOfDisk : no further step fits on the disks.
    """
    _check_single_moves(reassigned, chains, limits)
    brokers, goes_backwards = len(reassigned.broker_ids), is_backwards(limits, disks)
    disks = disks or BrokerDisks(np.zeros(brokers, np.int64), np.full(brokers, NO_LIMIT, np.int64))
    capacity = first_fit_kernel.BatchCapacity(
        limits.max_moves_in_per_broker or NO_LIMIT,
        limits.max_moves_out_per_broker or NO_LIMIT,
        limits.max_bytes_in_per_broker or NO_LIMIT,
        limits.max_partitions or NO_LIMIT,
        disks.max_bytes.astype(np.int64),
    )
    used = disks.used_bytes.astype(np.int64)
    progress = np.zeros(len(chains.rows), np.int64)
    batch_of = np.empty(len(chains.before), np.int64)
    others = len(chains.rows) - chains.waiting
    for start, stop in ((0, others), (others, len(chains.rows))):
        begin, end = chains.first[[start, stop]].tolist()
        work = first_fit_kernel.ChainArrays(
            chains.first[start : stop + 1] - begin,
            chains.adds,
            chains.fills,
            chains.adds_from[begin : end + 1],
            chains.frees,
            chains.frees_from[begin : end + 1],
            chains.source[begin:end],
            chains.size[start:stop],
            reassigned.on_disk[chains.rows[start:stop]],
            goes_backwards,
        )
        n_batches = first_fit_kernel.pack(work, capacity, brokers, used, progress[start:stop], batch_of[begin:end])
        if n_batches == first_fit_kernel.STUCK:
            raise _out_of_disk(reassigned, chains, replace(disks, used_bytes=used), progress[:stop])
        if goes_backwards:
            batch_of[begin:end] = n_batches - 1 - batch_of[begin:end]
            if limits.hottest is Hottest.SPREAD and 0 < n_batches * brokers <= _MOST_SPREAD:
                spreading_kernel.spread(work, capacity, brokers, n_batches, batch_of[begin:end])
    return batch_of


def _check_single_moves(reassigned: ReassignedPartitions, chains: StepChains, limits: BatchLimits) -> None:
    limit = limits.max_bytes_in_per_broker
    if limit is None or not (chains.size > limit).any():
        return
    chain_of_add = np.repeat(chains.chain_of, np.diff(chains.adds_from))
    rows, sizes = chains.rows[chain_of_add], chains.size[chain_of_add]
    above = np.flatnonzero(sizes > limit)
    if len(above):
        # Of the largest, the one of the lowest row, so that raising the limit to it is enough.
        worst = above[np.lexsort((rows[above], -sizes[above]))[0]]
        row, size, broker = int(rows[worst]), int(sizes[worst]), int(reassigned.broker_ids[chains.adds[worst]])
        raise MoveExceedsBatchLimit(
            f"a replica of {size} bytes moves to broker {broker}, which may receive {limit} bytes in one batch",
            path=("batches", "max_bytes_in_per_broker"),
            row=row,
            broker=broker,
            size_bytes=size,
            limit=limit,
        )


def _out_of_disk(
    reassigned: ReassignedPartitions, chains: StepChains, disks: BrokerDisks, progress: Int64s
) -> BatchesOutOfDisk:
    """The failure, with the step that needs the least additional space on all disks that it fills.

    progress : (chains packed so far,) int64 steps that are packed.
    """
    used, most = disks.used_bytes, disks.max_bytes
    unfinished = np.flatnonzero(progress < np.diff(chains.first)[: len(progress)])
    steps = chains.first[unfinished] + progress[unfinished]
    n_adds = chains.adds_from[steps + 1] - chains.adds_from[steps]
    owner = np.repeat(np.arange(len(steps)), n_adds)
    at = np.arange(len(owner)) - np.repeat(np.cumsum(n_adds) - n_adds, n_adds) + chains.adds_from[steps][owner]
    filled = chains.fills[at]
    short = used[filled] + reassigned.on_disk[chains.rows[unfinished]][owner] - most[filled]
    worst = np.full(len(steps), np.iinfo(np.int64).min)
    np.maximum.at(worst, owner, short)
    step = np.lexsort((chains.rows[unfinished], worst))[0]
    k = np.flatnonzero((owner == step) & (short == worst[step]))[0]
    broker, disk = int(reassigned.broker_ids[chains.adds[at][k]]), int(filled[k])
    missing, limit = int(short[k]), int(most[disk])
    log_dir = disks.path_of(disk, len(reassigned.broker_ids))
    where = f"broker {broker}" if log_dir is None else f"log directory {quoted(log_dir)} of broker {broker}"
    left = len(np.unique(chains.rows[unfinished]))
    return BatchesOutOfDisk(
        f"no further replica can move: {where} is {missing} bytes short for the one that needs least, with"
        f" {int(used[disk])} of {limit} bytes used by then and {left} partitions still to move",
        path=("batches",),
        row=int(chains.rows[unfinished[step]]),
        broker=broker,
        missing_bytes=missing,
        used_bytes=int(used[disk]),
        limit=limit,
        partitions_left=left,
        **({} if log_dir is None else {"log_dir": log_dir}),
    )
