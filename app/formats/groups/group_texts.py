"""All that was collected about groups in one text: tables of `kafka-consumer-groups`, `kafka-share-groups` and
`kafka-streams-groups --describe` in any of their forms, one after another in any order, and perhaps descriptions of
groups as JSON, by an admin client or another tool.

Which table of which tool a line is the header of.

Most tables have a column that no other has. Two pairs differ in less:

- `kafka-share-groups --members` has the columns of `kafka-consumer-groups --members --verbose` up to 3.9. It has
  MEMBER-EPOCH, or no `#PARTITIONS`, or one that is 12 characters wide.
- `--state` of share and Streams groups has equal columns. STATE is 25 characters wide for a Streams group.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.core.recorded import GroupType
from app.formats.groups import (
    consumer_groups,
    described_groups,
    group_answers,
    group_cells,
    group_tables,
    share_groups,
    streams_groups,
)
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.described_groups import DescribedGroup
from app.formats.groups.group_answers import GroupAnswers
from app.formats.groups.group_cells import Section, TableForm
from app.formats.groups.streams_groups import StreamsMember
from app.formats.syntax.documents import each_document
from app.formats.syntax.lines import rejection, shown
from app.formats.syntax.odd_names import odd_name
from app.formats.syntax.split_text import UNKNOWN, Mark, split

_SHARE_PARTITIONS_WIDTH = 12
_STREAMS_STATE_WIDTH = 25


def table_of(line: str) -> str | None:
    """The name of the table of which this line is the header, `share members`, or None."""
    # A header without one of its columns is known as well, so that its reader names what is missing.
    for table, form in _FORMS.items():
        if group_tables.is_header(line, form.required):
            return _precise(table, line)
    return None


def _precise(table: str, line: str) -> str:
    """The table of this header, of those that have equal columns."""
    names = line.split()
    if table == "members" and "ASSIGNMENT" in names:
        is_share = "MEMBER-EPOCH" in names or _width(line, "#PARTITIONS") == _SHARE_PARTITIONS_WIDTH
        return "share members" if is_share else table
    if table == "states" and "ASSIGNMENT-STRATEGY" not in names and "STATE" in names:
        is_streams = "TARGET-ASSIGNMENT-EPOCH" in names or _width(line, " STATE") >= _STREAMS_STATE_WIDTH
        return "streams states" if is_streams else "share states"
    return table


def _width(line: str, column: str) -> int:
    """To how many characters the column is padded, without the blank behind it."""
    after = line.partition(column)[2]
    return len(column.strip()) + len(after) - len(after.lstrip(" ")) - 1


# The first that fits a header counts: LAG is also a column of share groups, and ASSIGNMENT of consumer groups. States
# come last: those of share and Streams groups may look alike, and the first table decides the type of a group.
_FORMS: Mapping[str, TableForm[Any]] = {
    "share offsets": share_groups.OFFSETS,
    "streams offsets": streams_groups.OFFSETS,
    "streams members": streams_groups.MEMBERS,
    "offsets": consumer_groups.OFFSETS,
    "members": consumer_groups.MEMBERS,
    "states": consumer_groups.STATES,
    "share members": share_groups.MEMBERS,
    "share states": share_groups.STATES,
    "streams states": streams_groups.STATES,
}
"""By the type of the groups, which `kafka-consumer-groups` does not state, and the contents."""
_TYPES: tuple[GroupType, ...] = ("share", "streams")


_DESCRIBED = "described"
_EXPECTED = (
    "what kafka-consumer-groups --describe prints (or kafka-share-groups, kafka-streams-groups), "
    "or described groups as JSON"
)


@dataclass(frozen=True, slots=True, eq=False)
class GroupTexts:
    """What the text holds of each kind.

    Parameters
    ----------
    types : the type of each group that is in a table of `kafka-share-groups` or `kafka-streams-groups`.
    odd_name : the name of a field of a description that no tool prints.
    """

    offsets: tuple[Section[PartitionOffsets], ...] = ()
    members: tuple[Section[GroupMember], ...] = ()
    states: tuple[Section[GroupState], ...] = ()
    streams_members: tuple[Section[StreamsMember], ...] = ()
    described: tuple[DescribedGroup, ...] = ()
    types: Mapping[str, GroupType] = field(default_factory=dict)
    odd_name: str | None = None


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
    tables = {table: group_cells.read(texts.parts.get(table, ""), form) for table, form in _FORMS.items()}
    types: dict[str, GroupType] = {}
    for table, sections in tables.items():
        for group_type in filter(table.startswith, _TYPES):
            groups = (row.group for section in sections for row in section.rows)
            types = {**dict.fromkeys(filter(None, groups), group_type), **types}
    streams_members = tables.pop("streams members")
    offsets, members, states = (
        [section for table, sections in tables.items() if table.endswith(kind) for section in sections]
        for kind in ("offsets", "members", "states")
    )
    answers = _answers(texts.parts.get(_DESCRIBED, ""))
    return GroupTexts(
        (*offsets, answers.offsets()),
        (*members, answers.members()),
        (*states, answers.states()),
        streams_members,
        tuple(answers.described),
        types,
        answers.odd_name,
    )


def _answers(text: str) -> GroupAnswers:
    """What documents say of groups, each of which is described once."""
    answers, names = GroupAnswers(), set[str]()
    for document in each_document(text, "described groups"):
        before = len(answers.described)
        if isinstance(document.root, dict | list):
            of_groups = [*document.root.values()] if isinstance(document.root, dict) else document.root
            answers.odd_name = answers.odd_name or odd_name(of_groups)  # the keys may be names of groups
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
    if (table := table_of(content)) is not None:
        return Mark(table, rows=group_tables.usual_rows(content))
    return UNKNOWN if current in (None, _DESCRIBED) else Mark()
