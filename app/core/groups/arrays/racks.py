"""Racks of members, brokers and replicas as numbers, so that compiled loops and numpy can compare them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.partition_table import PartitionTable
from app.core.groups.model import GroupMetadata, Member
from app.core.model import NO_RACK, Bools, Int32s
from app.core.replica_lists import stacked

LARGEST_DIRECT_TABLE = 1 << 20
"""If every broker id is smaller, ids index `of_broker` directly; otherwise they are numbered first."""


@dataclass(frozen=True, eq=False)
class RackTable:
    """Rack numbers of a group's members, of the brokers and of the replicas of some partitions.

    Parameters
    ----------
    of_member : (members,) int32, `NO_RACK` if the member has none; `""` counts as none.
    of_broker : int32 by broker, as `broker_index` numbers them; `NO_RACK` if the broker has none. A broker's `""` is a
        rack of its own.
    count : number of racks.
    replicas : of each topic whose partitions the table covers, (partitions, widest) int32 broker ids, padded.
    """

    of_member: Int32s
    of_broker: Int32s = field(repr=False)
    count: int
    replicas: Sequence[Int32s] = field(repr=False)
    _sparse_ids: Int32s | None = field(repr=False)

    @classmethod
    def of(cls, members: Sequence[Member], rack_of: Mapping[int, str | None], replicas: Sequence[Int32s] = ()) -> Self:
        """Number the racks of members and brokers, in the order in which `rack_of`, then the members name them."""
        number_of: dict[str, int] = {}
        racked = [(broker, rack) for broker, rack in rack_of.items() if rack is not None and broker >= 0]
        of_broker = {broker: number_of.setdefault(rack, len(number_of)) for broker, rack in racked}
        of_member = [
            number_of.setdefault(member.rack_id, len(number_of)) if member.rack_id else NO_RACK for member in members
        ]
        ids = np.array(sorted(of_broker), np.int32)
        is_sparse = bool(ids.max(initial=-1) >= LARGEST_DIRECT_TABLE)
        places = np.arange(len(ids), dtype=np.int32) if is_sparse else ids
        table = np.full(int(places.max(initial=-1)) + 1, NO_RACK, np.int32)
        table[places] = [of_broker[broker] for broker in ids.tolist()]
        return cls(np.array(of_member, np.int32), table, len(number_of), replicas, ids if is_sparse else None)

    def broker_index(self, replicas: Int32s) -> Int32s:
        """Broker ids as indices into `of_broker`; a broker whose index is out of bounds has no rack."""
        if self._sparse_ids is None:
            return np.ascontiguousarray(replicas, np.int32)
        places = np.searchsorted(self._sparse_ids, replicas).astype(np.int32)
        is_known = self._sparse_ids[np.minimum(places, len(self._sparse_ids) - 1)] == replicas
        return np.where(is_known, places, np.int32(-1))

    def racks_of(self, replicas: Int32s) -> Int32s:
        """The rack of each replica, or `NO_RACK`: int32, of the shape of `replicas`. Offline replicas count."""
        # One entry before and one after the known brokers, for indices out of bounds: padding, brokers without a rack.
        lookup = np.full(len(self.of_broker) + 2, NO_RACK, np.int32)
        lookup[1:-1] = self.of_broker
        return lookup.take(self.broker_index(replicas).astype(np.int64) + 1, mode="clip")

    @cached_property
    def of_replicas(self) -> Int32s:
        """(widest, partitions) int32: the rack of each partition's first replica, of its second …, or `NO_RACK`.

        Partitions are numbered topic by topic, in the order of `replicas`.
        """
        return self.racks_of(np.ascontiguousarray(stacked(self.replicas).T))

    def is_in_rack(self, rows: NDArray[np.int64], racks: Int32s) -> Bools:
        """Whether a replica of each partition is in the rack beside it: (n,) bool, False for `NO_RACK`.

        Parameters
        ----------
        rows : (n,) int64 partitions as `of_replicas` numbers them.
        racks : (n,) int32 rack numbers.
        """
        has_replica = np.zeros(len(rows), np.bool_)
        for column in self.of_replicas:
            has_replica |= column[rows] == racks
        has_replica &= racks != NO_RACK
        return has_replica

    def has_known_rack(self) -> Bools:
        """(partitions,) bool: whether some replica of the partition has a rack."""
        known = np.zeros(self.of_replicas.shape[1], np.bool_)
        for column in self.of_replicas:
            known |= column != NO_RACK
        return known


def rack_table(members: Sequence[Member], metadata: GroupMetadata, table: PartitionTable) -> RackTable:
    """The rack table of a group for measures and optima: its partitions are the rows of `table`.

    Unlike in Kafka's assignors, a broker whose rack is `""` has none.
    """
    # By broker id: the order in which the metadata names brokers is arbitrary, and must not decide a tie.
    rack_of: Mapping[int, str | None] = {broker: rack for broker, rack in sorted(metadata.rack_of.items()) if rack}
    return RackTable.of(members, rack_of, [metadata.topics[name].replicas for name in table.topics])
