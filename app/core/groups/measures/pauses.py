"""Partitions that no member reads while a group rebalances."""

from collections.abc import Sequence

import numpy as np

from app.core.groups.arrays.partition_table import assigned_members, partition_table
from app.core.groups.model import GroupAssignment, GroupMetadata
from app.core.model import NO_MEMBER, Int64s


def pauses(metadata: GroupMetadata, assignments: Sequence[GroupAssignment], *, is_eager: bool) -> Int64s:
    """Count the rebalances in each of which a partition is revoked from one member before it is assigned.

    In an eager rebalance, members revoke all partitions; in others, those that change members. A partition that has
    no member before or after a rebalance is not paused by it.

    Parameters
    ----------
    assignments : before the first rebalance, and after each.

    Returns
    -------
    (rows,) int64 by partition, as `partition_table` numbers them.
    """
    table = partition_table(metadata)
    ids = list(dict.fromkeys(member for assignment in assignments for member in assignment.members))
    owners = np.array([assigned_members(table, assignment, ids) for assignment in assignments])
    is_read = owners != NO_MEMBER
    is_paused = is_read[:-1] & is_read[1:] & (is_eager | (owners[:-1] != owners[1:]))
    return np.asarray(is_paused.sum(axis=0), np.int64)
