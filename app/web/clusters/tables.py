"""The partitions of the snapshots that were looked at last, so that a switch on a page need not read them again."""

from collections import OrderedDict
from threading import Lock
from typing import TypeAlias
from uuid import UUID

from app.core.measures.partition_table import PartitionTable
from app.core.model import Cluster
from app.services import snapshots
from app.store.database import UnitOfWork
from app.web.clusters.losses import ListedLosses, listed_losses

MOST_REPLICAS = 8_000_000
"""Replicas of all tables that are kept, some 20 bytes each: about 160 MB. The newest is kept whatever its size."""

Read: TypeAlias = tuple[Cluster, PartitionTable, ListedLosses]


class RecentTables:
    """Tables by the id of their snapshot, which never changes; those used least recently are dropped first."""

    def __init__(self) -> None:
        self._tables: OrderedDict[UUID, Read] = OrderedDict()
        self._lock = Lock()

    def of(self, uow: UnitOfWork, snapshot_id: UUID) -> Read:
        """The cluster of a snapshot, its partitions, and what each loss costs. Raises `SnapshotNotFound`."""
        uow.snapshots.get(snapshot_id)  # it may have been deleted
        with self._lock:
            if snapshot_id in self._tables:
                self._tables.move_to_end(snapshot_id)
                return self._tables[snapshot_id]
        _, cluster = snapshots.load(uow, snapshot_id)
        table = PartitionTable.of(cluster)
        made = cluster, table, listed_losses(table)
        with self._lock:
            self._tables[snapshot_id] = made
            while len(self._tables) > 1 and self._replicas() > MOST_REPLICAS:
                self._tables.popitem(last=False)
        return made

    def _replicas(self) -> int:
        return sum(table.replicas.size for _, table, _ in self._tables.values())
