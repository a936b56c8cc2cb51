"""The body of Kafka's TopicMetadata response, versions 0 and 1, in bytes; it starts with the list of brokers.

    v0  count:int32 (node_id:int32 host:string port:int32)*
        count:int32 (error:int16 topic:string
                     count:int32 (error:int16 partition:int32 leader:int32 count:int32 replicas:int32*
                                  count:int32 isr:int32*)*)*
    v1  as v0, with rack:nullable string after each broker's port (length −1 for none), controller_id:int32 after the
        brokers, and is_internal:boolean after each topic's name

`read` reads the list of brokers alone and leaves the bytes after it as they are; `read_response` reads all.
The response's header (its size and correlation id) is not part of the body.
Source: KIP-36, "Changes to TopicMetadataRequest/TopicMetadataResponse"; the schema of MetadataResponse in Apache Kafka.
"""

from dataclasses import dataclass

from app.core.model import Broker
from app.formats.syntax import wire

NEWEST_VERSION = 1
# The fewest bytes that a broker takes in versions 0 and 1; they bound a count before it is believed.
_LEAST_BROKER_BYTES = (10, 12)
_LEAST_TOPIC_BYTES = (8, 9)
_LEAST_PARTITION_BYTES = 18


@dataclass(frozen=True, slots=True)
class MetadataBroker:
    """A broker as clients see it. Version 0 has no rack."""

    id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataBrokers:
    """The list, and the bytes of the response that follow it, not parsed."""

    brokers: tuple[MetadataBroker, ...]
    rest: bytes = b""


@dataclass(frozen=True, slots=True)
class MetadataPartition:
    """A partition of a topic; `leader` is −1 if it has none, `error_code` 0 if there is no error."""

    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    error_code: int


@dataclass(frozen=True, slots=True)
class MetadataTopic:
    """A topic; `is_internal` is None in version 0, which does not state it."""

    topic: str
    partitions: tuple[MetadataPartition, ...]
    is_internal: bool | None
    error_code: int


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """The response's body; `controller_id` is None in version 0, which does not state it."""

    brokers: tuple[MetadataBroker, ...]
    controller_id: int | None
    topics: tuple[MetadataTopic, ...]


def read(data: bytes, *, version: int) -> MetadataBrokers:
    """Read the list at the start of the response.

    Raises
    ------
    MalformedText
        The bytes end early, a length or count is impossible, a string is not UTF-8, a broker comes twice; names the
        byte offset.
    ValueError
        There is no such version.
    """
    _require_version(version)
    cursor = wire.Cursor(data)
    brokers: dict[int, MetadataBroker] = {}
    for _ in range(cursor.count("brokers", least_bytes=_LEAST_BROKER_BYTES[version])):
        start = cursor.offset
        broker_id, host, port = cursor.broker_id(), cursor.string("a host"), cursor.port()
        if broker_id in brokers:
            raise cursor.reject(start, expected="each broker once", actual=f"broker {broker_id} again")
        rack = cursor.nullable_string("a rack") if version >= 1 else None
        brokers[broker_id] = MetadataBroker(broker_id, host, port, rack)
    return MetadataBrokers(tuple(brokers.values()), cursor.rest)


def read_response(data: bytes, *, version: int = NEWEST_VERSION) -> TopicMetadata:
    """Read the whole body.

    Raises
    ------
    MalformedText
        As `read`, and if bytes follow the topics.
    ValueError
        There is no such version.
    """
    listed = read(data, version=version)
    cursor = wire.Cursor(data, offset=len(data) - len(listed.rest))
    controller_id = cursor.int32("a controller id (int32)") if version >= 1 else None
    count = cursor.count("topics", least_bytes=_LEAST_TOPIC_BYTES[version])
    topics = tuple([_topic(cursor, version) for _ in range(count)])
    cursor.end()
    return TopicMetadata(listed.brokers, controller_id, topics)


def brokers(metadata: MetadataBrokers | TopicMetadata) -> tuple[Broker, ...]:
    """The brokers by ascending id, as the core knows them."""
    return tuple(sorted([Broker(broker.id, broker.rack) for broker in metadata.brokers], key=lambda broker: broker.id))


def _require_version(version: int) -> None:
    if not 0 <= version <= NEWEST_VERSION:
        raise ValueError(f"these broker lists have versions 0 to {NEWEST_VERSION}; {version} given")


def _topic(cursor: wire.Cursor, version: int) -> MetadataTopic:
    error_code, name = cursor.int16("an error code (int16)"), cursor.string("a topic")
    is_internal = cursor.boolean("whether the topic is internal") if version >= 1 else None
    count = cursor.count("partitions", least_bytes=_LEAST_PARTITION_BYTES)
    return MetadataTopic(name, tuple([_partition(cursor) for _ in range(count)]), is_internal, error_code)


def _partition(cursor: wire.Cursor) -> MetadataPartition:
    error_code = cursor.int16("an error code (int16)")
    partition, leader = cursor.int32("a partition (int32)"), cursor.int32("a leader (int32)")
    replicas, isr = cursor.int32s("replicas"), cursor.int32s("in-sync replicas")
    return MetadataPartition(partition, leader, replicas, isr, error_code)
