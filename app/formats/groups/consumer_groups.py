"""What `kafka-consumer-groups --describe` prints, in its three forms: offsets with lag, members, state.

    --describe                          GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST …
    --describe --members [--verbose]    GROUP CONSUMER-ID [GROUP-INSTANCE-ID] HOST CLIENT-ID #PARTITIONS [CURRENT-…]
    --describe --state [--verbose]      GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE [GROUP-EPOCH …] #MEMBERS

`-` is a missing value: a partition without member, an offset that was not committed. Up to 2.2 there was no GROUP
(older_tables.py); up to 3.9 the members' partitions were under ASSIGNMENT as `orders(0,1), payments(2)`, now they are
under CURRENT-ASSIGNMENT as `orders:0,1;payments:2`. Other columns are not read.

Source: `ConsumerGroupCommand` of Apache Kafka 1.1 to 4.1.
"""

from typing import NamedTuple

from app.core.recorded import TopicPartitions
from app.formats.groups import group_cells as cell
from app.formats.groups.group_cells import Cell, TableForm


class PartitionOffsets(NamedTuple):
    """A partition that a group committed offsets for or reads; or a member that reads none, its partition None.

    `lag` is in records and below 0 if the log was cut back. A tuple, since there can be a million.
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


class GroupMember(NamedTuple):
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


class GroupState(NamedTuple):
    """A group's state. coordinator: `host:port  (id)`, as printed."""

    coordinator: str
    state: str
    members: int
    assignment_strategy: str | None = None
    group: str | None = None
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None


OFFSETS = TableForm(
    record=PartitionOffsets,
    cells={
        "GROUP": Cell("group", cell.text),
        "TOPIC": Cell("topic", cell.topic),
        "PARTITION": Cell("partition", cell.optional_count),
        "LEADER-EPOCH": Cell("leader_epoch", cell.optional_count),
        **dict.fromkeys(("CURRENT-OFFSET", "START-OFFSET"), Cell("current_offset", cell.optional_int64)),
        "LOG-END-OFFSET": Cell("log_end_offset", cell.optional_int64),
        **dict.fromkeys(("LAG", "OFFSET-LAG"), Cell("lag", cell.optional_int64)),
        "CONSUMER-ID": Cell("consumer_id", cell.optional_text),
        "HOST": Cell("host", cell.optional_text),
        "CLIENT-ID": Cell("client_id", cell.optional_text),
    },
    required=("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "CONSUMER-ID", "HOST", "CLIENT-ID", "LAG"),
)
MEMBERS = TableForm(
    record=GroupMember,
    cells={
        "GROUP": Cell("group", cell.text),
        "CONSUMER-ID": Cell("consumer_id", cell.text),
        "GROUP-INSTANCE-ID": Cell("group_instance_id", cell.instance_id),
        "HOST": Cell("host", cell.text),
        "CLIENT-ID": Cell("client_id", cell.text),
        "#PARTITIONS": Cell("partitions", cell.count),
        "ASSIGNMENT": Cell("assignment", cell.assignment),
        **dict.fromkeys(("CURRENT-EPOCH", "MEMBER-EPOCH"), Cell("current_epoch", cell.optional_count)),
        "CURRENT-ASSIGNMENT": Cell("assignment", cell.assignment),
        "TARGET-EPOCH": Cell("target_epoch", cell.optional_count),
        "TARGET-ASSIGNMENT": Cell("target_assignment", cell.assignment),
    },
    required=("CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"),
)
STATES = TableForm(
    record=GroupState,
    cells={
        "GROUP": Cell("group", cell.text),
        "COORDINATOR (ID)": Cell("coordinator", cell.coordinator),
        "ASSIGNMENT-STRATEGY": Cell("assignment_strategy", cell.optional_text),
        "STATE": Cell("state", cell.text),
        "GROUP-EPOCH": Cell("group_epoch", cell.optional_count),
        **dict.fromkeys(
            ("TARGET-ASSIGNMENT-EPOCH", "ASSIGNMENT-EPOCH"), Cell("target_assignment_epoch", cell.optional_count)
        ),
        "#MEMBERS": Cell("members", cell.count),
    },
    required=("COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
)
