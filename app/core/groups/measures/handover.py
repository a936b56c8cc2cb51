"""Partitions that are kept, moved, added and revoked between two assignments of one group."""

from dataclasses import dataclass

import numpy as np

from app.core.groups.arrays.partition_table import assigned_members, partition_table
from app.core.groups.model import GroupAssignment, GroupMetadata
from app.core.model import NO_MEMBER


@dataclass(frozen=True, slots=True)
class Handover:
    """Numbers of partitions by what happens to them."""

    kept: int
    """Number of partitions that are assigned to the same member before and after."""
    moved: int
    """Number of partitions that are assigned to one member before and to another one after."""
    taken_up: int
    """Number of partitions that are unassigned before and assigned after."""
    dropped: int
    """Number of partitions that are assigned before and unassigned after."""
    revoked: int
    """Number of partitions that are taken from a member that stays in the group; they are moved or dropped."""


def handover(metadata: GroupMetadata, before: GroupAssignment, after: GroupAssignment) -> Handover:
    """Compare two assignments of one group, partition by partition of the metadata.

    A member is still in the group if `after` lists it, with or without partitions. Partitions that the metadata does
    not contain are not counted.
    """
    table = partition_table(metadata)
    remaining = set(after.members)
    ids = [*after.members, *(member for member in before.members if member not in remaining)]
    old, new = assigned_members(table, before, ids), assigned_members(table, after, ids)
    had_member, has_member, is_same = old != NO_MEMBER, new != NO_MEMBER, old == new
    return Handover(
        kept=int(np.count_nonzero(had_member & is_same)),
        moved=int(np.count_nonzero(had_member & has_member & ~is_same)),
        taken_up=int(np.count_nonzero(~had_member & has_member)),
        dropped=int(np.count_nonzero(had_member & ~has_member)),
        revoked=int(np.count_nonzero(had_member & ~is_same & (old < len(after.members)))),
    )
