"""Compiled loop over all partitions: how the loads of the remaining brokers change when a group of brokers is lost."""

import numpy as np

from app.core.capacity.loads_kernel import is_first
from app.core.compiled.arrays import (
    BoolMatrix,
    FloatCube,
    FloatVector,
    Int32Matrix,
    Int32Vector,
    Int64Matrix,
    Int64Vector,
)
from app.core.compiled.loops import compiled, subroutine

SENT, RECEIVED, LEADERS = 0, 1, 2
"""Columns of the changes: bytes/s sent to followers and consumers, bytes/s received, and partitions led."""
_NONE = -2
"""In place of a lost group; brokers in no group have −1."""
OFFLINE, ELECTED, REDUCED = 0, 1, 2
"""Columns of the counts of partitions: without a leader; with another leader; with fewer replicas."""


@subroutine
def _serves(
    broker: Int32Vector, rack: Int32Vector, group: Int32Vector, count: int, lost: int, leader: int, at: int
) -> bool:
    """Whether a remaining replica serves the consumers of its rack: the leader, else the one on the highest broker."""
    if rack[at] == rack[leader]:
        return at == leader
    for other in range(count):
        if rack[other] == rack[at] and group[other] != lost and broker[other] > broker[at]:
            return False
    return True


@compiled
def add_changes(
    rows: Int32Matrix,
    in_sync: BoolMatrix,
    bounds: Int64Vector,
    ingress: FloatVector,
    fan_out: FloatVector,
    rack_of: Int32Vector,
    local_share: FloatVector,
    group_of: Int32Vector,
    first: int,
    changes: FloatCube,
    counts: Int64Matrix,
) -> None:
    """Add the changes by the loss of each group alone, for groups first … first + lost − 1.

    With follower fetching the leader serves the consumers in its rack, and in each other rack the replica on the
    broker with the highest position does, as `core/reassignment/resource_problem.py` evaluates it.

    The leader is the first replica of a row. If it is lost, the first remaining replica in sync is elected; if there is
    none, the partition is offline: its remaining replicas neither send nor receive.

    Parameters
    ----------
    rows : (partitions, widest) int32 positions in list order, padded with −1. in_sync : the same shape.
    bounds, ingress, fan_out, rack_of, local_share : as in `loads_kernel.py`.
    group_of : (brokers,) int32.
    changes : (lost, brokers, 3) of remaining brokers; 0 for lost ones. counts : (lost, 3).

    Complexity: O(partitions · factor³), whatever the number of groups.
    """
    rack, group = np.empty(rows.shape[1], np.int32), np.empty(rows.shape[1], np.int32)
    for topic in range(len(bounds) - 1):
        for row in range(bounds[topic], bounds[topic + 1]):
            reads = fan_out[topic] * ingress[row]
            count = 0
            others = 1.0  # the share of consumers without a replica in their rack
            while count < rows.shape[1] and rows[row, count] >= 0:
                rack[count], group[count] = rack_of[rows[row, count]], group_of[rows[row, count]]
                if is_first(rack, count):
                    others -= local_share[rack[count]]
                count += 1
            for at in range(count):
                lost = group[at] - first
                if not 0 <= lost < len(changes) or not is_first(group, at):
                    continue
                counts[lost, REDUCED] += 1
                left, leader = 0, -1
                for other in range(count):
                    if group[other] != group[at]:
                        left += 1
                        if leader < 0 and (other == 0 or in_sync[row, other]):
                            leader = other
                others_after = 1.0
                for other in range(count):
                    if group[other] == group[at]:
                        continue
                    broker = rows[row, other]
                    share = local_share[rack[other]]
                    if leader < 0:
                        changes[lost, broker, RECEIVED] -= ingress[row]
                    elif _serves(rows[row], rack, group, count, group[at], leader, other):
                        others_after -= share
                        changes[lost, broker, SENT] += share * reads
                    if _serves(rows[row], rack, group, count, _NONE, 0, other):
                        changes[lost, broker, SENT] -= share * reads
                if leader < 0:
                    counts[lost, OFFLINE] += 1
                    continue
                broker = rows[row, leader]
                changes[lost, broker, SENT] += (left - 1) * ingress[row] + others_after * reads
                if leader > 0:
                    changes[lost, broker, LEADERS] += 1
                    counts[lost, ELECTED] += 1
                else:
                    changes[lost, broker, SENT] -= (count - 1) * ingress[row] + others * reads
