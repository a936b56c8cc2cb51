"""What the core works on: brokers, topics as they are, topics to place, and where they landed.

Assignments are int32 arrays of broker ids, one row a partition, one column a replica; column 0 is the preferred
leader. Rows of unequal length are padded on the right with `NO_REPLICA`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.recorded import RecordedGroup

Int32s: TypeAlias = NDArray[np.int32]
Int64s: TypeAlias = NDArray[np.int64]

INT32_MAX = 2**31 - 1
NO_REPLICA = -1
"""Pads the rows of a replica array on the right; Kafka's broker ids are never negative."""
NO_LEADER = -1
"""A partition that has no leader now (`Leader: none`)."""
UNKNOWN_SIZE = -1
"""A partition whose size on disk is not reported."""
NO_MEMBER = -1
"""In an array of member indices: no member of the group has the partition."""
NO_CLIENT = -1
"""In an array of client indices: no client of the Streams application has the task."""
NO_RACK = -1
"""In an array of rack numbers: the broker, replica, member or client has no rack."""


@dataclass(frozen=True, slots=True)
class BrokerCapacity:
    """What a broker can carry; None where it was not said."""

    disk_bytes: int | None = None
    nic_in_bytes_per_s: int | None = None
    nic_out_bytes_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker as the cluster knows it. A fenced broker is registered but serves nobody (KRaft).

    Parameters
    ----------
    attributes : its failure domains by name, `{"region": "eu", "zone": "eu-1a"}`; Kafka itself knows the rack alone.
    weight : its size beside the others': one of weight 2 is to take twice as many replicas as one of weight 1.
    """

    id: int
    rack: str | None = None
    fenced: bool = False
    capacity: BrokerCapacity | None = None
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    weight: float = 1.0

    def value(self, attribute: str) -> str | None:
        """Its value of an attribute, None where it has none; its rack is an attribute, too, if no other `rack` is."""
        return self.attributes.get(attribute, self.rack if attribute == "rack" else None)


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """One topic's replicas, whoever placed them: what measures and verifiers look at.

    Parameters
    ----------
    partition_ids : (partitions,) int32, ascending.
    replicas : (partitions, widest) int32 broker ids, padded with `NO_REPLICA`.
    """

    partition_ids: Int32s
    replicas: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """A topic as it was when the cluster was described; rows follow ascending partition ids.

    Parameters
    ----------
    partition_ids : (partitions,) int32, ascending.
    replicas : (partitions, widest) int32 broker ids, padded with `NO_REPLICA`. During a reassignment the target
        replicas come first, then those being removed, as Kafka keeps them.
    leaders : (partitions,) int32 broker ids or `NO_LEADER`.
    isr : (partitions, widest) int32 broker ids of the in-sync replicas, padded; in Kafka's order.
    adding, removing : (partitions, widest) int32, padded; zero columns where nothing is being reassigned.
    size_bytes : (partitions,) int64 bytes of the largest replica on disk, or `UNKNOWN_SIZE`.
    topic_id : 16 bytes in URL-safe base64, 22 characters; None where nobody said, as before Kafka 2.8.
    """

    name: str
    partition_ids: Int32s
    replicas: Int32s
    leaders: Int32s
    isr: Int32s
    adding: Int32s
    removing: Int32s
    size_bytes: Int64s
    topic_id: str | None = None

    @property
    def assignment(self) -> Assignment:
        """Where its replicas are."""
        return Assignment(self.partition_ids, self.replicas)

    @property
    def destination(self) -> Assignment:
        """Where its replicas are going: as they are, without those that are being removed."""
        if not self.removing.size:
            return self.assignment
        leaves = (self.replicas[:, :, None] == self.removing[:, None, :]).any(axis=2)
        kept = np.where(leaves, np.int32(NO_REPLICA), self.replicas)
        order = np.argsort(kept == NO_REPLICA, axis=1, kind="stable")
        return Assignment(self.partition_ids, np.take_along_axis(kept, order, axis=1))

    @property
    def is_moving(self) -> NDArray[np.bool_]:
        """(partitions,) bool, those that are being reassigned."""
        moving = np.zeros(len(self.partition_ids), np.bool_)
        for replicas in (self.adding, self.removing):
            moving |= (replicas != NO_REPLICA).any(axis=1)
        return moving


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """A cluster as it was: its brokers by ascending id, its topics by name and its consumer groups by group id."""

    name: str
    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...] = ()
    groups: tuple[RecordedGroup, ...] = ()

    def topic(self, name: str) -> Topic | None:
        """The topic of that name, or None."""
        return next((topic for topic in self.topics if topic.name == name), None)

    def group(self, name: str) -> RecordedGroup | None:
        """The consumer group of that id, or None."""
        return next((group for group in self.groups if group.group_id == name), None)

    def replica_holders(self) -> Int32s:
        """Every broker id that some partition names as a replica, ascending; listed among the brokers or not."""
        held = [topic.replicas.ravel() for topic in self.topics]
        ids = np.unique(np.concatenate([*held, np.empty(0, np.int32)]))
        return np.asarray(ids[ids != NO_REPLICA], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class NewTopic:
    """Partitions to place. `start_partition_id` > 0 continues a topic that has that many partitions already."""

    name: str
    partitions: int
    replication_factor: int
    start_partition_id: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where the partitions of one topic land: row i of `replicas` is partition `first_partition_id` + i."""

    topic: str
    first_partition_id: int
    replicas: Int32s = field(repr=False)

    @property
    def assignment(self) -> Assignment:
        """Where its replicas are."""
        last = self.first_partition_id + len(self.replicas)
        return Assignment(np.arange(self.first_partition_id, last, dtype=np.int32), self.replicas)


def padded(rows: Sequence[Iterable[int]]) -> Int32s:
    """Broker id lists of unequal length as one (len(rows), widest) int32 array, padded with `NO_REPLICA`."""
    lists = [list(row) for row in rows]
    width = max(map(len, lists), default=0)
    array = np.full((len(lists), width), NO_REPLICA, dtype=np.int32)
    for row, ids in zip(array, lists, strict=True):
        row[: len(ids)] = ids
    return array


def unpadded(rows: Int32s) -> list[list[int]]:
    """The inverse of `padded`: each row's broker ids as a list, without the padding."""
    return [[broker for broker in row if broker != NO_REPLICA] for row in rows.tolist()]
