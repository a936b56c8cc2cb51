"""Why racks decide nothing in a group whose assignor would look at them: Kafka switches them off without a word.

A rack-aware assignor (KIP-881) goes back to ignoring racks where no member has one, where no replica has one, where no
member's rack holds a replica of what it could read, and where all partitions have replicas in the same racks.
"""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from app.core.groups.arrays.partition_table import partition_table
from app.core.groups.arrays.rack_match import NO_RACK, rack_match
from app.core.groups.arrays.readership import NO_CLASS, readership
from app.core.groups.model import GroupMetadata, Member


class RacksIgnored(StrEnum):
    """The reason, of those that hold the first."""

    NO_MEMBER_HAS_A_RACK = "no_member_has_a_rack"
    NO_REPLICA_HAS_A_RACK = "no_replica_has_a_rack"
    NO_RACK_IN_COMMON = "no_rack_in_common"
    ALL_PARTITIONS_ALIKE = "all_partitions_alike"


def racks_ignored(members: Sequence[Member], metadata: GroupMetadata) -> RacksIgnored | None:
    """Say why racks decide nothing, or None where they do.

    Only partitions that somebody subscribes to are looked at. A group in which they are alike within each topic, and
    differ between topics, is one that the sticky assignors tell apart and range does not; here they do decide.
    """
    table = partition_table(metadata)
    readers = readership(members, table)
    racks = rack_match(members, metadata, table)
    is_read = (readers.topic_class != NO_CLASS)[table.topic_of_rows()]
    of_replicas = racks.of_replicas[:, is_read]
    of_members = np.unique(racks.of_member[racks.of_member != NO_RACK])
    held = np.unique(of_replicas[of_replicas != NO_RACK])
    if not is_read.any() or not len(of_members):
        return None if not is_read.any() else RacksIgnored.NO_MEMBER_HAS_A_RACK
    if not len(held):
        return RacksIgnored.NO_REPLICA_HAS_A_RACK
    if not np.isin(of_members, held).any():
        return RacksIgnored.NO_RACK_IN_COMMON
    everywhere = all(bool((of_replicas == rack).any(axis=0).all()) for rack in held.tolist())
    return RacksIgnored.ALL_PARTITIONS_ALIKE if everywhere else None
