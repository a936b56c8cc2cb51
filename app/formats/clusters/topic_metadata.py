"""The body of Kafka's TopicMetadata response, version 1, in bytes.

    count:int32 (node_id:int32 host:string port:int32 rack:nullable string)*
    controller_id:int32
    count:int32 (error:int16 topic:string is_internal:boolean
                 count:int32 (error:int16 partition:int32 leader:int32 count:int32 replicas:int32*
                              count:int32 isr:int32*)*)*

The rack's length is −1 for none. The response's header (its size and correlation id) is not part of the body.
Source: KIP-36, "Changes to TopicMetadataRequest/TopicMetadataResponse"; the schema of MetadataResponse in Apache Kafka.
"""

from dataclasses import dataclass

from app.formats.syntax import wire

# The fewest bytes of each; they bound a count before it is believed.
_LEAST_BROKER_BYTES, _LEAST_TOPIC_BYTES, _LEAST_PARTITION_BYTES = 12, 9, 18


@dataclass(frozen=True, slots=True)
class MetadataBroker:
    """A broker as clients see it."""

    id: int
    host: str
    port: int
    rack: str | None = None


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
    """A topic of the response."""

    topic: str
    partitions: tuple[MetadataPartition, ...]
    is_internal: bool
    error_code: int


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """The response's body."""

    brokers: tuple[MetadataBroker, ...]
    controller_id: int
    topics: tuple[MetadataTopic, ...]


def read(data: bytes) -> TopicMetadata:
    """Read the body.

    Raises
    ------
    MalformedText
        The bytes end early or continue after the topics, a length or count is impossible, a string is not UTF-8, a
        broker comes twice; names the byte offset.
    """
    cursor = wire.Cursor(data)
    brokers: dict[int, MetadataBroker] = {}
    for _ in range(cursor.count("brokers", least_bytes=_LEAST_BROKER_BYTES)):
        start = cursor.offset
        broker_id, host, port = cursor.broker_id(), cursor.string("a host"), cursor.port()
        if broker_id in brokers:
            raise cursor.reject(start, expected="each broker once", actual=f"broker {broker_id} again")
        brokers[broker_id] = MetadataBroker(broker_id, host, port, cursor.nullable_string("a rack"))
    controller_id = cursor.int32("a controller id (int32)")
    topics = tuple([_topic(cursor) for _ in range(cursor.count("topics", least_bytes=_LEAST_TOPIC_BYTES))])
    cursor.end()
    return TopicMetadata(tuple(brokers.values()), controller_id, topics)


def _topic(cursor: wire.Cursor) -> MetadataTopic:
    error_code, name = cursor.int16("an error code (int16)"), cursor.string("a topic")
    is_internal = cursor.boolean("whether the topic is internal")
    count = cursor.count("partitions", least_bytes=_LEAST_PARTITION_BYTES)
    return MetadataTopic(name, tuple([_partition(cursor) for _ in range(count)]), is_internal, error_code)


def _partition(cursor: wire.Cursor) -> MetadataPartition:
    error_code = cursor.int16("an error code (int16)")
    partition, leader = cursor.int32("a partition (int32)"), cursor.int32("a leader (int32)")
    replicas, isr = cursor.int32s("replicas"), cursor.int32s("in-sync replicas")
    return MetadataPartition(partition, leader, replicas, isr, error_code)
