"""Tables of partitions, as rows of `kafka-topics --describe`: CSV, also with semicolons or tabs, or columns of blanks.

    Topic;Partition;Leader;Replicas;Isr
    orders;0;1;1,2;1,2

The heading has these columns, in any order after the topic; their names count without case, blanks, `_` and `-`. Ids
of a list have one of `,;:|` or blanks between them, perhaps in brackets. Every line keeps its number.
"""

import csv
import re
from collections.abc import Callable, Sequence

_NAMES = {
    "Topic": {"topic", "topicname"},
    "Partition": {"partition", "partitionid"},
    "Leader": {"leader", "leaderid", "leaderbroker"},
    "Replicas": {"replicas", "replicaids", "assignedreplicas", "replicabrokers"},
    "Isr": {"isr", "isrs", "insync", "insyncreplicas"},
}
HEADING = re.compile(
    r"^[ \"']?topic(?=[^\n:]{0,300}partition)(?=[^\n:]{0,300}leader)(?=[^\n:]{0,300}replicas)"
    r"(?=[^\n:]{0,300}(?:isr|in.?sync))[^\n:]*$",
    re.IGNORECASE | re.MULTILINE,
)
_CELL = re.compile(r"\[[^\]\n]*\]|\S+")
_IDS = re.compile(r"[\[{(]?(?:\d{1,10}(?:[,;:| ]{1,2}|(?=[\]})]|$)))*[\]})]?")


def as_rows(text: str) -> str:
    """The text with each row below such a heading as `kafka-topics` prints it."""
    if (first := HEADING.search(text)) is None:
        return text
    lines = text.split("\n")
    for at in range(text.count("\n", 0, first.start()), len(lines)):
        line = lines[at].rstrip("\r")
        if line[:6].lower().lstrip(" \"'").startswith("topic") and HEADING.match(line):
            cut = _cutter(line)
            names = ["".join(filter(str.isalnum, name)).lower() for name in cut(line)]
            places = [next((i for i, name in enumerate(names) if name in known), -1) for known in _NAMES.values()]
        elif -1 not in places and len(cells := cut(line)) == len(names):
            lines[at] = _row([cells[place].strip() for place in places])
        elif -1 not in places and cut is not _CELL.findall and cells[1:] and cells[1].strip().isdigit():
            lines[at] = f"\tTopic: {line}\tPartition: "  # a row that is cut off, which is rejected
    return "\n".join(lines)


def _cutter(heading: str) -> Callable[[str], Sequence[str]]:
    """Cuts a line into cells, as the heading is cut."""
    mark = next((mark for mark in "\t;," if mark in heading), "")

    def cut(line: str) -> Sequence[str]:
        if '"' in line:
            return next(csv.reader([line], delimiter=mark, skipinitialspace=True))
        return line.split(mark)

    return cut if mark else _CELL.findall


def _row(cells: Sequence[str]) -> str:
    topic, partition, leader, replicas, isr = cells
    leader = "none" if leader.lower() in ("", "-", "none", "null") else leader
    return f"\tTopic: {topic}\tPartition: {partition}\tLeader: {leader}\tReplicas: {_ids(replicas)}\tIsr: {_ids(isr)}"


def _ids(cell: str) -> str:
    if cell.replace(",", "").isdigit() or not _IDS.fullmatch(cell):
        return cell
    return ",".join(re.findall(r"\d+", cell))
