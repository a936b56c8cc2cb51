"""Tables of partitions, as rows of `kafka-topics --describe`: CSV, also with `;`, `|` or tabs, or columns of blanks.

    Topic;Partition;Leader;Replicas;Isr
    orders;0;1;1,2;1,2

The heading has these columns among others, in any order; their names count without case, blanks, `_` and `-`. Rows may
begin with a number that has no column. Ids of a list have one of `,;:|` or blanks between them, perhaps in brackets.
Every line keeps its number.
"""

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

_NAMES = {
    "Topic": {"topic", "topicname"},
    "Partition": {"partition", "partitionid"},
    "Leader": {"leader", "leaderid", "leaderbroker"},
    "Replicas": {"replicas", "replicaids", "assignedreplicas", "replicabrokers"},
    "Isr": {"isr", "isrs", "insync", "insyncreplicas"},
}
HEADING = re.compile("\t".join(_NAMES) + "$")
"""The heading of a table as `as_rows` writes it."""
_MAY_BE_HEADING = re.compile(
    r"^(?=[^\n:]{0,300}topic)(?=[^\n:]{0,300}leader)(?=[^\n:]{0,300}replica)[^\n:]*partition[^\n:]*$",
    re.IGNORECASE | re.MULTILINE,
)
_UNSPOKEN = re.compile(r"[ _\"'-]")
_CELL = re.compile(r"\[[^\]\n]*\]|\S+")
_IDS = re.compile(r"[\[{(]?(?:\d{1,10}(?:[,;:| ]{1,2}|(?=[\]})]|$)))*[\]})]?")


def is_heading(line: str) -> bool:
    """Whether a line is the heading of such a table."""
    return _MAY_BE_HEADING.match(line) is not None and _Table.below(line) is not None


def as_rows(text: str) -> str:
    """The text with each row below such a heading as `kafka-topics` prints it."""
    if (first := _MAY_BE_HEADING.search(text)) is None:
        return text
    lines = text.split("\n")
    table: _Table | None = None
    for at in range(text.count("\n", 0, first.start()), len(lines)):
        line = lines[at].rstrip("\r")
        if "opic" in line.lower() and (below := _Table.below(line)):
            table, lines[at] = below, "\t".join(_NAMES)
        elif table is not None:
            lines[at] = table.row(line) or lines[at]
    return "\n".join(lines)


class _Table(NamedTuple):
    """The mark between cells, empty for blanks; the number of cells, and the place of each column of `_NAMES`."""

    mark: str
    width: int
    places: Sequence[int]

    @classmethod
    def below(cls, heading: str) -> "_Table | None":
        """The table below a heading; None if the heading lacks a column."""
        mark = next((mark for mark in "\t;|," if mark in heading), "")
        names = [_UNSPOKEN.sub("", name).lower() for name in _cells(heading, mark)]
        places = [next((i for i, name in enumerate(names) if name in known), -1) for known in _NAMES.values()]
        is_other = -1 in places or "outofsync" in names  # Cruise Control's state has a reader of its own
        return None if is_other else cls(mark, len(names), places)

    def row(self, line: str) -> str | None:
        """The line as `kafka-topics` prints such a row; None if it is not a row of the table."""
        cells = _cells(line, self.mark)
        if len(cells) == self.width + 1 and self.mark in ("", "\t") and cells[0].strip().isdigit():
            cells = cells[1:]
        if len(cells) == self.width and any(map(str.isalnum, line)):  # no rule
            return _row([cells[place].strip() for place in self.places])
        is_cut_off = self.mark and cells[1:] and cells[1].strip().isdigit()
        return f"\tTopic: {line}\tPartition: " if is_cut_off else None  # which is rejected


def _cells(line: str, mark: str) -> Sequence[str]:
    if not mark:
        return _CELL.findall(line)
    return next(csv.reader([line], delimiter=mark, skipinitialspace=True)) if '"' in line else line.split(mark)


def _row(cells: Sequence[str]) -> str:
    topic, partition, leader, replicas, isr = cells
    leader = "none" if leader.lower() in ("", "-", "none", "null") else leader
    return f"\tTopic: {topic}\tPartition: {partition}\tLeader: {leader}\tReplicas: {_ids(replicas)}\tIsr: {_ids(isr)}"


def _ids(cell: str) -> str:
    if cell.replace(",", "").isdigit() or not _IDS.fullmatch(cell):
        return cell
    return ",".join(re.findall(r"\d+", cell))
