"""What `kafka-share-groups --describe` prints, in its three forms: offsets, members, state.

    --describe [--verbose]              GROUP TOPIC PARTITION [LEADER-EPOCH] START-OFFSET [LAG]
    --describe --members [--verbose]    GROUP CONSUMER-ID HOST CLIENT-ID [#PARTITIONS] [MEMBER-EPOCH] ASSIGNMENT
    --describe --state [--verbose]      GROUP COORDINATOR (ID) STATE [GROUP-EPOCH ASSIGNMENT-EPOCH] #MEMBERS

A partition of a share group may be assigned to several members. LAG and `#PARTITIONS` came after 4.1. A member without
partitions has an empty ASSIGNMENT. The rows are records of consumer_groups.py: the start offset is the current offset.

Source: `ShareGroupCommand` of Apache Kafka 4.0 to 4.4.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from app.formats.groups import group_cells as cell
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.group_cells import Cell
from app.formats.groups.group_forms import TableForm
from app.formats.groups.group_tables import MAY_BE_EMPTY


def _widths_of_offsets(rows: Sequence[PartitionOffsets]) -> Mapping[str, int]:
    epoch = {"LEADER-EPOCH": 13} if any(row.leader_epoch is not None for row in rows) else {}
    return {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, **epoch, "START-OFFSET": 13, "LAG": 0}


def _widths_of_members(rows: Sequence[GroupMember]) -> Mapping[str, int]:
    epoch = {"MEMBER-EPOCH": 13} if any(row.current_epoch is not None for row in rows) else {}
    return {"GROUP": 15, "CONSUMER-ID": 15, "HOST": 15, "CLIENT-ID": 15, "#PARTITIONS": 12, **epoch, "ASSIGNMENT": 0}


def _widths_of_states(rows: Sequence[GroupState]) -> Mapping[str, int]:
    has_epochs = any(row.group_epoch is not None for row in rows)
    epochs = {"GROUP-EPOCH": 12, "ASSIGNMENT-EPOCH": 17} if has_epochs else {}
    return {"GROUP": 15, "COORDINATOR (ID)": 25, "STATE": 15, **epochs, "#MEMBERS": 0}


OFFSETS = TableForm(
    record=PartitionOffsets,
    cells=MappingProxyType(
        {
            "GROUP": Cell("group", cell.text),
            "TOPIC": Cell("topic", cell.topic),
            "PARTITION": Cell("partition", cell.optional_count),
            "LEADER-EPOCH": Cell("leader_epoch", cell.optional_count),
            "START-OFFSET": Cell("current_offset", cell.optional_int64),
            "LAG": Cell("lag", cell.optional_int64),
        }
    ),
    required=("GROUP", "TOPIC", "PARTITION", "START-OFFSET"),
    widths=_widths_of_offsets,
    growing=("GROUP", "TOPIC"),
)
MEMBERS = TableForm(
    record=GroupMember,
    cells=MappingProxyType(
        {
            "GROUP": Cell("group", cell.text),
            "CONSUMER-ID": Cell("consumer_id", cell.text),
            "HOST": Cell("host", cell.text),
            "CLIENT-ID": Cell("client_id", cell.text),
            "#PARTITIONS": Cell("partitions", cell.count),
            "MEMBER-EPOCH": Cell("current_epoch", cell.optional_count),
            "ASSIGNMENT": Cell("assignment", cell.share_assignment, cell.printed_share_assignment),
        }
    ),
    required=("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "ASSIGNMENT"),
    widths=_widths_of_members,
    growing=("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID"),
    may_be_empty=MAY_BE_EMPTY | {"ASSIGNMENT"},
)
STATES = TableForm(
    record=GroupState,
    cells=MappingProxyType(
        {
            "GROUP": Cell("group", cell.text),
            "COORDINATOR (ID)": Cell("coordinator", cell.coordinator),
            "STATE": Cell("state", cell.text),
            "GROUP-EPOCH": Cell("group_epoch", cell.optional_count),
            "ASSIGNMENT-EPOCH": Cell("target_assignment_epoch", cell.optional_count),
            "#MEMBERS": Cell("members", cell.count),
        }
    ),
    required=("GROUP", "COORDINATOR (ID)", "STATE", "#MEMBERS"),
    widths=_widths_of_states,
    growing=("GROUP", "COORDINATOR (ID)"),
)
