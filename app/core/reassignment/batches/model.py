"""The input, the limits and the result of cutting a reassignment into batches.

Which steps change the racks of a partition's replicas, and so make groups rebalance.

Since 4.1 the coordinator hashes each subscribed topic: for each partition the racks of its replicas, sorted, with
repeats, without the replicas of brokers that have no rack (KIP-1101). Other hashes begin a new epoch of the group.
Equal sorted racks have equal hashes, and different ones different hashes but for collisions of 64 bits.

While a step copies, a partition has the replicas of both lists.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_RACK, Bools, Int32s, Int64s
from app.core.replica_lists import not_among, widened


class Hottest(StrEnum):
    """When the hottest partitions (by ingress rate, else by size) are scheduled; spread if bytes are even instead."""

    LAST = "last"
    FIRST = "first"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True, eq=False)
class ReassignedPartitions:
    """Replica lists before and after. Brokers are positions; rows are partitions, in the caller's order.

    Parameters
    ----------
    before : (rows, widest) int32 positions, padded with -1, the preferred leader first. An empty row is a new
        partition: it is created, not copied, and is in no batch.
    after : (rows, widest) int32, likewise; no row is empty. Its width may differ.
    size_bytes : (rows,) int64 bytes that a new replica copies, or `UNKNOWN_SIZE`, which adds no bytes and is counted.
    heat : (rows,) int64 by which partitions are hotter than others: ingress or bytes.
    broker_ids : (brokers,) int32 for failures and violations.
    rack_of : (brokers,) int32 index of each broker's rack; None if racks are ignored.
    is_barred : (brokers,) bool, brokers that no list on the way may have unless the final one has them, since Kafka
        rejects it (cordoned brokers) or never completes it (brokers that are down), or None.
    waits : (rows,) bool, partitions whose lists Kafka never completes while brokers are down: their steps come after
        all others, since no batch can begin after them. None: no partition waits.
    stored_bytes : (rows,) int64 bytes that a replica has on its disk, if it may have copied fewer; None: `size_bytes`.
    leaders : (rows,) int32 position of the broker that leads now, from which replicas are copied while it has one, or
        `NO_REPLICA`; None: the first of each list leads.
    """

    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    heat: Int64s = field(repr=False)
    broker_ids: Int32s
    rack_of: Int32s | None = None
    is_barred: Bools | None = None
    waits: Bools | None = None
    stored_bytes: Int64s | None = field(default=None, repr=False)
    leaders: Int32s | None = field(default=None, repr=False)

    @property
    def on_disk(self) -> Int64s:
        """(rows,) int64 bytes that a replica counts on its disk from its batch on; 0 if unknown."""
        return np.maximum(self.size_bytes if self.stored_bytes is None else self.stored_bytes, 0)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Limits of each batch, at least 1 each; None is no limit.

    Parameters
    ----------
    max_moves_in_per_broker : replicas that a broker receives in one batch.
    max_moves_out_per_broker : replicas that are copied from a broker in one batch. Followers fetch from the leader, so
        all new replicas of a partition are copied from one broker.
    max_bytes_in_per_broker : transient bytes: all replicas that a broker receives in one batch, as the replicas it
        loses are deleted only when the partition's step completes.
    max_partitions : partitions in one batch.
    throttle_bytes_per_s : of every broker, in and out alike; determines how long a batch takes, not its steps.
    record_batch_bytes : size of the record batches in the logs, which determines the time, too; None if unknown.
    hottest : whether the hottest partitions are in the first or the last batches, or bytes are even over batches.
    """

    max_moves_in_per_broker: int | None = 4
    max_moves_out_per_broker: int | None = None
    max_bytes_in_per_broker: int | None = None
    max_partitions: int | None = None
    throttle_bytes_per_s: int | None = None
    record_batch_bytes: int | None = None
    hottest: Hottest = Hottest.LAST


@dataclass(frozen=True, slots=True, eq=False)
class BrokerDisks:
    """Disk usage of brokers.

    Parameters
    ----------
    used_bytes, max_bytes : (disks,) int64 bytes, used now and usable at any time. Disk i < brokers is broker i's,
        or, with log directories, holds its replicas in unknown ones; the others are log directories.
    log_dirs : the paths of those.
    """

    used_bytes: Int64s
    max_bytes: Int64s
    log_dirs: tuple[str, ...] = field(default=(), repr=False)

    def path_of(self, disk: int, brokers: int) -> str | None:
        """The log directory that a disk is; None if it is a broker's."""
        return None if disk < brokers else self.log_dirs[disk - brokers]


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaLogDirs:
    """The disk of each replica, as `BrokerDisks` numbers them. One of a broker in unknown directories has its position.

    Parameters
    ----------
    before, after : (rows, widest) int32 disks of the replicas of `ReassignedPartitions.before` and `after`; padding is
        any number. A replica that is in both on different disks is moved between log directories of its broker.
    """

    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class LogDirMoves:
    """Replicas that are moved between log directories of their broker, by batch and row.

    Parameters
    ----------
    batch, row : (moves,) int64. broker : (moves,) int32 positions. source, target : (moves,) int32 disks.
    """

    batch: Int64s = field(repr=False)
    row: Int64s = field(repr=False)
    broker: Int32s = field(repr=False)
    source: Int32s = field(repr=False)
    target: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Steps by batch. Batch i is steps `offsets[i]` … `offsets[i + 1]` - 1, by ascending row, each row once.

    Parameters
    ----------
    rows : (steps,) int64 rows of `ReassignedPartitions`.
    offsets : (batches + 1,) int64.
    before, after : (steps, widest) int32 positions, padded with -1: the replica list before a step, and the one that it
        requests of Kafka. The inverse of a batch requests `before`; inverses executed from the last batch to the first
        restore the previous assignment, order included.
    moves_data : (batches,) bool, whether the batch moves replicas; others only change preferred leaders and the order
        of lists, and follow those that move replicas.
    waiting : number of batches at the end whose partitions `ReassignedPartitions.waits` names.
    moved_replicas : (batches,) int64 copied. moved_bytes : (batches,) int64 of them, of known size.
    unknown_sizes : (batches,) int64 copied replicas of unknown size.
    max_bytes_in : (batches,) int64 the most that one broker receives.
    seconds : (batches,) float64 of the broker with most bytes in or out at the throttle; None without a throttle.
    lower_bound : lower bound on the number of batches; may not be attainable.
    log_dir_moves : copied within brokers in the batches that move replicas, which no other figure but `seconds` counts;
        a row that has no other step in a batch has one there whose lists are the same. None without log directories.
    """

    rows: Int64s = field(repr=False)
    offsets: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    moves_data: Bools = field(repr=False)
    waiting: int
    moved_replicas: Int64s = field(repr=False)
    moved_bytes: Int64s = field(repr=False)
    unknown_sizes: Int64s = field(repr=False)
    max_bytes_in: Int64s = field(repr=False)
    seconds: NDArray[np.float64] | None = field(repr=False)
    lower_bound: int
    log_dir_moves: LogDirMoves | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def steps(self, batch: int) -> slice:
        """The slice of a batch in `rows`, `before` and `after`."""
        return slice(int(self.offsets[batch]), int(self.offsets[batch + 1]))

    @property
    def batch_of(self) -> Int64s:
        """(steps,) int64 the batch of each step."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def changes_racks(before: Int32s, after: Int32s, rack_of: Int32s) -> Bools:
    """(rows,) bool: whether the racks of the replicas, sorted, with repeats, differ between two lists.

    Parameters
    ----------
    before, after : (rows, …) int32 positions of brokers, padded with `NO_REPLICA`.
    rack_of : (brokers,) int32 number of each broker's rack, or `NO_RACK`.
    """
    width = max(before.shape[1], after.shape[1])
    racks = np.append(rack_of, np.int32(NO_RACK))
    sorted_racks = [np.sort(racks[widened(lists, width)], axis=1) for lists in (before, after)]
    return np.asarray((sorted_racks[0] != sorted_racks[1]).any(axis=1), np.bool_)


def changes_racks_meanwhile(before: Int32s, after: Int32s, rack_of: Int32s) -> Bools:
    """(rows,) bool: whether they differ while the step copies, as they do if any added replica has a rack."""
    added = not_among(after, before)
    return np.asarray((added & (np.append(rack_of, np.int32(NO_RACK))[after] != NO_RACK)).any(axis=1), np.bool_)
