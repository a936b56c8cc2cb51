"""What is cut into batches, within which limits, and what comes of it."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s


class Hottest(StrEnum):
    """When the partitions with most heat move."""

    LAST = "last"
    FIRST = "first"


@dataclass(frozen=True, slots=True, eq=False)
class Reassigned:
    """Where replicas are and where they shall be. Brokers are positions; rows are partitions, as the caller knows them.

    Parameters
    ----------
    before : (rows, widest) int32 positions, padded with -1, the preferred leader first. An empty row is a partition
        that does not exist yet: it is created, not copied, and is in no batch.
    after : (rows, widest) int32, the same; no row is empty. Its width may be another one.
    size_bytes : (rows,) int64 bytes of one replica, or `UNKNOWN_SIZE`, which counts as none and is counted.
    heat : (rows,) int64 what makes a partition hot: its ingress or its bytes.
    broker_ids : (brokers,) int32, what failures call the brokers.
    rack_of : (brokers,) int32 index of each broker's rack; None where racks do not count.
    """

    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    heat: Int64s = field(repr=False)
    broker_ids: Int32s
    rack_of: Int32s | None = None


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What no batch exceeds, each at least 1; None is no limit.

    Parameters
    ----------
    max_moves_in_per_broker : replicas that a broker takes in one batch.
    max_moves_out_per_broker : replicas that are copied from a broker in one batch. Followers fetch from the leader, so
        all new replicas of a partition are copied from the first of its list.
    max_bytes_in_per_broker : transient bytes: of all the replicas that a broker takes in one batch, as what it gives
        away is deleted only when the partition's step is done.
    max_partitions : in one batch.
    throttle_bytes_per_s : of every broker, in and out alike; decides how long a batch takes, and not what is in it.
    """

    max_moves_in_per_broker: int | None = 4
    max_moves_out_per_broker: int | None = None
    max_bytes_in_per_broker: int | None = None
    max_partitions: int | None = None
    throttle_bytes_per_s: int | None = None
    hottest: Hottest = Hottest.LAST


@dataclass(frozen=True, slots=True, eq=False)
class Disks:
    """(brokers,) int64 bytes: what each broker uses now, and what it may use at any time."""

    used_bytes: Int64s
    max_bytes: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Steps by batch. Batch i is steps `offsets[i]` … `offsets[i + 1]` - 1, by ascending row, each row once.

    Parameters
    ----------
    rows : (steps,) int64 rows of `Reassigned`.
    offsets : (batches + 1,) int64.
    before, after : (steps, widest) int32 positions, padded with -1: the replica list that a step finds, and the one
        that it asks Kafka for. The inverse of a batch asks for `before`; inverses executed from the last batch to the
        first lead back to where everything was, order included.
    moving : how many batches move replicas; those after them only change preferred leaders and the order of lists.
    moved_replicas : (batches,) int64 copied. moved_bytes : (batches,) int64 of them, as far as sizes are known.
    unknown_sizes : (batches,) int64 copied replicas whose size nobody knows.
    max_bytes_in : (batches,) int64 the most that one broker takes in.
    seconds : (batches,) float64, with a throttle, what the broker with most bytes in or out needs; None without one.
    lower_bound : as few batches as the steps could be in, if that; see `bounds`.
    """

    rows: Int64s = field(repr=False)
    offsets: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    moving: int
    moved_replicas: Int64s = field(repr=False)
    moved_bytes: Int64s = field(repr=False)
    unknown_sizes: Int64s = field(repr=False)
    max_bytes_in: Int64s = field(repr=False)
    seconds: NDArray[np.float64] | None = field(repr=False)
    lower_bound: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def steps(self, batch: int) -> slice:
        """Where a batch stands in `rows`, `before` and `after`."""
        return slice(int(self.offsets[batch]), int(self.offsets[batch + 1]))
