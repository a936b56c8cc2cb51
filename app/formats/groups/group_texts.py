"""All that was collected about groups in one text: tables of `kafka-consumer-groups`, `kafka-share-groups` and
`kafka-streams-groups --describe` in any of their forms, one after another in any order, and perhaps descriptions of
groups as JSON, by an admin client or another tool.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from app.core.recorded import GroupType
from app.formats.groups import (
    consumer_groups,
    described_groups,
    group_answers,
    group_forms,
    group_tables,
    share_groups,
    streams_groups,
)
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.described_groups import DescribedGroup
from app.formats.groups.group_answers import GroupAnswers
from app.formats.groups.group_forms import Section, TableForm
from app.formats.groups.group_headers import Table, table_of
from app.formats.groups.streams_groups import StreamsMember
from app.formats.syntax.documents import each_document
from app.formats.syntax.lines import rejection, shown
from app.formats.syntax.split_text import UNKNOWN, Mark, split

_DESCRIBED = "described"
_EXPECTED = (
    "what kafka-consumer-groups --describe prints (or kafka-share-groups, kafka-streams-groups), "
    "or described groups as JSON"
)
Row = TypeVar("Row", PartitionOffsets, GroupMember, GroupState, StreamsMember)


@dataclass(frozen=True, slots=True, eq=False)
class GroupTexts:
    """What the text holds of each kind.

    Parameters
    ----------
    types : the type of each group that is in a table of `kafka-share-groups` or `kafka-streams-groups`.
    """

    offsets: tuple[Section[PartitionOffsets], ...] = ()
    members: tuple[Section[GroupMember], ...] = ()
    states: tuple[Section[GroupState], ...] = ()
    streams_members: tuple[Section[StreamsMember], ...] = ()
    described: tuple[DescribedGroup, ...] = ()
    types: Mapping[str, GroupType] = field(default_factory=dict)


def read(text: str) -> GroupTexts:
    """Read all of it; an empty text holds nothing.

    Raises
    ------
    MalformedText
        A line is before every table and document, or one of them cannot be read; names the line of the whole text.
    """
    texts = split(text, _mark, document=lambda _: _DESCRIBED)
    if texts.unknown:
        line = min(texts.unknown)
        raise rejection(line, expected=_EXPECTED, actual=shown(text.split("\n")[line - 1]))
    types: dict[str, GroupType] = {}

    def sections(table: Table, form: TableForm[Row]) -> tuple[Section[Row], ...]:
        found = group_forms.read(texts.parts.get(table, ""), form)
        if (group_type := table.group_type) is not None:
            for row in (row for section in found for row in section.rows):
                group: str | None = row.group
                if group is not None:
                    types.setdefault(group, group_type)
        return found

    offsets = (
        *sections(Table.OFFSETS, consumer_groups.OFFSETS),
        *sections(Table.SHARE_OFFSETS, share_groups.OFFSETS),
        *sections(Table.STREAMS_OFFSETS, streams_groups.OFFSETS),
    )
    members = sections(Table.MEMBERS, consumer_groups.MEMBERS) + sections(Table.SHARE_MEMBERS, share_groups.MEMBERS)
    streams_members = sections(Table.STREAMS_MEMBERS, streams_groups.MEMBERS)
    # The states come last, since those of share and Streams groups may look alike.
    states = (
        *sections(Table.STATES, consumer_groups.STATES),
        *sections(Table.SHARE_STATES, share_groups.STATES),
        *sections(Table.STREAMS_STATES, streams_groups.STATES),
    )
    answers = _answers(texts.parts.get(_DESCRIBED, ""))
    return GroupTexts(
        (*offsets, answers.offsets()),
        (*members, answers.members()),
        (*states, answers.states()),
        streams_members,
        tuple(answers.described),
        types,
    )


def _answers(text: str) -> GroupAnswers:
    """What documents say of groups, each of which is described once."""
    answers, names = GroupAnswers(), set[str]()
    for document in each_document(text, "described groups"):
        before = len(answers.described)
        if group_answers.owns(document.root):
            answers.take(document)
        else:
            answers.described += described_groups.groups_of(document)
        for group in answers.described[before:]:
            if group.group_id in names:
                actual = f"{shown(group.group_id)} again"
                raise rejection(document.lines_before + 1, expected="each group once", actual=actual)
            names.add(group.group_id)
    return answers


def _mark(content: str, current: str | None) -> Mark:
    if group_tables.prose(content):
        return Mark(belongs=False)
    table = table_of(content)
    return UNKNOWN if table is None and current in (None, _DESCRIBED) else Mark(table)
