"""The list of live brokers of an UpdateMetadata request."""

from collections.abc import Sequence

from app.formats.clusters.broker_binary import NEWEST_VERSION, PLAINTEXT, Endpoint, LiveBroker
from tests.formats.writers import wire


def write(brokers: Sequence[LiveBroker], *, version: int) -> bytes:
    """The list in bytes.

    Raises
    ------
    ValueError
        There is no such version, or it cannot hold what is given: in version 0 anything but one plain-text endpoint,
        a rack before version 2, an id, a port or a string beyond Kafka's bounds.
    """
    if not 0 <= version <= NEWEST_VERSION:
        raise ValueError(f"these lists have versions 0 to {NEWEST_VERSION}; {version} given")
    return wire.int32(len(brokers)) + b"".join([_bytes(broker, version) for broker in brokers])


def _bytes(broker: LiveBroker, version: int) -> bytes:
    if version < 2 and broker.rack is not None:
        raise ValueError(f"version {version} knows no rack; broker {broker.id} has one")
    start = wire.broker_id(broker.id)
    if version == 0:
        if [endpoint.security_protocol for endpoint in broker.endpoints] != [PLAINTEXT]:
            raise ValueError(f"version 0 holds one plain-text endpoint; broker {broker.id} has others")
        return start + wire.string(broker.endpoints[0].host) + wire.port(broker.endpoints[0].port)
    endpoints = [_endpoint_bytes(endpoint) for endpoint in broker.endpoints]
    rack = wire.string(broker.rack) if version >= 2 else b""
    return b"".join([start, wire.int32(len(endpoints)), *endpoints, rack])


def _endpoint_bytes(endpoint: Endpoint) -> bytes:
    return wire.port(endpoint.port) + wire.string(endpoint.host) + wire.int16(endpoint.security_protocol)
