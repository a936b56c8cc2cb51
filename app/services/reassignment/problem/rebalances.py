"""The groups of a snapshot that a reassignment makes rebalance, and in which batches.

Since 4.1 the coordinator compares a hash of the subscribed topics, which covers the racks of replicas (KIP-1101):
groups of the consumer and of the streams protocol rebalance when these change. Before 4.1 the coordinator compares no
racks. A classic group is rebalanced by its own leader, if that has a rack (KIP-881), and is none of these.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.kafka_versions import KafkaVersion
from app.core.model import NO_RACK, Cluster, Int32s
from app.core.reassignment import Batches, changes_racks, changes_racks_meanwhile
from app.core.recorded import RecordedGroup
from app.errors import Json
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.scope import PartitionScope

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
    return {group.group_id: _topics(group) for group in cluster.groups if group.type in _PROTOCOLS}


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


def _topics(group: RecordedGroup) -> frozenset[str]:
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
