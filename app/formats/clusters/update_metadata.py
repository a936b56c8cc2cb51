"""The body of Kafka's UpdateMetadata request, versions 0 to 2, in bytes: the cluster as a controller announces it.

    controller_id:int32 controller_epoch:int32
    count:int32 (topic:string partition:int32 controller_epoch:int32 leader:int32 leader_epoch:int32
                 count:int32 isr:int32* zk_version:int32 count:int32 replicas:int32*)*
    the live brokers (broker_binary.py)

The request's header is not part of the body.
Source: KIP-36, "Changes to Broker"; the schema of UpdateMetadataRequest in Apache Kafka.
"""

from dataclasses import dataclass

from app.formats.clusters import broker_binary
from app.formats.clusters.broker_binary import NEWEST_VERSION, LiveBroker
from app.formats.syntax import wire

_LEAST_PARTITION_BYTES = 30


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition: `leader` is −1 if it has none, `zk_version` the version of its node in ZooKeeper."""

    topic: str
    partition: int
    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UpdateMetadata:
    """The request's body."""

    controller_id: int
    controller_epoch: int
    partitions: tuple[PartitionState, ...]
    live_brokers: tuple[LiveBroker, ...]


def read(data: bytes, *, version: int = NEWEST_VERSION) -> UpdateMetadata:
    """Read the body.

    Raises
    ------
    MalformedText
        The bytes end early or continue after the brokers, a length or count is impossible, a string is not UTF-8, a
        broker is listed twice; names the byte offset.
    ValueError
        There is no such version.
    """
    cursor = wire.Cursor(data)
    controller_id = cursor.int32("a controller id (int32)")
    controller_epoch = cursor.int32("a controller epoch (int32)")
    count = cursor.count("partitions", least_bytes=_LEAST_PARTITION_BYTES)
    partitions = tuple([_partition(cursor) for _ in range(count)])
    live_brokers = broker_binary.read_list(cursor, version=version)
    cursor.end()
    return UpdateMetadata(controller_id, controller_epoch, partitions, live_brokers)


def _partition(cursor: wire.Cursor) -> PartitionState:
    return PartitionState(
        topic=cursor.string("a topic"),
        partition=cursor.int32("a partition (int32)"),
        controller_epoch=cursor.int32("a controller epoch (int32)"),
        leader=cursor.int32("a leader (int32)"),
        leader_epoch=cursor.int32("a leader epoch (int32)"),
        isr=cursor.int32s("in-sync replicas"),
        zk_version=cursor.int32("a version in ZooKeeper (int32)"),
        replicas=cursor.int32s("replicas"),
    )
