"""A broker's registration in ZooKeeper, the JSON at `/brokers/ids/<id>`, versions 1 to 5.

    {"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://kafka-1:9092"],
    "rack":"use1-az1","jmx_port":-1,"features":{},"host":"kafka-1","timestamp":"1666342423700","port":9092,"version":5}

Version 1 has `host`, `port`, `jmx_port`, `timestamp` (milliseconds, as a string); 2 adds `endpoints`; 3 adds `rack`,
which a broker without one leaves out; 4 adds `listener_security_protocol_map`; 5 adds `features`. From version 2 on,
`host` is null and `port` −1 if no endpoint is plain text. The id is no part of the document.

Source: KIP-36, "Changes to ZooKeeper"; `BrokerIdZNode` of Apache Kafka.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.model import Broker
from app.errors import FieldPath
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import shown
from app.formats.syntax.wire import HIGHEST_PORT

NEWEST_VERSION = 5
_SINCE = {"endpoints": 2, "rack": 3, "listener_security_protocol_map": 4, "features": 5}
_ALWAYS = ("version", "host", "port", "jmx_port", "timestamp")
_ENDPOINT = re.compile(r"(?P<listener>[^:/]+)://\[?[0-9a-zA-Z\-%._:]*\]?:-?[0-9]+")
_TIMESTAMP = re.compile(r"[0-9]{1,18}")
_SHORT_MAX = 2**15 - 1


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """What a broker registers.

    Parameters
    ----------
    host, port : of its plain-text endpoint; None and −1 if it has none.
    jmx_port : −1 if JMX is off.
    timestamp_ms : when it registered, in milliseconds since 1970.
    endpoints : `LISTENER://host:port`; none before version 2.
    listener_security_protocols : listener name → security protocol; empty before version 4.
    features : feature → label (`min_version`, `max_version`) → version; empty before version 5.
    """

    host: str | None
    port: int
    timestamp_ms: int
    jmx_port: int = -1
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    listener_security_protocols: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def read(text: str) -> BrokerRegistration:
    """Read a registration of any version.

    Raises
    ------
    MalformedText
        The text is no JSON, of an unknown version, lacks a key or has one that its version does not know, or an
        endpoint's listener has no security protocol.
    """
    document = Document.parse(text, "a broker registration")
    root = document.mapping(document.root, ())
    version = document.integer(root.get("version"), ("version",), least=1, most=NEWEST_VERSION)
    known = [key for key, since in _SINCE.items() if since <= version]
    required = [*_ALWAYS, "endpoints"] if version >= 2 else _ALWAYS
    members = document.members(root, (), required=required, optional=known)
    rack, host = members.get("rack"), members["host"]
    registration = BrokerRegistration(
        host=None if host is None and version >= 2 else document.string(host, ("host",)),
        port=document.integer(members["port"], ("port",), least=0 if version == 1 else -1, most=HIGHEST_PORT),
        timestamp_ms=_timestamp_ms(document, members["timestamp"]),
        jmx_port=document.integer(members["jmx_port"], ("jmx_port",), least=-1, most=HIGHEST_PORT),
        endpoints=_endpoints(document, members.get("endpoints", [])),
        rack=None if rack is None else document.string(rack, ("rack",)),
        listener_security_protocols=_protocols(document, members.get("listener_security_protocol_map", {})),
        features=_features(document, members.get("features", {})),
    )
    if "listener_security_protocol_map" in members:
        _require_protocols(document, registration)
    return registration


def broker(registration: BrokerRegistration, *, broker_id: int) -> Broker:
    """The broker that registered under that id."""
    return Broker(id=broker_id, rack=registration.rack)


def _timestamp_ms(document: Document, value: object) -> int:
    text = document.string(value, ("timestamp",))
    if not _TIMESTAMP.fullmatch(text):
        raise document.reject(("timestamp",), expected="milliseconds since 1970 as a string", actual=shown(text))
    return int(text)


def _endpoints(document: Document, value: object) -> tuple[str, ...]:
    endpoints: list[str] = []
    for i, item in enumerate(document.array(value, ("endpoints",))):
        path: FieldPath = ("endpoints", i)
        endpoint = document.string(item, path)
        if not _ENDPOINT.fullmatch(endpoint):
            raise document.reject(path, expected="an endpoint (`PLAINTEXT://host:9092`)", actual=shown(endpoint))
        endpoints.append(endpoint)
    return tuple(endpoints)


def _protocols(document: Document, value: object) -> dict[str, str]:
    path = "listener_security_protocol_map"
    items = document.mapping(value, (path,)).items()
    return {listener: document.string(protocol, (path, listener)) for listener, protocol in items}


def _features(document: Document, value: object) -> dict[str, dict[str, int]]:
    features: dict[str, dict[str, int]] = {}
    for name, labels in document.mapping(value, ("features",)).items():
        path = ("features", name)
        features[name] = {
            label: document.integer(number, (*path, label), most=_SHORT_MAX)
            for label, number in document.mapping(labels, path).items()
        }
    return features


def _require_protocols(document: Document, registration: BrokerRegistration) -> None:
    for i, endpoint in enumerate(registration.endpoints):
        listener = endpoint.partition("://")[0]
        if listener not in registration.listener_security_protocols:
            expected = f"a listener of {', '.join(registration.listener_security_protocols) or 'no name'}"
            raise document.reject(("endpoints", i), expected=expected, actual=shown(listener))
