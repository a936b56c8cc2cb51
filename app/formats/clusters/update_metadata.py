"""The body of Kafka's UpdateMetadata request, version 2, in bytes: the cluster as a controller announces it.

    controller_id:int32 controller_epoch:int32
    count:int32 (topic:string partition:int32 controller_epoch:int32 leader:int32 leader_epoch:int32
                 count:int32 isr:int32* zk_version:int32 count:int32 replicas:int32*)*
    count:int32 (id:int32 count:int32 (port:int32 host:string security_protocol:int16)* rack:nullable string)*

The last list is that of the live brokers; the rack's length is −1 for none. Bytes after the body are rejected. The
request's header is not part of the body.
Source: KIP-36, "Changes to Broker"; the schema of UpdateMetadataRequest in Apache Kafka.
"""

from dataclasses import dataclass

from app.formats.syntax import wire

# The fewest bytes of each; they bound a count before it is believed.
_LEAST_PARTITION_BYTES, _LEAST_BROKER_BYTES, _LEAST_ENDPOINT_BYTES = 30, 10, 8


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a broker listens. `security_protocol`: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""

    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A broker as the controller announces it."""

    id: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None


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


def read(data: bytes) -> UpdateMetadata:
    """Read the body.

    Raises
    ------
    MalformedText
        The bytes end early or continue after the brokers, a length or count is impossible, a string is not UTF-8, a
        broker is listed twice; names the byte offset.
    """
    cursor = wire.Cursor(data)
    controller_id = cursor.int32("a controller id (int32)")
    controller_epoch = cursor.int32("a controller epoch (int32)")
    count = cursor.count("partitions", least_bytes=_LEAST_PARTITION_BYTES)
    partitions = tuple([_partition(cursor) for _ in range(count)])
    live_brokers: dict[int, LiveBroker] = {}
    for _ in range(cursor.count("brokers", least_bytes=_LEAST_BROKER_BYTES)):
        start = cursor.offset
        broker = _broker(cursor)
        if broker.id in live_brokers:
            raise cursor.reject(start, expected="each broker once", actual=f"broker {broker.id} again")
        live_brokers[broker.id] = broker
    cursor.end()
    return UpdateMetadata(controller_id, controller_epoch, partitions, tuple(live_brokers.values()))


def read_broker(data: bytes) -> LiveBroker:
    """Read a single live broker. Raises what `read` does."""
    cursor = wire.Cursor(data)
    broker = _broker(cursor)
    cursor.end()
    return broker


def _broker(cursor: wire.Cursor) -> LiveBroker:
    broker_id = cursor.broker_id()
    count = cursor.count("endpoints", least_bytes=_LEAST_ENDPOINT_BYTES)
    endpoints = tuple([_endpoint(cursor) for _ in range(count)])
    return LiveBroker(broker_id, endpoints, cursor.nullable_string("a rack"))


def _endpoint(cursor: wire.Cursor) -> Endpoint:
    port, host = cursor.port(), cursor.string("a host")
    return Endpoint(host, port, cursor.int16("a security protocol (int16)"))


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
