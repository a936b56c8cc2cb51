"""What `kafka-reassign-partitions --list` prints: the reassignments in progress.

    Current partition reassignments:
    orders-0: replicas: 104,102,103,101. adding: 104. removing: 101.

or `No partition reassignments found.`

Source: `ReassignPartitionsCommand.listReassignments` of Apache Kafka 2.6 to 4.x.
"""

import re

from app.formats.sources.contents import Contents, Partition, Source
from app.formats.syntax.lines import numbered, rejection, shown, whole_number, whole_numbers

_TITLE = re.compile(r"\s*(?:Current partition reassignments:|No partition reassignments found\.)\s*")
_ROW = re.compile(
    r"\s*(?P<topic>[a-zA-Z0-9._-]{1,249})-(?P<partition>\d{1,10}): replicas: (?P<replicas>[\d,]+)\."
    r"(?: adding: (?P<adding>[\d,]+)\.)?(?: removing: (?P<removing>[\d,]+)\.)?\s*"
)


def read(text: str) -> Contents:
    """The replicas that are added and removed, by partition.

    Raises
    ------
    MalformedText
        The tool prints no such line, or an id is not valid.
    """
    moves: dict[Partition, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for line, content in numbered(text):
        if _TITLE.fullmatch(content):
            continue
        row = _ROW.fullmatch(content)
        partition = None if row is None else whole_number(row["partition"])
        lists = [] if row is None else [whole_numbers(row[name] or "") for name in ("replicas", "adding", "removing")]
        if row is None or partition is None or None in lists:
            expected = "a reassignment (`orders-0: replicas: 104,102,101. adding: 104. removing: 101.`)"
            raise rejection(line, expected=expected, actual=shown(content))
        moves[row["topic"], partition] = lists[1] or (), lists[2] or ()
    return Contents(moves=moves)


SOURCE = Source("kafka-reassign-partitions --list", read, _TITLE, re.compile(r".*(?: replicas| adding| removing): "))
