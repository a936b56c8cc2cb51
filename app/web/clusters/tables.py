"""The partitions of the snapshots that were looked at last, so that a switch on a page need not read them again."""

from dataclasses import fields
from typing import Any, TypeAlias
from uuid import UUID

from app.core.measures.partition_table import PartitionTable
from app.core.model import Cluster
from app.services import snapshots
from app.services.snapshots.recent import Recent, memory_of
from app.store.database import UnitOfWork
from app.web.clusters.losses import ListedLosses, listed_losses

MOST_BYTES = 240 * 2**20
"""Memory of all cached tables, each with its cluster: some two million partitions with three replicas."""
_OF_LISTED = 250
"""Bytes of a broker in the table, and of a loss in the list of losses."""

Read: TypeAlias = tuple[Cluster, PartitionTable, ListedLosses]


class RecentTables:
    """Tables by the id of their snapshot, which never changes; those used least recently are dropped first."""

    def __init__(self) -> None:
        self._tables: Recent[UUID, Read] = Recent(MOST_BYTES)

    def of(self, uow: UnitOfWork, snapshot_id: UUID) -> Read:
        """The cluster of a snapshot, its partitions, and what each loss costs. Raises `SnapshotNotFound`."""
        uow.snapshots.get(snapshot_id)  # it may have been deleted
        cached = self._tables.get(snapshot_id)
        if cached is not None:
            return cached
        _, cluster = snapshots.load(uow, snapshot_id)
        table = PartitionTable.of(cluster)
        made = cluster, table, listed_losses(table)
        self._tables.keep(snapshot_id, made, _memory_of(made))
        return made


def _memory_of(made: Read) -> int:
    """The memory of a table with its cluster and losses, in bytes, about as `memory_of` has it."""
    cluster, table, losses = made
    parts: list[Any] = [getattr(table, field.name) for field in fields(table)]
    listed = 2 * len(table.brokers.brokers) + len(losses.racks) + len(losses.brokers)
    return memory_of(cluster) + sum(getattr(part, "nbytes", 0) for part in parts) + _OF_LISTED * (8 + listed)
