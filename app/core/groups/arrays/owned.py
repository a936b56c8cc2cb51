"""Owned partitions of members, as arrays instead of one object for each run of partitions.

A member that owns a thousand partitions of a thousand topics has a thousand runs of one partition. `OwnedRuns` is a
sequence of such runs that is stored as arrays, and assignors read the arrays. `OwnedReader` and `OwnedPartitions`
translate topic names to indices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.partition_table import NO_ROW, PartitionTable, assignment_of, partition_table
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned
from app.core.model import NO_MEMBER, Int32s, Int64s

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
        starts: Int64s = np.flatnonzero(begins_run)
        return starts


def owned_after(assignment: GroupAssignment) -> dict[str, OwnedRuns]:
    """Owned partitions of each member, by member id, once it has its assignment; shares the assignment's arrays."""
    bounds = zip(assignment.offsets[:-1].tolist(), assignment.offsets[1:].tolist(), strict=True)
    return {
        member: OwnedRuns(assignment.topics, assignment.topic_index[begin:end], assignment.partitions[begin:end])
        for member, (begin, end) in zip(assignment.members, bounds, strict=True)
    }


def owned_topics(member: Member) -> set[str]:
    """The topics of which a member owns partitions."""
    owned = member.owned
    if isinstance(owned, OwnedRuns):  # its items are computed from the whole array
        return {owned.topics[index] for index in np.unique(owned.topic_index).tolist()}
    return {run.topic for run in owned}


class OwnedReader:
    """Translates owned partitions to topic indices and partition ids, for the given topics."""

    def __init__(self, topics: Sequence[str]) -> None:
        self._index_of = {topic: index for index, topic in enumerate(topics)}
        # By identity of the names that members' runs share; the names are stored beside the table to stay alive.
        self._tables: dict[int, tuple[Sequence[str], Int64s]] = {}

    def read(self, owned: Sequence[Owned]) -> tuple[Int64s, Int64s]:
        """Topic indices (`UNKNOWN_TOPIC` for other topics) and partition ids: two (owned,) int64."""
        if isinstance(owned, OwnedRuns):
            return self._table(owned.topics)[owned.topic_index], owned.partitions.astype(np.int64)
        # A group may have a million runs, so the work for each one runs in C.
        runs = list(map(attrgetter("partitions"), owned))
        topics = np.fromiter(
            map(self._index_of.get, map(attrgetter("topic"), owned), repeat(UNKNOWN_TOPIC)), np.int64, len(runs)
        )
        lengths = np.fromiter(map(len, runs), np.int64, len(runs))
        return np.repeat(topics, lengths), np.concatenate([np.empty(0, np.int64), *runs]).astype(np.int64)

    def _table(self, topics: Sequence[str]) -> Int64s:
        if id(topics) not in self._tables:
            table = np.array([self._index_of.get(topic, UNKNOWN_TOPIC) for topic in topics], np.int64)
            self._tables[id(topics)] = topics, table
        return self._tables[id(topics)][1]


def owning_members(table: PartitionTable, members: Sequence[Member]) -> Int32s:
    """The member that owns each row, as the members state it.

    The claim of the newest generation counts; a claim without a generation is older than any. If two members claim a
    partition in the same newest generation, neither owns it, as in Kafka's sticky assignors.

    Returns
    -------
    (rows,) int32 indices into `members`, or `NO_MEMBER`.

    Source: `AbstractStickyAssignor.prepopulateCurrentAssignments` of Apache Kafka 4.0.
    """
    owners = np.full(table.rows, NO_MEMBER, np.int32)
    generations = [-1 if member.generation_id is None else member.generation_id for member in members]
    for generation in sorted(set(generations)):
        claimants = [index for index, claimed in enumerate(generations) if claimed == generation]
        rows, owner = _claimed_rows(table, members, claimants)
        owners[rows] = owner
        owners[rows[owners[rows] != owner]] = NO_MEMBER
    return owners


def owned_assignment(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """The assignment that `owning_members` describes: each member's partitions by topic name, ascending in a topic."""
    table = partition_table(metadata)
    return assignment_of(table, owning_members(table, members), [member.id for member in members])


def _claimed_rows(table: PartitionTable, members: Sequence[Member], claimants: Sequence[int]) -> tuple[Int64s, Int32s]:
    """Every row that the claimants claim, and the claimant."""
    # Runs that were cut from one assignment share its list of topics, which is then looked up once.
    by_topics: dict[int, tuple[Sequence[str], list[tuple[int, Int32s, Int32s]]]] = {}
    names: list[str] = []
    single_runs: list[tuple[int, Int32s, Int32s]] = []
    for index in claimants:
        owned = members[index].owned
        if isinstance(owned, OwnedRuns):
            _, runs = by_topics.setdefault(id(owned.topics), (owned.topics, []))
            runs.append((index, owned.topic_index, owned.partitions))
            continue
        for run in owned:
            single_runs.append((index, np.full(len(run.partitions), len(names), np.int32), run.partitions))
            names.append(run.topic)
    rows, owners = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for topics, runs in [*by_topics.values(), (names, single_runs)]:
        if not runs:
            continue
        owner, topic_index, partitions = zip(*runs, strict=True)
        lengths = np.fromiter(map(len, partitions), np.int64, len(partitions))
        rows.append(table.rows_of(topics, np.concatenate(topic_index), np.concatenate(partitions)))
        owners.append(np.repeat(np.array(owner, np.int32), lengths))
    all_rows, all_owners = np.concatenate(rows), np.concatenate(owners)
    is_known = all_rows != NO_ROW
    return all_rows[is_known], all_owners[is_known]


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

    def select(self, places: NDArray[np.bool_] | Int64s) -> Self:
        """The pairs at a mask or at indices."""
        return type(self)(self.members[places], self.topics[places], self.partitions[places])

    @classmethod
    def concatenate(cls, parts: Sequence["MemberPartitions"]) -> Self:
        """The pairs of several, one after the other."""
        members, topics, partitions = zip(
            *((part.members, part.topics, part.partitions) for part in parts), strict=True
        )
        return cls(np.concatenate(members), np.concatenate(topics), np.concatenate(partitions))

    @classmethod
    def of(cls, assignment: GroupAssignment) -> Self:
        """The pairs of an assignment."""
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


@dataclass(frozen=True, slots=True, eq=False)
class OwnedPartitions:
    """Owned partitions of a group's members, of some topics.

    Parameters
    ----------
    pairs : in the order of the members, and of each member in the order in which it lists them; without repetitions.
    without_partitions : (member, topic) indices if a member names a topic as owned and no partition of it.
    """

    pairs: MemberPartitions
    without_partitions: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, members: Sequence[Member], index_of: Mapping[str, int]) -> Self:
        """Read the members' owned partitions of the topics in `index_of`, which has the index of each."""
        lengths, topics, partitions, without_partitions = [], [], [], []
        # By identity: the names are the same sequence for all members of an assignment.
        table_of: dict[int, Int64s] = {}
        for index, member in enumerate(members):
            if isinstance(member.owned, OwnedRuns):
                names = member.owned.topics
                if id(names) not in table_of:
                    table_of[id(names)] = np.array([index_of.get(name, UNKNOWN_TOPIC) for name in names], np.int64)
                topics.append(table_of[id(names)][member.owned.topic_index])
                partitions.append(member.owned.partitions)
                lengths.append((index, len(member.owned.partitions)))
                continue
            for run in member.owned:
                topic = index_of.get(run.topic, UNKNOWN_TOPIC)
                topics.append(np.full(len(run.partitions), topic, np.int64))
                partitions.append(run.partitions)
                lengths.append((index, len(run.partitions)))
                if topic != UNKNOWN_TOPIC and not len(run.partitions):
                    without_partitions.append((index, topic))
        member_of_run = np.array(lengths, np.int64).reshape(-1, 2)
        empty = np.empty(0, np.int64)
        pairs = MemberPartitions(
            np.repeat(member_of_run[:, 0], member_of_run[:, 1]),
            np.concatenate([empty, *topics]),
            np.concatenate([empty, *partitions]).astype(np.int64),
        )
        return cls(pairs.select(pairs.topics != UNKNOWN_TOPIC).distinct(), without_partitions)
