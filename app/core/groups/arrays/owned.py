"""What members own once they have an assignment, without an object a run.

A member that owns a thousand partitions of a thousand topics has a thousand runs of one. `OwnedRuns` is a sequence of
them that is kept as arrays; assignors that know it read the arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from typing import overload

import numpy as np

from app.core.groups.model import GroupAssignment, Owned
from app.core.model import Int32s, Int64s

UNKNOWN_TOPIC = -1


@dataclass(frozen=True, slots=True, eq=False)
class OwnedRuns(Sequence[Owned]):
    """Partitions that a member owns, in its order; as a sequence, the runs of one topic.

    Parameters
    ----------
    topics : names; `topic_index` points into them.
    topic_index, partitions : (owned,) int32.
    """

    topics: Sequence[str]
    topic_index: Int32s = field(repr=False)
    partitions: Int32s = field(repr=False)

    def __len__(self) -> int:
        return len(self._starts())

    @overload
    def __getitem__(self, index: int) -> Owned: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Owned]: ...
    def __getitem__(self, index: int | slice) -> Owned | Sequence[Owned]:
        starts = self._starts()
        if isinstance(index, slice):
            return [self[at] for at in range(len(starts))[index]]
        at = range(len(starts))[index]
        end = starts[at + 1] if at + 1 < len(starts) else len(self.partitions)
        return Owned(self.topics[self.topic_index[starts[at]]], self.partitions[starts[at] : end])

    def _starts(self) -> Int64s:
        begins = np.ones(len(self.topic_index), np.bool_)
        begins[1:] = self.topic_index[1:] != self.topic_index[:-1]
        starts: Int64s = np.flatnonzero(begins)
        return starts


class OwnedReader:
    """Reads what members own as numbers, over the topics that it is given."""

    def __init__(self, topics: Sequence[str]) -> None:
        self._index_of = {topic: index for index, topic in enumerate(topics)}
        # By the identity of the names that members' runs share; the names are kept alive beside the table.
        self._tables: dict[int, tuple[Sequence[str], Int64s]] = {}

    def read(self, owned: Sequence[Owned]) -> tuple[Int64s, Int64s]:
        """Topic indices, `UNKNOWN_TOPIC` for others, and partition ids: two (owned,) int64."""
        if isinstance(owned, OwnedRuns):
            return self._table(owned.topics)[owned.topic_index], owned.partitions.astype(np.int64)
        # A group may have a million runs, so that what is done for each is done without a line of Python.
        runs = list(map(attrgetter("partitions"), owned))
        where = np.fromiter(
            map(self._index_of.get, map(attrgetter("topic"), owned), repeat(UNKNOWN_TOPIC)), np.int64, len(runs)
        )
        lengths = np.fromiter(map(len, runs), np.int64, len(runs))
        return np.repeat(where, lengths), np.concatenate([np.empty(0, np.int64), *runs]).astype(np.int64)

    def _table(self, topics: Sequence[str]) -> Int64s:
        if id(topics) not in self._tables:
            table = np.array([self._index_of.get(topic, UNKNOWN_TOPIC) for topic in topics], np.int64)
            self._tables[id(topics)] = topics, table
        return self._tables[id(topics)][1]


def owned_after(assignment: GroupAssignment) -> dict[str, OwnedRuns]:
    """What each member owns when it has taken an assignment over, by member id; it shares the assignment's arrays."""
    bounds = zip(assignment.offsets[:-1].tolist(), assignment.offsets[1:].tolist(), strict=True)
    return {
        member: OwnedRuns(assignment.topics, assignment.topic_index[begin:end], assignment.partitions[begin:end])
        for member, (begin, end) in zip(assignment.members, bounds, strict=True)
    }
