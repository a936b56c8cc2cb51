"""The loss of each rack and of each broker, as the page of a cluster lists them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.measures.losses import EachLoss, each_loss
from app.core.measures.partition_table import PartitionTable
from app.web.clusters.view import BROKER, RACK

MOST_BROKERS = 100


@dataclass(frozen=True, slots=True)
class ListedLoss:
    """The loss of one rack or broker: the value of `lose` in an address, and the partitions that it concerns."""

    loss: str
    offline: int
    elected: int
    reduced: int


@dataclass(frozen=True, slots=True)
class ListedLosses:
    """All racks, and the `MOST_BROKERS` brokers whose loss costs most, the worst first; `brokers_in_all` there are."""

    racks: Sequence[ListedLoss]
    brokers: Sequence[ListedLoss]
    brokers_in_all: int


def listed_losses(table: PartitionTable) -> ListedLosses:
    """Evaluate the loss of each rack and each broker alone. Complexity: as of `each_loss`."""
    ids, racks = table.brokers.ids, table.brokers.racks
    of_racks = each_loss(table, table.brokers.rack_of, len(racks))
    of_brokers = each_loss(table, np.arange(len(ids), dtype=np.int32), len(ids))
    return ListedLosses(
        _listed([f"{RACK}:{name}" for name in racks], of_racks, len(racks)),
        _listed([f"{BROKER}:{broker}" for broker in ids.tolist()], of_brokers, MOST_BROKERS),
        len(ids),
    )


def _listed(names: Sequence[str], losses: EachLoss, most: int) -> list[ListedLoss]:
    worst = np.lexsort((-losses.reduced, -losses.elected, -losses.offline))[:most]
    return [
        ListedLoss(names[index], int(losses.offline[index]), int(losses.elected[index]), int(losses.reduced[index]))
        for index in worst.tolist()
    ]
