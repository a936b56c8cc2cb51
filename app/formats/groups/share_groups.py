"""What `kafka-share-groups --describe` prints, in its three forms: offsets, members, state.

    --describe [--verbose]              GROUP TOPIC PARTITION [LEADER-EPOCH] START-OFFSET [LAG]
    --describe --members [--verbose]    GROUP CONSUMER-ID HOST CLIENT-ID [#PARTITIONS] [MEMBER-EPOCH] ASSIGNMENT
    --describe --state [--verbose]      GROUP COORDINATOR (ID) STATE [GROUP-EPOCH ASSIGNMENT-EPOCH] #MEMBERS

A partition of a share group may be assigned to several members. LAG and `#PARTITIONS` came after 4.1. A member without
partitions has an empty ASSIGNMENT. The rows are records of consumer_groups.py: the start offset is the current offset.

Source: `ShareGroupCommand` of Apache Kafka 4.0 to 4.4.
"""

from app.formats.groups import group_cells as cell
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.group_cells import Cell, TableForm
from app.formats.groups.group_tables import MAY_BE_EMPTY

OFFSETS = TableForm(
    record=PartitionOffsets,
    cells={
        "GROUP": Cell("group", cell.text),
        "TOPIC": Cell("topic", cell.topic),
        "PARTITION": Cell("partition", cell.optional_count),
        "LEADER-EPOCH": Cell("leader_epoch", cell.optional_count),
        "START-OFFSET": Cell("current_offset", cell.optional_int64),
        "LAG": Cell("lag", cell.optional_int64),
    },
    required=("GROUP", "TOPIC", "PARTITION", "START-OFFSET"),
)
MEMBERS = TableForm(
    record=GroupMember,
    cells={
        "GROUP": Cell("group", cell.text),
        "CONSUMER-ID": Cell("consumer_id", cell.text),
        "HOST": Cell("host", cell.text),
        "CLIENT-ID": Cell("client_id", cell.text),
        "#PARTITIONS": Cell("partitions", cell.count),
        "MEMBER-EPOCH": Cell("current_epoch", cell.optional_count),
        "ASSIGNMENT": Cell("assignment", cell.share_assignment),
    },
    required=("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "ASSIGNMENT"),
    may_be_empty=MAY_BE_EMPTY | {"ASSIGNMENT"},
)
STATES = TableForm(
    record=GroupState,
    cells={
        "GROUP": Cell("group", cell.text),
        "COORDINATOR (ID)": Cell("coordinator", cell.coordinator),
        "STATE": Cell("state", cell.text),
        "GROUP-EPOCH": Cell("group_epoch", cell.optional_count),
        "ASSIGNMENT-EPOCH": Cell("target_assignment_epoch", cell.optional_count),
        "#MEMBERS": Cell("members", cell.count),
    },
    required=("GROUP", "COORDINATOR (ID)", "STATE", "#MEMBERS"),
)
