"""Would the leader of a group ask for a rebalance when it sees other metadata than at the last one?

The leader, and nobody else, compares what it assigned by with what it sees now: the partitions of all topics that the
group subscribes to, and, if its own `client.rack` is set, the set of racks of each partition's replicas. Offline
replicas count; a replica whose broker is not in the metadata, or has no rack, puts "no rack" into the set, so that a
broker that goes down can change it. The order of replicas does not matter, nor who leads.

Source: KIP-881, "Proposed Changes"; the classic consumer's coordinator.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.groups.model import GroupMetadata, Member
from app.core.model import NO_REPLICA, Int32s


@dataclass(frozen=True, slots=True)
class TopicChange:
    """What differs about one topic.

    Parameters
    ----------
    what : `appeared`, `vanished`, `partitions` (more or fewer of them), `racks` (of the replicas of some).
    partitions : those that are new or gone, or whose racks differ; ascending.
    """

    topic: str
    what: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trigger:
    """Whether the leader asks for a rebalance, because of what, and what it does not see.

    Parameters
    ----------
    because : changes that the leader acts on, by topic. unseen : changes of racks that it does not look at, since it
        has no rack itself.
    """

    would_rebalance: bool
    because: tuple[TopicChange, ...]
    unseen: tuple[TopicChange, ...]


def trigger(
    members: Sequence[Member], before: GroupMetadata, after: GroupMetadata, *, leader: Member | None
) -> Trigger:
    """Compare two snapshots of the metadata as the leader of a classic group does.

    Parameters
    ----------
    members : the whole group; what any of them subscribes to is looked at.
    leader : None where nobody knows who leads: then, as for a leader without a rack, only partitions are looked at.
    """
    changes: list[TopicChange] = []
    racks: list[TopicChange] = []
    number_of = _rack_numbers(before, after)
    for topic in sorted({topic for subscribed in {member.topics for member in members} for topic in subscribed}):
        old, new = before.topics.get(topic), after.topics.get(topic)
        if old is None and new is None:
            continue
        counts = [0 if known is None else len(known.replicas) for known in (old, new)]
        if old is None or new is None:
            what = "appeared" if old is None else "vanished"
            changes.append(TopicChange(topic, what, tuple(range(max(counts)))))
            continue
        if counts[0] != counts[1]:
            changes.append(TopicChange(topic, "partitions", tuple(range(min(counts), max(counts)))))
        common = min(counts)
        sets = [
            _rack_sets(known.replicas[:common], metadata, number_of)
            for known, metadata in ((old, before), (new, after))
        ]
        differing = np.flatnonzero(_differ(*sets))
        if len(differing):
            racks.append(TopicChange(topic, "racks", tuple(differing.tolist())))
    if leader is None or not leader.rack_id:
        return Trigger(bool(changes), tuple(changes), tuple(racks))
    because = sorted([*changes, *racks], key=lambda change: change.topic)
    return Trigger(bool(because), tuple(because), ())


_PADDING = -1
_WITHOUT_RACK = 0


def _rack_numbers(*snapshots: GroupMetadata) -> dict[str, int]:
    """A number ≥ 1 for each rack of both snapshots. Here `""` is a rack of its own, as it is to the consumer."""
    racks = {rack for metadata in snapshots for rack in metadata.rack_of.values() if rack is not None}
    return {rack: number for number, rack in enumerate(sorted(racks), start=1)}


def _rack_sets(replicas: Int32s, metadata: GroupMetadata, number_of: dict[str, int]) -> Int32s:
    """Each partition's racks in ascending order, each once: (partitions, widest), padded on the left."""
    brokers, place = np.unique(replicas, return_inverse=True)
    racks = (metadata.rack_of.get(broker) for broker in brokers.tolist())
    numbers = np.array([_WITHOUT_RACK if rack is None else number_of[rack] for rack in racks], np.int32)
    numbers[brokers == NO_REPLICA] = _PADDING
    held = np.sort(numbers[place].reshape(replicas.shape), axis=1)
    held[:, 1:][held[:, 1:] == held[:, :-1]] = _PADDING
    return np.sort(held, axis=1)


def _differ(one: Int32s, other: Int32s) -> NDArray[np.bool_]:
    width = max(one.shape[1], other.shape[1])
    wide = [np.pad(sets, ((0, 0), (width - sets.shape[1], 0)), constant_values=_PADDING) for sets in (one, other)]
    return np.asarray((wide[0] != wide[1]).any(axis=1), np.bool_)
