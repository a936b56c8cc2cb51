"""What `kafka-topics --describe` prints: a header line a topic, then a row a partition, columns between tabs.

    Topic: orders⇥TopicId: 2axB58VyTMemnegrC2eNlQ⇥PartitionCount: 1⇥ReplicationFactor: 3⇥Configs: retention.ms=1
    ⇥Topic: orders⇥Partition: 0⇥Leader: 101⇥Replicas: 101,105,108⇥Isr: 101,105,108⇥Elr: ⇥LastKnownElr:

Every generation of the tool is read. Up to 2.1 the header has no blank after its colons; `TopicId` came with 2.8,
`Elr` and `LastKnownElr` with 3.7 (`N/A` if the cluster has none). During a reassignment a row also has
`Adding Replicas` and `Removing Replicas`, and `Replicas` names the target replicas first. A column of another name
(`Offline`, `MarkedForDeletion` …) is preserved in its place. If a terminal or a web page turned the tabs into blanks,
the columns are found by their names.

Source: `TopicCommand` of Apache Kafka 0.10, 2.2, 3.x and 4.x.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from app.core.model import NO_LEADER, UNKNOWN_SIZE, Topic, padded
from app.formats.lines import (
    first_repeated,
    is_topic_id,
    is_topic_name,
    last_line,
    numbered,
    rejection,
    shown,
    whole_number,
    whole_numbers,
)

Columns: TypeAlias = tuple[str, ...]
_Values: TypeAlias = dict[str, str]

HEADER_COLUMNS: Columns = ("TopicId", "PartitionCount", "ReplicationFactor", "Configs")
ROW_COLUMNS: Columns = ("Partition", "Leader", "Replicas", "Isr")
ELR_COLUMNS: Columns = ("Elr", "LastKnownElr")
REASSIGNMENT_COLUMNS: Columns = ("Adding Replicas", "Removing Replicas")

_HEADER = "a topic's header (`Topic: …⇥PartitionCount: …⇥ReplicationFactor: …⇥Configs: …`)"
_ROW = "a partition's row (`⇥Topic: …⇥Partition: …⇥Leader: …⇥Replicas: …⇥Isr: …`)"
# If tabs became blanks, a column starts at a capitalised word with a colon; two names contain a blank.
_COLUMN_START = re.compile(
    r"(?<=\s)(?<!\bAdding )(?<!\bRemoving )(?=(?:Adding |Removing )?[A-Z][A-Za-z]*:)", flags=re.ASCII
)


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """A partition's row.

    Parameters
    ----------
    leader : None for `Leader: none` (and for −1, as it was printed while ZooKeeper was asked).
    elr, last_known_elr : eligible leader replicas; None if not printed or `N/A`.
    others : the columns that have no field of their own, name and value.
    columns : the names of all columns after `Topic`, as printed; columns that are not named here are not written.
    """

    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    others: tuple[tuple[str, str], ...] = ()
    columns: Columns = ROW_COLUMNS


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic's header and its partitions in the order in which they are printed.

    Parameters
    ----------
    configs : the value of `Configs` verbatim, `name=value` pairs with commas between and within them.
    others, columns : as in `PartitionDescription`.
    separator : between a header column's name and its value: `: `, or `:` up to 2.1.
    """

    name: str
    replication_factor: int
    partitions: tuple[PartitionDescription, ...]
    configs: str = ""
    topic_id: str | None = None
    others: tuple[tuple[str, str], ...] = ()
    columns: Columns = HEADER_COLUMNS
    separator: str = ": "


def read(text: str) -> tuple[TopicDescription, ...]:
    """Read the tool's whole answer; an empty text is that of a cluster without topics.

    Raises
    ------
    MalformedText
        A line is neither header nor row or lacks a column, a topic has another number of rows than its header says
        (the text was cut off), a topic or partition comes twice, a replica comes twice in a row.
    """
    reader = _Reader()
    for line, content in numbered(text):
        reader.take(line, content)
    return reader.finished(last_line(text))


def write(descriptions: Iterable[TopicDescription]) -> str:
    """Print the descriptions as the tool does; what `read` read comes back verbatim, in one generation's layout."""
    lines: list[str] = []
    for topic in descriptions:
        lines.append(_header_text(topic))
        start = f"\tTopic: {topic.name}\t"
        lines += [start + "\t".join(_row_texts(row)) for row in topic.partitions]
    return "".join([line + "\n" for line in lines])


def topics(descriptions: Iterable[TopicDescription]) -> tuple[Topic, ...]:
    """The described topics by name as the core knows them, their sizes unknown."""
    return tuple(_topic(description) for description in sorted(descriptions, key=lambda topic: topic.name))


def _topic(description: TopicDescription) -> Topic:
    rows = sorted(description.partitions, key=lambda row: row.partition)
    leaders = [NO_LEADER if row.leader is None else row.leader for row in rows]
    return Topic(
        name=description.name,
        partition_ids=np.array([row.partition for row in rows], dtype=np.int32),
        replicas=padded([row.replicas for row in rows]),
        leaders=np.array(leaders, dtype=np.int32),
        isr=padded([row.isr for row in rows]),
        adding=padded([row.adding for row in rows]),
        removing=padded([row.removing for row in rows]),
        size_bytes=np.full(len(rows), UNKNOWN_SIZE, dtype=np.int64),
        topic_id=description.topic_id,
    )


def _header_text(topic: TopicDescription) -> str:
    values = {
        "TopicId": topic.topic_id or "",
        "PartitionCount": str(len(topic.partitions)),
        "ReplicationFactor": str(topic.replication_factor),
        "Configs": topic.configs,
        **dict(topic.others),
    }
    printed = [("Topic", topic.name), *((name, values[name]) for name in topic.columns)]
    return "\t".join([f"{name}{topic.separator}{value}" for name, value in printed])


def _row_texts(row: PartitionDescription) -> list[str]:
    values = {
        "Partition": str(row.partition),
        "Leader": "none" if row.leader is None else str(row.leader),
        "Replicas": _joined(row.replicas),
        "Isr": _joined(row.isr),
        "Adding Replicas": _joined(row.adding),
        "Removing Replicas": _joined(row.removing),
        "Elr": "N/A" if row.elr is None else _joined(row.elr),
        "LastKnownElr": "N/A" if row.last_known_elr is None else _joined(row.last_known_elr),
        **dict(row.others),
    }
    return [f"{name}: {values[name]}" for name in row.columns]


def _joined(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


@dataclass(slots=True)
class _Section:
    """A topic whose rows are being read."""

    name: str
    partition_count: int
    finish: Callable[[tuple[PartitionDescription, ...]], TopicDescription]
    last_line: int
    rows: dict[int, PartitionDescription] = field(default_factory=dict)

    @property
    def count_text(self) -> str:
        return f"{self.partition_count} partitions of topic {self.name!r}"


class _Reader:
    """Takes one line after the other; knows the topic that is open and what the rows so far had in common."""

    def __init__(self) -> None:
        self._done: dict[str, TopicDescription] = {}
        self._open: _Section | None = None
        self._with_elr = False
        # Many rows share few layouts, so each layout is stored once.
        self._layouts: dict[Columns, Columns] = {}

    def take(self, line: int, content: str) -> None:
        values = _columns(line, content)
        if "Partition" in values:
            self._take_row(line, values)
        elif "PartitionCount" in values:
            self._close(line - 1)
            self._open = self._header(line, values, separator=": " if content.startswith("Topic: ") else ":")
        else:
            raise rejection(line, expected=f"{_HEADER} or {_ROW}", actual=shown(content))

    def finished(self, line: int) -> tuple[TopicDescription, ...]:
        self._close(line)
        return tuple(self._done.values())

    def _close(self, line: int) -> None:
        topic = self._open
        if topic is None:
            return
        if len(topic.rows) != topic.partition_count:
            actual = f"{len(topic.rows)}: the text is cut off"
            raise rejection(min(line, topic.last_line), expected=f"rows for {topic.count_text}", actual=actual)
        self._done[topic.name] = topic.finish(tuple(topic.rows.values()))

    def _header(self, line: int, values: _Values, *, separator: str) -> _Section:
        _require(line, values, ("ReplicationFactor", "Configs"), of=_HEADER)
        name = values["Topic"]
        if not is_topic_name(name):
            raise rejection(line, expected="a topic name after `Topic:`", actual=shown(name))
        if name in self._done:
            raise rejection(line, expected="each topic once", actual=f"topic {name!r} again")
        topic_id = values.get("TopicId") or None
        if topic_id is not None and not is_topic_id(topic_id):
            raise rejection(line, expected="22 characters of base64 after `TopicId:`", actual=shown(topic_id))
        columns = tuple(values)[1:]
        replication_factor = _number(line, values, "ReplicationFactor")

        def finish(rows: tuple[PartitionDescription, ...]) -> TopicDescription:
            return TopicDescription(
                name=name,
                replication_factor=replication_factor,
                partitions=rows,
                configs=values["Configs"],
                topic_id=topic_id,
                others=tuple([(column, values[column]) for column in columns if column not in HEADER_COLUMNS]),
                columns=columns,
                separator=separator,
            )

        return _Section(name, _number(line, values, "PartitionCount"), finish, line)

    def _take_row(self, line: int, values: _Values) -> None:
        _require(line, values, ROW_COLUMNS, of=_ROW)
        self._require_all_or_none(line, values)
        topic = self._open
        if topic is None:
            raise rejection(
                line, expected=f"{_HEADER} before its rows", actual=f"a row of topic {shown(values['Topic'])}"
            )
        if values["Topic"] != topic.name:
            raise rejection(line, expected=f"a row of topic {topic.name!r}", actual=f"one of {shown(values['Topic'])}")
        row = self._row(line, values)
        if row.partition in topic.rows:
            raise rejection(line, expected="each partition once", actual=f"partition {row.partition} again")
        if len(topic.rows) == topic.partition_count:
            raise rejection(line, expected=f"no more than {topic.count_text}", actual=f"partition {row.partition}")
        topic.rows[row.partition] = row
        topic.last_line = line

    def _require_all_or_none(self, line: int, values: _Values) -> None:
        """Columns that come in pairs, and in every row of an answer: one alone says that the line is cut off."""
        if "Adding Replicas" in values:
            _require(line, values, REASSIGNMENT_COLUMNS, of=_ROW)
        if self._with_elr or "Elr" in values:
            self._with_elr = True
            _require(line, values, ELR_COLUMNS, of=_ROW)

    def _row(self, line: int, values: _Values) -> PartitionDescription:
        replicas, isr = _ids(line, values, "Replicas"), _ids(line, values, "Isr")
        if not replicas:
            raise rejection(line, expected="at least one broker id after `Replicas:`", actual="none")
        unknown = set(isr).difference(replicas)
        if unknown:
            # An in-sync replica is a replica; another id is what a cut leaves of one.
            raise rejection(line, expected="replicas after `Isr:`", actual=f"{min(unknown)}, which is none")
        columns = tuple(values)[1:]
        columns = self._layouts.setdefault(columns, columns)
        return PartitionDescription(
            partition=_number(line, values, "Partition"),
            leader=None if values["Leader"] in ("none", "-1") else _number(line, values, "Leader"),
            replicas=replicas,
            isr=isr,
            adding=_ids(line, values, "Adding Replicas"),
            removing=_ids(line, values, "Removing Replicas"),
            elr=_ids_or_none(line, values, "Elr"),
            last_known_elr=_ids_or_none(line, values, "LastKnownElr"),
            others=tuple([(column, values[column]) for column in columns if column not in _ROW_FIELDS]),
            columns=columns,
        )


_ROW_FIELDS = frozenset({*ROW_COLUMNS, *ELR_COLUMNS, *REASSIGNMENT_COLUMNS})


def _columns(line: int, content: str) -> _Values:
    """The line's columns by name, in order; the first is `Topic`."""
    stripped = content.strip()
    parts = stripped.split("\t") if "\t" in stripped else _COLUMN_START.split(stripped)
    values: _Values = {}
    for part in parts:
        name, colon, value = part.partition(":")
        if not colon or name in values:
            actual = f"{shown(part)} again" if name in values else shown(part)
            raise rejection(line, expected=f"a column (`Name: value`) of {_HEADER} or {_ROW}", actual=actual)
        values[name] = value.strip()
    if next(iter(values)) != "Topic":
        raise rejection(line, expected=f"{_HEADER} or {_ROW}", actual=shown(content))
    return values


def _require(line: int, values: _Values, columns: Columns, *, of: str) -> None:
    for column in columns:
        if column not in values:
            actual = f"only {shown(', '.join(values))}: the line is cut off"
            raise rejection(line, expected=f"the column `{column}` in {of}", actual=actual)


def _number(line: int, values: _Values, column: str) -> int:
    number = whole_number(values[column])
    if number is None:
        raise rejection(line, expected=f"a number from 0 to 2147483647 after `{column}:`", actual=shown(values[column]))
    return number


def _ids(line: int, values: _Values, column: str) -> tuple[int, ...]:
    text = values.get(column, "")
    ids = whole_numbers(text)
    if ids is None:
        raise rejection(line, expected=f"broker ids from 0 to 2147483647 after `{column}:`", actual=shown(text))
    if len(set(ids)) < len(ids):
        actual = f"broker {first_repeated(ids)} twice"
        raise rejection(line, expected=f"each broker once after `{column}:`", actual=actual)
    return ids


def _ids_or_none(line: int, values: _Values, column: str) -> tuple[int, ...] | None:
    return None if values.get(column, "N/A") == "N/A" else _ids(line, values, column)
