"""Which table of which tool a line is the header of.

Most tables have a column that no other has. Two pairs differ in less:

- `kafka-share-groups --members` has the columns of `kafka-consumer-groups --members --verbose` up to 3.9. It has
  MEMBER-EPOCH, or no `#PARTITIONS`, or one that is 12 characters wide.
- `--state` of share and Streams groups has equal columns. STATE is 25 characters wide for a Streams group.
"""

from collections.abc import Mapping
from enum import StrEnum

from app.core.recorded import GroupType
from app.formats.groups import consumer_groups, group_tables, share_groups, streams_groups

_SHARE_PARTITIONS_WIDTH = 12
_STREAMS_STATE_WIDTH = 25


class Table(StrEnum):
    """A table of a tool."""

    OFFSETS = "offsets"
    MEMBERS = "members"
    STATES = "states"
    SHARE_OFFSETS = "share_offsets"
    SHARE_MEMBERS = "share_members"
    SHARE_STATES = "share_states"
    STREAMS_OFFSETS = "streams_offsets"
    STREAMS_MEMBERS = "streams_members"
    STREAMS_STATES = "streams_states"

    @property
    def group_type(self) -> GroupType | None:
        """The type of its groups; None for `kafka-consumer-groups`, which prints classic and consumer groups."""
        return "share" if self.startswith("share") else "streams" if self.startswith("streams") else None


def table_of(line: str) -> Table | None:
    """The table of which this line is the header, or None."""
    # A header without one of its columns is known as well, so that its reader names what is missing.
    for table, required in _REQUIRED.items():
        if group_tables.is_header(line, required):
            return _precise(table, line)
    return None


def _precise(table: Table, line: str) -> Table:
    """The table of this header, of those that have equal columns."""
    names = line.split()
    if table is Table.MEMBERS and "ASSIGNMENT" in names:
        is_share = "MEMBER-EPOCH" in names or _width(line, "#PARTITIONS") == _SHARE_PARTITIONS_WIDTH
        return Table.SHARE_MEMBERS if is_share else table
    if table is Table.STATES and "ASSIGNMENT-STRATEGY" not in names and "STATE" in names:
        is_streams = "TARGET-ASSIGNMENT-EPOCH" in names or _width(line, " STATE") >= _STREAMS_STATE_WIDTH
        return Table.STREAMS_STATES if is_streams else Table.SHARE_STATES
    return table


def _width(line: str, column: str) -> int:
    """To how many characters the column is padded, without the blank behind it."""
    after = line.partition(column)[2]
    return len(column.strip()) + len(after) - len(after.lstrip(" ")) - 1


# The first that fits counts: LAG is also a column of share groups, and ASSIGNMENT of consumer groups.
_REQUIRED: Mapping[Table, tuple[str, ...]] = {
    Table.SHARE_OFFSETS: share_groups.OFFSETS.required,
    Table.STREAMS_OFFSETS: streams_groups.OFFSETS.required,
    Table.STREAMS_MEMBERS: streams_groups.MEMBERS.required,
    Table.OFFSETS: consumer_groups.OFFSETS.required,
    Table.MEMBERS: consumer_groups.MEMBERS.required,
    Table.STATES: consumer_groups.STATES.required,
    Table.SHARE_MEMBERS: share_groups.MEMBERS.required,
}
