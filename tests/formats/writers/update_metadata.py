"""The body of an UpdateMetadata request without partitions."""

from collections.abc import Sequence

from app.formats.clusters.update_metadata import LiveBroker
from tests.formats.writers import wire


def write(brokers: Sequence[LiveBroker]) -> bytes:
    """The body of a controller 7 of epoch 2 that announces the brokers."""
    head = wire.int32(7) + wire.int32(2) + wire.int32(0)
    return head + wire.int32(len(brokers)) + b"".join(map(_broker, brokers))


def _broker(broker: LiveBroker) -> bytes:
    endpoints = [
        wire.int32(one.port) + wire.string(one.host) + wire.int16(one.security_protocol) for one in broker.endpoints
    ]
    return b"".join([wire.int32(broker.id), wire.int32(len(endpoints)), *endpoints, wire.string(broker.rack)])
