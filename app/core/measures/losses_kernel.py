"""Compiled loops over all partitions: effects of the loss of each group and each pair of brokers."""

from app.core.compiled.arrays import BoolMatrix, Int32Matrix, Int32Vector, Int64Cube, Int64Matrix
from app.core.compiled.loops import compiled, subroutine

OFFLINE, UNWRITABLE, AT_MIN_ISR, LEADERS_MOVED, FEWER_REPLICAS = range(5)
"""Columns of counts of partitions."""
COUNTS = 5


@subroutine
def _is_offline(in_sync: int, lost: int, leads: bool) -> bool:
    """Whether a partition whose leader is lost has no other in-sync replica to lead it."""
    return leads and in_sync == lost


@subroutine
def _is_unwritable(in_sync: int, lost: int, min_isr: int) -> bool:
    """Whether a partition that could be written has too few in-sync replicas after the loss of some."""
    return min_isr > 0 and in_sync >= min_isr > in_sync - lost


@subroutine
def _in_sync_of(in_sync: BoolMatrix, row: int) -> int:
    """The in-sync replicas of a row."""
    count = 0
    for column in range(in_sync.shape[1]):
        count += in_sync[row, column]
    return count


@subroutine
def _lost_of(groups: Int32Matrix, in_sync: BoolMatrix, row: int, column: int) -> int:
    """The in-sync replicas in the group of a replica; -1 if that is no group, or an earlier replica is in it."""
    group, lost = groups[row, column], 0
    if group < 0:
        return -1
    for other in range(groups.shape[1]):
        if groups[row, other] == group:
            if other < column:
                return -1
            lost += in_sync[row, other]
    return lost


@compiled
def add_losses(
    groups: Int32Matrix, in_sync: BoolMatrix, leaders: Int32Vector, min_isr: Int32Vector, counts: Int64Matrix
) -> None:
    """Add the effects of the loss of each group alone.

    Parameters
    ----------
    groups : (partitions, widest) int32, the group of each replica; negative if it is in none, or for padding.
    in_sync : the same shape. leaders : (partitions,) int32, the column of the leader; negative without a leader.
    min_isr : (partitions,) int32, 0 if unknown. counts : (groups, 5).

    Complexity: O(partitions · factor²), whatever the number of groups.
    """
    for row in range(len(groups)):
        total, leader = _in_sync_of(in_sync, row), leaders[row]
        for column in range(groups.shape[1]):
            group, lost = groups[row, column], _lost_of(groups, in_sync, row, column)
            if lost < 0:
                continue
            counts[group, FEWER_REPLICAS] += 1
            if leader < 0:
                continue
            leads = groups[row, leader] == group
            if _is_offline(total, lost, leads):
                counts[group, OFFLINE] += 1
            elif leads:
                counts[group, LEADERS_MOVED] += 1
            if _is_unwritable(total, lost, min_isr[row]):
                counts[group, UNWRITABLE] += 1
            elif lost > 0 and 0 < total - lost == min_isr[row]:
                counts[group, AT_MIN_ISR] += 1


@compiled
def add_pairs(
    positions: Int32Matrix, in_sync: BoolMatrix, leaders: Int32Vector, min_isr: Int32Vector, joint: Int64Cube
) -> None:
    """Add the effects of the loss of both brokers of a pair, beyond the sum of the single losses.

    Parameters
    ----------
    positions : (partitions, widest) int32 brokers, no broker twice in a row; negative for padding.
    in_sync, leaders, min_isr : as in `add_losses`.
    joint : (brokers, brokers, 2), offline and unwritable, of pairs whose first position is the smaller one.
    """
    for row in range(len(positions)):
        leader = leaders[row]
        if leader < 0:
            continue
        total = _in_sync_of(in_sync, row)
        for column in range(positions.shape[1]):
            for other in range(column):
                first, second = positions[row, other], positions[row, column]
                if first < 0 or second < 0:
                    continue
                one, two = int(in_sync[row, other]), int(in_sync[row, column])
                leads_one, leads_two = leader == other, leader == column
                offline = (
                    int(_is_offline(total, one + two, leads_one or leads_two))
                    - int(_is_offline(total, one, leads_one))
                    - int(_is_offline(total, two, leads_two))
                )
                unwritable = (
                    int(_is_unwritable(total, one + two, min_isr[row]))
                    - int(_is_unwritable(total, one, min_isr[row]))
                    - int(_is_unwritable(total, two, min_isr[row]))
                )
                joint[min(first, second), max(first, second), 0] += offline
                joint[min(first, second), max(first, second), 1] += unwritable
