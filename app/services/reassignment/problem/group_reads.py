"""The partitions that members of the snapshot's groups read, as rows, with the racks of the members.

The groups of a snapshot that a reassignment makes rebalance, and in which batches.

Since 4.1 the coordinator compares a hash of the subscribed topics, which covers the racks of replicas (KIP-1101):
groups of the consumer and of the streams protocol rebalance when these change. Before 4.1 the coordinator compares no
racks. A classic group is rebalanced by its own leader, if that has a rack (KIP-881), and is none of these.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.kafka_versions import KafkaVersion
from app.core.measures.traffic import read_traffic
from app.core.model import NO_RACK, Cluster, Int32s, Int64s
from app.core.reassignment import Batches, changes_racks, changes_racks_meanwhile
from app.core.recorded import RecordedGroup, TopicPartitions
from app.errors import Json
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.resources import Resources
from app.services.reassignment.problem.scope import PartitionScope


@dataclass(frozen=True, slots=True, eq=False)
class GroupReads:
    """Reads: a partition and the group that reads it.

    Parameters
    ----------
    group_ids : the groups with members that read partitions.
    group_of, rows : (reads,) int64 index of the group, and row of the partition in `Resources.rows`.
    to_rack : (reads,) int32 rack of the member; `NO_RACK` if it is unknown, the number of racks if no broker is there.
    """

    group_ids: tuple[str, ...]
    group_of: Int64s = field(repr=False)
    rows: Int64s = field(repr=False)
    to_rack: Int32s = field(repr=False)

    def crossing(self, resources: Resources, replicas: Int32s) -> list[list[float]]:
        """For each group, the bytes/s from rack to rack, and those of which a rack is unknown.

        Parameters
        ----------
        replicas : (rows of the scope, widest) int32 positions, leaders first.
        """
        lists, traffic = resources.rows(replicas)
        # Offline brokers of unknown rack are in racks of their own, after all others.
        rack_of = np.where(resources.rack_of < len(resources.racks), resources.rack_of, NO_RACK).astype(np.int32)
        rates = traffic.ingress[self.rows].astype(np.float64)
        follower_fetching = resources.follower_fetching
        found = read_traffic(lists[self.rows], rack_of, self.to_rack, rates, follower_fetching=follower_fetching)
        sums = [np.bincount(self.group_of, each, len(self.group_ids)) for each in (found.cross_rack, found.unknown)]
        by_group: list[list[float]] = np.column_stack(sums).tolist()
        return by_group


def group_reads(groups: Iterable[RecordedGroup], scope: PartitionScope, racks: Sequence[str]) -> GroupReads:
    """Find the reads of groups whose partitions have one member each; those of share groups are left out."""
    topics = _topics(scope)
    rack_numbers = {None: NO_RACK, "": NO_RACK} | {rack: number for number, rack in enumerate(racks)}
    runs = [
        (group.group_id, rack_numbers.get(member.rack_id, len(racks)), _rows(run, *topics[run.topic]))
        for group in groups
        if group.type != "share"
        for member in group.members
        for run in member.assigned or ()
        if run.topic in topics
    ]
    number_of = {group: number for number, group in enumerate(dict.fromkeys(group for group, _, _ in runs))}
    lengths = [len(rows) for _, _, rows in runs]
    columns = np.array([(number_of[group], rack) for group, rack, _ in runs], np.int64).reshape(-1, 2)
    group_of, to_rack = np.repeat(columns, lengths, axis=0).T
    rows = np.concatenate([np.zeros(0, np.int64), *(rows for _, _, rows in runs)])
    return GroupReads(tuple(number_of), group_of, rows, to_rack.astype(np.int32))


def _topics(scope: PartitionScope) -> dict[str, tuple[int, Int32s]]:
    """By name of each topic, the first of its rows in `Resources.rows`, and its partition ids, ascending."""
    named = [*zip(scope.topics, np.split(scope.partition_ids, scope.starts[1:-1]), strict=False)]
    named += [(topic.name, topic.partition_ids) for topic in scope.others]
    starts = np.cumsum([0, *(len(ids) for _, ids in named)]).tolist()
    return {name: (start, ids) for start, (name, ids) in zip(starts, named, strict=False)}


def _rows(run: TopicPartitions, start: int, ids: Int32s) -> Int64s:
    """The rows of those partitions of a topic that there are."""
    numbers = np.array(run.partitions, np.int64)
    places = np.searchsorted(ids, numbers)
    return np.asarray(start + places[np.isin(numbers, ids)], np.int64)


HASHES_RACKS_SINCE = KafkaVersion(4, 1)
"""The first release whose coordinator rebalances a group when racks of replicas change."""
_PROTOCOLS = ("consumer", "streams")


@dataclass(frozen=True, slots=True)
class Rebalances:
    """The groups that rebalance.

    Parameters
    ----------
    lasting : (batch, group id), batches from 0, by batch and id: after the batch the racks are others than before it.
    meanwhile : ids of groups with a further batch in which racks differ only while data moves.
    """

    lasting: tuple[tuple[int, str], ...] = ()
    meanwhile: tuple[str, ...] = ()

    def as_json(self) -> list[Json]:
        """The document of the API, with batches as their files are numbered."""
        return [{"group_id": group, "batch": batch + 1} for batch, group in self.lasting]


def subscriptions_of(cluster: Cluster, version: KafkaVersion) -> Mapping[str, frozenset[str]]:
    """The topics of each group that rebalances when racks change, by group id; empty before 4.1."""
    if version < HASHES_RACKS_SINCE:
        return {}
    return {group.group_id: _subscribed(group) for group in cluster.groups if group.type in _PROTOCOLS}


def rebalances_of(
    subscriptions: Mapping[str, frozenset[str]], brokers: BrokerTable, scope: PartitionScope, batches: Batches
) -> Rebalances:
    """Find the groups and batches."""
    if not subscriptions or not len(batches.rows):
        return Rebalances()
    rack_of = _rack_of(brokers)
    lasting = _by_topic(batches, scope, changes_racks(batches.before, batches.after, rack_of))
    copying = _by_topic(batches, scope, changes_racks_meanwhile(batches.before, batches.after, rack_of))
    pairs: set[tuple[int, str]] = set()
    meanwhile = []
    for group, topics in subscriptions.items():
        certain = {batch for topic in topics for batch in lasting.get(topic, ())}
        pairs.update((batch, group) for batch in certain)
        if any(batch not in certain for topic in topics for batch in copying.get(topic, ())):
            meanwhile.append(group)
    return Rebalances(tuple(sorted(pairs)), tuple(sorted(meanwhile)))


def _subscribed(group: RecordedGroup) -> frozenset[str]:
    """The subscribed topics; of members whose subscription is not recorded, those that they read."""
    subscribed = {topic for member in group.members for topic in member.topics or ()}
    if all(member.topics is not None for member in group.members) and group.members:
        return frozenset(subscribed)
    read = {each.topic for member in group.members for each in (*(member.assigned or ()), *(member.target or ()))}
    return frozenset(subscribed | read | {offset.topic for offset in group.offsets})


def _rack_of(brokers: BrokerTable) -> Int32s:
    """(brokers,) int32 numbers of the racks that brokers have, whatever the plan makes of racks."""
    number_of = {
        rack: number for number, rack in enumerate(sorted({b.rack for b in brokers.known if b.rack is not None}))
    }
    return np.array([NO_RACK if b.rack is None else number_of[b.rack] for b in brokers.known], np.int32)


def _by_topic(batches: Batches, scope: PartitionScope, changes: NDArray[np.bool_]) -> Mapping[str, Sequence[int]]:
    """The batches with a step of each topic that changes its racks."""
    at = np.flatnonzero(changes)
    batch_of = np.repeat(np.arange(len(batches)), np.diff(batches.offsets))[at]
    found: dict[str, list[int]] = defaultdict(list)
    for topic, batch in np.unique(np.column_stack([scope.topic_of[batches.rows[at]], batch_of]), axis=0).tolist():
        found[scope.topics[topic]].append(batch)
    return found
