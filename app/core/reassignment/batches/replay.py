"""The steps of batches replayed, by row: replicas copied and deleted in each, and where.

The replay sorts and sums: it shares no code with the scheduler.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.model import Batches, BrokerDisks, LogDirMoves, ReassignedPartitions, ReplicaLogDirs
from app.core.replica_lists import not_among, sums_by, widened

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class StepReplay:
    """Steps by row and then by batch, with all replica lists of one width.

    Parameters
    ----------
    batch, row : (steps,) int64. is_first, is_last : (steps,) bool, of their row.
    before, after : (steps, widest) int32. gained : (steps, widest) bool, replicas of `after` that are not in `before`;
        lost : replicas of `before` that are not in `after`.
    origin, goal : (rows, widest) int32, lists before and after the reassignment.
    size : (steps,) int64 bytes of one replica, 0 if unknown.
    """

    batch: Int64s = field(repr=False)
    row: Int64s = field(repr=False)
    is_first: Bools = field(repr=False)
    is_last: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    gained: Bools = field(repr=False)
    lost: Bools = field(repr=False)
    origin: Int32s = field(repr=False)
    goal: Int32s = field(repr=False)
    size: Int64s = field(repr=False)

    @property
    def has_data(self) -> Bools:
        """(steps,) bool: whether the step adds or drops a replica."""
        return np.asarray(self.gained.any(axis=1) | self.lost.any(axis=1), np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class BatchTraffic:
    """Traffic of brokers in batches: (pairs,) arrays, by broker and then by batch, each pair once."""

    broker: Int64s
    batch: Int64s
    replicas: Int64s
    size_bytes: Int64s


def replay(reassigned: ReassignedPartitions, batches: Batches) -> StepReplay:
    """The steps of every row, in order."""
    every = (reassigned.before, reassigned.after, batches.before, batches.after)
    width = max(1, *(lists.shape[1] for lists in every))
    origin, goal = widened(reassigned.before, width), widened(reassigned.after, width)
    batch = batches.batch_of
    order = np.lexsort((batch, batches.rows))
    row = batches.rows[order].astype(np.int64)
    before, after = widened(batches.before, width)[order], widened(batches.after, width)[order]
    changes = np.diff(row) != 0
    sizes = reassigned.size_bytes[row]
    return StepReplay(
        batch=batch[order],
        row=row,
        is_first=np.concatenate([[True], changes])[: len(row)],
        is_last=np.concatenate([changes, [True]])[: len(row)],
        before=before,
        after=after,
        gained=not_among(after, before),
        lost=not_among(before, after),
        origin=origin,
        goal=goal,
        size=np.where(sizes == UNKNOWN_SIZE, 0, sizes),
    )


def incoming(replayed: StepReplay) -> BatchTraffic:
    """Replicas that brokers receive in each batch."""
    return _traffic(replayed, replayed.after, replayed.gained)


def outgoing(replayed: StepReplay) -> BatchTraffic:
    """Replicas copied from brokers in each batch: a follower fetches from the first replica of the list."""
    leaders = np.broadcast_to(replayed.before[:, :1], replayed.before.shape)
    return _traffic(replayed, leaders, replayed.gained)


def deleted(replayed: StepReplay) -> BatchTraffic:
    """Replicas that brokers delete when a batch completes."""
    return _traffic(replayed, replayed.before, replayed.lost)


def _traffic(replayed: StepReplay, brokers: Int32s, chosen: Bools) -> BatchTraffic:
    step, _ = np.nonzero(chosen)
    n_batches = int(replayed.batch.max(initial=0)) + 1
    pairs = brokers[chosen].astype(np.int64) * n_batches + replayed.batch[step]
    distinct, pair_of, replicas = np.unique(pairs, return_inverse=True, return_counts=True)
    size_bytes = sums_by(pair_of, replayed.size[step], len(distinct))
    return BatchTraffic(distinct // n_batches, distinct % n_batches, replicas, size_bytes)


@dataclass(frozen=True, slots=True)
class BatchViolation:
    """A violated guarantee: its first place, by batch; `count` counts all.

    Parameters
    ----------
    code, detail : of the guarantee. count : number of violations.
    batch, row, broker : of that place, broker by its id; None if it has none.
    value, limit : the figure there, and its limit; None if the guarantee has no figure.
    """

    code: str
    count: int
    detail: str
    batch: int | None = None
    row: int | None = None
    broker: int | None = None
    value: int | None = None
    limit: int | None = None


def violated_steps(replayed: StepReplay, code: str, broken: Bools, what: str) -> Iterator[BatchViolation]:
    """The violation of some steps, (steps,) bool, with the first of them."""
    if broken.any():
        at = np.flatnonzero(broken)
        first = at[np.argmin(replayed.batch[at])]
        batch, row = int(replayed.batch[first]), int(replayed.row[first])
        yield BatchViolation(code, len(at), f"row {row} {what}, in batch {batch}", batch=batch, row=row)


def differ(lists: Int32s, others: Int32s) -> Bools:
    """(rows,) bool: whether the lists of a row differ."""
    return np.asarray((lists != others).any(axis=1), np.bool_)


def without_unchanged(replayed: StepReplay, moves: LogDirMoves | None) -> tuple[StepReplay, list[BatchViolation]]:
    """The steps without those that only list a partition for its moves between log directories.

    These list the partition as the step before left it, and each move has a step of its row in its batch.
    """
    listed = set(zip(replayed.row.tolist(), replayed.batch.tolist(), strict=True))
    moved = set() if moves is None else set(zip(moves.row.tolist(), moves.batch.tolist(), strict=True))
    violations = []
    if missing := sorted(moved - listed):
        detail = f"row {missing[0][0]} moves between log directories in batch {missing[0][1]}, which does not list it"
        violations.append(BatchViolation("row_left_out", len(missing), detail, batch=missing[0][1], row=missing[0][0]))
    is_unchanged = ~differ(replayed.before, replayed.after)
    is_unchanged &= np.array(
        [pair in moved for pair in zip(replayed.row.tolist(), replayed.batch.tolist(), strict=True)], np.bool_
    )
    previous = np.roll(replayed.after, 1, axis=0)
    expected = np.where(replayed.is_first[:, None], replayed.origin[replayed.row], previous)
    stale = is_unchanged & differ(expected, replayed.before)
    violations += violated_steps(replayed, "step_out_of_place", stale, "is listed otherwise than it is")
    stays = ~is_unchanged
    row = replayed.row[stays]
    changes = np.diff(row) != 0
    columns = ("batch", "row", "before", "after", "gained", "lost", "size")
    remaining = replace(
        replayed,
        **{name: getattr(replayed, name)[stays] for name in columns},
        is_first=np.concatenate([[True], changes])[: len(row)],
        is_last=np.concatenate([changes, [True]])[: len(row)],
    )
    return remaining, violations


def required_violations(
    reassigned: ReassignedPartitions, moves: LogDirMoves | None, log_dirs: ReplicaLogDirs | None
) -> Iterator[BatchViolation]:
    """Each replica whose directory differs is moved, once, from the one to the other, and no other replica is."""
    if moves is None or log_dirs is None:
        yield BatchViolation(
            "log_dirs", 1, "the batches have moves between log directories and no disks, or none of them"
        )
        return
    made = sorted(zip(*(getattr(moves, name).tolist() for name in ("row", "broker", "source", "target")), strict=True))
    required = []
    for row, (old, new) in enumerate(zip(reassigned.before.tolist(), reassigned.after.tolist(), strict=True)):
        for column, broker in enumerate(old):
            if broker != NO_REPLICA and broker in new:
                disks = int(log_dirs.before[row, column]), int(log_dirs.after[row, new.index(broker)])
                if disks[0] != disks[1]:
                    required.append((row, broker, *disks))
    if made != sorted(required):
        detail = f"{len(made)} replicas move between log directories, and not the {len(required)} that are to"
        yield BatchViolation("log_dirs", 1, detail, value=len(made), limit=len(required))


def copied_within(reassigned: ReassignedPartitions, moves: LogDirMoves) -> BatchTraffic:
    """Copies of brokers between their log directories in each batch; pairs may repeat those in other traffic."""
    n_batches = int(moves.batch.max(initial=0)) + 1
    pairs = moves.broker.astype(np.int64) * n_batches + moves.batch
    distinct, pair_of, replicas = np.unique(pairs, return_inverse=True, return_counts=True)
    size_bytes = sums_by(pair_of, reassigned.on_disk[moves.row], len(distinct))
    return BatchTraffic(distinct // n_batches, distinct % n_batches, replicas, size_bytes)


def with_moves(reassigned: ReassignedPartitions, traffic: BatchTraffic, moves: LogDirMoves) -> BatchTraffic:
    """The traffic of brokers, and copies between their log directories."""
    more = copied_within(reassigned, moves)
    joined = [
        np.concatenate([getattr(traffic, name), getattr(more, name)])
        for name in ("broker", "batch", "replicas", "size_bytes")
    ]
    keys = np.column_stack(joined[:2])
    distinct, pair_of = np.unique(keys, axis=0, return_inverse=True)
    sums = (sums_by(pair_of.ravel(), amounts, len(distinct)) for amounts in joined[2:])
    return BatchTraffic(distinct[:, 0], distinct[:, 1], *sums)


def log_dir_disk_violations(
    reassigned: ReassignedPartitions,
    replayed: StepReplay,
    disks: BrokerDisks,
    log_dirs: ReplicaLogDirs,
    moves: LogDirMoves,
) -> Iterator[BatchViolation]:
    """Replay the bytes of each disk by batch: arrivals and moves fill it at once, deletions free it afterwards."""
    filled: dict[tuple[int, int], int] = {}
    freed: dict[tuple[int, int], int] = {}
    for step, row in enumerate(replayed.row.tolist()):
        for chosen, lists, ends, disk_of, totals in (
            (replayed.gained, replayed.after, reassigned.after, log_dirs.after, filled),
            (replayed.lost, replayed.before, reassigned.before, log_dirs.before, freed),
        ):
            for broker in lists[step][chosen[step]].tolist():
                key = int(replayed.batch[step]), int(disk_of[row, ends[row].tolist().index(broker)])
                totals[key] = totals.get(key, 0) + int(reassigned.on_disk[row])
    for batch, row, source, target in zip(
        *(getattr(moves, name).tolist() for name in ("batch", "row", "source", "target")), strict=True
    ):
        size = int(reassigned.on_disk[row])
        filled[batch, target] = filled.get((batch, target), 0) + size
        freed[batch, source] = freed.get((batch, source), 0) + size
    used = disks.used_bytes.tolist()
    for batch in sorted({batch for batch, _ in (*filled, *freed)}):
        for (at, disk), size in sorted(filled.items()):
            if at == batch:
                used[disk] += size
                if size and used[disk] > disks.max_bytes[disk]:
                    limit = int(disks.max_bytes[disk])
                    where = disks.path_of(disk, len(reassigned.broker_ids)) or "unknown"
                    detail = f"log directory {where} uses {used[disk]} bytes in batch {batch}; {limit} are allowed"
                    yield BatchViolation("disk", 1, detail, batch=batch, value=used[disk], limit=limit)
        for (at, disk), size in freed.items():
            if at == batch:
                used[disk] -= size
