"""Tables of partitions, as rows of `kafka-topics --describe`: CSV, also with `;`, `|` or tabs, or columns of blanks.

    Topic;Partition;Leader;Replicas;Isr
    orders;0;1;1,2;1,2

The heading has these columns among others, in any order; their names count without case, blanks, `_` and `-`. Without
the column of the topic, as `kaf topic describe` prints it, the topic is that of the last line before that names one
(`Name:  orders`, or the command). Rows may begin with a number that has no column. Ids of a list have one of
`,;:|` or blanks between them, perhaps in brackets. Every line keeps its number.
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
    r"^(?=[^\n:]{0,300}leader)(?=[^\n:]{0,300}replica)[^\n:]*partition[^\n:]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(r"\s*(?:Name|Topic):\s+(?P<name>[\w.-]{1,249})\s*$|.*\btopic describe\s+(?P<command>[\w.-]{1,249})")
_SUMMARY = re.compile(r"Partitions:|Topic: \S{1,249} PartitionCount: \d{1,10} ReplicationFactor: \d{1,5}")
"""A line above a heading that says no more than the table."""
_UNSPOKEN = re.compile(r"[ _\"'-]")
_WIDE = re.compile(r"\t+|\s{2,}")
_CELL = re.compile(r"\[[^\]\n]*\]|\S+")
_IDS = re.compile(r"[\[{(]?(?:\d{1,10}(?:[,;:| ]{1,2}|(?=[\]})]|$)))*[\]})]?")


def is_heading(line: str) -> bool:
    """Whether a line is the heading of such a table."""
    return _MAY_BE_HEADING.match(line) is not None and _Table.below(line) is not None


def as_rows(text: str) -> str:
    """The text with each row below such a heading as `kafka-topics` prints it."""
    # Rows of groups have no such word, and a search through the lines takes a tenth of the time of reading them.
    if not ("eplica" in text or "EPLICA" in text) or _MAY_BE_HEADING.search(text) is None:
        return text
    lines = text.split("\n")
    table: _Table | None = None
    topic = ""
    for at in range(len(lines)):
        line = lines[at].rstrip("\r")
        if (named := _NAMED.match(line)) is not None:
            topic, table = named["name"] or named["command"], None
        elif "artition" in line.lower() and (below := _Table.below(line, topic)):
            before = next((i for i in range(at - 1, -1, -1) if lines[i].strip()), at)
            if _SUMMARY.fullmatch(lines[before].strip()):
                lines[before] = ""
            table, lines[at] = below, "\t".join(_NAMES)
        elif table is not None:
            lines[at] = (table.row(line) or lines[at]) if any(map(str.isalnum, line)) else ""
    return "\n".join(lines)


class _Table(NamedTuple):
    """The mark between cells, empty for blanks; the number of cells, and the place of each column of `_NAMES`.

    Parameters
    ----------
    topic : that of all rows if no column has it, whose place is then -1.
    """

    mark: str
    width: int
    places: Sequence[int]
    topic: str

    @classmethod
    def below(cls, heading: str, topic: str = "") -> "_Table | None":
        """The table below a heading, given the topic that was named before; None if the heading lacks a column."""
        if "outofsync" in _unspoken(heading):  # Cruise Control's state has a reader of its own
            return None
        mark = next((mark for mark in "\t;|," if mark in heading and "\t\t" not in heading), "")
        wide = () if mark else _WIDE.split(heading.strip())  # a name may have blanks, and columns just one between them
        for cells in (wide, _cells(heading, mark)):
            names = [_unspoken(cell) for cell in cells]
            places = [next((i for i, name in enumerate(names) if name in known), -1) for known in _NAMES.values()]
            if -1 not in (places[1:] if topic else places):
                return cls(mark, len(names), places, topic)
        return None

    def row(self, line: str) -> str | None:
        """The line as `kafka-topics` prints such a row; None if it is not a row of the table."""
        cells = _cells(line, self.mark)
        is_numbered = self.places[0] >= 0 and self.mark in ("", "\t") and cells[0].strip().isdigit()
        cells = cells[1:] if len(cells) == self.width + 1 and is_numbered else cells
        if len(cells) == self.width:
            values = [cells[place].strip() if place >= 0 else self.topic for place in self.places]
            return _row(values) if self.places[0] >= 0 or values[1].isdigit() else None
        is_cut_off = self.mark and cells[1:] and cells[1].strip().isdigit()
        return f"\tTopic: {line}\tPartition: " if is_cut_off else None  # which is rejected


def _unspoken(name: str) -> str:
    return _UNSPOKEN.sub("", name).lower()


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
