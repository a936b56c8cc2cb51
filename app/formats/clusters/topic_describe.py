"""What `kafka-topics --describe` prints: a header line a topic, then a row a partition, columns between tabs.

    Topic: orders⇥TopicId: 2axB58VyTMemnegrC2eNlQ⇥PartitionCount: 1⇥ReplicationFactor: 3⇥Configs: retention.ms=1
    ⇥Topic: orders⇥Partition: 0⇥Leader: 101⇥Replicas: 101,105,108⇥Isr: 101,105,108⇥Elr: ⇥LastKnownElr:

Every generation of the tool is read. Up to 2.1 the header has no blank after its colons; `TopicId` came with 2.8,
`Elr` and `LastKnownElr` with 3.8 (`N/A` of every cluster that does not describe them, as under ZooKeeper). During a
reassignment a row also has `Adding Replicas` and `Removing Replicas`, and `Replicas` names the target replicas first. A
column of another name (`Offline`, `MarkedForDeletion` …) is not read. If a terminal or a web page turned
the tabs into blanks, the columns are found by their names. Below the heading of another table (partition_tables.py)
rows may be of any topics, without headers; and so they are as `--under-replicated-partitions`,
`--under-min-isr-partitions`, `--at-min-isr-partitions` and `--unavailable-partitions` print them.

Source: `TopicCommand` of Apache Kafka 0.10, 2.2, 3.x and 4.x.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import NO_LEADER, UNKNOWN_SIZE, Int32s, Topic, padded
from app.formats.clusters import stated_configs
from app.formats.clusters.partition_tables import HEADING
from app.formats.clusters.topic_rows import (
    HEADER,
    ROW,
    PartitionDescription,
    Rows,
    Values,
    columns_of,
    number_in,
    require,
)
from app.formats.syntax.lines import is_topic_id, is_topic_name, last_line, rejection, says_something, shown

_LEAST_ROWS = 8
"""Rows from which on those of a topic are read at once."""


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic's header and its partitions in the order in which they are printed.

    Parameters
    ----------
    configs : the value of `Configs` verbatim, `name=value` pairs with commas between and within them.
    is_whole : False of rows without a header, beside which there may be further ones.
    changed : a partition that was printed twice, and whose leader or in-sync replicas are those that came last.
    """

    name: str
    replication_factor: int
    partitions: tuple[PartitionDescription, ...]
    configs: str = ""
    topic_id: str | None = None
    is_whole: bool = True
    changed: int | None = None


def read(text: str) -> tuple[TopicDescription, ...]:
    """Read the tool's whole answer; an empty text is that of a cluster without topics.

    Raises
    ------
    MalformedText
        A line is neither header nor row or lacks a column, a topic has another number of rows than its header says
        (the text was cut off), a topic comes twice with other replicas, a replica comes twice in a row.
    """
    reader = _Reader()
    lines = text.split("\n")
    taken = 0
    while taken < len(lines):
        if rows := reader.take_rows(lines, taken):
            taken += rows
            continue
        taken += 1
        if says_something(lines[taken - 1]):
            reader.take(taken, lines[taken - 1].removesuffix("\r"))
    return reader.finished(last_line(text))


def topics(descriptions: Iterable[TopicDescription]) -> tuple[Topic, ...]:
    """The described topics by name as the core knows them, their sizes unknown."""
    return tuple(_topic(description) for description in sorted(descriptions, key=lambda topic: topic.name))


def _topic(description: TopicDescription) -> Topic:
    rows = sorted(description.partitions, key=lambda row: row.partition)
    leaders = [NO_LEADER if row.leader is None else row.leader for row in rows]
    eligible, observers = _table([row.elr or () for row in rows]), _table([row.observers for row in rows])
    return Topic(
        name=description.name,
        partition_ids=np.array([row.partition for row in rows], dtype=np.int32),
        replicas=_table([row.replicas for row in rows]),
        leaders=np.array(leaders, dtype=np.int32),
        isr=_table([row.isr for row in rows]),
        adding=_table([row.adding for row in rows]),
        removing=_table([row.removing for row in rows]),
        size_bytes=np.full(len(rows), UNKNOWN_SIZE, dtype=np.int64),
        topic_id=description.topic_id,
        configs=stated_configs.listed(description.configs),
        elr=eligible if eligible.size else None,
        observers=observers if observers.size else None,
    )


def _table(lists: list[tuple[int, ...]]) -> Int32s:
    """As `padded`; lists of equal length, as nearly all are, are copied at once."""
    widths = set(map(len, lists))
    return np.array(lists, np.int32).reshape(len(lists), *widths) if len(widths) == 1 else padded(lists)


@dataclass(slots=True)
class _Section:
    """A topic whose rows are being read; without a header the number of its partitions is None."""

    header: TopicDescription
    partition_count: int | None
    line: int
    last_line: int
    rows: dict[int, PartitionDescription] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def count_text(self) -> str:
        return f"{self.partition_count} partitions of topic {self.name!r}"

    @property
    def has_all(self) -> bool:
        return len(self.rows) == self.partition_count


def _joined(line: int, known_line: int, described: TopicDescription, known: TopicDescription) -> TopicDescription:
    """A topic that two commands printed, the second perhaps in part, with the state of each partition that came last.

    An in-sync replica and a leader change in seconds; other replicas are a contradiction, which is rejected.
    """
    rows, others = ({row.partition: row for row in one.partitions} for one in (known, described))
    header = replace(described, partitions=known.partitions, changed=known.changed)
    expected, again = "each topic once, or alike", f"topic {described.name!r} again"
    if described.is_whole and (header != known or others.keys() != rows.keys()):
        raise rejection(line, expected=expected, actual=f"{again}, with other rows")
    for partition, row in others.items():
        if partition not in rows or rows[partition].replicas != row.replicas:
            raise rejection(line, expected=expected, actual=f"{again}, with other replicas of partition {partition}")
    changed = next((one for one in others if rows[one] != others[one]), known.changed)
    last = {**rows, **others} if line > known_line else rows
    return replace(known, partitions=tuple(last.values()), changed=changed)


class _Reader:
    """Takes one line after the other; knows the topic that is open and what the rows so far had in common."""

    def __init__(self) -> None:
        self._done: dict[str, tuple[int, TopicDescription]] = {}
        self._open: _Section | None = None
        self._without_header: dict[str, _Section] = {}
        self._is_table = False
        self._rows = Rows()

    def take(self, line: int, content: str) -> None:
        usual = self._rows.usual(content)
        if usual is not None:
            self._add(line, self._section(line, usual[0]), usual[1])
            return
        if HEADING.match(content):
            self._close(line - 1)
            self._is_table = True
            return
        values = columns_of(line, content)
        if "Partition" in values:
            self._take_row(line, values)
        elif "PartitionCount" in values:
            self._close(line - 1)
            self._open = self._header(line, values)
        else:
            raise rejection(line, expected=f"{HEADER} or {ROW}", actual=shown(content))

    def take_rows(self, lines: Sequence[str], taken: int) -> int:
        """Take all rows of the open topic, if they follow and are usual. Returns the number of rows taken."""
        topic = self._open
        if topic is None or topic.partition_count is None or topic.rows or topic.last_line != taken:
            return 0
        if not _LEAST_ROWS <= topic.partition_count <= len(lines) - taken:
            return 0
        rows = self._rows.usual_block(topic.name, lines[taken : taken + topic.partition_count])
        if rows is None:
            return 0
        topic.rows = {row.partition: row for row in rows}
        topic.last_line = taken + len(rows)
        return len(rows)

    def finished(self, line: int) -> tuple[TopicDescription, ...]:
        self._close(line)
        if self._is_table and not self._without_header:
            raise rejection(line, expected="rows below the heading of a table", actual="none")
        for topic in self._without_header.values():
            self._open = topic
            self._close(line)
        return tuple([topic for _, topic in self._done.values()])

    def _section(self, line: int, name: str) -> _Section:
        """The topic of a row: the open one, or that of this name in a table or of rows without a header."""
        topic = self._open
        if topic is not None and (topic.name == name or not topic.has_all):
            if topic.name != name:
                raise rejection(line, expected=f"a row of topic {topic.name!r}", actual=f"one of {shown(name)}")
            return topic
        if not is_topic_name(name):
            raise rejection(line, expected="the name of a topic", actual=shown(name))
        header = TopicDescription(name, 0, (), is_whole=self._is_table)
        return self._without_header.setdefault(name, _Section(header, None, line, line))

    def _close(self, line: int) -> None:
        topic, self._open = self._open, None
        if topic is None:
            return
        if topic.partition_count is None:
            factor = max(len(row.replicas) for row in topic.rows.values())
            topic.header = replace(topic.header, replication_factor=factor)
        elif not topic.has_all:
            alone = "" if topic.rows else ", or of --topics-with-overrides; run kafka-topics --describe alone"
            actual = f"{len(topic.rows)}: the text is cut off{alone}"
            raise rejection(min(line, topic.last_line), expected=f"rows for {topic.count_text}", actual=actual)
        described = replace(topic.header, partitions=tuple(topic.rows.values()))
        known_line, known = self._done.setdefault(topic.name, (topic.line, described))
        if known is not described:
            self._done[topic.name] = max(topic.line, known_line), _joined(topic.line, known_line, described, known)

    def _header(self, line: int, values: Values) -> _Section:
        require(line, values, ("ReplicationFactor", "Configs"), of=HEADER)
        name = values["Topic"]
        if not is_topic_name(name):
            raise rejection(line, expected="a topic name after `Topic:`", actual=shown(name))
        topic_id = values.get("TopicId") or None
        if topic_id is not None and not is_topic_id(topic_id):
            raise rejection(line, expected="22 characters of base64 after `TopicId:`", actual=shown(topic_id))
        header = TopicDescription(
            name, number_in(line, values, "ReplicationFactor"), (), configs=values["Configs"], topic_id=topic_id
        )
        return _Section(header, number_in(line, values, "PartitionCount"), line, line)

    def _take_row(self, line: int, values: Values) -> None:
        self._rows.require_columns(line, values)
        topic = self._section(line, values["Topic"])
        self._add(line, topic, self._rows.row(line, values))

    def _add(self, line: int, topic: _Section, row: PartitionDescription) -> None:
        if row.partition in topic.rows:
            known = topic.rows[row.partition]
            if row.replicas == known.replicas and (topic.has_all or not topic.header.is_whole):
                topic.rows[row.partition] = row  # as another command prints it later
                if row != known:
                    topic.header = replace(topic.header, changed=row.partition)
                return
            raise rejection(line, expected="each partition once", actual=f"partition {row.partition} again")
        if topic.has_all:
            raise rejection(line, expected=f"no more than {topic.count_text}", actual=f"partition {row.partition}")
        topic.rows[row.partition] = row
        topic.last_line = line
