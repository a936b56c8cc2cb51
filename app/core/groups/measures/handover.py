"""What changes hands between two assignments of one group, or between what members own and what they get."""

from dataclasses import dataclass

import numpy as np

from app.core.groups.arrays.partition_table import NOBODY, holders, partition_table
from app.core.groups.model import GroupAssignment, GroupMetadata


@dataclass(frozen=True, slots=True)
class Handover:
    """Partitions by what becomes of them.

    Parameters
    ----------
    kept : the same member has it before and after.
    moved : one member had it, another has it.
    taken_up : nobody had it, a member has it. dropped : a member had it, nobody has it.
    revoked : a member that is still there had it and has it no longer; moved to another or dropped.
    """

    kept: int
    moved: int
    taken_up: int
    dropped: int
    revoked: int


def handover(metadata: GroupMetadata, before: GroupAssignment, after: GroupAssignment) -> Handover:
    """Compare who has each partition of the metadata before and after.

    A member is still there if `after` lists it, with or without partitions. Partitions that the metadata does not know
    are not counted.
    """
    table = partition_table(metadata)
    staying = len(after.members)
    there = set(after.members)
    ids = [*after.members, *(member for member in before.members if member not in there)]
    was, now = holders(table, before, ids), holders(table, after, ids)
    had, has, same = was != NOBODY, now != NOBODY, was == now
    return Handover(
        kept=int(np.count_nonzero(had & same)),
        moved=int(np.count_nonzero(had & has & ~same)),
        taken_up=int(np.count_nonzero(~had & has)),
        dropped=int(np.count_nonzero(had & ~has)),
        revoked=int(np.count_nonzero(had & ~same & (was < staying))),
    )
