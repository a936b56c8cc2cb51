"""The list of brokers that opens Kafka's TopicMetadata response, versions 0 and 1, in bytes.

    v0  count:int32 (node_id:int32 host:string port:int32)*
    v1  as v0, and after each broker's port rack:nullable string, length −1 for none

The response goes on after the list (in version 1 with controller_id:int32, then the topics in both), so the bytes
after it are returned as they are.
Source: KIP-36, "Changes to TopicMetadataRequest/TopicMetadataResponse"; the schema of MetadataResponse in Apache Kafka.
"""

from dataclasses import dataclass

from app.core.model import Broker
from app.formats import wire

NEWEST_VERSION = 1
# The fewest bytes that a broker takes in versions 0 and 1; they bound a count before it is believed.
_LEAST_BROKER_BYTES = (10, 12)


@dataclass(frozen=True, slots=True)
class MetadataBroker:
    """A broker as clients are told. Version 0 knows no rack."""

    id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataBrokers:
    """The list, and the bytes of the response that follow it, not looked into."""

    brokers: tuple[MetadataBroker, ...]
    rest: bytes = b""


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
            raise cursor.refuse(start, expected="each broker once", found=f"broker {broker_id} again")
        rack = cursor.nullable_string("a rack") if version >= 1 else None
        brokers[broker_id] = MetadataBroker(broker_id, host, port, rack)
    return MetadataBrokers(tuple(brokers.values()), cursor.rest)


def write(metadata: MetadataBrokers, *, version: int) -> bytes:
    """The list in bytes, and what follows it.

    Raises
    ------
    ValueError
        There is no such version, a rack is given to version 0, or an id, a port or a string is beyond Kafka's bounds.
    """
    _require_version(version)
    listed = [_bytes(broker, version) for broker in metadata.brokers]
    return b"".join([wire.int32(len(listed)), *listed, metadata.rest])


def brokers(metadata: MetadataBrokers) -> tuple[Broker, ...]:
    """The brokers by ascending id, as the core knows them."""
    found = [Broker(id=broker.id, rack=broker.rack) for broker in metadata.brokers]
    return tuple(sorted(found, key=lambda broker: broker.id))


def _require_version(version: int) -> None:
    if not 0 <= version <= NEWEST_VERSION:
        raise ValueError(f"these broker lists have versions 0 to {NEWEST_VERSION}; {version} given")


def _bytes(broker: MetadataBroker, version: int) -> bytes:
    if version == 0 and broker.rack is not None:
        raise ValueError(f"version 0 knows no rack; broker {broker.id} has one")
    rack = wire.string(broker.rack) if version >= 1 else b""
    return wire.broker_id(broker.id) + wire.string(broker.host) + wire.port(broker.port) + rack
