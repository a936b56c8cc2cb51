"""The verifier: every way in which a group's assignment, however it was made, is illegal or uneven."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.groups.arrays.partition_table import NO_ROW, PartitionTable, members_of_entries, partition_table
from app.core.groups.arrays.subscriptions import NO_CLASS, SubscriptionClasses, subscription_classes
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.fair_shares import fair_shares
from app.core.measures.violations import NAMED_PARTITIONS
from app.core.model import NO_MEMBER, Int32s, Int64s


@dataclass(frozen=True, slots=True)
class GroupViolation:
    """One violation of an assignment, for one topic or, if `topic` is None, for the group."""

    code: str
    """Stable code of the violation."""
    severity: str
    """`illegal`: a partition is assigned twice, to no member, or to a member that does not subscribe to it. `uneven`:
    legal, and another assignment is more balanced."""
    topic: str | None
    """Name of the topic; null if the violation is of the whole group."""
    count: int
    """Number of partitions, or of members, concerned."""
    partitions: tuple[int, ...]
    """Ids of the first partitions concerned."""
    members: tuple[str, ...]
    """Ids of the first members concerned."""
    detail: str
    """The violation in a sentence, with names and numbers."""


def violations(members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment) -> list[GroupViolation]:
    """List every violation of an assignment, by topic name.

    Returns
    -------
    Empty if every partition with a subscriber is assigned to exactly one of its subscribers, no other partition is
    assigned, and the loads are the fairest (`fair_shares`). The loads are checked only if all else holds.
    """
    table = partition_table(metadata)
    classes = subscription_classes(members, table)
    ids = [member.id for member in members]
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    readers = members_of_entries(assignment, ids)
    result = _unknown_entries(assignment, rows, readers)
    is_valid = (rows != NO_ROW) & (readers != NO_MEMBER)
    rows, readers = rows[is_valid], readers[is_valid]
    result += _unsubscribed(table, classes, rows, readers)
    times = np.bincount(rows, minlength=table.rows)
    is_subscribed = (classes.topic_class != NO_CLASS)[table.topic_of_rows()]
    result += _per_topic(table, np.flatnonzero(times > 1), "doubly_assigned", "are given out more than once")
    unassigned = np.flatnonzero((times == 0) & is_subscribed)
    result += _per_topic(table, unassigned, "unassigned", "have a subscriber and no reader")
    result.sort(key=lambda violation: (violation.topic or "", violation.code))
    return result or _imbalance(classes, ids, np.bincount(readers, minlength=len(ids)))


def _unknown_entries(assignment: GroupAssignment, rows: Int64s, readers: Int32s) -> list[GroupViolation]:
    """Entries for partitions that the metadata does not contain, and for members that are not in the group."""
    result = []
    for index in np.unique(assignment.topic_index[rows == NO_ROW]).tolist():
        unknown = np.sort(assignment.partitions[(rows == NO_ROW) & (assignment.topic_index == index)])
        first = tuple(unknown[:NAMED_PARTITIONS].tolist())
        detail = f"{len(unknown)} partitions of {assignment.topics[index]} are given out and not in the metadata"
        result.append(
            GroupViolation("unknown_partition", "illegal", assignment.topics[index], len(unknown), first, (), detail)
        )
    member_of_entry = np.repeat(np.arange(len(assignment.members)), np.diff(assignment.offsets))
    outside = np.unique(member_of_entry[readers == NO_MEMBER])
    if len(outside):
        first_members = tuple(assignment.members[index] for index in outside[:NAMED_PARTITIONS].tolist())
        detail = f"{len(outside)} members that are not in the group are given partitions"
        result.append(GroupViolation("unknown_member", "illegal", None, len(outside), (), first_members, detail))
    return result


def _unsubscribed(
    table: PartitionTable, classes: SubscriptionClasses, rows: Int64s, readers: Int32s
) -> list[GroupViolation]:
    topic_class = classes.topic_class[table.topic_of_rows()[rows]]
    member_class = classes.member_class[readers]
    is_legal = (topic_class != NO_CLASS) & (member_class != NO_CLASS)
    is_legal[is_legal] = classes.subscribes[topic_class[is_legal], member_class[is_legal]]
    predicate = "are read by a member that does not subscribe to it"
    return _per_topic(table, np.unique(rows[~is_legal]), "not_subscribed", predicate)


def _per_topic(table: PartitionTable, rows: Int64s, code: str, predicate: str) -> list[GroupViolation]:
    """One violation for each topic of the rows, which ascend."""
    topics = table.topic_of_rows()[rows]
    result = []
    for index in np.unique(topics).tolist():
        partitions = (rows[topics == index] - table.starts[index]).tolist()
        size = int(table.starts[index + 1] - table.starts[index])
        detail = f"{len(partitions)} of {size} partitions of {table.topics[index]} {predicate}"
        first = tuple(partitions[:NAMED_PARTITIONS])
        result.append(GroupViolation(code, "illegal", table.topics[index], len(partitions), first, (), detail))
    return result


def _imbalance(classes: SubscriptionClasses, ids: Sequence[str], loads: Int64s) -> list[GroupViolation]:
    high = np.zeros(len(classes.members) + 1, np.int64)
    fairest = np.zeros(len(ids), np.int64)
    end = 0
    for share in fair_shares(classes):
        high[share.member_classes] = share.high
        fairest[end : end + share.members] = share.low
        fairest[end : end + share.partitions - share.low * share.members] = share.high
        end += share.members
    descending, fairest = -np.sort(-loads), -np.sort(-fairest)
    differing = np.flatnonzero(descending != fairest)
    if not len(differing):
        return []
    above = np.flatnonzero(loads > high[classes.member_class])
    first = int(differing[0])
    detail = (
        f"the loads in descending order are not the fairest: number {first + 1} reads {descending[first]}, "
        f"and could read {fairest[first]}; {len(above)} members read more than they would have to"
    )
    first_members = tuple(ids[index] for index in above[:NAMED_PARTITIONS].tolist())
    return [GroupViolation("imbalance", "uneven", None, len(above), (), first_members, detail)]
