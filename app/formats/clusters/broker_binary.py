"""The list of live brokers in Kafka's UpdateMetadata request, versions 0 to 2, in bytes.

    v0  count:int32 (id:int32 host:string port:int32)*
    v1  count:int32 (id:int32 count:int32 (port:int32 host:string security_protocol:int16)*)*
    v2  as v1, and after each broker's endpoints rack:nullable string, length −1 for none

The list is the last field of the request, so bytes after it are rejected.
Source: KIP-36, "Changes to Broker"; the schema of UpdateMetadataRequest in Apache Kafka.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.model import Broker
from app.formats.syntax import wire

NEWEST_VERSION = 2
PLAINTEXT = 0
# The fewest bytes of a broker in versions 0, 1 and 2, and of an endpoint; they bound a count before it is believed.
_LEAST_BROKER_BYTES = (10, 8, 10)
_LEAST_ENDPOINT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a broker listens. `security_protocol`: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""

    host: str
    port: int
    security_protocol: int = PLAINTEXT


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A broker as the controller announces it. Version 0 has one plain-text endpoint, version 2 the rack."""

    id: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None


def read(data: bytes, *, version: int) -> tuple[LiveBroker, ...]:
    """Read the list.

    Raises
    ------
    MalformedText
        The bytes end early or continue, a length or count is impossible, a string is not UTF-8, a broker comes twice;
        names the byte offset.
    ValueError
        There is no such version.
    """
    cursor = wire.Cursor(data)
    live = read_list(cursor, version=version)
    cursor.end()
    return live


def read_one(data: bytes, *, version: int) -> LiveBroker:
    """Read a single broker, without a count before it. Raises what `read` does."""
    _require_version(version)
    cursor = wire.Cursor(data)
    broker = _broker(cursor, version)
    cursor.end()
    return broker


def read_list(cursor: wire.Cursor, *, version: int) -> tuple[LiveBroker, ...]:
    """Read the list that starts at the cursor. Raises what `read` does, bytes after the list excepted."""
    _require_version(version)
    brokers: dict[int, LiveBroker] = {}
    for _ in range(cursor.count("brokers", least_bytes=_LEAST_BROKER_BYTES[version])):
        start = cursor.offset
        broker = _broker(cursor, version)
        if broker.id in brokers:
            raise cursor.reject(start, expected="each broker once", actual=f"broker {broker.id} again")
        brokers[broker.id] = broker
    return tuple(brokers.values())


def brokers(live: Iterable[LiveBroker]) -> tuple[Broker, ...]:
    """The brokers by ascending id, as the core knows them."""
    return tuple(sorted((Broker(id=broker.id, rack=broker.rack) for broker in live), key=lambda broker: broker.id))


def _require_version(version: int) -> None:
    if not 0 <= version <= NEWEST_VERSION:
        raise ValueError(f"broker lists have versions 0 to {NEWEST_VERSION}; {version} given")


def _broker(cursor: wire.Cursor, version: int) -> LiveBroker:
    broker_id = cursor.broker_id()
    if version == 0:
        host = cursor.string("a host")
        return LiveBroker(broker_id, (Endpoint(host, cursor.port()),))
    count = cursor.count("endpoints", least_bytes=_LEAST_ENDPOINT_BYTES)
    endpoints = tuple([_endpoint(cursor) for _ in range(count)])
    return LiveBroker(broker_id, endpoints, cursor.nullable_string("a rack") if version >= 2 else None)


def _endpoint(cursor: wire.Cursor) -> Endpoint:
    port, host = cursor.port(), cursor.string("a host")
    return Endpoint(host, port, cursor.int16("a security protocol (int16)"))
