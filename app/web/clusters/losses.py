"""The partitions of a cluster, with the loss of each rack and of each broker, as its pages list them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from app.core.measures.health import partition_states
from app.core.measures.losses import LossCounts, loss_counts
from app.core.measures.losses_kernel import FEWER_REPLICAS, LEADERS_MOVED, OFFLINE, UNWRITABLE
from app.core.measures.partition_table import BrokerLoads, PartitionTable
from app.core.model import Cluster, Int32s
from app.core.replica_lists import per_broker
from app.web.clusters.view import BROKER, RACK

MOST_BROKERS = 100
_OF_LISTED = 250
"""Bytes of a broker in the table, in its loads, and of a loss in the list of losses."""


@dataclass(frozen=True, slots=True)
class ListedLoss:
    """The loss of one rack or broker: the value of `lose` in an address, and the partitions that it concerns."""

    loss: str
    counts: LossCounts


class Analysis:
    """The partitions of a snapshot, and its loads and losses, which are computed when they are first read."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.table = PartitionTable.of(cluster)

    @cached_property
    def loads(self) -> BrokerLoads:
        """Loads of brokers, none of which is lost."""
        return self.table.loads(self.table.lost())

    @cached_property
    def states(self) -> Mapping[str, Mapping[str, int]]:
        """The partitions of each topic in each state, of topics that have some."""
        states = partition_states(self._cluster, self.table.brokers)
        return {name: dict(self.table.counts_by_topic(mask)) for name, mask in states.items()}

    @cached_property
    def most(self) -> Mapping[str, int]:
        """The listed brokers with most replicas and with most preferred leaders, by `replica` and `leader`."""
        ids, listed = self.table.brokers.ids, np.flatnonzero(self.table.is_listed)
        counts = {"replica": self.loads.replicas, "leader": per_broker(self.table.replicas[:, :1], len(ids))}
        return {name: int(ids[listed[each[listed].argmax()]]) for name, each in counts.items() if len(listed)}

    @cached_property
    def racks(self) -> list[ListedLoss]:
        """The loss of each rack alone, the worst first. Complexity: as of `ReplicaStates.losses_of`."""
        racks = self.table.brokers.racks
        return _listed(self.table, [f"{RACK}:{name}" for name in racks], self.table.brokers.rack_of, len(racks))

    @cached_property
    def brokers(self) -> list[ListedLoss]:
        """The `MOST_BROKERS` brokers whose loss costs most, the worst first."""
        names = [f"{BROKER}:{broker}" for broker in self.table.brokers.ids.tolist()]
        return _listed(self.table, names, np.arange(len(names), dtype=np.int32), MOST_BROKERS)

    @property
    def unknown(self) -> int:
        """The number of partitions whose `min.insync.replicas` is unknown."""
        return int(np.count_nonzero(self.table.min_isr == 0))

    @property
    def memory_bytes(self) -> int:
        """The memory of all of it, also of what has not been read yet."""
        table = self.table
        arrays = sum(getattr(getattr(table, field.name), "nbytes", 0) for field in fields(table))
        listed = 3 * len(table.brokers.ids) + len(table.brokers.racks)
        return arrays + len(table.partition_ids) + _OF_LISTED * (8 + listed)


def _listed(table: PartitionTable, names: Sequence[str], group_of: Int32s, most: int) -> list[ListedLoss]:
    counts = table.states().losses_of(group_of, len(names))
    worst = np.lexsort([-counts[:, column] for column in (FEWER_REPLICAS, LEADERS_MOVED, UNWRITABLE, OFFLINE)])[:most]
    records = loss_counts(counts, is_known=bool(table.min_isr.any()))
    return [ListedLoss(names[index], records[index]) for index in worst.tolist()]
