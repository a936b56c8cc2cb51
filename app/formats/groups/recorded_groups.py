"""Groups out of the texts that describe them, joined by group id and member id.

The members of a group are those of the text with most of its members: the coordinator's own answer, else the table of
members, else the offsets. The others add what they know of the same members. Texts that were not taken at the same
moment may disagree; their data of other members are then not joined, which is reported.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TypeAlias, TypeVar

from app.core.groups.model import Owned
from app.core.recorded import GroupType, RecordedGroup, RecordedMember, RecordedOffset, TopicPartitions
from app.formats.groups import contradictions
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.described_groups import DescribedGroup, DescribedMember
from app.formats.groups.group_cells import Section
from app.formats.groups.group_texts import GroupTexts
from app.formats.groups.streams_groups import StreamsMember
from app.formats.syntax.generated_bytes import grouped
from app.formats.syntax.lines import rejection, shown

Row = TypeVar("Row", PartitionOffsets, GroupMember, GroupState, StreamsMember)
_Members: TypeAlias = Mapping[str, RecordedMember]


@dataclass(frozen=True, slots=True)
class FromTheFuture:
    """A member whose `subscription` or `assignment` (the part) is of a version that was read as the newest known."""

    group_id: str
    member_id: str
    part: str
    version: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What the texts say differently of one group, in words."""

    group_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class JoinedGroups:
    """The groups by group id, and what a caller should know of how they were read.

    Parameters
    ----------
    undescribed : the groups for which an admin client's description has an error, which says why, and no members. They
        are among the groups only if a table has them.
    odd_name : the name of a field that no tool prints.
    """

    groups: tuple[RecordedGroup, ...] = ()
    from_the_future: tuple[FromTheFuture, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    undescribed: tuple[Disagreement, ...] = ()
    odd_name: str | None = None


def join(texts: GroupTexts) -> JoinedGroups:
    """Join the texts into groups.

    Raises
    ------
    MalformedText
        A table does not name its group, as before Kafka 2.3, or has a state, a member or a partition of it twice;
        names the line.
    """
    of = defaultdict(_Sources, {group.group_id: _Sources(group) for group in texts.described if group.error is None})
    for name, state in _rows(texts.states, lambda _: "the state"):
        of[name].state = state
    listed = list(_each_once(texts.members))
    for name, member in _rows(listed, lambda row: f"member {shown(row.consumer_id)}"):
        of[name].listed.append(member)
    for name, task_member in _rows(texts.streams_members, lambda row: f"member {shown(row.member_id)}"):
        of[name].streams.append(task_member)
    for name, row in _rows(texts.offsets, _partition_name):
        of[name].rows.append(row)
    for name, group_type in texts.types.items():
        of[name].type = group_type
    groups: list[RecordedGroup] = []
    tables = Counter(name for rows in {section.rows for section in listed} for name in {row.group for row in rows})
    several = [name for name, count in tables.items() if name is not None and count > 1]
    disagreements = [Disagreement(name, "tables without a common member, as of several moments") for name in several]
    for name in sorted(of):
        members = of[name].members()
        groups.append(_group(name, of[name], members))
        details = (*_differences(of[name], members), *contradictions.of_group(groups[-1]))
        disagreements += [Disagreement(name, detail) for detail in details]
    undescribed = [Disagreement(group.group_id, group.error) for group in texts.described if group.error is not None]
    newer = _from_the_future(texts.described)
    return JoinedGroups(tuple(groups), tuple(newer), tuple(disagreements), tuple(undescribed), texts.odd_name)


@dataclass(slots=True)
class _Sources:
    """The data of one group in each text; None or empty if there are none."""

    described: DescribedGroup | None = None
    state: GroupState | None = None
    listed: list[GroupMember] = field(default_factory=list)
    streams: list[StreamsMember] = field(default_factory=list)
    rows: list[PartitionOffsets] = field(default_factory=list)
    type: GroupType | None = None

    @property
    def epochs(self) -> tuple[int | None, int | None, int | None]:
        """The epochs of the group, of its target assignment and of its topology; None for each that is in no text."""
        of_group = self.state.group_epoch if self.state else None
        of_target = self.state.target_assignment_epoch if self.state else None
        for row in self.streams[:1]:
            of_target = row.target_assignment_epoch if of_target is None else of_target
        return of_group, of_target, self.streams[0].topology_epoch if self.streams else None

    def has_members(self) -> bool:
        """Whether a text has its members, beyond the number of them."""
        return self.described is not None or bool(self.listed or self.streams or self.rows)

    def has_epochs(self) -> bool:
        """Whether an epoch of KIP-848 is in a text, which a classic group does not have."""
        return self.epochs[0] is not None or any(member.current_epoch is not None for member in self.listed)

    def members(self) -> Sequence[_Members]:
        """The members by id that each text names, the one that counts first."""
        described = () if self.described is None else self.described.members
        records = [{member.member_id: _described(member) for member in described}] if self.described else []
        records += [_listed(self.listed)] if self.listed else []
        records += [_with_tasks(self.streams)] if self.streams else []
        return [*records, _reading(self.rows)] if self.rows or not records else records


def _rows(sections: Iterable[Section[Row]], name: Callable[[Row], str]) -> Iterator[tuple[str, Row]]:
    """Each row with its group; `name` says what there is to be only once. A table that is there twice counts once."""
    seen: set[tuple[str, str]] = set()
    before: list[Section[Row]] = []
    for section in sections:
        for line, row in zip(section.lines, section.rows, strict=True):
            if row.group is None:
                expected = "the column GROUP, printed since 2.3, or a line `--group NAME` before the table"
                raise rejection(line, expected=expected, actual="a table without it")
            what = (row.group, name(row))
            if what in seen:
                if any(section.rows == one.rows for one in before):
                    break
                actual = f"{what[1]} of group {shown(row.group)} again"
                raise rejection(line, expected="each state, member and partition of a group once", actual=actual)
            seen.add(what)
            yield row.group, row
        before.append(section)


def _each_once(sections: Sequence[Section[GroupMember]]) -> Iterator[Section[GroupMember]]:
    """The tables without the rows of `--members` that one of `--members --verbose` has with their assignments."""
    rows = [row for section in sections for row in section.rows]
    verbose = {(row.group, row.consumer_id) for row in rows if row.assignment is not None}
    for section in sections:
        counts = [row.assignment is not None or (row.group, row.consumer_id) not in verbose for row in section.rows]
        rows_that_count = tuple(compress(section.rows, counts))
        yield replace(section, rows=rows_that_count, lines=tuple(compress(section.lines, counts)))


def _partition_name(row: PartitionOffsets) -> str:
    if row.topic is None or row.partition is None:
        return f"member {row.consumer_id} without partitions"
    return f"partition {row.topic}-{row.partition}"


def _group(group_id: str, of: _Sources, members: Sequence[_Members]) -> RecordedGroup:
    counts, *others = members
    state = of.described.state if of.described else of.state.state if of.state else None
    assignor = of.described.protocol if of.described else None
    if not assignor and of.state is not None:
        assignor = of.state.assignment_strategy
    offsets = [
        RecordedOffset(row.topic, row.partition, row.current_offset, row.log_end_offset, row.lag, row.consumer_id)
        for row in of.rows
        if row.topic is not None and row.partition is not None
    ]
    group_epoch, assignment_epoch, topology_epoch = of.epochs
    return RecordedGroup(
        group_id=group_id,
        state=state,
        # An empty group has an empty one.
        assignor=assignor or None,
        members=tuple([_merged([member, *_each(others, member_id)]) for member_id, member in counts.items()]),
        offsets=tuple(sorted(offsets, key=lambda offset: (offset.topic, offset.partition))),
        type=of.type or ("consumer" if of.has_epochs() else None),
        group_epoch=group_epoch,
        assignment_epoch=assignment_epoch,
        topology_epoch=topology_epoch,
    )


def _each(others: Iterable[_Members], member_id: str) -> list[RecordedMember]:
    return [members[member_id] for members in others if member_id in members]


def _merged(records: list[RecordedMember]) -> RecordedMember:
    """One member of several records: each field from the first that has it."""
    if len(records) == 1:
        return records[0]
    return RecordedMember._make(
        [next((value for value in of if value is not None), None) for of in zip(*records, strict=True)]
    )


def _described(member: DescribedMember) -> RecordedMember:
    subscription, assignment = member.subscription, member.assignment
    return RecordedMember(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.client_host,
        group_instance_id=member.group_instance_id,
        rack_id=subscription.rack_id if subscription else None,
        topics=subscription.topics if subscription else None,
        owned=_as_listed(subscription.owned) if subscription else None,
        generation_id=subscription.generation_id if subscription else None,
        user_data=subscription.user_data if subscription else None,
        assigned=_as_listed(assignment.partitions) if assignment else None,
    )


def _listed(rows: Iterable[GroupMember]) -> dict[str, RecordedMember]:
    return {
        row.consumer_id: RecordedMember(
            member_id=row.consumer_id,
            client_id=row.client_id,
            host=row.host,
            group_instance_id=row.group_instance_id,
            assigned=_assigned(row),
            member_epoch=row.current_epoch,
            target=_ascending(row.target_assignment or ()) if row.target_epoch is not None else None,
        )
        for row in rows
    }


def _assigned(row: GroupMember) -> tuple[TopicPartitions, ...] | None:
    """The partitions of a member; None if they are only counted, as without `--verbose`, or not even that."""
    if row.partitions == 0 or row.assignment == ():
        return ()
    return _ascending(row.assignment) if row.assignment else None


def _with_tasks(rows: Iterable[StreamsMember]) -> dict[str, RecordedMember]:
    return {
        row.member_id: RecordedMember(
            member_id=row.member_id,
            client_id=row.client_id,
            member_epoch=row.member_epoch,
            process_id=row.process_id,
            tasks=row.tasks.current,
            target_tasks=row.tasks.target if row.is_verbose else None,
        )
        for row in rows
    }


def _reading(rows: Iterable[PartitionOffsets]) -> dict[str, RecordedMember]:
    by_member: dict[str, list[PartitionOffsets]] = {}
    for row in rows:
        if row.consumer_id is not None:
            by_member.setdefault(row.consumer_id, []).append(row)
    return {
        member: RecordedMember(member, read[0].client_id, read[0].host, assigned=_ascending(_partitions(read)))
        for member, read in by_member.items()
    }


def _partitions(rows: Iterable[PartitionOffsets]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for row in rows:
        if row.topic is not None and row.partition is not None:
            yield row.topic, (row.partition,)


def _as_listed(owned: Iterable[Owned]) -> tuple[TopicPartitions, ...]:
    """Each topic once, in order of first appearance."""
    return tuple([TopicPartitions(run.topic, tuple(run.partitions.tolist())) for run in grouped(owned)])


def _ascending(listed: Iterable[tuple[str, tuple[int, ...]]]) -> tuple[TopicPartitions, ...]:
    """Each topic once, by name and with ascending partitions; the tables print them in the order of strings."""
    by_topic: dict[str, list[int]] = {}
    for topic, partitions in listed:
        by_topic.setdefault(topic, []).extend(partitions)
    return tuple([TopicPartitions(topic, tuple(sorted(numbers))) for topic, numbers in sorted(by_topic.items())])


def _from_the_future(groups: Iterable[DescribedGroup]) -> Iterator[FromTheFuture]:
    for group in groups:
        for member in group.members:
            for part, message in (("subscription", member.subscription), ("assignment", member.assignment)):
                if message is not None and message.is_from_the_future:
                    yield FromTheFuture(group.group_id, member.member_id, part, message.version)


def _differences(of: _Sources, members: Sequence[_Members]) -> Iterator[str]:
    counts, *others = members
    yield from contradictions.of_rows(of.rows, of.listed)
    names = {name for other in others for name in other}
    if unknown := sorted(names - set(counts)):
        yield f"{len(unknown)} members in tables that are not among its {len(counts)}, {shown(unknown[0])} first"
    if of.described is not None and of.listed and (missing := sorted(set(counts) - names)):
        yield f"{len(missing)} of its {len(counts)} members in no table, {shown(missing[0])} first"
    if of.state is None:
        return
    if of.has_members() and of.state.members != len(counts):
        yield f"{len(counts)} members where its state counts {of.state.members}"
    if of.described is not None:
        described, state = of.described, of.state
        for one, other in ((described.state, state.state), (described.protocol, state.assignment_strategy)):
            if one and other and one != other:
                yield f"both {shown(one)} and {shown(other)}"
