"""The verifier: say every way in which a group's assignment, made by anyone, is illegal or needlessly uneven."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.groups.arrays.partition_table import NO_ROW, NOBODY, PartitionTable, entry_members, partition_table
from app.core.groups.arrays.readership import NO_CLASS, Readership, readership
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.fair_shares import fair_shares
from app.core.measures.violations import NAMED_PARTITIONS
from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True)
class GroupViolation:
    """One way in which an assignment is wrong, for one topic or, where `topic` is None, for the group.

    `partitions` and `members` name the first `NAMED_PARTITIONS` that are concerned, `count` counts all.
    """

    code: str
    severity: str
    """`illegal`: a partition is read twice, not at all, or by a member that must not. `uneven`: legal, and others would
    share better."""
    topic: str | None
    count: int
    partitions: tuple[int, ...]
    members: tuple[str, ...]
    detail: str


def violations(members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment) -> list[GroupViolation]:
    """Say every way in which an assignment is not what the group could have, by topic name.

    Returns
    -------
    Empty where every partition that somebody subscribes to is read by exactly one of its subscribers, nothing else is
    read, and the loads are the fairest there are. Whether they are is asked only where all else holds.
    """
    table = partition_table(metadata)
    readers = readership(members, table)
    ids = [member.id for member in members]
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    held_by = entry_members(assignment, ids)
    found = _strangers(assignment, rows, held_by)
    known = (rows != NO_ROW) & (held_by != NOBODY)
    rows, held_by = rows[known], held_by[known]
    found += _unsubscribed(table, readers, rows, held_by)
    times = np.bincount(rows, minlength=table.rows)
    is_read = (readers.topic_class != NO_CLASS)[table.topic_of_rows()]
    found += _per_topic(table, np.flatnonzero(times > 1), "doubly_assigned", "are given out more than once")
    found += _per_topic(table, np.flatnonzero((times == 0) & is_read), "unassigned", "have a subscriber and no reader")
    found.sort(key=lambda violation: (violation.topic or "", violation.code))
    return found or _uneven(readers, ids, np.bincount(held_by, minlength=len(ids)))


def _strangers(assignment: GroupAssignment, rows: Int64s, held_by: Int32s) -> list[GroupViolation]:
    """Entries for partitions that the metadata does not know, and for members that are not in the group."""
    found = []
    for index in np.unique(assignment.topic_index[rows == NO_ROW]).tolist():
        lost = np.sort(assignment.partitions[(rows == NO_ROW) & (assignment.topic_index == index)])
        named = tuple(lost[:NAMED_PARTITIONS].tolist())
        detail = f"{len(lost)} partitions of {assignment.topics[index]} are given out and not in the metadata"
        found.append(
            GroupViolation("unknown_partition", "illegal", assignment.topics[index], len(lost), named, (), detail)
        )
    outside = np.unique(np.repeat(np.arange(len(assignment.members)), np.diff(assignment.offsets))[held_by == NOBODY])
    if len(outside):
        named_members = tuple(assignment.members[index] for index in outside[:NAMED_PARTITIONS].tolist())
        detail = f"{len(outside)} members that are not in the group are given partitions"
        found.append(GroupViolation("unknown_member", "illegal", None, len(outside), (), named_members, detail))
    return found


def _unsubscribed(table: PartitionTable, readers: Readership, rows: Int64s, held_by: Int32s) -> list[GroupViolation]:
    topic_class = readers.topic_class[table.topic_of_rows()[rows]]
    member_class = readers.member_class[held_by]
    legal = (topic_class != NO_CLASS) & (member_class != NO_CLASS)
    legal[legal] = readers.reads[topic_class[legal], member_class[legal]]
    code, what = "not_subscribed", "are read by a member that does not subscribe to it"
    return _per_topic(table, np.unique(rows[~legal]), code, what)


def _per_topic(table: PartitionTable, rows: Int64s, code: str, what: str) -> list[GroupViolation]:
    """One violation a topic of the given rows, which ascend."""
    topics = table.topic_of_rows()[rows]
    found = []
    for index in np.unique(topics).tolist():
        partitions = (rows[topics == index] - table.starts[index]).tolist()
        size = int(table.starts[index + 1] - table.starts[index])
        detail = f"{len(partitions)} of {size} partitions of {table.topics[index]} {what}"
        named = tuple(partitions[:NAMED_PARTITIONS])
        found.append(GroupViolation(code, "illegal", table.topics[index], len(partitions), named, (), detail))
    return found


def _uneven(readers: Readership, ids: Sequence[str], loads: Int64s) -> list[GroupViolation]:
    shares = fair_shares(readers)
    high = np.zeros(len(readers.members) + 1, np.int64)
    fairest = np.zeros(len(ids), np.int64)
    end = 0
    for share in shares:
        high[share.member_classes] = share.high
        fairest[end : end + share.members] = share.low
        fairest[end : end + share.partitions - share.low * share.members] = share.high
        end += share.members
    descending, fairest = -np.sort(-loads), -np.sort(-fairest)
    differing = np.flatnonzero(descending != fairest)
    if not len(differing):
        return []
    over = np.flatnonzero(loads > high[readers.member_class])
    first = int(differing[0])
    detail = (
        f"the loads in descending order are not the fairest: number {first + 1} reads {descending[first]}, "
        f"and could read {fairest[first]}; {len(over)} members read more than they would have to"
    )
    named = tuple(ids[index] for index in over[:NAMED_PARTITIONS].tolist())
    return [GroupViolation("imbalance", "uneven", None, len(over), (), named, detail)]
