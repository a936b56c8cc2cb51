"""The tables of consumer, share and Streams groups as the tools print them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from app.core.recorded import TopicPartitions
from app.formats.groups import consumer_groups, share_groups, streams_groups
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.group_cells import Section, TableForm
from app.formats.groups.group_tables import Column, Layout
from app.formats.groups.streams_groups import MemberTasks, StreamsMember

Record = TypeVar("Record", bound=NamedTuple)
_MISSING = "-"


@dataclass(frozen=True, slots=True)
class Printed:
    """How the newest tool prints a table.

    Parameters
    ----------
    widths : the columns for some rows, with the least width of each.
    growing : the columns that are as wide as their longest cell.
    printers : of the columns whose cells are not just the value, or `-`.
    after_blank_line : whether the tool prints an empty line before each table.
    """

    form: TableForm[Any]
    widths: Callable[[Sequence[Any]], Mapping[str, int]]
    growing: tuple[str, ...]
    printers: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    after_blank_line: bool = True


def write(sections: Iterable[Section[Record]], form: TableForm[Record]) -> str:
    """Print the tables as the tool does, each in the layout with which it was read, or as the newest tool does."""
    printed = next(one for one in _PRINTED if one.form is form)
    tables = []
    for section in sections:
        layout = section.layout
        names = printed.widths(section.rows) if layout is None else {column.name: 0 for column in layout}
        rows = [_cells(record, printed, names) for record in section.rows]
        tables.append((_fitting(names, rows, growing=printed.growing) if layout is None else layout, rows))
    return _tables(tables, after_blank_line=printed.after_blank_line)


def write_offsets(sections: Iterable[Section[PartitionOffsets]]) -> str:
    """`kafka-consumer-groups --describe`."""
    return write(sections, consumer_groups.OFFSETS)


def write_members(sections: Iterable[Section[GroupMember]]) -> str:
    """`kafka-consumer-groups --describe --members`."""
    return write(sections, consumer_groups.MEMBERS)


def write_states(sections: Iterable[Section[GroupState]]) -> str:
    """`kafka-consumer-groups --describe --state`."""
    return write(sections, consumer_groups.STATES)


def _cells(record: object, printed: Printed, columns: Iterable[str]) -> dict[str, str]:
    known = printed.form.cells
    return {
        column: printed.printers.get(column, _text)(getattr(record, known[column].field))
        if column in known
        else _MISSING
        for column in columns
    }


def _text(value: object) -> str:
    return _MISSING if value is None else str(value)


def _tables(tables: Iterable[tuple[Layout, Iterable[Mapping[str, str]]]], *, after_blank_line: bool = True) -> str:
    lines: list[str] = []
    for layout, rows in tables:
        header = {column.name: column.name for column in layout}
        lines += [""] if after_blank_line else []
        padded = [[cells[column.name].ljust(column.width) for column in layout] for cells in (header, *rows)]
        lines += [" ".join(cells) for cells in padded]
    return "".join([line + "\n" for line in lines])


def _fitting(names: Mapping[str, int], rows: Sequence[Mapping[str, str]], *, growing: Iterable[str]) -> Layout:
    """Columns of at least the given widths; those named in `growing` are as wide as their longest cell."""
    grows = frozenset(growing)
    return tuple(
        Column(name, max([least, *(len(cells[name]) for cells in rows)]) if name in grows else least)
        for name, least in names.items()
    )


def _share_assignment(value: Sequence[TopicPartitions] | None) -> str:
    """`orders:0,1;payments:2`, or nothing."""
    return ";".join([f"{topic}:{','.join(map(str, ids))}" for topic, ids in value or ()])


def _instance_id(value: str | None) -> str:
    """A text, or nothing."""
    return value or ""


def _in_brackets(value: Sequence[TopicPartitions] | None) -> str:
    """`orders(0,1), payments(2)`, up to 3.9."""
    return ", ".join([f"{topic}({','.join(map(str, ids))})" for topic, ids in value or ()]) or _MISSING


def _with_colons(value: Sequence[TopicPartitions] | None) -> str:
    """`orders:0,1;payments:2`, since 4.0."""
    return ";".join([f"{topic}:{','.join(map(str, ids))}" for topic, ids in value or ()]) or _MISSING


def _tasks(tasks: MemberTasks) -> str:
    printed = []
    for prefix, of in (("", tasks.current), ("TARGET-", tasks.target)):
        for kind in ("ACTIVE", "STANDBY", "WARMUP"):
            names: tuple[str, ...] = getattr(of, kind.lower())
            runs = groupby([name.rpartition("_") for name in names], key=lambda name: name[0])
            listed = [f"{subtopology}:[{','.join([name[2] for name in run])}]; " for subtopology, run in runs]
            printed += [f"{prefix}{kind}: ", *listed] if listed else []
    return "".join(printed)


def _widths_of_consumer_offsets(rows: Sequence[PartitionOffsets]) -> Mapping[str, int]:
    epoch = {"LEADER-EPOCH": 15} if any(row.leader_epoch is not None for row in rows) else {}
    offsets = {"CURRENT-OFFSET": 15, "LOG-END-OFFSET": 15, "LAG": 15}
    reader = {"CONSUMER-ID": 15, "HOST": 15, "CLIENT-ID": 0}
    return {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, **epoch, **offsets, **reader}


def _widths_of_consumer_members(rows: Sequence[GroupMember]) -> Mapping[str, int]:
    instance = {"GROUP-INSTANCE-ID": 17} if any(row.group_instance_id for row in rows) else {}
    names = {"GROUP": 15, "CONSUMER-ID": 15, **instance, "HOST": 15, "CLIENT-ID": 15}
    if all(row.assignment is None for row in rows):
        return {**names, "#PARTITIONS": 16}
    epochs = {"CURRENT-EPOCH": 15, "CURRENT-ASSIGNMENT": 20, "TARGET-EPOCH": 15, "TARGET-ASSIGNMENT": 20}
    return {**names, "#PARTITIONS": 15, **epochs}


def _widths_of_consumer_states(rows: Sequence[GroupState]) -> Mapping[str, int]:
    epochs = (
        {"GROUP-EPOCH": 15, "TARGET-ASSIGNMENT-EPOCH": 25} if any(row.group_epoch is not None for row in rows) else {}
    )
    return {"GROUP": 15, "COORDINATOR (ID)": 25, "ASSIGNMENT-STRATEGY": 20, "STATE": 20, **epochs, "#MEMBERS": 0}


def _widths_of_share_offsets(rows: Sequence[PartitionOffsets]) -> Mapping[str, int]:
    epoch = {"LEADER-EPOCH": 13} if any(row.leader_epoch is not None for row in rows) else {}
    return {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, **epoch, "START-OFFSET": 13, "LAG": 0}


def _widths_of_share_members(rows: Sequence[GroupMember]) -> Mapping[str, int]:
    epoch = {"MEMBER-EPOCH": 13} if any(row.current_epoch is not None for row in rows) else {}
    return {"GROUP": 15, "CONSUMER-ID": 15, "HOST": 15, "CLIENT-ID": 15, "#PARTITIONS": 12, **epoch, "ASSIGNMENT": 0}


def _widths_of_share_states(rows: Sequence[GroupState]) -> Mapping[str, int]:
    has_epochs = any(row.group_epoch is not None for row in rows)
    epochs = {"GROUP-EPOCH": 12, "ASSIGNMENT-EPOCH": 17} if has_epochs else {}
    return {"GROUP": 15, "COORDINATOR (ID)": 25, "STATE": 15, **epochs, "#MEMBERS": 0}


def _widths_of_streams_offsets(rows: Sequence[PartitionOffsets]) -> Mapping[str, int]:
    first = {"GROUP": 15, "TOPIC": 15, "PARTITION": 10}
    if all(row.log_end_offset is None for row in rows):
        return {**first, "OFFSET-LAG": 0}
    return {**first, "CURRENT-OFFSET": 15, "LEADER-EPOCH": 15, "LOG-END-OFFSET": 15, "OFFSET-LAG": 15}


def _widths_of_streams_members(rows: Sequence[StreamsMember]) -> Mapping[str, int]:
    last = {"PROCESS": 15, "CLIENT-ID": 15, "ASSIGNMENTS": 0}
    if not any(row.is_verbose for row in rows):
        return {"GROUP": 15, "MEMBER": 15, **last}
    # The tool prints no blank after TOPOLOGY-EPOCH, which it pads to 15.
    epochs = {"TARGET-ASSIGNMENT-EPOCH": 25, "TOPOLOGY-EPOCH": 14}
    return {"GROUP": 15, **epochs, "MEMBER": 15, "MEMBER-PROTOCOL": 15, "MEMBER-EPOCH": 15, **last}


def _widths_of_streams_states(rows: Sequence[GroupState]) -> Mapping[str, int]:
    has_epochs = any(row.group_epoch is not None for row in rows)
    epochs = {"GROUP-EPOCH": 15, "TARGET-ASSIGNMENT-EPOCH": 25} if has_epochs else {}
    return {"GROUP": 15, "COORDINATOR (ID)": 25, "STATE": 25, **epochs, "#MEMBERS": 0}


_PRINTED = (
    Printed(consumer_groups.OFFSETS, _widths_of_consumer_offsets, ("GROUP", "TOPIC", "CONSUMER-ID", "HOST")),
    Printed(
        consumer_groups.MEMBERS,
        _widths_of_consumer_members,
        (
            "GROUP",
            "CONSUMER-ID",
            "GROUP-INSTANCE-ID",
            "HOST",
            "CLIENT-ID",
            "CURRENT-ASSIGNMENT",
            "TARGET-ASSIGNMENT",
        ),
        {
            "GROUP-INSTANCE-ID": _instance_id,
            "ASSIGNMENT": _in_brackets,
            "CURRENT-ASSIGNMENT": _with_colons,
            "TARGET-ASSIGNMENT": _with_colons,
        },
    ),
    Printed(consumer_groups.STATES, _widths_of_consumer_states, ("GROUP", "COORDINATOR (ID)")),
    Printed(share_groups.OFFSETS, _widths_of_share_offsets, ("GROUP", "TOPIC")),
    Printed(
        share_groups.MEMBERS,
        _widths_of_share_members,
        ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID"),
        {"ASSIGNMENT": _share_assignment},
    ),
    Printed(share_groups.STATES, _widths_of_share_states, ("GROUP", "COORDINATOR (ID)")),
    Printed(streams_groups.OFFSETS, _widths_of_streams_offsets, ("GROUP", "TOPIC"), after_blank_line=False),
    Printed(
        streams_groups.MEMBERS,
        _widths_of_streams_members,
        ("GROUP", "MEMBER", "PROCESS", "CLIENT-ID"),
        {"ASSIGNMENTS": _tasks},
        after_blank_line=False,
    ),
    Printed(streams_groups.STATES, _widths_of_streams_states, ("GROUP", "COORDINATOR (ID)"), after_blank_line=False),
)
