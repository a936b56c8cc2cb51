"""All that was collected about consumer groups in one text: tables of `kafka-consumer-groups --describe` in any of its
three forms, one after another in any order, and perhaps an admin client's description of groups as one JSON document.
"""

from dataclasses import dataclass

from app.formats import consumer_groups, described_groups, group_tables
from app.formats.consumer_groups import Form, GroupMember, GroupState, PartitionOffsets, Section
from app.formats.described_groups import DescribedGroup
from app.formats.lines import refusal, shown
from app.formats.split_text import Mark, split, starts_document

_DESCRIBED = "described"
_EXPECTED = "what kafka-consumer-groups --describe prints, or described groups as JSON"


@dataclass(frozen=True, slots=True, eq=False)
class GroupTexts:
    """What the text holds of each kind."""

    offsets: tuple[Section[PartitionOffsets], ...] = ()
    members: tuple[Section[GroupMember], ...] = ()
    states: tuple[Section[GroupState], ...] = ()
    described: tuple[DescribedGroup, ...] = ()


def read(text: str) -> GroupTexts:
    """Read all of it; an empty text holds nothing.

    Raises
    ------
    MalformedText
        A line is before every table and document, or one of them cannot be read; names the line of the whole text.
    """
    texts = split(text, _mark)
    if texts.stray is not None:
        line, content = texts.stray
        raise refusal(line, expected=_EXPECTED, actual=shown(content))
    described = texts.parts.get(_DESCRIBED)
    return GroupTexts(
        offsets=consumer_groups.read_offsets(texts.parts.get(Form.OFFSETS, "")),
        members=consumer_groups.read_members(texts.parts.get(Form.MEMBERS, "")),
        states=consumer_groups.read_states(texts.parts.get(Form.STATES, "")),
        described=() if described is None else described_groups.read(described),
    )


def _mark(content: str, _: int) -> Mark:
    if group_tables.is_prose(content):
        return Mark(belongs=False)
    return Mark(_DESCRIBED if starts_document(content) else consumer_groups.form_of(content))
