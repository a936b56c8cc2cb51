"""What a placement is optimised for: replicas and leaders by one load, or goals over several resources."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import Balance
from app.core.reassignment.resources.model import Goal, ResourceLoads
from app.core.replica_lists import per_broker

Bools = NDArray[np.bool_]
GOAL_OF = {"count": "replicas", "bytes": "disk", "throughput": "nic_in"}
"""By the load that replicas are balanced by: the resource that it is."""


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaObjective:
    """The load that replicas are balanced by.

    Parameters
    ----------
    by : its name. balance : the band. load : (rows,) int64 of one replica; 1 each for counts.
    base_load : (brokers,) int64 of replicas outside the scope.
    """

    by: str
    balance: Balance
    load: Int64s = field(repr=False)
    base_load: Int64s = field(repr=False)

    def loads(self, replicas: Int32s) -> Int64s:
        """(brokers,) int64 load of every broker with (rows, widest) int32 positions."""
        return self.base_load + per_broker(replicas, len(self.base_load), self.load)


@dataclass(frozen=True, slots=True, eq=False)
class PreferredRacks:
    """The ranks of brokers by the racks that are preferred for leaders.

    Parameters
    ----------
    rank : (lists, brokers) int32, the place of the broker's rack in each distinct list of racks, or `lengths` of it.
    lengths : (lists,) int64 number of racks in the list.
    list_of : (rows,) int32 index of the partition's list; −1 without any.
    """

    rank: Int32s = field(repr=False)
    lengths: Int64s = field(repr=False)
    list_of: Int32s = field(repr=False)

    def of_replicas(self, replicas: Int32s, rows: Int64s) -> Int32s:
        """(len(rows), width) int32 rank of each replica, 0 for partitions without a list."""
        listed = self.list_of[rows]
        return np.where(listed[:, None] < 0, 0, self.rank[np.maximum(listed, 0)[:, None], replicas]).astype(np.int32)

    def led(self, leaders: Int32s) -> tuple[int, int, int]:
        """How many partitions are led in the first rack of their list, in another one, and in none of them."""
        has_list = (self.list_of >= 0) & (leaders != NO_REPLICA)
        lists = self.list_of[has_list]
        rank = self.rank[lists, leaders[has_list]]
        first, elsewhere = int(np.count_nonzero(rank == 0)), int(np.count_nonzero(rank == self.lengths[lists]))
        return first, len(lists) - first - elsewhere, elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class TopicMinimums:
    """Topics with a minimum number of leaders on each broker.

    Parameters
    ----------
    least : (topics,) int64. brokers : (brokers,) bool, those that lead as many.
    topic_of : (rows,) int32 index of the partition's topic among them; −1 for others.
    """

    least: Int64s
    brokers: Bools = field(repr=False)
    topic_of: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class LeaderObjective:
    """The load that leaders are balanced by.

    Parameters
    ----------
    by, balance : as for replicas. load : (rows,) int64 of leading. base_load : (brokers,) int64 outside the scope.
    preferred, minimums : constraints on leaders; None without any.
    moves_replicas : whether replicas may move to reach the band.
    fewest_changes : whether the fewest leader changes then come before the fewest bytes.
    frees_moved : whether leaders of partitions of which replicas move may change with `KEEP`.
    may_lead : (brokers,) bool. evacuates : whether leaders are taken away from brokers.
    counts_actual : whether a change is one of the actual leader, not of the preferred one.
    """

    by: str
    balance: Balance
    load: Int64s = field(repr=False)
    base_load: Int64s = field(repr=False)
    frees_moved: bool
    moves_replicas: bool
    fewest_changes: bool
    may_lead: Bools = field(repr=False)
    evacuates: bool
    counts_actual: bool
    preferred: PreferredRacks | None
    minimums: TopicMinimums | None

    def loads(self, replicas: Int32s) -> Int64s:
        """(brokers,) int64 load of every broker as the preferred leader of (rows, widest) int32 positions."""
        return self.base_load + per_broker(replicas[:, :1], len(self.base_load), self.load)


@dataclass(frozen=True, slots=True, eq=False)
class ResourceObjective:
    """Goals within limits; replicas and leaders are placed together.

    Parameters
    ----------
    priorities : the goals, the most important first; those of one entry are reached jointly. Without any, brokers are
        brought below their limits, and nothing else changes.
    loads : what each row loads on brokers.
    leads_afterwards : whether leaders are chosen after the replicas, by constraints of their own.
    """

    priorities: tuple[tuple[Goal, ...], ...]
    loads: ResourceLoads = field(repr=False)
    leads_afterwards: bool = False
