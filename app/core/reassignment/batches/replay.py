"""The steps of batches replayed, by row: replicas copied and deleted in each, and where.

The replay sorts and sums: it shares no code with the scheduler.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.batches.model import Batches, BrokerDisks, LogDirMoves, ReassignedPartitions, ReplicaLogDirs
from app.core.replica_lists import not_among, sums_by, widened


@dataclass(frozen=True, slots=True, eq=False)
class StepReplay:
    """Steps by row and then by batch, with all replica lists of one width.

    Parameters
    ----------
    batch, row : (steps,) int64.
    before, after : (steps, widest) int32. gained : (steps, widest) bool, replicas of `after` that are not in `before`;
        lost : replicas of `before` that are not in `after`.
    origin, goal : (rows, widest) int32, lists before and after the reassignment. leaders : (rows,) int32 before it.
    """

    batch: Int64s = field(repr=False)
    row: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    gained: Bools = field(repr=False)
    lost: Bools = field(repr=False)
    origin: Int32s = field(repr=False)
    goal: Int32s = field(repr=False)
    leaders: Int32s = field(repr=False)

    @property
    def has_data(self) -> Bools:
        """(steps,) bool: whether the step adds or drops a replica."""
        return np.asarray(self.gained.any(axis=1) | self.lost.any(axis=1), np.bool_)

    @property
    def is_first(self) -> Bools:
        """(steps,) bool: the first step of the row."""
        return np.asarray(np.diff(self.row, prepend=-1) != 0, np.bool_)

    @property
    def is_last(self) -> Bools:
        """(steps,) bool: the last step of the row."""
        return np.asarray(np.diff(self.row, append=-1) != 0, np.bool_)

    @property
    def present(self) -> Int32s:
        """(steps, widest) int32: the list of the partition before the step, as the steps before it left it."""
        return np.where(self.is_first[:, None], self.origin[self.row], np.roll(self.after, 1, axis=0))

    @property
    def source(self) -> Int32s:
        """(steps,) int32: the leader while the list has it, else the first replica; a follower fetches from it."""
        led = (self.before == self.leaders[self.row][:, None]) & (self.before != NO_REPLICA)
        column = np.argmax(led, axis=1)  # the first column if none leads
        return np.asarray(self.before[np.arange(len(column)), column], np.int32)

    def of(self, chosen: Bools) -> "StepReplay":
        """Some of the steps, (steps,) bool."""
        columns = ("batch", "row", "before", "after", "gained", "lost")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def copies(self, size_bytes: Int64s) -> tuple["BatchTraffic", "BatchTraffic"]:
        """Replicas that brokers receive in each batch, and those copied from them.

        Parameters
        ----------
        size_bytes : (rows,) int64 of one replica.
        """
        step, _ = np.nonzero(self.gained)
        batch, size = self.batch[step], size_bytes[self.row[step]]
        return BatchTraffic(self.after[self.gained], batch, size), BatchTraffic(self.source[step], batch, size)


@dataclass(frozen=True, slots=True, eq=False)
class BatchTraffic:
    """Replicas that are copied or deleted: (replicas,) broker or disk, batch and bytes of each."""

    place: Int32s
    batch: Int64s
    size_bytes: Int64s

    def joined(self, *others: "BatchTraffic") -> "BatchTraffic":
        """This traffic and other."""
        names = self.__dataclass_fields__
        return BatchTraffic(*(np.concatenate([getattr(each, name) for each in (self, *others)]) for name in names))

    def sums(self) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """(pairs,) int64 places and batches, by place and then by batch, each pair once; its replicas and bytes."""
        n_batches = int(self.batch.max(initial=0)) + 1
        pairs = self.place.astype(np.int64) * n_batches + self.batch
        distinct, pair_of, replicas = np.unique(pairs, return_inverse=True, return_counts=True)
        size_bytes = sums_by(pair_of, self.size_bytes, len(distinct))
        return distinct // n_batches, distinct % n_batches, replicas, size_bytes

    def most(self, n_batches: int) -> Int64s:
        """(batches,) int64 bytes of the place that has most."""
        _, batch, _, size_bytes = self.sums()
        most = np.zeros(n_batches, np.int64)
        np.maximum.at(most, batch, size_bytes)
        return most


def replay(reassigned: ReassignedPartitions, batches: Batches) -> StepReplay:
    """The steps of every row, in order."""
    every = (reassigned.before, reassigned.after, batches.before, batches.after)
    width = max(1, *(lists.shape[1] for lists in every))
    batch = batches.batch_of
    order = np.lexsort((batch, batches.rows))
    before, after = widened(batches.before, width)[order], widened(batches.after, width)[order]
    return StepReplay(
        batch=batch[order],
        row=batches.rows[order].astype(np.int64),
        before=before,
        after=after,
        gained=not_among(after, before),
        lost=not_among(before, after),
        origin=widened(reassigned.before, width),
        goal=widened(reassigned.after, width),
        leaders=widened(reassigned.before, width)[:, 0] if reassigned.leaders is None else reassigned.leaders,
    )


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
    if moves is None:
        return replayed, []
    n_batches = int(max(replayed.batch.max(initial=0), moves.batch.max(initial=0))) + 1
    listed, moved = replayed.row * n_batches + replayed.batch, moves.row * n_batches + moves.batch
    violations = []
    if len(missing := np.setdiff1d(moved, listed)):
        row, batch = divmod(int(missing[0]), n_batches)
        detail = f"row {row} moves between log directories in batch {batch}, which does not list it"
        violations.append(BatchViolation("row_left_out", len(missing), detail, batch=batch, row=row))
    is_unchanged = ~differ(replayed.before, replayed.after) & np.isin(listed, moved)
    stale = is_unchanged & differ(replayed.present, replayed.before)
    violations += violated_steps(replayed, "step_out_of_place", stale, "is listed otherwise than it is")
    return replayed.of(~is_unchanged), violations


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


def disk_violations(
    reassigned: ReassignedPartitions,
    replayed: StepReplay,
    disks: BrokerDisks,
    log_dirs: ReplicaLogDirs | None,
    moves: LogDirMoves | None,
) -> Iterator[BatchViolation]:
    """The violation of the disks of brokers, or of log directories.

    Arrivals and moves of a batch fill a disk at once; what it deletes is free after it.
    """
    stored, before, after = reassigned.on_disk, None, None
    if log_dirs is not None:
        before, after = log_dirs.before, log_dirs.after
    filled = _on_disks(replayed, replayed.gained, replayed.after, replayed.goal, after, stored)
    freed = _on_disks(replayed, replayed.lost, replayed.before, replayed.origin, before, stored)
    if moves is not None:
        filled, freed = (
            traffic.joined(BatchTraffic(disk, moves.batch, stored[moves.row]))
            for traffic, disk in ((filled, moves.target), (freed, moves.source))
        )
    disk, batch, _, size = filled.sums()
    disk_freed, batch_freed, _, size_freed = freed.sums()
    every, change = np.append(disk, disk_freed), np.append(size, -size_freed)
    is_freed = np.repeat([False, True], [len(disk), len(disk_freed)])
    order = np.lexsort((is_freed, np.append(batch, batch_freed), every))
    running = np.cumsum(change[order])
    begins = np.searchsorted(every[order], every[order])
    used = np.empty(len(order), np.int64)
    used[order] = disks.used_bytes[every[order]] + running - np.append(0, running)[begins]
    # A disk above its limit may still receive replicas of no bytes, and lose replicas.
    most = disks.max_bytes[disk]
    values = np.where(size > 0, used[: len(disk)], most)
    yield from exceeded(reassigned, "disk", "uses {} bytes of disk", (disk, batch, values, most), disks)


def exceeded(
    reassigned: ReassignedPartitions, code: str, what: str, pairs: Sequence[Int64s], disks: BrokerDisks | None = None
) -> Iterator[BatchViolation]:
    """The violation of a limit by brokers or disks, with the first batch of it.

    Parameters
    ----------
    pairs : (pairs,) int64 each: places, batches, what the place has in the batch, and its limit.
    """
    _, batches, values, most = pairs
    at = np.flatnonzero(values > most)
    if not len(at):
        return
    first = at[np.argmin(batches[at])]
    place, batch, value, limit = (int(each[first]) for each in pairs)
    log_dir = None if disks is None else disks.path_of(place, len(reassigned.broker_ids))
    broker = None if log_dir is not None else int(reassigned.broker_ids[place])
    where = f"broker {broker}" if log_dir is None else f"log directory {log_dir}"
    detail = f"{where} {what.format(value)} in batch {batch}; {limit} are allowed"
    yield BatchViolation(code, len(at), detail, batch=batch, broker=broker, value=value, limit=limit)


def _on_disks(
    replayed: StepReplay, chosen: Bools, lists: Int32s, ends: Int32s, of_replicas: Int32s | None, stored: Int64s
) -> BatchTraffic:
    """Some replicas of lists, (steps, widest) bool, by their disk: their broker's, or that of the replica in `ends`."""
    step, _ = np.nonzero(chosen)
    row, place = replayed.row[step], lists[chosen]
    if of_replicas is not None:
        place = of_replicas[row, np.argmax(ends[row] == place[:, None], axis=1)]
    return BatchTraffic(place, replayed.batch[step], stored[row])
