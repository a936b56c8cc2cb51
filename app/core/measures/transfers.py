"""Replicas and bytes that a reassignment moves: per broker, from broker to broker, and partition by partition.

Only the two assignments count, whichever planner made them. A partition that `after` omits stays where it is, as with
Kafka's own reassignments. A new partition is created, not moved: its replicas have no bytes and no sender.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.measures import transfers_kernel as kernel
from app.core.measures.movement import Movement, TopicMovement, movement
from app.core.measures.tally import BrokerTable, positions_of
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Assignment, Broker, Int32s, Int64s, unpadded

NOWHERE = -1
"""Sender of a replica that a raised factor adds, and receiver of one that a lowered factor removes."""


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Replicas of each broker, and their bytes: (brokers,) int64 each.

    `size_bytes` excludes the replicas `unknown_size`, for whose partition no size is reported.
    """

    replicas: Int64s
    size_bytes: Int64s
    unknown_size: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class BrokerLoads(Copies):
    """What each broker has; `leaders` (brokers,) int64 counts the partitions of which it is the preferred leader."""

    leaders: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class BrokerTransfers:
    """Transfers from one broker to another, by ascending sender and receiver; `NOWHERE` comes first.

    senders, receivers : (pairs,) int32 broker ids. replicas, size_bytes, unknown_size : (pairs,) int64.
    """

    senders: Int32s
    receivers: Int32s
    replicas: Int64s
    size_bytes: Int64s
    unknown_size: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class ChangedPartitions:
    """Partitions of one topic that differ, by ascending id.

    Parameters
    ----------
    partition_ids : (rows,) int32. before, after : (rows, widest) int32 broker ids, padded; a new partition is all
        padding before.
    size_bytes : (rows,) int64, `UNKNOWN_SIZE` if none is reported.
    racks_before, racks_after : (rows,) int32 distinct racks; a broker without a rack is in none.
    """

    topic: str
    partition_ids: Int32s
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    racks_before: Int32s = field(repr=False)
    racks_after: Int32s = field(repr=False)

    def only(self, rows: NDArray[np.bool_]) -> "ChangedPartitions":
        """The partitions of these rows."""
        return ChangedPartitions(
            self.topic,
            self.partition_ids[rows],
            self.before[rows],
            self.after[rows],
            self.size_bytes[rows],
            self.racks_before[rows],
            self.racks_after[rows],
        )


@dataclass(frozen=True, slots=True)
class PartitionTransfer:
    """One partition that differs. `before` is None if it is new; `size_bytes` if it is unknown."""

    topic: str
    partition: int
    before: tuple[int, ...] | None
    after: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    preferred_leader_changes: bool
    size_bytes: int | None
    racks_before: int
    racks_after: int


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """Differences of two assignments, in replicas and bytes.

    For each broker `after` is `before` plus arrivals and created replicas, less departures.

    Parameters
    ----------
    movement : the same, counted by partitions.
    brokers : listed brokers and those that only a partition names, by ascending id.
    created : (brokers,) int64 replicas of new partitions; they are part of `after` and do not arrive.
    """

    movement: Movement
    brokers: tuple[Broker, ...]
    before: BrokerLoads
    after: BrokerLoads
    arriving: Copies
    leaving: Copies
    created: Int64s
    flows: BrokerTransfers
    _sizes: tuple[Int64s, ...] = field(repr=False)
    _table: BrokerTable = field(repr=False)

    def changed(self, start: int = 0, stop: int | None = None) -> Iterator[ChangedPartitions]:
        """The partitions that differ, topic by topic in the order of their names: start … stop − 1 of all."""
        last = self.movement.total if stop is None else stop
        for topic, sizes in zip(self.movement.topics, self._sizes, strict=True):
            rows = topic.rows[max(start, 0) : max(last, 0)]
            start, last = start - len(topic.rows), last - len(topic.rows)
            if len(rows):
                before, after = topic.before[rows], topic.after[rows]
                yield ChangedPartitions(
                    topic.topic,
                    topic.partition_ids[rows],
                    before,
                    after,
                    sizes[rows],
                    _racks_spanned(before, self._table),
                    _racks_spanned(after, self._table),
                )

    def partitions(self, start: int, stop: int) -> list[PartitionTransfer]:
        """The same as records."""
        return [record for changed in self.changed(start, stop) for record in _records(changed)]


def transfers(
    before: Mapping[str, Assignment],
    after: Mapping[str, Assignment],
    *,
    sizes: Mapping[str, Int64s],
    brokers: Sequence[Broker],
) -> Transfers:
    """Compare two assignments, topic by topic in the order of their names.

    Each replica that a partition gains is paired with one that it loses, of the same rack if there is one, else in
    their order; a replica without a pair is sent, or received, by `NOWHERE`. Kafka copies from the leader, whichever
    replica is removed: a transfer states which broker is relieved of what another receives.

    Parameters
    ----------
    before : every partition whose load counts. after : of those and of new ones; what it omits stays.
    sizes : (partitions,) bytes of a replica or `UNKNOWN_SIZE`, in the order of the topic's partitions in `before`; the
        sizes of a topic that is not listed are unknown.
    brokers : the listed brokers.
    """
    compared = movement(
        before, {**before, **{name: _completed(before.get(name), assignment) for name, assignment in after.items()}}
    )
    row_sizes = tuple(_row_sizes(topic, before.get(topic.topic), sizes.get(topic.topic)) for topic in compared.topics)
    sides = _stacked([topic.before for topic in compared.topics]), _stacked([topic.after for topic in compared.topics])
    was, now, table = _positions(*sides, brokers)
    counts = _TransferCounts.over(len(table.ids))
    flows = _count(was, now, np.concatenate([*row_sizes, _NO_SIZES]), table, counts)
    return Transfers(
        movement=compared,
        brokers=table.brokers,
        before=BrokerLoads(*counts.before.T),
        after=BrokerLoads(*counts.after.T),
        arriving=Copies(*counts.arriving.T),
        leaving=Copies(*counts.leaving.T),
        created=counts.created,
        flows=flows,
        _sizes=row_sizes,
        _table=table,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _TransferCounts:
    before: Int64s
    after: Int64s
    arriving: Int64s
    leaving: Int64s
    created: Int64s

    @classmethod
    def over(cls, brokers: int) -> "_TransferCounts":
        before, after, arriving, leaving = (np.zeros((brokers, columns), np.int64) for columns in (4, 4, 3, 3))
        return cls(before, after, arriving, leaving, np.zeros(brokers, np.int64))


def _completed(before: Assignment | None, after: Assignment) -> Assignment:
    """`after` with the partitions that it omits."""
    if before is None or np.array_equal(before.partition_ids, after.partition_ids):
        return after
    stays = ~np.isin(before.partition_ids, after.partition_ids)
    if not stays.any():
        return after
    ids = np.concatenate([after.partition_ids, before.partition_ids[stays]])
    rows = np.full((len(ids), max(before.replicas.shape[1], after.replicas.shape[1])), NO_REPLICA, np.int32)
    rows[: len(after.partition_ids), : after.replicas.shape[1]] = after.replicas
    rows[len(after.partition_ids) :, : before.replicas.shape[1]] = before.replicas[stays]
    order = np.argsort(ids)
    return Assignment(ids[order], rows[order])


def _row_sizes(topic: TopicMovement, before: Assignment | None, sizes: Int64s | None) -> Int64s:
    """(partitions,) int64 over the union of both sides; 0 for new partitions."""
    row_sizes = np.zeros(len(topic.partition_ids), np.int64)
    if before is not None:
        rows = np.searchsorted(topic.partition_ids, before.partition_ids)
        row_sizes[rows] = UNKNOWN_SIZE if sizes is None else sizes
    return row_sizes


def _stacked(sides: Sequence[Int32s]) -> Int32s:
    """The rows of all topics, one topic after the other, padded to the widest."""
    width = max([side.shape[1] for side in sides], default=0)
    if all(side.shape[1] == width for side in sides):
        return np.concatenate([*sides, np.empty((0, width), np.int32)])
    rows = np.full((sum(map(len, sides)), width), NO_REPLICA, np.int32)
    start = 0
    for side in sides:
        rows[start : start + len(side), : side.shape[1]] = side
        start += len(side)
    return rows


def _positions(before: Int32s, after: Int32s, brokers: Sequence[Broker]) -> tuple[Int32s, Int32s, BrokerTable]:
    """Both sides as positions among the listed brokers and those that only a partition names."""
    listed = BrokerTable.of(brokers)
    was, now = positions_of(before, listed.ids), positions_of(after, listed.ids)
    unlisted = np.unique(np.concatenate([before[was == len(listed.ids)], after[now == len(listed.ids)]])).tolist()
    if not unlisted:
        return was, now, listed
    table = BrokerTable.of([*listed.brokers, *map(Broker, unlisted)])
    return positions_of(before, table.ids), positions_of(after, table.ids), table


def _count(
    before: Int32s, after: Int32s, sizes: Int64s, table: BrokerTable, counts: _TransferCounts
) -> BrokerTransfers:
    """Sum what brokers have, receive and send, and the transfers between them."""
    changed = int(np.count_nonzero((before != after).any(axis=1)))
    senders, receivers, rows = (np.empty(2 * changed * before.shape[1], np.int32) for _ in range(3))
    pairs = 0
    if before.size:
        added_to = (counts.before, counts.after, counts.arriving, counts.leaving, counts.created)
        pairs = kernel.count(before, after, sizes, table.rack_of, *added_to, senders, receivers, rows)
    return _summed(senders[:pairs], receivers[:pairs], sizes[rows[:pairs]], table.ids)


def _summed(senders: Int32s, receivers: Int32s, sizes: Int64s, ids: Int32s) -> BrokerTransfers:
    # Sender and receiver as one number, both from 1 on, so that `NOWHERE` sorts first.
    pairs = (senders.astype(np.int64) + 1) * (len(ids) + 1) + receivers + 1
    distinct, place = np.unique(pairs, return_inverse=True)
    size_bytes, unknown = np.zeros(len(distinct), np.int64), np.zeros(len(distinct), np.int64)
    np.add.at(size_bytes, place, np.maximum(sizes, 0))
    np.add.at(unknown, place, (sizes < 0).astype(np.int64))
    known = np.append(np.int32(NOWHERE), ids).astype(np.int32)
    sender, receiver = np.divmod(distinct, len(ids) + 1)
    return BrokerTransfers(
        known[sender], known[receiver], np.bincount(place, minlength=len(distinct)), size_bytes, unknown
    )


_NO_SIZES: Int64s = np.empty(0, np.int64)


def _racks_spanned(replicas: Int32s, table: BrokerTable) -> Int32s:
    positions = positions_of(replicas, table.ids)
    racks = np.sort(np.where(positions < 0, -1, table.rack_of[positions]), axis=1)
    is_first = np.diff(racks, axis=1, prepend=-1) != 0
    return np.asarray((is_first & (racks >= 0)).sum(axis=1), np.int32)


def _records(changed: ChangedPartitions) -> Iterator[PartitionTransfer]:
    columns = (changed.partition_ids, changed.size_bytes, changed.racks_before, changed.racks_after)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    sides = zip(unpadded(changed.before), unpadded(changed.after), strict=True)
    for (partition, size, racks_before, racks_after), (before, after) in zip(rows, sides, strict=True):
        yield PartitionTransfer(
            topic=changed.topic,
            partition=partition,
            before=tuple(before) or None,
            after=tuple(after),
            adding_replicas=tuple(broker for broker in after if broker not in before),
            removing_replicas=tuple(broker for broker in before if broker not in after),
            preferred_leader_changes=bool(before and after and before[0] != after[0]),
            size_bytes=None if size == UNKNOWN_SIZE else size,
            racks_before=racks_before,
            racks_after=racks_after,
        )
