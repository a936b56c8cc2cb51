"""The replica sets that a cluster has, and the lists that are on others."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from app.core.measures.copysets import distinct_sets
from app.core.model import NO_REPLICA, Int32s, Int64s

MOST_SETS = 32
"""Sets that a partition chooses among for each of its replicas that stays, at regular intervals if there are more."""


@dataclass(frozen=True, eq=False)
class KnownSets:
    """The replica sets of a cluster.

    Parameters
    ----------
    sets : (sets, widest) int32 ascending positions, padded with the number of brokers. brokers : that number.
    """

    sets: Int32s = field(repr=False)
    brokers: int

    @classmethod
    def of(cls, lists: Int32s, brokers: int) -> "KnownSets":
        """The distinct sets of (rows, widest) int32 positions, padded with negative ones."""
        return cls(distinct_sets(lists, brokers), brokers)

    @cached_property
    def of_broker(self) -> Sequence[Int64s]:
        """By broker, the ascending indices of its sets."""
        index, column = np.nonzero(self.sets < self.brokers)
        brokers = self.sets[index, column]
        order = np.argsort(brokers, kind="stable")
        return np.split(index[order], np.cumsum(np.bincount(brokers, minlength=self.brokers))[:-1])

    @cached_property
    def sizes(self) -> Int64s:
        """(sets,) int64 brokers of each set."""
        return np.asarray(np.count_nonzero(self.sets < self.brokers, axis=1), np.int64)

    @cached_property
    def _members(self) -> frozenset[bytes]:
        return frozenset(row.tobytes() for row in self.sets)

    def opened(self, lists: Int32s) -> Int64s:
        """The rows of (rows, widest) int32 positions on a set that is not known, unless it has a broker without any."""
        width = max(self.sets.shape[1], lists.shape[1])
        padded = np.full((len(lists), width), self.brokers, np.int32)
        padded[:, : lists.shape[1]] = np.where(lists == NO_REPLICA, np.int32(self.brokers), lists)
        padded.sort(axis=1)
        is_on_set = np.append([len(sets) > 0 for sets in self.of_broker], True)
        rows = np.flatnonzero(is_on_set[padded].all(axis=1) & (padded[:, 0] < self.brokers))
        own = self.sets.shape[1]
        return np.array(
            [
                row
                for row in rows.tolist()
                if (padded[row, own:] < self.brokers).any() or padded[row, :own].tobytes() not in self._members
            ],
            np.int64,
        )

    def with_brokers(self, brokers: Sequence[int], size: int) -> Int64s:
        """Indices of the sets of a size that have all of these brokers, `MOST_SETS` at most."""
        found = np.flatnonzero(self.sizes == size) if not brokers else self.of_broker[brokers[0]]
        for broker in brokers[1:]:
            found = np.intersect1d(found, self.of_broker[broker], assume_unique=True)
        found = found[self.sizes[found] == size]
        spaced = np.linspace(0, len(found) - 1, min(len(found), MOST_SETS)).astype(np.int64)
        return np.asarray(found[spaced], np.int64)
