"""What the loss of each broker, or of each rack, costs: every one at once."""

from dataclasses import dataclass

import numpy as np

from app.core.measures.partition_table import PartitionTable
from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class EachLoss:
    """The effect of the loss of each group of brokers alone, by the index of the group.

    Parameters
    ----------
    offline : (groups,) int64 partitions that have a leader and that no in-sync replica can lead afterwards.
    elected : (groups,) int64 partitions that get another leader.
    reduced : (groups,) int64 partitions that have fewer replicas afterwards.
    """

    offline: Int64s
    elected: Int64s
    reduced: Int64s


def each_loss(table: PartitionTable, group_of: Int32s, groups: int) -> EachLoss:
    """The loss of each group of brokers alone, as `PartitionTable.loads` evaluates one.

    Parameters
    ----------
    group_of : (brokers,) int32, the group of each position of the table; negative for a broker that is in none.

    Complexity: O(replicas · factor), whatever the number of groups.

    Examples
    --------
    >>> from app.core.model import Broker, Cluster
    >>> table = PartitionTable.of(Cluster("c", (Broker(1, "a"), Broker(2, "b"))))
    >>> each_loss(table, table.brokers.rack_of, 2).offline.tolist()
    [0, 0]
    """
    is_replica = table.replicas != NO_REPLICA
    group = np.where(is_replica, np.append(group_of, np.int32(-1))[table.replicas], np.int32(-1))
    has_leader = table.leaders != NO_LEADER
    leading = np.where(has_leader, np.append(group_of, np.int32(-1))[table.leaders], np.int32(-1))
    # Replicas in no group are outside of every group that is lost.
    may_lead = table.in_sync & ((group != leading[:, None]) | (group < 0))
    is_survived = may_lead.any(axis=1)
    is_first = np.ones(group.shape, np.bool_)
    for later in range(1, group.shape[1]):
        for earlier in range(later):
            is_first[:, later] &= group[:, later] != group[:, earlier]
    return EachLoss(
        offline=_counted(leading[~is_survived], groups),
        elected=_counted(leading[is_survived], groups),
        reduced=_counted(group[is_first], groups),
    )


def _counted(of_groups: Int32s, groups: int) -> Int64s:
    """(groups,) int64: how often each group occurs; negative ones are left out."""
    return np.asarray(np.bincount(of_groups[of_groups >= 0], minlength=groups), np.int64)
