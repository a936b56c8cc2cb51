"""Whether the leader of a group triggers a rebalance when the metadata changes.

Only the leader compares the metadata of its last assignment with the current one: the partitions of all subscribed
topics and, if its own `client.rack` is set, the set of racks of each partition's replicas. Offline replicas count; a
replica whose broker is not in the metadata, or has no rack, adds "no rack" to the set, so that a broker failure can
change it. The order of replicas and the partition leaders have no influence.

Source: KIP-881, "Proposed Changes"; the classic consumer's coordinator.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.groups.model import GroupMetadata, Member
from app.core.model import NO_REPLICA, Bools, Int32s


@dataclass(frozen=True, slots=True)
class TopicChange:
    """A change of one topic.

    Parameters
    ----------
    what : `appeared`, `vanished`, `partitions` (their number), or `racks` (of some replicas).
    partitions : the added or removed ones, or those whose racks differ; ascending.
    """

    topic: str
    what: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trigger:
    """Whether the leader triggers a rebalance, and the changes that it detects and does not detect.

    Parameters
    ----------
    because : changes that cause the rebalance, by topic.
    unseen : changes of racks that the leader ignores, since it has no rack itself.
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
    members : the whole group; all topics that any of them subscribes to are compared.
    leader : None if unknown: then, as for a leader without a rack, only partitions are compared.
    """
    subscribed = sorted({topic for topics in {member.topics for member in members} for topic in topics})
    number_of = _rack_numbers(before, after)
    found = [change for topic in subscribed for change in _changes(topic, before, after, number_of)]
    if leader is not None and leader.rack_id:
        return Trigger(bool(found), tuple(found), ())
    because = tuple(change for change in found if change.what != "racks")
    return Trigger(bool(because), because, tuple(change for change in found if change.what == "racks"))


def _changes(
    topic: str, before: GroupMetadata, after: GroupMetadata, number_of: dict[str, int]
) -> Iterator[TopicChange]:
    old, new = before.topics.get(topic), after.topics.get(topic)
    counts = [0 if version is None else len(version.replicas) for version in (old, new)]
    if old is None or new is None:
        if old is not new:
            yield TopicChange(topic, "appeared" if old is None else "vanished", tuple(range(max(counts))))
        return
    common = min(counts)
    if counts[0] != counts[1]:
        yield TopicChange(topic, "partitions", tuple(range(common, max(counts))))
    sets = [
        _rack_sets(version.replicas[:common], metadata, number_of)
        for version, metadata in ((old, before), (new, after))
    ]
    differing = np.flatnonzero(_differ(*sets))
    if len(differing):
        yield TopicChange(topic, "racks", tuple(differing.tolist()))


_PADDING = -1
_WITHOUT_RACK = 0


def _rack_numbers(*snapshots: GroupMetadata) -> dict[str, int]:
    """A number ≥ 1 for each rack of both snapshots; `""` is a rack of its own here, as in the consumer."""
    racks = {rack for metadata in snapshots for rack in metadata.rack_of.values() if rack is not None}
    return {rack: number for number, rack in enumerate(sorted(racks), start=1)}


def _rack_sets(replicas: Int32s, metadata: GroupMetadata, number_of: dict[str, int]) -> Int32s:
    """Each partition's racks in ascending order, each once: (partitions, widest), padded on the left."""
    brokers, place = np.unique(replicas, return_inverse=True)
    racks = (metadata.rack_of.get(broker) for broker in brokers.tolist())
    numbers = np.array([_WITHOUT_RACK if rack is None else number_of[rack] for rack in racks], np.int32)
    numbers[brokers == NO_REPLICA] = _PADDING
    sets = np.sort(numbers[place].reshape(replicas.shape), axis=1)
    sets[:, 1:][sets[:, 1:] == sets[:, :-1]] = _PADDING
    return np.sort(sets, axis=1)


def _differ(one: Int32s, other: Int32s) -> Bools:
    width = max(one.shape[1], other.shape[1])
    wide = [np.pad(sets, ((0, 0), (width - sets.shape[1], 0)), constant_values=_PADDING) for sets in (one, other)]
    return np.asarray((wide[0] != wide[1]).any(axis=1), np.bool_)
