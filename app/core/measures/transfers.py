"""Replicas and bytes that a reassignment moves: per broker, from broker to broker, and partition by partition.

Only the two assignments count, whichever planner made them. A partition that `after` omits stays where it is, as with
Kafka's own reassignments. A new partition is created, not moved: its replicas have no bytes and no sender.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from app.core.measures import transfers_kernel as kernel
from app.core.measures.movement import Movement, PartitionChange, TopicMovement, differing, movement
from app.core.measures.tally import BrokerArrays, positions_of
from app.core.model import INT64_MAX, NO_REPLICA, UNKNOWN_SIZE, Assignment, Bools, Broker, Int32s, Int64s
from app.core.replica_lists import distinct_values, stacked, sums_by, widened

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
class BrokerReplicas(Copies):
    """Replicas of each broker; `leaders` (brokers,) int64 counts its partitions as preferred leader."""

    leaders: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class BrokerTransfers(Copies):
    """Transfers from one broker to another, by ascending sender and receiver; `NOWHERE` comes first.

    senders, receivers : (pairs,) int32 broker ids; the others are (pairs,) as well.
    """

    senders: Int32s
    receivers: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class ChangedRows:
    """Partitions that differ, by topic and ascending id.

    Parameters
    ----------
    topics : names in their order. topic_of : (rows,) int64 index of each partition's topic.
    partition_ids : (rows,) int32. before, after : (rows, widest) int32 broker ids, padded; a new partition is all
        padding before.
    size_bytes : (rows,) int64, `UNKNOWN_SIZE` if none is reported.
    racks_before, racks_after : (rows,) int32 distinct racks; a broker without a rack is in none.
    """

    topics: tuple[str, ...] = field(repr=False)
    topic_of: Int64s = field(repr=False)
    partition_ids: Int32s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    racks_before: Int32s = field(repr=False)
    racks_after: Int32s = field(repr=False)

    def __len__(self) -> int:
        """How many partitions there are."""
        return len(self.topic_of)

    @property
    def is_new(self) -> Bools:
        """(rows,) bool: the partitions that are created."""
        return np.asarray((self.before == NO_REPLICA).all(axis=1), np.bool_)

    def only(self, rows: Bools | slice) -> "ChangedRows":
        """The partitions of these rows."""
        columns = {name: getattr(self, name)[rows] for name in self.__slots__ if name != "topics"}
        return replace(self, **columns)

    @property
    def topic(self) -> str:
        """The topic of the first partition."""
        return self.topics[int(self.topic_of[0])]

    def named(self) -> list[str]:
        """The topics of which there is a partition."""
        return [self.topics[index] for index in self.topic_of[self._starts].tolist()]

    def by_topic(self) -> "Iterator[ChangedRows]":
        """The partitions of each topic of which there is one."""
        return (self.only(slice(*ends)) for ends in pairwise([*self._starts.tolist(), len(self)]))

    def records(self) -> "list[PartitionTransfer]":
        """The same as records."""
        names = [self.topics[index] for index in self.topic_of.tolist()]
        sizes = [None if size == UNKNOWN_SIZE else size for size in self.size_bytes.tolist()]
        figures = zip(names, sizes, self.racks_before.tolist(), self.racks_after.tolist(), strict=True)
        differences = differing(self.partition_ids, self.before, self.after)
        return [
            PartitionTransfer(name, partition, before or None, *others, *own_figures)
            for (partition, before, *others), (name, *own_figures) in zip(differences, figures, strict=True)
        ]

    @property
    def _starts(self) -> Int64s:
        """(topics that have any,) int64: the first row of each."""
        return np.asarray(np.flatnonzero(np.diff(self.topic_of, prepend=-1)), np.int64)


@dataclass(frozen=True, slots=True)
class PartitionTransfer(PartitionChange):
    """One partition that differs. `before` is None if it is new; `size_bytes` if it is unknown."""

    after: tuple[int, ...]
    """Broker ids after, the preferred leader first."""
    size_bytes: int | None
    """Bytes of one replica; null if the size is unknown."""
    racks_before: int
    """Number of racks that the replicas span before."""
    racks_after: int
    """Number of racks that the replicas span after."""


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
    before: BrokerReplicas
    after: BrokerReplicas
    arriving: Copies
    leaving: Copies
    created: Int64s
    flows: BrokerTransfers
    _sizes: Int64s = field(repr=False)
    _table: BrokerArrays = field(repr=False)

    def changed_rows(self, start: int = 0, stop: int | None = None) -> ChangedRows:
        """The partitions that differ, by topic name and partition id: start … stop − 1 of all."""
        moved = self.movement
        rows = moved.rows[start:stop]
        before, after = moved.before[rows], moved.after[rows]
        spans = [_racks_spanned(side, self._table) for side in (before, after)]
        names = tuple([topic.topic for topic in moved.topics])
        return ChangedRows(names, *moved.located(start, stop), before, after, self._sizes[rows], *spans)

    def changed(self) -> Iterator[ChangedRows]:
        """All of these, topic by topic."""
        return self.changed_rows().by_topic()

    def partitions(self, start: int, stop: int) -> list[PartitionTransfer]:
        """The same as records."""
        return self.changed_rows(start, stop).records()


def transfers(
    before: Mapping[str, Assignment],
    after: Mapping[str, Assignment],
    *,
    sizes: Mapping[str, Int64s],
    most_copied: Mapping[str, int] = MappingProxyType({}),
    brokers: Sequence[Broker],
) -> Transfers:
    """Compare two assignments, topic by topic in the order of their names.

    Each replica that a partition gains is paired with one that it loses, of the same rack if there is one, else in
    their order; a replica without a pair is sent, or received, by `NOWHERE`. Kafka copies from the leader, whichever
    replica is removed: a transfer states the broker that loses the replica which another gains.

    Parameters
    ----------
    before : every partition whose load counts. after : of those and of new ones; omitted partitions stay.
    sizes : (partitions,) bytes of a replica or `UNKNOWN_SIZE`, in the order of the topic's partitions in `before`; the
        sizes of a topic that is not listed are unknown.
    most_copied : by topic the most of these bytes that a new replica copies, if not all of them.
    brokers : the listed brokers.

    Complexity: O(partitions · widest²), compiled.

    Examples
    --------
    >>> ids = np.array([0], np.int32)
    >>> before = {"orders": Assignment(ids, np.array([[1, 2]], np.int32))}
    >>> after = {"orders": Assignment(ids, np.array([[1, 3]], np.int32))}
    >>> moved = transfers(before, after, sizes={"orders": np.array([700])}, brokers=[Broker(1), Broker(2), Broker(3)])
    >>> moved.flows.senders.tolist(), moved.flows.receivers.tolist(), moved.flows.size_bytes.tolist()
    ([2], [3], [700])
    >>> moved.before.replicas.tolist(), moved.after.replicas.tolist()
    ([1, 1, 0], [1, 0, 1])
    """
    compared = movement(
        before, {**before, **{name: _completed(before.get(name), assignment) for name, assignment in after.items()}}
    )
    row_sizes = [_row_sizes(topic, before.get(topic.topic), sizes.get(topic.topic)) for topic in compared.topics]
    most = [most_copied.get(topic.topic, INT64_MAX) for topic in compared.topics]
    was, now, table = _positions(compared.before, compared.after, brokers)
    all_sizes, all_copied = (
        np.concatenate([*of, np.empty(0, np.int64)]) for of in (row_sizes, map(np.minimum, row_sizes, most))
    )
    loads_before, loads_after, arriving, leaving = (np.zeros((len(table.ids), n), np.int64) for n in (4, 4, 3, 3))
    created = np.zeros(len(table.ids), np.int64)
    changed = compared.total
    senders, receivers, rows = (np.empty(2 * changed * was.shape[1], np.int32) for _ in range(3))
    pairs = 0
    if was.size:
        per_broker = (loads_before, loads_after, arriving, leaving, created)
        pairs = kernel.count(was, now, all_sizes, all_copied, table.rack_of, *per_broker, senders, receivers, rows)
    return Transfers(
        movement=compared,
        brokers=table.brokers,
        before=BrokerReplicas(*loads_before.T),
        after=BrokerReplicas(*loads_after.T),
        arriving=Copies(*arriving.T),
        leaving=Copies(*leaving.T),
        created=created,
        flows=_summed(senders[:pairs], receivers[:pairs], all_copied[rows[:pairs]], table.ids),
        _sizes=all_copied,
        _table=table,
    )


def _completed(before: Assignment | None, after: Assignment) -> Assignment:
    """`after` with the partitions that it omits."""
    if before is None or np.array_equal(before.partition_ids, after.partition_ids):
        return after
    if not len(before.partition_ids):
        return after
    rows = np.searchsorted(before.partition_ids, after.partition_ids)
    if (before.partition_ids.take(rows, mode="clip") == after.partition_ids).all():  # none of them is new
        width = max(before.replicas.shape[1], after.replicas.shape[1])
        lists = np.array(widened(before.replicas, width))
        lists[rows] = widened(after.replicas, width)
        return Assignment(before.partition_ids, lists)
    stays = ~np.isin(before.partition_ids, after.partition_ids)
    ids = np.concatenate([after.partition_ids, before.partition_ids[stays]])
    order = np.argsort(ids)
    return Assignment(ids[order], stacked([after.replicas, before.replicas[stays]])[order])


def _row_sizes(topic: TopicMovement, before: Assignment | None, sizes: Int64s | None) -> Int64s:
    """(partitions,) int64 over the union of both sides; 0 for new partitions."""
    if before is not None and before.partition_ids is topic.partition_ids and sizes is not None:
        return sizes
    row_sizes = np.zeros(len(topic.partition_ids), np.int64)
    if before is not None:
        rows = np.searchsorted(topic.partition_ids, before.partition_ids)
        row_sizes[rows] = UNKNOWN_SIZE if sizes is None else sizes
    return row_sizes


def _positions(before: Int32s, after: Int32s, brokers: Sequence[Broker]) -> tuple[Int32s, Int32s, BrokerArrays]:
    """Both sides as positions among the listed brokers and those that only a partition names."""
    listed = BrokerArrays.of(brokers)
    was, now = positions_of(before, listed.ids), positions_of(after, listed.ids)
    unlisted = np.unique(np.concatenate([before[was == len(listed.ids)], after[now == len(listed.ids)]])).tolist()
    if not unlisted:
        return was, now, listed
    table = BrokerArrays.of([*listed.brokers, *map(Broker, unlisted)])
    return positions_of(before, table.ids), positions_of(after, table.ids), table


def _summed(senders: Int32s, receivers: Int32s, sizes: Int64s, ids: Int32s) -> BrokerTransfers:
    # Sender and receiver as one number, both from 1 on, so that `NOWHERE` sorts first.
    pairs = (senders.astype(np.int64) + 1) * (len(ids) + 1) + receivers + 1
    distinct, place, replicas = np.unique(pairs, return_inverse=True, return_counts=True)
    known = np.append(np.int32(NOWHERE), ids).astype(np.int32)
    sender, receiver = np.divmod(distinct, len(ids) + 1)
    size_bytes = sums_by(place, np.maximum(sizes, 0), len(distinct))
    unknown = np.bincount(place[sizes < 0], minlength=len(distinct))
    return BrokerTransfers(replicas, size_bytes, unknown, known[sender], known[receiver])


def _racks_spanned(replicas: Int32s, table: BrokerArrays) -> Int32s:
    positions = positions_of(replicas, table.ids)
    return distinct_values(np.where(positions < 0, -1, table.rack_of[positions])).astype(np.int32)
