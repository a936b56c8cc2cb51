"""What `kafka-consumer-groups --describe` prints, in its three forms: offsets with lag, members, state.

    --describe                          GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST …
    --describe --members [--verbose]    GROUP CONSUMER-ID [GROUP-INSTANCE-ID] HOST CLIENT-ID #PARTITIONS [CURRENT-…]
    --describe --state [--verbose]      GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE [GROUP-EPOCH …] #MEMBERS

`-` is a missing value: a partition without member, an offset that was not committed. Up to 2.3 there was
no GROUP; up to 3.9 the members' partitions were under ASSIGNMENT as `orders(0,1), payments(2)`, now they are under
CURRENT-ASSIGNMENT as `orders:0,1;payments:2`. Other columns are preserved.

Source: `ConsumerGroupCommand` of Apache Kafka 1.1 to 4.1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from app.core.recorded import TopicPartitions
from app.formats.groups import group_cells as cell
from app.formats.groups.group_cells import COORDINATOR, Cell
from app.formats.groups.group_forms import Section, TableForm, read, write

Others: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """A partition that a group committed offsets for or reads; or a member that reads none, its partition None.

    `lag` is in records and below 0 if the log was cut back; `others` are columns without a field of their own.
    """

    topic: str | None
    partition: int | None
    current_offset: int | None = None
    log_end_offset: int | None = None
    lag: int | None = None
    consumer_id: str | None = None
    host: str | None = None
    client_id: str | None = None
    group: str | None = None
    leader_epoch: int | None = None
    others: Others = ()


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member of a group.

    Parameters
    ----------
    partitions : how many it reads; None if the tool does not print it, as for share groups up to 4.1.
    assignment : which; topics and numbers as printed, in the order of strings. None without `--verbose`.
    current_epoch, target_epoch, target_assignment : of the consumer protocol of KIP-848; else None or empty.
    """

    consumer_id: str
    host: str
    client_id: str
    partitions: int | None = None
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


def read_offsets(text: str) -> tuple[Section[PartitionOffsets], ...]:
    """Read `--describe`, a section a group; an empty text has none.

    Raises
    ------
    MalformedText
        A line is neither header nor row, a column is missing, a row is cut off, a number is none.
    """
    return read(text, OFFSETS)


def write_offsets(sections: Iterable[Section[PartitionOffsets]]) -> str:
    """Print the sections as the tool does; what was read comes back verbatim, but for prose and log lines."""
    return write(sections, OFFSETS)


def read_members(text: str) -> tuple[Section[GroupMember], ...]:
    """Read `--describe --members`, with or without `--verbose`. Raises MalformedText like `read_offsets`."""
    return read(text, MEMBERS)


def write_members(sections: Iterable[Section[GroupMember]]) -> str:
    """Print the sections as the tool does; what was read comes back verbatim, but for prose and log lines."""
    return write(sections, MEMBERS)


def read_states(text: str) -> tuple[Section[GroupState], ...]:
    """Read `--describe --state`, with or without `--verbose`. Raises MalformedText like `read_offsets`."""
    return read(text, STATES)


def write_states(sections: Iterable[Section[GroupState]]) -> str:
    """Print the sections as the tool does; what was read comes back verbatim, but for prose and log lines."""
    return write(sections, STATES)


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
OFFSETS = TableForm(
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
MEMBERS = TableForm(
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
STATES = TableForm(
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
