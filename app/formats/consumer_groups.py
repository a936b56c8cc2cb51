"""What `kafka-consumer-groups --describe` prints, in its three forms: offsets with lag, members, state.

    --describe                          GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST …
    --describe --members [--verbose]    GROUP CONSUMER-ID [GROUP-INSTANCE-ID] HOST CLIENT-ID #PARTITIONS [CURRENT-…]
    --describe --state [--verbose]      GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE [GROUP-EPOCH …] #MEMBERS

`-` is a missing value: a partition without member, an offset that was not committed. Up to 2.3 there was
no GROUP; up to 3.9 the members' partitions were under ASSIGNMENT as `orders(0,1), payments(2)`, now they are under
CURRENT-ASSIGNMENT as `orders:0,1;payments:2`. Other columns are preserved.

Source: `ConsumerGroupCommand` of Apache Kafka 1.1 to 4.1.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar

from app.core.recorded import TopicPartitions
from app.formats import group_cells as cell
from app.formats import group_tables
from app.formats.group_cells import COORDINATOR, MISSING, Cell
from app.formats.group_tables import Layout, Row

Others: TypeAlias = tuple[tuple[str, str], ...]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """A partition that a group committed offsets for or reads; or a member that reads none, its partition None.

    `lag` is in records and below 0 if the log was cut back; `others` are columns without a field of their own.
    """

    topic: str | None
    partition: int | None
    current_offset: int | None
    log_end_offset: int | None
    lag: int | None
    consumer_id: str | None
    host: str | None
    client_id: str | None
    group: str | None = None
    leader_epoch: int | None = None
    others: Others = ()


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member of a group.

    Parameters
    ----------
    partitions : how many it reads.
    assignment : which; topics and numbers as printed, in the order of strings. None without `--verbose`.
    current_epoch, target_epoch, target_assignment : of the consumer protocol of KIP-848; else None or empty.
    """

    consumer_id: str
    host: str
    client_id: str
    partitions: int
    group: str | None = None
    group_instance_id: str | None = None
    assignment: tuple[TopicPartitions, ...] | None = None
    current_epoch: int | None = None
    target_epoch: int | None = None
    target_assignment: tuple[TopicPartitions, ...] | None = None
    others: Others = ()


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group's state. coordinator: `host:port  (id)`, as printed."""

    coordinator: str
    state: str
    members: int
    assignment_strategy: str | None = None
    group: str | None = None
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None
    others: Others = ()

    @property
    def coordinator_id(self) -> int | None:
        """The broker that coordinates the group."""
        match = COORDINATOR.fullmatch(self.coordinator)
        return int(match["id"]) if match else None


@dataclass(frozen=True, slots=True)
class Section(Generic[Record]):
    """A group's table.

    Parameters
    ----------
    layout : the columns as printed; None for those of Kafka 4.0.
    lines : the line of each row, from 1; empty if it was not read.
    """

    rows: tuple[Record, ...]
    layout: Layout | None = None
    lines: tuple[int, ...] = field(default=(), compare=False)


class Form(StrEnum):
    """What a table is about."""

    OFFSETS = "offsets"
    MEMBERS = "members"
    STATES = "states"


def form_of(line: str) -> Form | None:
    """Of which form this line is a header, or None."""
    return next((form for form, of in _FORMS.items() if group_tables.is_header(line, of.required)), None)


def read_offsets(text: str) -> tuple[Section[PartitionOffsets], ...]:
    """Read `--describe`, a section a group; an empty text has none.

    Raises
    ------
    MalformedText
        A line is neither header nor row, a column is missing, a row is cut off, a number is none.
    """
    return _read(text, _OFFSETS)


def write_offsets(sections: Iterable[Section[PartitionOffsets]]) -> str:
    """Print the sections as the tool does; what was read comes back verbatim, but for prose and log lines."""
    return _write(sections, _OFFSETS)


def read_members(text: str) -> tuple[Section[GroupMember], ...]:
    """Read `--describe --members`, with or without `--verbose`. Raises MalformedText like `read_offsets`."""
    return _read(text, _MEMBERS)


def write_members(sections: Iterable[Section[GroupMember]]) -> str:
    """Print the sections as the tool does; what was read comes back verbatim, but for prose and log lines."""
    return _write(sections, _MEMBERS)


def read_states(text: str) -> tuple[Section[GroupState], ...]:
    """Read `--describe --state`, with or without `--verbose`. Raises MalformedText like `read_offsets`."""
    return _read(text, _STATES)


def write_states(sections: Iterable[Section[GroupState]]) -> str:
    """Print the sections as the tool does; what was read comes back verbatim, but for prose and log lines."""
    return _write(sections, _STATES)


@dataclass(frozen=True, slots=True)
class _Form(Generic[Record]):
    """One of the three forms: its record, its columns, those that a header must have, and Kafka 4.0's widths."""

    record: Callable[..., Record]
    cells: Mapping[str, Cell]
    required: tuple[str, ...]
    widths: Callable[[Sequence[Record]], Mapping[str, int]]
    growing: tuple[str, ...]


def _read(text: str, form: _Form[Record]) -> tuple[Section[Record], ...]:
    tables = group_tables.read(text, required=form.required)
    return tuple(
        [
            Section(tuple([_record(row, form) for row in rows]), layout, tuple([row.line for row in rows]))
            for layout, rows in [(table.layout, table.rows) for table in tables]
        ]
    )


def _record(row: Row, form: _Form[Record]) -> Record:
    fields: dict[str, object] = {}
    others: list[tuple[str, str]] = []
    for column, content in row.cells.items():
        known = form.cells.get(column)
        if known is None:
            others.append((column, content))
        else:
            fields[known.field] = known.read(content, row.line, column)
    return form.record(**fields, others=tuple(others))


def _write(sections: Iterable[Section[Record]], form: _Form[Record]) -> str:
    tables = []
    for section in sections:
        layout = section.layout
        names = form.widths(section.rows) if layout is None else {column.name: 0 for column in layout}
        rows = [_cells(record, form, names) for record in section.rows]
        tables.append((group_tables.fitting(names, rows, growing=form.growing) if layout is None else layout, rows))
    return group_tables.write(tables)


def _cells(record: Record, form: _Form[Record], columns: Iterable[str]) -> dict[str, str]:
    others: dict[str, str] = dict(getattr(record, "others", ()))
    cells = {}
    for column in columns:
        known = form.cells.get(column)
        cells[column] = others.get(column, MISSING) if known is None else known.print(getattr(record, known.field))
    return cells


# -- forms --------------------------------------------------------------------------------------------------------


def _widths_of_offsets(rows: Sequence[PartitionOffsets]) -> Mapping[str, int]:
    epoch = {"LEADER-EPOCH": 15} if any(row.leader_epoch is not None for row in rows) else {}
    offsets = {"CURRENT-OFFSET": 15, "LOG-END-OFFSET": 15, "LAG": 15}
    reader = {"CONSUMER-ID": 15, "HOST": 15, "CLIENT-ID": 0}
    return {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, **epoch, **offsets, **reader}


def _widths_of_members(rows: Sequence[GroupMember]) -> Mapping[str, int]:
    instance = {"GROUP-INSTANCE-ID": 17} if any(row.group_instance_id for row in rows) else {}
    names = {"GROUP": 15, "CONSUMER-ID": 15, **instance, "HOST": 15, "CLIENT-ID": 15}
    if all(row.assignment is None for row in rows):
        return {**names, "#PARTITIONS": 16}
    epochs = {"CURRENT-EPOCH": 15, "CURRENT-ASSIGNMENT": 20, "TARGET-EPOCH": 15, "TARGET-ASSIGNMENT": 20}
    return {**names, "#PARTITIONS": 15, **epochs}


def _widths_of_states(rows: Sequence[GroupState]) -> Mapping[str, int]:
    epochs = (
        {"GROUP-EPOCH": 15, "TARGET-ASSIGNMENT-EPOCH": 25} if any(row.group_epoch is not None for row in rows) else {}
    )
    return {"GROUP": 15, "COORDINATOR (ID)": 25, "ASSIGNMENT-STRATEGY": 20, "STATE": 20, **epochs, "#MEMBERS": 0}


_GROUP = Cell("group", cell.text)
_OFFSETS = _Form(
    record=PartitionOffsets,
    cells=MappingProxyType(
        {
            "GROUP": _GROUP,
            "TOPIC": Cell("topic", cell.topic),
            "PARTITION": Cell("partition", cell.optional_count),
            "LEADER-EPOCH": Cell("leader_epoch", cell.optional_count),
            "CURRENT-OFFSET": Cell("current_offset", cell.optional_int64),
            "LOG-END-OFFSET": Cell("log_end_offset", cell.optional_int64),
            "LAG": Cell("lag", cell.optional_int64),
            "CONSUMER-ID": Cell("consumer_id", cell.optional_text),
            "HOST": Cell("host", cell.optional_text),
            "CLIENT-ID": Cell("client_id", cell.optional_text),
        }
    ),
    required=("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "CONSUMER-ID", "HOST", "CLIENT-ID", "LAG"),
    widths=_widths_of_offsets,
    growing=("GROUP", "TOPIC", "CONSUMER-ID", "HOST"),
)
_MEMBERS = _Form(
    record=GroupMember,
    cells=MappingProxyType(
        {
            "GROUP": _GROUP,
            "CONSUMER-ID": Cell("consumer_id", cell.text),
            "GROUP-INSTANCE-ID": Cell("group_instance_id", cell.instance_id, cell.printed_instance_id),
            "HOST": Cell("host", cell.text),
            "CLIENT-ID": Cell("client_id", cell.text),
            "#PARTITIONS": Cell("partitions", cell.count),
            "ASSIGNMENT": Cell("assignment", cell.assignment, cell.printed_in_brackets),
            "CURRENT-EPOCH": Cell("current_epoch", cell.optional_count),
            "CURRENT-ASSIGNMENT": Cell("assignment", cell.assignment, cell.printed_with_colons),
            "TARGET-EPOCH": Cell("target_epoch", cell.optional_count),
            "TARGET-ASSIGNMENT": Cell("target_assignment", cell.assignment, cell.printed_with_colons),
        }
    ),
    required=("CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"),
    widths=_widths_of_members,
    growing=(
        "GROUP",
        "CONSUMER-ID",
        "GROUP-INSTANCE-ID",
        "HOST",
        "CLIENT-ID",
        "CURRENT-ASSIGNMENT",
        "TARGET-ASSIGNMENT",
    ),
)
_STATES = _Form(
    record=GroupState,
    cells=MappingProxyType(
        {
            "GROUP": _GROUP,
            "COORDINATOR (ID)": Cell("coordinator", cell.coordinator),
            "ASSIGNMENT-STRATEGY": Cell("assignment_strategy", cell.optional_text),
            "STATE": Cell("state", cell.text),
            "GROUP-EPOCH": Cell("group_epoch", cell.optional_count),
            "TARGET-ASSIGNMENT-EPOCH": Cell("target_assignment_epoch", cell.optional_count),
            "#MEMBERS": Cell("members", cell.count),
        }
    ),
    required=("COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
    widths=_widths_of_states,
    growing=("GROUP", "COORDINATOR (ID)"),
)
_FORMS: Mapping[Form, _Form[PartitionOffsets] | _Form[GroupMember] | _Form[GroupState]] = MappingProxyType(
    {Form.OFFSETS: _OFFSETS, Form.MEMBERS: _MEMBERS, Form.STATES: _STATES}
)
