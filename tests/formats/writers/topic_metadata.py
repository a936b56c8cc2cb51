"""The list of brokers of a TopicMetadata response."""

from app.formats.clusters.topic_metadata import NEWEST_VERSION, MetadataBroker, MetadataBrokers
from tests.formats.writers import wire


def write(metadata: MetadataBrokers, *, version: int) -> bytes:
    """The list in bytes, and what follows it.

    Raises
    ------
    ValueError
        There is no such version, a rack is given to version 0, or an id, a port or a string is beyond Kafka's bounds.
    """
    if not 0 <= version <= NEWEST_VERSION:
        raise ValueError(f"these lists have versions 0 to {NEWEST_VERSION}; {version} given")
    listed = [_bytes(broker, version) for broker in metadata.brokers]
    return b"".join([wire.int32(len(listed)), *listed, metadata.rest])


def _bytes(broker: MetadataBroker, version: int) -> bytes:
    if version == 0 and broker.rack is not None:
        raise ValueError(f"version 0 knows no rack; broker {broker.id} has one")
    rack = wire.string(broker.rack) if version >= 1 else b""
    return wire.broker_id(broker.id) + wire.string(broker.host) + wire.port(broker.port) + rack
