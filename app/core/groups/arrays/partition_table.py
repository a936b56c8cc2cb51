"""Every partition of some topics as one row each, so that who holds what is one array and comparing two is a line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.groups.arrays.owned import OwnedRuns
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.model import Int32s, Int64s

NOBODY = -1
"""The holder of a row that no member holds."""
NO_ROW = -1
"""Where a partition that the metadata does not know would stand."""


@dataclass(frozen=True, slots=True, eq=False)
class PartitionTable:
    """The partitions of all topics of the metadata: topics by name, partitions ascending within.

    Parameters
    ----------
    topics : names, ascending. starts : (topics + 1,) int64; partition p of topic i is row starts[i] + p.
    """

    topics: tuple[str, ...]
    starts: Int64s = field(repr=False)
    index: Mapping[str, int] = field(repr=False)

    @property
    def rows(self) -> int:
        """How many partitions there are."""
        return int(self.starts[-1])

    def topic_of_rows(self) -> Int32s:
        """(rows,) int32: the index of each row's topic."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), np.diff(self.starts))

    def rows_of(self, topics: Sequence[str], topic_index: Int32s, partitions: Int32s) -> Int64s:
        """Where the given partitions stand: (n,) int64, `NO_ROW` for those that the metadata does not know.

        `topic_index` points into `topics`.
        """
        known = np.fromiter((self.index.get(name, -1) for name in topics), np.int64, len(topics))
        counts = np.append(np.diff(self.starts), 0)[known]
        starts = self.starts[known]
        rows = starts[topic_index] + partitions
        outside = (partitions < 0) | (partitions >= counts[topic_index])
        if outside.any():
            rows[outside] = NO_ROW
        return rows


def partition_table(metadata: GroupMetadata) -> PartitionTable:
    """The rows of every topic that the metadata knows."""
    names = tuple(sorted(metadata.topics))
    counts = np.fromiter((len(metadata.topics[name].replicas) for name in names), np.int64, len(names))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return PartitionTable(names, starts, {name: index for index, name in enumerate(names)})


def holders(table: PartitionTable, assignment: GroupAssignment, member_ids: Sequence[str]) -> Int32s:
    """Who holds each row under an assignment.

    Returns
    -------
    (rows,) int32 indices into `member_ids`, `NOBODY` where none of them does. Of a partition that is given twice, the
    later member of the assignment is named.
    """
    held = np.full(table.rows, NOBODY, np.int32)
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    members = entry_members(assignment, member_ids)
    known = (rows != NO_ROW) & (members != NOBODY)
    held[rows[known]] = members[known]
    return held


def entry_members(assignment: GroupAssignment, member_ids: Sequence[str]) -> Int32s:
    """Whose each entry of an assignment is: (assigned,) int32 indices into `member_ids`, or `NOBODY`."""
    position = {member_id: index for index, member_id in enumerate(member_ids)}
    named = np.fromiter((position.get(member, NOBODY) for member in assignment.members), np.int32)
    return np.repeat(named, np.diff(assignment.offsets))


def owners(table: PartitionTable, members: Sequence[Member]) -> Int32s:
    """Who owns each row, by what the members say.

    The newest generation is believed; a member without one is older than any. Two members that claim a partition at
    the same newest generation are both disbelieved, as Kafka's sticky assignors do.

    Returns
    -------
    (rows,) int32 indices into `members`, or `NOBODY`.
    """
    owned = np.full(table.rows, NOBODY, np.int32)
    generations = [-1 if member.generation_id is None else member.generation_id for member in members]
    for generation in sorted(set(generations)):
        claimants = [index for index, its in enumerate(generations) if its == generation]
        rows, owner = _claims(table, members, claimants)
        owned[rows] = owner
        owned[rows[owned[rows] != owner]] = NOBODY
    return owned


def owned_assignment(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """What the members own, as far as they can be believed: each one's partitions by topic name, ascending within."""
    table = partition_table(metadata)
    return assignment_of(table, owners(table, members), [member.id for member in members])


def _claims(table: PartitionTable, members: Sequence[Member], claimants: Sequence[int]) -> tuple[Int64s, Int32s]:
    """Every row that the claimants say they own, and whose claim it is."""
    # Runs that were cut from one assignment share its list of topics, which is then looked up once.
    by_topics: dict[int, tuple[Sequence[str], list[tuple[int, Int32s, Int32s]]]] = {}
    names: list[str] = []
    listed: list[tuple[int, Int32s, Int32s]] = []
    for index in claimants:
        owned = members[index].owned
        if isinstance(owned, OwnedRuns):
            _, runs = by_topics.setdefault(id(owned.topics), (owned.topics, []))
            runs.append((index, owned.topic_index, owned.partitions))
            continue
        for run in owned:
            listed.append((index, np.full(len(run.partitions), len(names), np.int32), run.partitions))
            names.append(run.topic)
    rows, owner = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for topics, runs in [*by_topics.values(), (names, listed)]:
        if not runs:
            continue
        whose, topic_index, partitions = zip(*runs, strict=True)
        lengths = np.fromiter(map(len, partitions), np.int64, len(partitions))
        rows.append(table.rows_of(topics, np.concatenate(topic_index), np.concatenate(partitions)))
        owner.append(np.repeat(np.array(whose, np.int32), lengths))
    all_rows, all_owners = np.concatenate(rows), np.concatenate(owner)
    known = all_rows != NO_ROW
    return all_rows[known], all_owners[known]


def assignment_of(table: PartitionTable, held: Int32s, member_ids: Sequence[str]) -> GroupAssignment:
    """The inverse of `holders`: each member's partitions by topic name, ascending within."""
    # numpy sorts 16-bit integers in linear time, and few groups have more members.
    keys = (held + 1).astype(np.uint16) if len(member_ids) < 0xFFFF else held
    order = np.argsort(keys, kind="stable")
    order = order[np.count_nonzero(held == NOBODY) :]
    counts = np.bincount(held[order], minlength=len(member_ids))
    topic_index = table.topic_of_rows()[order]
    return GroupAssignment(
        members=tuple(member_ids),
        topics=table.topics,
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)]),
        topic_index=topic_index,
        partitions=(order - table.starts[topic_index]).astype(np.int32),
    )
