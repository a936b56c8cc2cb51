"""Records of the core: brokers, existing topics, topics to place, and placements.

Assignments are int32 arrays of broker ids, one row a partition, one column a replica; column 0 is the preferred
leader. Rows of unequal length are padded on the right with `NO_REPLICA`.

Cordoned brokers (KIP-1066): which there are, and the changes that Kafka rejects because of them.

A broker is cordoned if all its log directories are. Since 4.3 the controller places no new partition there of its own
accord. Since 4.3.2 it also rejects replica lists of callers (topics, partitions, reassignments) that contain a cordoned
broker, even if the broker has the replica already and keeps it.

Source: KIP-1066; KAFKA-20832 for replica lists of callers.

Characters that no name may have: a name becomes a line of a table, an argument of a command, a scalar of YAML.

C0 and C1 control characters, and the separators U+2028 and U+2029. Ten of them end a line for some reader, as U+0085
does in YAML 1.1, and PostgreSQL stores no NUL.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.kafka_versions import Controller, KafkaVersion, controller_of
from app.core.recorded import RecordedGroup

Bools: TypeAlias = NDArray[np.bool_]
Int32s: TypeAlias = NDArray[np.int32]
Int64s: TypeAlias = NDArray[np.int64]
Float64s: TypeAlias = NDArray[np.float64]

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
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
NO_LOG_DIR = -1
"""In an array of log directories: the directory of the replica is unknown."""
MIN_INSYNC_REPLICAS = "min.insync.replicas"
"""The configuration of a topic: with fewer in-sync replicas Kafka rejects writes with `acks=all`."""
FETCHES_NOT_UPLOADED = "follower.fetch.last.tiered.offset.enable"
"""The configuration of brokers with which a new replica copies only what is not in remote storage yet (KIP-1023)."""
DEFAULT_SEGMENT_BYTES = 2**30
"""Kafka's default of `segment.bytes`."""
PLACEMENT_CONSTRAINTS = "confluent.placement.constraints"
"""The configuration of a topic by which Confluent Server places its replicas and observers."""
NO_RACK = -1
"""In an array of rack numbers: the broker, replica, member or client has no rack."""


@dataclass(frozen=True, slots=True)
class BrokerCapacity:
    """Capacities of a broker; None if unknown."""

    disk_bytes: int | None = None
    nic_in_bytes_per_s: int | None = None
    nic_out_bytes_per_s: int | None = None
    vcpu: float | None = None


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker as the cluster knows it. A fenced broker is registered but serves no clients (KRaft).

    Parameters
    ----------
    attributes : failure domains by name, `{"region": "eu", "zone": "eu-1a"}`; Kafka itself has only the rack.
    weight : relative size: a broker of weight 2 gets twice as many replicas as one of weight 1.
    """

    id: int
    rack: str | None = None
    fenced: bool = False
    capacity: BrokerCapacity | None = None
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    weight: float = 1.0

    def value(self, attribute: str) -> str | None:
        """The value of an attribute, or None; the rack is the attribute `rack` unless there is another of that name."""
        return self.attributes.get(attribute, self.rack if attribute == "rack" else None)


@dataclass(frozen=True, slots=True)
class Cordon:
    """The cordoned part of a broker: Kafka assigns no new replica to it (KIP-1066, since 4.3).

    Parameters
    ----------
    is_whole : no log directory of the broker is left uncordoned, so that the broker itself is cordoned.
    log_dirs : the cordoned log directories, in the order of the source; empty if they are unknown.
    """

    is_whole: bool
    log_dirs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogDirectory:
    """A log directory of a broker, on a disk of its own (JBOD).

    Parameters
    ----------
    total_bytes, usable_bytes : of its file system, in all and free; None if unknown (KIP-827, since 3.3).
    is_offline : its disk has failed, so that it takes no replica.
    """

    path: str
    total_bytes: int | None = None
    usable_bytes: int | None = None
    is_offline: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """The replicas of one topic, however they were placed: the input of measures and verifiers.

    Parameters
    ----------
    partition_ids : (partitions,) int32, ascending.
    replicas : (partitions, widest) int32 broker ids, padded with `NO_REPLICA`.
    """

    partition_ids: Int32s
    replicas: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """A topic of a snapshot; rows are in the order of partition ids.

    Parameters
    ----------
    partition_ids : (partitions,) int32, ascending.
    replicas : (partitions, widest) int32 broker ids, padded with `NO_REPLICA`. During a reassignment the target
        replicas are first, then those being removed, as in Kafka.
    leaders : (partitions,) int32 broker ids or `NO_LEADER`.
    isr : (partitions, widest) int32 broker ids of the in-sync replicas, padded; in Kafka's order.
    adding, removing : (partitions, widest) int32, padded; zero columns if no partition is being reassigned.
    size_bytes : (partitions,) int64 bytes of the largest replica on disk, or `UNKNOWN_SIZE`.
    topic_id : 16 bytes in URL-safe base64, 22 characters; None if unknown, as before Kafka 2.8.
    ingress_bytes_per_s : (partitions,) float64, the producers' writes, NaN if unknown; None if unknown for all.
    log_dirs : (partitions, widest) int32, for each of `replicas` the index of its directory in `Cluster.log_dirs` of
        its broker, or `NO_LOG_DIR`; None if unknown for all.
    future_log_dirs : likewise, the directory that the replica is being moved to within its broker; None if there is
        no such move.
    configs : known configurations of the topic, its own or defaults of the cluster, by Kafka's names.
    elr : (partitions, widest) int32 eligible leader replicas (KIP-966), padded; None if no partition is known to have
        any.
    observers : likewise, replicas that are observers in Confluent Server: never in sync unless they are promoted.
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
    ingress_bytes_per_s: Float64s | None = None
    log_dirs: Int32s | None = None
    future_log_dirs: Int32s | None = None
    configs: Mapping[str, str] = field(default_factory=dict)
    elr: Int32s | None = None
    observers: Int32s | None = None

    @property
    def is_placed_by_confluent(self) -> bool:
        """Whether the topic has observers, or constraints by which Confluent Server places its replicas."""
        return self.observers is not None or PLACEMENT_CONSTRAINTS in self.configs

    @property
    def has_remote_storage(self) -> bool:
        """Whether `remote.storage.enable` is known to be on (KIP-405)."""
        return self.configs.get("remote.storage.enable") == "true"

    @property
    def segment_bytes(self) -> int:
        """`segment.bytes` of the topic; Kafka's default if it is unknown."""
        stated = self.configs.get("segment.bytes", "")
        return int(stated) if stated.isdecimal() and len(stated) < 19 else DEFAULT_SEGMENT_BYTES

    @property
    def most_copied_bytes(self) -> int:
        """The most bytes that a new replica copies: with KIP-1023 of a tiered topic a segment, as uploads keep pace."""
        skips_uploaded = self.has_remote_storage and self.configs.get(FETCHES_NOT_UPLOADED) == "true"
        return self.segment_bytes if skips_uploaded else INT64_MAX

    @property
    def copied_bytes(self) -> Int64s:
        """(partitions,) int64 bytes that a new replica copies, at most `size_bytes`, or `UNKNOWN_SIZE`."""
        return np.minimum(self.size_bytes, self.most_copied_bytes)

    @property
    def min_insync_replicas(self) -> int | None:
        """`min.insync.replicas` of the topic; None if it is unknown."""
        stated = self.configs.get(MIN_INSYNC_REPLICAS)
        return None if stated is None else int(stated)

    @property
    def assignment(self) -> Assignment:
        """The current replicas."""
        return Assignment(self.partition_ids, self.replicas)

    @property
    def destination(self) -> Assignment:
        """The replicas after the reassignment in progress: the current ones without those being removed."""
        if not self.removing.size:
            return self.assignment
        remaining = np.where(self._is_removed, np.int32(NO_REPLICA), self.replicas)
        return Assignment(self.partition_ids, np.take_along_axis(remaining, self._destination_order, axis=1))

    def at_destination(self, of_replicas: Int32s) -> Int32s:
        """(partitions, widest) int32 values of `replicas`, in the order of `destination`."""
        if not self.removing.size:
            return of_replicas
        remaining = np.where(self._is_removed, np.int32(NO_LOG_DIR), of_replicas)
        return np.asarray(np.take_along_axis(remaining, self._destination_order, axis=1), np.int32)

    @property
    def _is_removed(self) -> NDArray[np.bool_]:
        """(partitions, widest) bool: replicas that the reassignment in progress removes, and padding."""
        is_removed = (self.replicas[:, :, None] == self.removing[:, None, :]).any(axis=2)
        return np.asarray(is_removed | (self.replicas == NO_REPLICA), np.bool_)

    @property
    def _destination_order(self) -> NDArray[np.intp]:
        return np.argsort(self._is_removed, axis=1, kind="stable")

    @property
    def awaits_election(self) -> NDArray[np.bool_]:
        """(partitions,) bool: partitions whose leader a preferred election would change now.

        Another replica than the preferred one leads, or none, and the preferred one is in sync. Kafka elects it on
        request (`kafka-leader-election.sh --election-type preferred`) or with `auto.leader.rebalance.enable`.
        """
        preferred = self.replicas[:, :1]
        in_sync = (self.isr[:, :, None] == preferred[:, None, :]).any(axis=(1, 2))
        is_other = (self.leaders[:, None] != preferred) & (preferred != NO_REPLICA)
        return np.asarray(in_sync & is_other.any(axis=1), np.bool_)

    @property
    def is_moving(self) -> NDArray[np.bool_]:
        """(partitions,) bool: whether the partition is being reassigned."""
        moving = np.zeros(len(self.partition_ids), np.bool_)
        for replicas in (self.adding, self.removing):
            moving |= (replicas != NO_REPLICA).any(axis=1)
        return moving


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """A snapshot of a cluster: brokers by ascending id, topics by name and groups by group id.

    Parameters
    ----------
    cordons : by broker id, of those brokers that have a cordoned log directory.
    kafka_version : the release that its brokers run, such as `4.1.0`; None if unknown. See `kafka_versions.py`.
    reported_controller : the kind of controller that the source of the snapshot reports; None if it does not.
    log_dirs : by broker id, its log directories by path, of brokers whose directories are known.
    """

    name: str
    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...] = ()
    groups: tuple[RecordedGroup, ...] = ()
    cordons: Mapping[int, Cordon] = field(default_factory=dict)
    kafka_version: str | None = None
    reported_controller: Controller | None = None
    log_dirs: Mapping[int, tuple[LogDirectory, ...]] = field(default_factory=dict)

    @property
    def controller(self) -> Controller | None:
        """The kind of controller: reported, else the release's; None if unknown."""
        return self.reported_controller or controller_of(self.kafka_version)

    def topic(self, name: str) -> Topic | None:
        """The topic with this name, or None."""
        return next((topic for topic in self.topics if topic.name == name), None)

    def group(self, name: str) -> RecordedGroup | None:
        """The consumer group with this id, or None."""
        return next((group for group in self.groups if group.group_id == name), None)

    @property
    def known_brokers(self) -> tuple[Broker, ...]:
        """The listed brokers, then those that only have replicas: they are down, so that they count as fenced."""
        listed = {broker.id for broker in self.brokers}
        holders = self.replica_holders().tolist()
        return (*self.brokers, *(Broker(holder, fenced=True) for holder in holders if holder not in listed))

    def replica_holders(self) -> Int32s:
        """Every broker id that some partition has as a replica, ascending; listed among the brokers or not."""
        replicas = [topic.replicas.ravel() for topic in self.topics]
        ids = np.unique(np.concatenate([*replicas, np.empty(0, np.int32)]))
        return np.asarray(ids[ids != NO_REPLICA], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class NewTopic:
    """Partitions to place. `start_partition_id` > 0 adds to a topic that has this number of partitions already."""

    name: str
    partitions: int
    replication_factor: int
    start_partition_id: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """The placement of one topic: row i of `replicas` is partition `first_partition_id` + i."""

    topic: str
    first_partition_id: int
    replicas: Int32s = field(repr=False)

    @property
    def assignment(self) -> Assignment:
        """The replicas with their partition ids."""
        last = self.first_partition_id + len(self.replicas)
        return Assignment(np.arange(self.first_partition_id, last, dtype=np.int32), self.replicas)


def padded(rows: Sequence[Iterable[int]]) -> Int32s:
    """Broker id lists of unequal length as one (len(rows), widest) int32 array, padded with `NO_REPLICA`."""
    lists = [row if isinstance(row, list | tuple) else list(row) for row in rows]
    widths = np.fromiter(map(len, lists), np.int64, len(lists))
    ids = np.fromiter(chain.from_iterable(lists), np.int32, int(widths.sum()))
    array = np.full((len(lists), int(widths.max(initial=0))), NO_REPLICA, dtype=np.int32)
    array[np.arange(array.shape[1]) < widths[:, None]] = ids
    return array


def unpadded(rows: Int32s) -> list[list[int]]:
    """The inverse of `padded`: the broker ids of each row as a list, without the padding."""
    return [[broker for broker in row if broker != NO_REPLICA] for row in rows.tolist()]


CORDONS_SINCE = KafkaVersion(4, 3)
"""The first release that has `cordoned.log.dirs`."""
LISTS_CHECKED_SINCE = KafkaVersion(4, 3, 2)
"""The first release that rejects the replica lists of callers that contain a cordoned broker."""


def cordoned_brokers(cluster: Cluster) -> frozenset[int]:
    """The ids of the brokers whose log directories are all cordoned."""
    return frozenset(broker for broker, cordon in cluster.cordons.items() if cordon.is_whole)


CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
"""These characters in a class of a regular expression, as Python, JSON Schema and pydantic read it."""
_CONTROL = re.compile(f"[{CONTROLS}]")


def control_in(name: str) -> str | None:
    """The first control character or separator of a name, as `U+0085`, or None."""
    found = None if name.isprintable() else _CONTROL.search(name)
    return None if found is None else f"U+{ord(found[0]):04X}"
