"""The log directories of all brokers as disks: where replicas are, what may receive, and the limit of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s, LogDirectory
from app.core.reassignment.batches.model import BrokerDisks
from app.core.reassignment.model import NO_LIMIT, Balance

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LogDirTable:
    """Disks of brokers. Disk i < brokers has the replicas of broker i in unknown directories; the others are
    directories, broker by broker.

    Parameters
    ----------
    directories : by broker position. first : (brokers,) int64 disk of the first one, or −1 if they are unknown.
    total_bytes : (disks,) int64, 0 if unknown. max_bytes : usable at any time, `NO_LIMIT` if unknown.
    may_receive, is_drained, is_offline : (disks,) bool.
    before : (rows, widest) int32 disks of the scope's replicas now; padding is −1. used_bytes : (disks,) int64 of all.
    base_bytes : (disks,) int64 of what cannot move: topics outside the scope, and replicas in offline directories.
    """

    directories: Mapping[int, Sequence[LogDirectory]]
    first: Int64s = field(repr=False)
    total_bytes: Int64s = field(repr=False)
    max_bytes: Int64s = field(repr=False)
    may_receive: Bools = field(repr=False)
    is_drained: Bools = field(repr=False)
    is_offline: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    used_bytes: Int64s = field(repr=False)
    base_bytes: Int64s = field(repr=False)
    balance: Balance

    def disks_of(self, broker: int) -> slice:
        """The directories of a broker by position; it has some."""
        first = int(self.first[broker])
        return slice(first, first + len(self.directories[broker]))

    def over_limit(self) -> Iterator[tuple[int, LogDirectory, int]]:
        """The position of the broker, the directory and the disk of each one that has more bytes than its limit."""
        for broker in sorted(self.directories):
            for disk, directory in enumerate(self.directories[broker], int(self.first[broker])):
                if self.used_bytes[disk] > self.max_bytes[disk]:
                    yield broker, directory, disk

    def limit_of_brokers(self) -> Int64s:
        """(brokers,) int64 bytes that the directories of a broker may have together; `NO_LIMIT` if they are unknown."""
        most = np.full(len(self.first), NO_LIMIT, np.int64)
        for broker in self.directories:
            disks = self.disks_of(broker)
            may_have = ~(self.is_drained[disks] | self.is_offline[disks])
            limits = np.where(may_have, np.maximum(self.max_bytes[disks], self.base_bytes[disks]), 0)
            most[broker] = min(sum(limits.tolist()), NO_LIMIT)
        return most

    @property
    def paths(self) -> tuple[str, ...]:
        """Of all directories, as disks are numbered."""
        return tuple([one.path for broker in sorted(self.directories) for one in self.directories[broker]])

    @property
    def disks(self) -> BrokerDisks:
        """For batches."""
        return BrokerDisks(self.used_bytes, self.max_bytes, self.paths)
