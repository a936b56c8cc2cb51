"""The rows of `kafka-topics --describe`, and the columns that they and the headers consist of.

    ⇥Topic: orders⇥Partition: 0⇥Leader: 101⇥Replicas: 101,105,108⇥Isr: 101,105,108⇥Elr: ⇥LastKnownElr:

Nearly all rows of a text have the same columns, in this order, and are read by one regular expression. Every other row,
and whatever has to be rejected, is read column by column.
"""

import re
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple, TypeAlias

import numpy as np

from app.core.model import Int32s
from app.formats.syntax.lines import first_repeated, rejection, shown, whole_number, whole_numbers

Columns: TypeAlias = tuple[str, ...]
Values: TypeAlias = dict[str, str]

ROW_COLUMNS: Columns = ("Partition", "Leader", "Replicas", "Isr")
ELR_COLUMNS: Columns = ("Elr", "LastKnownElr")
OBSERVERS = "Observers"
REASSIGNMENT_COLUMNS: Columns = ("Adding Replicas", "Removing Replicas")

HEADER = "a topic's header (`Topic: …⇥PartitionCount: …⇥ReplicationFactor: …⇥Configs: …`)"
ROW = "a partition's row (`⇥Topic: …⇥Partition: …⇥Leader: …⇥Replicas: …⇥Isr: …`)"
# If tabs became blanks, a column starts at a capitalised word with a colon; two names contain a blank.
_COLUMN_START = re.compile(
    r"(?<=\s)(?<!\bAdding )(?<!\bRemoving )(?=(?:Adding |Removing )?[A-Z][A-Za-z]*:)", flags=re.ASCII
)
# Numbers of up to nine digits are below 2³¹.
_LIST = r"\d{1,9}(?:,\d{1,9})*"
_USUAL = re.compile(
    r"\tTopic: (?P<topic>[^\t]+)\tPartition: (?P<partition>\d{1,9})\tLeader: (?:none|(?P<leader>\d{1,9}))"
    rf"\tReplicas: (?P<replicas>{_LIST})\tIsr: (?P<isr>|{_LIST})"
    rf"(?P<eligible>\tElr: (?:N/A|(?P<elr>|{_LIST}))\tLastKnownElr: (?:N/A|(?P<last>|{_LIST})))?",
    flags=re.ASCII,
)
_COLUMN_NAME = re.compile(r"[A-Za-z][A-Za-z -]{0,60}")
_WITH_COMMAS = str.maketrans("\n ;|", ",,,,")
_WITHOUT_DIGITS = dict.fromkeys(map(ord, "0123456789"))
_PADDED = "00000000"
"""Digits of a number that is longer than its value."""
_LARGEST = 10**9


class PartitionDescription(NamedTuple):
    """A partition's row; a tuple, which is made in a fifth of the time of a dataclass, since there can be a million.

    Parameters
    ----------
    leader : None for `Leader: none` (and for −1, as tools printed it that read ZooKeeper).
    elr, last_known_elr : eligible leader replicas; None if not printed or `N/A`.
    observers : replicas that are observers in Confluent Server.
    """

    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    observers: tuple[int, ...] = ()

    @property
    def broken_id(self) -> int | None:
        """A leader or an in-sync replica that is no replica and has the first digits of one, as a cut leaves them.

        Another id that is no replica's may be the state of the cluster.
        """
        others = {*self.isr, self.leader}.difference(self.replicas, (None,))
        starts = [one for one in others if any(str(replica).startswith(str(one)) for replica in self.replicas)]
        return next(iter(starts), None)


class Rows:
    """Reads the rows of one answer, or of several; knows the topic whose rows so far have `Elr`."""

    def __init__(self) -> None:
        self._elr_topic = ""

    def usual(self, content: str) -> tuple[str, PartitionDescription] | None:
        """The topic and the row, if it has the usual columns and nothing in it is to be rejected."""
        row = _USUAL.fullmatch(content)
        if row is None:
            return None
        topic, partition, leader_text, replica_text, isr_text, eligible, elr_text, last_text = row.groups()
        replicas, isr = _listed(replica_text), _listed(isr_text)
        elr, last = (None if text is None else _listed(text) for text in (elr_text, last_text))
        leader = None if leader_text is None else int(leader_text)
        are_distinct = all(map(_are_distinct, filter(None, (replicas, isr, elr, last))))
        if not are_distinct or not {leader, *isr} <= {None, *replicas} or (elr is None) != (last is None):
            return None
        if eligible is None and topic == self._elr_topic:
            return None
        self._elr_topic = topic if eligible is not None else ""
        return topic, PartitionDescription(int(partition), leader, replicas, isr, (), (), elr, last)

    def usual_block(self, topic: str, lines: Sequence[str]) -> list[PartitionDescription] | None:
        """The rows of these lines, if all are of the topic and as in most texts; in half the time of line by line.

        So each has another partition, a leader, as many distinct replicas, all of which are in sync, and equal columns.
        """
        first = self.usual(lines[0])
        if first is None or first[0] != topic:
            return None
        elr, last = first[1].elr, first[1].last_known_elr
        _, eligible, rest = lines[0].partition("\tElr: ")
        numbers = _numbers_of(topic, "\n".join(lines), len(lines), len(first[1].replicas), eligible + rest)
        if numbers is None:
            return None
        partitions, leaders = numbers[:, 0].tolist(), numbers[:, 1].tolist()
        replicas = list(map(tuple, numbers[:, 2:].tolist()))
        shared = map(repeat, ((), (), elr, last, ()))
        rows = zip(partitions, leaders, replicas, replicas, *shared, strict=False)
        return list(map(tuple.__new__, repeat(PartitionDescription), rows))  # half the time of `_make`

    def require_columns(self, line: int, values: Values) -> None:
        """Raise `MalformedText` if a column is missing.

        Some come in pairs, and in every row of a topic: one alone says that the line is cut off.
        """
        require(line, values, ROW_COLUMNS, of=ROW)
        if "Adding Replicas" in values:
            require(line, values, REASSIGNMENT_COLUMNS, of=ROW)
        if values["Topic"] == self._elr_topic or "Elr" in values:
            self._elr_topic = values["Topic"]
            require(line, values, ELR_COLUMNS, of=f"{ROW}, as other rows have it")
            if values["Elr"] == "N/A" and not values["LastKnownElr"]:
                raise rejection(line, expected="`N/A` after `LastKnownElr:` as after `Elr:`", actual="nothing")

    def row(self, line: int, values: Values) -> PartitionDescription:
        """The row that has these columns. Raises `MalformedText`."""
        replicas, isr = _ids(line, values, "Replicas"), _ids(line, values, "Isr")
        if not replicas:
            raise rejection(line, expected="at least one broker id after `Replicas:`", actual="none")
        observers = _ids(line, values, OBSERVERS)
        if unknown := set(observers).difference(replicas):
            raise rejection(line, expected=f"replicas after `{OBSERVERS}:`", actual=f"{min(unknown)}, not a replica")
        leader = values["Leader"].partition(" (")[0]  # some add the host: `1 (kafka-1:9092)`
        row = PartitionDescription(
            partition=number_in(line, values, "Partition"),
            leader=None if leader in ("none", "-1") else number_in(line, {"Leader": leader}, "Leader"),
            replicas=replicas,
            isr=isr,
            adding=_ids(line, values, "Adding Replicas"),
            removing=_ids(line, values, "Removing Replicas"),
            elr=_ids_or_none(line, values, "Elr"),
            last_known_elr=_ids_or_none(line, values, "LastKnownElr"),
            observers=observers,
        )
        if (broken := row.broken_id) is not None:
            raise rejection(line, expected="replicas as leader and in sync", actual=f"{broken}, not a replica")
        return row


def _listed(text: str) -> tuple[int, ...]:
    """The ids of a list of the usual form."""
    return tuple(map(int, text.split(","))) if text else ()


def _numbers_of(topic: str, block: str, rows: int, width: int, eligible: str) -> Int32s | None:
    """(rows, 2 + width) int32: partition, leader and replicas of each row; None if a line may differ from the others.

    Only digits may be left between the columns, and none of the numbers may be missing or too large.
    """
    text = f"\n{block}\n"
    if eligible:
        if text.count(f"{eligible}\n") != rows:
            return None
        text = text.replace(f"{eligible}\n", "\n")
    columns = {f"\n\tTopic: {topic}\tPartition: ": "\n", "\tLeader: ": " ", "\tReplicas: ": ";", "\tIsr: ": "|"}
    for column, mark in columns.items():
        text = text.replace(column, mark)
    commas = "," * (width - 1)
    if text.translate(_WITHOUT_DIGITS) != "\n" + f" ;{commas}|{commas}\n" * rows or _PADDED in text:
        return None
    listed = text.strip().translate(_WITH_COMMAS)
    if ",," in listed or listed.startswith(",") or listed.endswith(","):
        return None
    numbers = np.fromstring(listed, np.int64, sep=",").reshape(rows, 2 + 2 * width)
    replicas, in_sync = numbers[:, 2 : 2 + width], numbers[:, 2 + width :]
    ordered = np.sort(replicas, axis=1)
    is_usual = (
        numbers.max() < _LARGEST
        and len(np.unique(numbers[:, 0])) == rows
        and (replicas == in_sync).all()
        and (replicas == numbers[:, 1:2]).any(axis=1).all()
        and (ordered[:, 1:] != ordered[:, :-1]).all()
    )
    return numbers[:, : 2 + width].astype(np.int32) if is_usual else None


def _are_distinct(ids: tuple[int, ...]) -> bool:
    return len(set(ids)) == len(ids)


def columns_of(line: int, content: str) -> Values:
    """The line's columns by name, in order; the first is `Topic`."""
    stripped = content.strip()
    parts = stripped.split("\t") if "\t" in stripped else _COLUMN_START.split(stripped)
    values: Values = {}
    for part in parts:
        name, colon, value = part.partition(":")
        if not colon or name in values or not _COLUMN_NAME.fullmatch(name):
            actual = f"{shown(part)} again" if name in values else shown(part)
            raise rejection(line, expected=f"a column (`Name: value`) of {HEADER} or {ROW}", actual=actual)
        values[name] = value.strip(" ")
    if next(iter(values)) != "Topic":
        raise rejection(line, expected=f"{HEADER} or {ROW}", actual=shown(content))
    return values


def require(line: int, values: Values, columns: Columns, *, of: str) -> None:
    """Raise `MalformedText` if a column is missing."""
    for column in columns:
        if column not in values:
            actual = f"only {shown(', '.join(values))}: the line is cut off, or of another release of the tool"
            raise rejection(line, expected=f"the column `{column}` in {of}", actual=actual)


def number_in(line: int, values: Values, column: str) -> int:
    """The whole number in a column. Raises `MalformedText`."""
    number = whole_number(values[column])
    if number is None:
        raise rejection(line, expected=f"a number from 0 to 2147483647 after `{column}:`", actual=shown(values[column]))
    return number


def _ids(line: int, values: Values, column: str) -> tuple[int, ...]:
    text = values.get(column, "")
    ids = whole_numbers(text)
    if ids is None:
        raise rejection(line, expected=f"broker ids from 0 to 2147483647 after `{column}:`", actual=shown(text))
    if (broker := first_repeated(ids)) is not None:
        raise rejection(line, expected=f"each broker once after `{column}:`", actual=f"broker {broker} twice")
    return ids


def _ids_or_none(line: int, values: Values, column: str) -> tuple[int, ...] | None:
    return None if values.get(column, "N/A") == "N/A" else _ids(line, values, column)
