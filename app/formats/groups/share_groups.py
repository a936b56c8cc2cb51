"""What `kafka-share-groups --describe` prints, in its three forms: offsets, members, state.

    --describe [--verbose]              GROUP TOPIC PARTITION [LEADER-EPOCH] START-OFFSET [LAG]
    --describe --members [--verbose]    GROUP CONSUMER-ID HOST CLIENT-ID [#PARTITIONS] [MEMBER-EPOCH] ASSIGNMENT
    --describe --state [--verbose]      GROUP COORDINATOR (ID) STATE [GROUP-EPOCH ASSIGNMENT-EPOCH] #MEMBERS

A partition of a share group may be assigned to several members. LAG and `#PARTITIONS` came after 4.1. A member without
partitions has an empty ASSIGNMENT. The rows are records of consumer_groups.py: the start offset is the current offset.

Source: `ShareGroupCommand` of Apache Kafka 4.0 to 4.4.
"""

from dataclasses import replace

from app.formats.groups import consumer_groups
from app.formats.groups import group_cells as cell
from app.formats.groups.group_cells import Cell
from app.formats.groups.group_tables import MAY_BE_EMPTY

OFFSETS = replace(consumer_groups.OFFSETS, required=("GROUP", "TOPIC", "PARTITION", "START-OFFSET"))
MEMBERS = replace(
    consumer_groups.MEMBERS,
    cells={**consumer_groups.MEMBERS.cells, "ASSIGNMENT": Cell("assignment", cell.share_assignment)},
    required=("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "ASSIGNMENT"),
    may_be_empty=MAY_BE_EMPTY | {"ASSIGNMENT"},
)
STATES = replace(consumer_groups.STATES, required=("GROUP", "COORDINATOR (ID)", "STATE", "#MEMBERS"))
