"""The body of a TopicMetadata response without topics."""

from collections.abc import Sequence

from app.formats.clusters.topic_metadata import MetadataBroker
from tests.formats.writers import wire


def write(brokers: Sequence[MetadataBroker]) -> bytes:
    """The body of a response that lists the brokers, of which 7 is the controller."""
    listed = [
        wire.int32(one.id) + wire.string(one.host) + wire.int32(one.port) + wire.string(one.rack) for one in brokers
    ]
    return b"".join([wire.int32(len(listed)), *listed, wire.int32(7), wire.int32(0)])
