"""The loss of each rack and of each broker, as the page of a cluster lists them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.measures.losses import LossCounts, loss_counts
from app.core.measures.losses_kernel import FEWER_REPLICAS, LEADERS_MOVED, OFFLINE, UNWRITABLE
from app.core.measures.partition_table import PartitionTable
from app.core.model import Int32s
from app.web.clusters.view import BROKER, RACK

MOST_BROKERS = 100


@dataclass(frozen=True, slots=True)
class ListedLoss:
    """The loss of one rack or broker: the value of `lose` in an address, and the partitions that it concerns."""

    loss: str
    counts: LossCounts


@dataclass(frozen=True, slots=True)
class ListedLosses:
    """All racks, and the `MOST_BROKERS` brokers whose loss costs most, the worst first; `brokers_in_all` there are.

    `unknown` counts the partitions whose `min.insync.replicas` is unknown.
    """

    racks: Sequence[ListedLoss]
    brokers: Sequence[ListedLoss]
    brokers_in_all: int
    unknown: int


def listed_losses(table: PartitionTable) -> ListedLosses:
    """Evaluate the loss of each rack and each broker alone. Complexity: as of `ReplicaStates.losses_of`."""
    ids, racks = table.brokers.ids, table.brokers.racks
    each = np.arange(len(ids), dtype=np.int32)
    return ListedLosses(
        _listed(table, [f"{RACK}:{name}" for name in racks], table.brokers.rack_of, len(racks)),
        _listed(table, [f"{BROKER}:{broker}" for broker in ids.tolist()], each, MOST_BROKERS),
        len(ids),
        int(np.count_nonzero(table.min_isr == 0)),
    )


def _listed(table: PartitionTable, names: Sequence[str], group_of: Int32s, most: int) -> list[ListedLoss]:
    counts = table.states().losses_of(group_of, len(names))
    worst = np.lexsort([-counts[:, column] for column in (FEWER_REPLICAS, LEADERS_MOVED, UNWRITABLE, OFFLINE)])[:most]
    records = loss_counts(counts, is_known=bool(table.min_isr.any()))
    return [ListedLoss(names[index], records[index]) for index in worst.tolist()]
