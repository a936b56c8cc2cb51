"""Changes of a group plan: the partitions that pass from one member to another, by the members' ids."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from uuid import UUID

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions, owned_assignment
from app.core.groups.arrays.partition_table import partition_table
from app.core.groups.measures.locality import Handover
from app.core.groups.model import GroupAssignment
from app.core.model import INT32_MAX, NO_REPLICA, Bools, Int32s, Int64s
from app.errors.every import ConflictingFields, PlanNotFound, SnapshotNotFound
from app.services import snapshots
from app.services.bodies import ListOf
from app.services.groups.stored import StoredGroup, member_ids, readers_of_all, stored_group
from app.services.plans import Difference, Plan, named_plan
from app.services.plans.answers import DifferencePage
from app.store.unit import UnitOfWork


@dataclass(frozen=True, slots=True)
class ReaderChange:
    """One partition whose readers differ, by their ids; None on a side without a reader."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    before: tuple[str, ...] | None
    """Ids of the members that read it before; null if none does."""
    after: tuple[str, ...] | None
    """Ids of the members that read it after; null if none does."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The assignment of partitions to members.

    Parameters
    ----------
    members : ids. topics : by name, (partitions, widest) int32 places in `members`, padded; from partition 0 on.
    """

    members: Sequence[str]
    topics: Mapping[str, Int32s] = field(repr=False)


class GroupDiffDocument(DifferencePage):
    """The partitions whose readers differ, by topic and partition id."""

    summary: Handover
    items: ListOf[ReaderChange]


def difference(uow: UnitOfWork, plan: Plan, against: UUID | None) -> Difference:
    """Changes of the plan against another group plan, or against the partitions that its own members owned.

    Raises `ConflictingFields` if `against` is a plan of another kind or a snapshot, which has no assignment, and
    `PlanNotFound` if it is neither.
    """
    before = _owned(uow, plan) if against is None else _planned(_other(uow, plan, against))
    return reading_difference(before, _planned(plan))


def reading_difference(before: Reading, after: Reading) -> Difference:
    """Changes between two readings, counted as in `Handover`; several readers of a partition count together."""
    there = set(after.members)
    ids = [*after.members, *(member for member in before.members if member not in there)]
    place_of = {member: place for place, member in enumerate(ids)}
    names = sorted({*before.topics, *after.topics})
    topics = [_compared(name, before, after, place_of) for name in names]
    counts = [topic.counted(staying=len(after.members)) for topic in topics]
    total = Handover(*(sum(column) for column in zip(*counts, strict=True))) if counts else Handover(0, 0, 0, 0, 0)

    def items(start: int, stop: int) -> list[ReaderChange]:
        changes: list[ReaderChange] = []
        for topic in topics:
            rows = topic.rows[max(start, 0) : max(stop, 0)].tolist()
            changes.extend(topic.change(row, ids) for row in rows)
            start, stop = start - len(topic.rows), stop - len(topic.rows)
        return changes

    return Difference(asdict(total), sum(len(topic.rows) for topic in topics), items)


@dataclass(frozen=True, slots=True, eq=False)
class _TopicChange:
    """One topic on both sides: (partitions, widest) int32 places in one list of members, ascending, padded.

    `rows` are the indices of those that differ.
    """

    topic: str
    before: Int32s
    after: Int32s
    rows: Int64s

    def counted(self, *, staying: int) -> tuple[int, int, int, int, int]:
        """Kept, moved, taken up, dropped and revoked; the first `staying` members are still there."""
        had, has = self.before[:, 0] != NO_REPLICA, self.after[:, 0] != NO_REPLICA
        differs = np.zeros(len(had), np.bool_)
        differs[self.rows] = True
        masks = (had & ~differs, had & has & differs, ~had & has, had & ~has, self._is_given_up(staying))
        unchanged, moved, taken_up, dropped, revoked = (int(np.count_nonzero(mask)) for mask in masks)
        return unchanged, moved, taken_up, dropped, revoked

    def change(self, row: int, ids: Sequence[str]) -> ReaderChange:
        """One partition, its members in the order of the later group."""
        before, after = (
            tuple(ids[place] for place in side[row].tolist() if place != NO_REPLICA) or None
            for side in (self.before, self.after)
        )
        return ReaderChange(self.topic, row, before, after)

    def _is_given_up(self, staying: int) -> Bools:
        """(partitions,): whether some member that is still there had it and has it no longer."""
        # Both sides in one ascending row, each place doubled and one more where it is of the later side: a place that
        # is on both is beside itself. Comparing all with all is quadratic in the readers of a share group.
        was, now = self.before.astype(np.int64) * 2, self.after.astype(np.int64) * 2 + 1
        both = np.sort(np.concatenate([was, now], axis=1), axis=1)
        is_gone = (both >= 0) & (both < 2 * staying) & (both % 2 == 0)
        is_gone[:, :-1] &= both[:, 1:] != both[:, :-1] + 1
        return np.asarray(is_gone.any(axis=1), np.bool_)


def _compared(topic: str, before: Reading, after: Reading, place_of: Mapping[str, int]) -> _TopicChange:
    sides = [(reading, reading.topics[topic]) for reading in (before, after) if topic in reading.topics]
    height, width = (max(rows.shape[axis] for _, rows in sides) for axis in (0, 1))
    was, now = (_spread_out(reading, topic, (height, max(width, 1)), place_of) for reading in (before, after))
    return _TopicChange(topic, was, now, np.flatnonzero((was != now).any(axis=1)))


def _spread_out(reading: Reading, topic: str, shape: tuple[int, int], place_of: Mapping[str, int]) -> Int32s:
    """A topic's readers as places that both sides share: ascending, since the readers of a partition have no order."""
    spread = np.full(shape, INT32_MAX, np.int32)
    if topic in reading.topics:
        rows = reading.topics[topic]
        # The padding is -1, which looks up the last entry.
        places = np.array([*(place_of[member] for member in reading.members), INT32_MAX], np.int32)
        spread[: rows.shape[0], : rows.shape[1]] = places[rows]
        spread.sort(axis=1)
    spread[spread == INT32_MAX] = NO_REPLICA
    return spread


def _planned(plan: Plan) -> Reading:
    return Reading(member_ids(plan.head), {placement.topic: placement.replicas for placement in plan.placements})


def _owned(uow: UnitOfWork, plan: Plan) -> Reading:
    """Partitions that the members of the plan's request, or of the group that it names, report as owned."""
    snapshot_id = plan.head.snapshot_id
    group = stored_group(plan.head, None if snapshot_id is None else snapshots.load(uow, snapshot_id)[1])
    ids = [member.id for member in group.members]
    readers = readers_of_all(group.members, group.metadata, _owned_by(group))
    return Reading(ids, {topic.topic: topic.replicas for topic in readers})


def _owned_by(group: StoredGroup) -> GroupAssignment:
    if group.assignor.is_exclusive:
        # Of two that claim a partition at most one can be believed, as the plan itself has it.
        return owned_assignment(group.members, group.metadata)
    table = partition_table(group.metadata)
    owned = MemberPartitions.owned(group.members, table.index_of)
    return owned.assignment([member.id for member in group.members], table.topics)


def _other(uow: UnitOfWork, plan: Plan, against: UUID) -> Plan:
    if (other := named_plan(uow, plan, against)) is not None:
        return other
    try:
        uow.snapshots.get(against)
    except SnapshotNotFound:
        raise PlanNotFound(f"there is no plan {against}", path=("against",), value=str(against)) from None
    detail = (
        f"{against} is a snapshot; a {plan.head.kind} plan is compared with another, or, where `against` is left out, "
        "with what its members owned"
    )
    raise ConflictingFields(detail, path=("against",), value=str(against))
