"""The traffic of an assignment from rack to rack, and the metadata that changes of replicas would lead to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.groups.arrays.partition_table import PartitionTable, assigned_members, partition_table
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.measures.traffic import ReadTraffic, read_traffic
from app.core.model import NO_MEMBER, NO_RACK, NO_REPLICA, Float64s, Int32s, Int64s
from app.core.replica_lists import stacked

Rates = Mapping[str, Float64s]
"""By topic name, the bytes/s of each partition: (partitions,) float64 ≥ 0, NaN if unknown. Those of a topic that is
missing, and of partitions beyond the array, are unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupTraffic:
    """The traffic of the partitions of known rate that are assigned to members.

    Parameters
    ----------
    racks : names, as numbered. table : of all partitions.
    rows, readers : (read,) rows of `table`, and indices of the group's members.
    traffic : of these rows, in this order.
    unrated : number of assigned partitions of unknown rate.
    """

    racks: tuple[str, ...]
    table: PartitionTable = field(repr=False)
    rows: Int64s = field(repr=False)
    readers: Int32s = field(repr=False)
    traffic: ReadTraffic = field(repr=False)
    unrated: int


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """The partitions of metadata on brokers by position, with numbers of racks for brokers and members.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions in `brokers`, padded. brokers : (brokers,) ids, live or not.
    rack_of : (brokers,) int32. of_members : (members,) int32.
    """

    racks: tuple[str, ...]
    table: PartitionTable
    replicas: Int32s
    brokers: Int64s
    rack_of: Int32s
    of_members: Int32s

    @classmethod
    def of(cls, members: Sequence[Member], metadata: GroupMetadata) -> "_Placed":
        table = partition_table(metadata)
        lists = stacked([metadata.topics[name].replicas for name in table.topics])
        brokers = np.unique([*metadata.rack_of, *np.unique(lists[lists != NO_REPLICA])]).astype(np.int64)
        racks = tuple(
            sorted({rack for rack in (*metadata.rack_of.values(), *(its.rack_id for its in members)) if rack})
        )
        number_of: dict[str | None, int] = {rack: number for number, rack in enumerate(racks)}
        return cls(
            racks,
            table,
            np.where(lists == NO_REPLICA, NO_REPLICA, np.searchsorted(brokers, lists)).astype(np.int32),
            brokers,
            np.array([number_of.get(metadata.rack_of.get(broker), NO_RACK) for broker in brokers.tolist()], np.int32),
            np.array([number_of.get(member.rack_id, NO_RACK) for member in members], np.int32),
        )

    def readers(self, members: Sequence[Member], assignment: GroupAssignment) -> tuple[Int32s, Int32s]:
        """(rows,) int32 index of each partition's reader, or `NO_MEMBER`, and its rack, or `NO_RACK`."""
        readers = assigned_members(self.table, assignment, [member.id for member in members])
        return readers, np.append(self.of_members, np.int32(NO_RACK))[readers]

    def metadata(self, metadata: GroupMetadata, replicas: Int32s) -> GroupMetadata:
        """The metadata with other replicas: (rows, widest) int32 positions."""
        ids = np.append(self.brokers, NO_REPLICA)[replicas].astype(np.int32)
        parts = zip(self.table.topics, np.split(ids, self.table.starts[1:-1]), strict=False)
        changed = {name: replace(metadata.topics[name], replicas=part) for name, part in parts}
        return replace(metadata, topics=dict(metadata.topics) | changed)


def group_traffic(
    members: Sequence[Member],
    metadata: GroupMetadata,
    assignment: GroupAssignment,
    rates: Rates,
    *,
    follower_fetching: bool,
) -> GroupTraffic:
    """Measure the traffic of an assignment that assigns each partition to one member.

    The first replica of a partition is its leader. A member without a rack, and a broker without one, are in an
    unknown rack.
    """
    placed = _Placed.of(members, metadata)
    readers, reader_racks = placed.readers(members, assignment)
    by_row = rates_of_rows(placed.table, rates)
    rows = np.flatnonzero((readers != NO_MEMBER) & ~np.isnan(by_row))
    arrays = placed.replicas[rows], placed.rack_of, reader_racks[rows], by_row[rows]
    traffic = read_traffic(*arrays, follower_fetching=follower_fetching)
    unrated = int(np.count_nonzero(readers != NO_MEMBER)) - len(rows)
    return GroupTraffic(placed.racks, placed.table, rows, readers[rows], traffic, unrated)


def rates_of_rows(table: PartitionTable, rates: Rates) -> Float64s:
    """The rate of each row: (rows,) float64 bytes/s, NaN if it is unknown."""
    by_row = np.full(table.rows, np.nan)
    for name in rates.keys() & table.index_of.keys():
        start, stop = table.starts[table.index_of[name] :][:2]
        known = rates[name][: stop - start]
        by_row[start : start + len(known)] = known
    return by_row


def only_leaders(metadata: GroupMetadata) -> GroupMetadata:
    """The metadata without followers: members in the rack of a replica are then those in the rack of the leader."""
    leaders = {name: replace(topic, replicas=topic.replicas[:, :1]) for name, topic in metadata.topics.items()}
    return replace(metadata, topics=leaders)


def with_leaders_in_rack(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment
) -> tuple[GroupMetadata, int]:
    """The metadata if each partition were led by a replica in the rack of its reader; the leaders that change.

    Replicas in the rack of the reader come first in the list, in their order.
    """
    placed = _Placed.of(members, metadata)
    _, reader_racks = placed.readers(members, assignment)
    # Padding is in a rack of its own.
    of_replicas = np.append(placed.rack_of, len(placed.racks))[placed.replicas]
    is_there = (of_replicas == reader_racks[:, None]) & (of_replicas != NO_RACK)
    order = np.argsort(~is_there, axis=1, kind="stable")
    lists = np.take_along_axis(placed.replicas, order, axis=1)
    return placed.metadata(metadata, lists), int(np.count_nonzero(order[:, :1]))


def with_one_more_replica(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment
) -> tuple[GroupMetadata, int]:
    """The metadata if each partition with a reader had a follower in one more rack; the partitions that get one.

    The rack is the reader's if it has a live broker and no replica, else the first by name; the broker
    has the lowest id. A partition with a replica in every rack, or one in an unknown rack, gets none.
    """
    placed = _Placed.of(members, metadata)
    racked = np.flatnonzero(placed.rack_of != NO_RACK)[::-1]
    first_broker = np.full(len(placed.racks) + 1, NO_REPLICA, np.int32)
    first_broker[placed.rack_of[racked]] = racked  # Of several in a rack, the last one is stored.
    of_replicas = np.append(placed.rack_of, len(placed.racks))[placed.replicas]
    readers, reader_racks = placed.readers(members, assignment)
    is_read = (readers != NO_MEMBER) & (placed.replicas != NO_REPLICA).any(axis=1)
    is_free = np.outer(is_read & (of_replicas != NO_RACK).all(axis=1), first_broker != NO_REPLICA)
    np.put_along_axis(is_free, of_replicas.astype(np.int64), False, axis=1)
    is_in_readers = is_free[np.arange(len(is_free)), reader_racks]
    added = first_broker[np.where(is_in_readers, reader_racks, is_free.argmax(axis=1))]
    lists = np.column_stack([placed.replicas, np.where(is_free.any(axis=1), added, NO_REPLICA)])
    order = np.argsort(lists == NO_REPLICA, axis=1, kind="stable")  # Padding stays on the right.
    lists = np.take_along_axis(lists, order, axis=1)
    return placed.metadata(metadata, lists), int(is_free.any(axis=1).sum())
