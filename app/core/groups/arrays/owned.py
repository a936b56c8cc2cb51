"""Owned partitions of members, as arrays instead of one object for each run of partitions.

A member that owns a thousand partitions of a thousand topics has a thousand runs of one partition. `OwnedRuns` is a
sequence of such runs that is stored as arrays, and assignors read the arrays: `MemberPartitions.owned`.
"""

from collections.abc import Iterable, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from typing import Self, overload

import numpy as np

from app.core.groups.arrays.partition_table import PartitionTable, assignment_of, partition_table
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned
from app.core.model import NO_MEMBER, Bools, Int32s, Int64s

UNKNOWN_TOPIC = -1
"""The index of a topic that is not among those that are looked up."""


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
            return [self[run] for run in range(len(starts))[index]]
        run = range(len(starts))[index]
        end = starts[run + 1] if run + 1 < len(starts) else len(self.partitions)
        return Owned(self.topics[self.topic_index[starts[run]]], self.partitions[starts[run] : end])

    def _starts(self) -> Int64s:
        begins_run = np.ones(len(self.topic_index), np.bool_)
        begins_run[1:] = self.topic_index[1:] != self.topic_index[:-1]
        return np.flatnonzero(begins_run)


def owned_after(assignment: GroupAssignment) -> dict[str, OwnedRuns]:
    """Owned partitions of each member, by member id, once it has its assignment; shares the assignment's arrays."""
    bounds = zip(assignment.offsets[:-1].tolist(), assignment.offsets[1:].tolist(), strict=True)
    return {
        member: OwnedRuns(assignment.topics, assignment.topic_index[begin:end], assignment.partitions[begin:end])
        for member, (begin, end) in zip(assignment.members, bounds, strict=True)
    }


def owned_topics(member: Member) -> KeysView[str]:
    """The topics of which a member owns partitions, in the order in which it lists them."""
    owned = member.owned
    if isinstance(owned, OwnedRuns):  # its items are computed from the whole array
        return dict.fromkeys(owned.topics[index] for index in dict.fromkeys(owned.topic_index.tolist())).keys()
    return dict.fromkeys(run.topic for run in owned).keys()


def owning_members(table: PartitionTable, members: Sequence[Member]) -> Int32s:
    """The member that owns each row, as the members state it.

    The claim of the newest generation counts; a claim without a generation is older than any. If two members claim a
    partition in the same newest generation, neither owns it, as in Kafka's sticky assignors.

    Returns
    -------
    (rows,) int32 indices into `members`, or `NO_MEMBER`.

    Source: `AbstractStickyAssignor.prepopulateCurrentAssignments` of Apache Kafka 4.0.
    """
    pairs = MemberPartitions.owned(members, table.index_of)
    pairs = pairs.select(pairs.exist(np.diff(table.starts)))
    rows = table.starts[pairs.topics] + pairs.partitions
    generations = np.array([-1 if member.generation_id is None else member.generation_id for member in members], int)
    ascending = np.argsort(generations[pairs.members], kind="stable")
    ends_generation = np.flatnonzero(np.diff(generations[pairs.members[ascending]])) + 1
    owners = np.full(table.rows, NO_MEMBER, np.int32)
    for claims in np.split(ascending, ends_generation):
        claimed, claimants = rows[claims], pairs.members[claims]
        owners[claimed] = claimants
        owners[claimed[owners[claimed] != claimants]] = NO_MEMBER
    return owners


def owned_assignment(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """The assignment that `owning_members` describes: each member's partitions by topic name, ascending in a topic."""
    table = partition_table(metadata)
    return assignment_of(table, owning_members(table, members), [member.id for member in members])


@dataclass(frozen=True, slots=True, eq=False)
class MemberPartitions:
    """Pairs of member and partition; unlike in `PartitionOwners`, a partition may belong to several members.

    Parameters
    ----------
    members : (pairs,) int64 indices of members.
    topics : (pairs,) int64 indices of topics.
    partitions : (pairs,) int64 partition ids.
    """

    members: Int64s
    topics: Int64s
    partitions: Int64s

    def __len__(self) -> int:
        return len(self.members)

    def select(self, places: Bools | Int64s) -> Self:
        """The pairs at a mask or at indices."""
        return type(self)(self.members[places], self.topics[places], self.partitions[places])

    def exist(self, counts: Int64s) -> Bools:
        """Whether the topic of each pair has the partition: (pairs,) bool; `counts` : (topics,) int64 partitions."""
        return (self.partitions >= 0) & (self.partitions < counts[self.topics])

    @classmethod
    def concatenate(cls, parts: Sequence["MemberPartitions"]) -> Self:
        """The pairs of several, one after the other."""
        members, topics, partitions = zip(
            *((part.members, part.topics, part.partitions) for part in parts), strict=True
        )
        return cls(np.concatenate(members), np.concatenate(topics), np.concatenate(partitions))

    @classmethod
    def owned(cls, members: Sequence[Member], index_of: Mapping[str, int]) -> Self:
        """The partitions that members own of the topics in `index_of`, which has the index of each.

        Pairs are in the order of the members, and of each member in the order in which it lists them. A member that
        lists a partition twice has it twice.
        """
        # By identity: the names are the same sequence for all members of an assignment.
        index_of_names: dict[int, Int64s] = {}
        topics, partitions = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        lengths = []
        for member in members:
            owned, of_member = member.owned, topics[0]
            if isinstance(owned, OwnedRuns):
                names = owned.topics
                if id(names) not in index_of_names:
                    index_of_names[id(names)] = _indices(names, index_of)
                of_member = index_of_names[id(names)][owned.topic_index]
                partitions.append(owned.partitions)
            elif owned:
                # A group may have a million runs, so the work for each one runs in C.
                runs = list(map(attrgetter("partitions"), owned))
                run_lengths = np.fromiter(map(len, runs), np.int64, len(runs))
                of_member = np.repeat(_indices(list(map(attrgetter("topic"), owned)), index_of), run_lengths)
                partitions += runs
            topics.append(of_member)
            lengths.append(len(of_member))
        of_members = np.repeat(np.arange(len(members)), lengths)
        pairs = cls(of_members, np.concatenate(topics), np.concatenate(partitions).astype(np.int64))
        return pairs.select(pairs.topics != UNKNOWN_TOPIC)

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[int, int, int]]) -> Self:
        """Members, topics and partitions as triples."""
        return cls(*np.array(list(rows), np.int64).reshape(-1, 3).T)

    @classmethod
    def of(cls, assignment: GroupAssignment) -> Self:
        members = np.repeat(np.arange(len(assignment.members), dtype=np.int64), np.diff(assignment.offsets))
        return cls(members, assignment.topic_index.astype(np.int64), assignment.partitions.astype(np.int64))

    def keys(self) -> tuple[Int64s, int, int]:
        """A number of each pair that sorts by member, topic and partition; the least partition id; the id range.

        The numbers stay below 2⁶³ for all members, topics and partition ids that fit in memory.
        """
        least = int(self.partitions.min(initial=0))
        width = int(self.partitions.max(initial=0)) - least + 1
        height = int(self.topics.max(initial=0)) + 1
        return (self.members * height + self.topics) * width + (self.partitions - least), least, width

    def distinct(self) -> Self:
        """The pairs without repetitions, in order of first appearance."""
        keys, _, _ = self.keys()
        _, first = np.unique(keys, return_index=True)
        return self if len(first) == len(keys) else self.select(np.sort(first))

    def assignment(
        self, members: Sequence[str], topics: Sequence[str], *, without_partitions: Sequence[tuple[int, int]] = ()
    ) -> GroupAssignment:
        """The pairs as an assignment: topics in the order of `topics`, partitions ascending, without repetitions.

        Parameters
        ----------
        without_partitions : (member, topic) indices to state in the answer, if the member has no partition of it.
        """
        keys, least, width = self.keys()
        # Not `np.unique`, which hashes integers: 1 s for 10⁶.
        keys = np.sort(keys)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        member_topic, partitions = np.divmod(keys, width)
        owners, topic_index = np.divmod(member_topic, int(self.topics.max(initial=0)) + 1)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(members)))]).astype(np.int64)
        assigned = set(zip(owners.tolist(), topic_index.tolist(), strict=True)) if without_partitions else set()
        return GroupAssignment(
            members,
            topics,
            offsets,
            topic_index.astype(np.int32),
            (partitions + least).astype(np.int32),
            without_partitions=[pair for pair in without_partitions if pair not in assigned],
        )


def named_without_partitions(members: Sequence[Member], index_of: Mapping[str, int]) -> list[tuple[int, int]]:
    """(member, topic) indices of members that name a topic as owned and no partition of it."""
    return [
        (index, index_of[run.topic])
        for index, member in enumerate(members)
        if not isinstance(member.owned, OwnedRuns)
        for run in member.owned
        if run.topic in index_of and not len(run.partitions)
    ]


def _indices(names: Sequence[str], index_of: Mapping[str, int]) -> Int64s:
    return np.fromiter(map(index_of.get, names, repeat(UNKNOWN_TOPIC)), np.int64, len(names))
