"""The brokers as Kafka's tools and clients print them.

The header lines of `kafka-broker-api-versions`, and of `kafka-cluster api-versions`, which replaces it in 4.4:

    127.0.0.1:19199 (id: 109 rack: use1-az4 isFenced: false) -> (
    kafka-1:9092 (id: 1 rack: null) -> ERROR: org.apache.kafka.common.errors.DisconnectException

`isFenced` came with 4.0; `rack: null` is a broker without rack. A broker that answered is followed by its APIs, a line
each, and a `)`; the one that did not has its error on the line. The API lines are checked for their shape and
dropped. Java clients print the same without the arrow, alone or as a list:

    Nodes: [kafka-1:9092 (id: 1 rack: a), kafka-2:9092 (id: 2 rack: b)]

The table of `kafka-cluster list-endpoints`:

    ID         HOST      PORT       RACK       STATE      ENDPOINT_TYPE
    4          localhost 29092      null       unfenced   broker
    5          localhost 39092      null       fenced     broker

`--include-fenced-brokers` adds the brokers that are registered and fenced. A table of controllers
(`--bootstrap-controller`) has no brokers and is rejected. HOST and RACK are as wide as their longest cell, even if that
is shorter than the column's name, so that a row is read by the form of its cells and not at the offsets of the header.

Source: `BrokerApiVersionsCommand` and, since 4.4, `ClusterTool` (KAFKA-19663), `Node.toString` and
`NodeApiVersions.toString` of Apache Kafka; `ClusterTool.listEndpoints` of Apache Kafka 4.x.
"""

import re
from collections.abc import Iterator

from app.core.model import CONTROLS, Broker
from app.formats.syntax.lines import last_line, numbered, rejection, required_number, shown

_HEADER = re.compile(
    rf"[^\s{CONTROLS}]+:[0-9]{{1,5}} "
    rf"\(id: (?P<id>-?[0-9]+) rack: (?P<rack>[^{CONTROLS}]*?)(?: isFenced: (?P<fenced>true|false))?\)"
    r"(?: -> (?:\(|ERROR: .*))?"
)
_REST = re.compile(r" -> |\(id: | isF|: (?:true|false)$")
"""What a rack does not have, but a broken line or two lines in one."""
_API = re.compile(r"\s*(?:[A-Za-z]+\([0-9]+\): .+|\)\s*)")
_NODES = re.compile(r"\s*(?:[\w ]{1,40}[:=] ?)?\[(?=[^\s\"]+ \(id: )(?P<nodes>.*\))\]\s*")
LINE = re.compile(rf"\s*[^\s\"]+ \(id: |{_NODES.pattern}$")
"""A line that starts the brokers, even a broken one."""
_EXPECTED = "a broker's header (`host:port (id: 101 rack: use1-az1 isFenced: false) -> (`)"
_BROKER_ID = "a broker id from 0 to 2147483647"
ENDPOINTS = re.compile(r"ID\s+HOST\s+PORT\s+RACK\s+(?:STATE\s+)?ENDPOINT_TYPE\s*")
_EXPECTED_ROW = "a broker's row (`101 kafka-1 9092 use1-az1 unfenced broker`)"
_STATES = ("fenced", "unfenced")


def read(text: str) -> tuple[Broker, ...]:
    """Read the brokers in the order in which they are printed.

    Raises
    ------
    MalformedText
        A line is neither header, row nor API line, an id is negative (a bootstrap address, not a broker) or comes
        twice, but in an answer that is there twice, a row is a controller's, there is no broker at all.
    """
    brokers: dict[int, Broker] = {}
    listed = list(_brokers(text))
    half = len(listed) // 2
    is_twice = [broker for _, broker in listed[:half]] == [broker for _, broker in listed[half:]]
    for line, broker in listed[half if is_twice else 0 :]:
        if broker.id in brokers:
            raise rejection(line, expected="each broker once, or an answer twice", actual=f"broker {broker.id} again")
        brokers[broker.id] = broker
    if not brokers:
        raise rejection(last_line(text), expected=_EXPECTED, actual="no broker")
    return tuple(brokers.values())


def _brokers(text: str) -> Iterator[tuple[int, Broker]]:
    endpoints, has_headers = "", False
    for line, content in numbered(text):
        if ENDPOINTS.fullmatch(content):
            endpoints = content
        elif _API.fullmatch(content):
            if not has_headers:
                raise rejection(line, expected=f"{_EXPECTED} before its API lines", actual=shown(content))
        elif endpoints and not LINE.match(content):
            yield line, _row(line, content, columns=2 if "STATE" in endpoints else 1)
        else:
            has_headers = True
            listed = _NODES.fullmatch(content)
            for node in re.split(r"(?<=\)), ", listed["nodes"]) if listed else [content]:
                yield line, _header(line, node)


def _header(line: int, content: str) -> Broker:
    match = _HEADER.fullmatch(content.strip())
    if not match or _REST.search(match["rack"]):
        raise rejection(line, expected=_EXPECTED, actual=shown(content))
    broker_id = required_number(line, match["id"], f"{_BROKER_ID} after `id:`")
    return Broker(broker_id, None if match["rack"] == "null" else match["rack"], fenced=match["fenced"] == "true")


def _row(line: int, content: str, *, columns: int) -> Broker:
    # A rack may contain blanks; the other cells do not.
    first = content.split(maxsplit=3)
    last = first[-1].rsplit(maxsplit=columns)
    endpoint_type, state = last[-1], (last[-2] if len(last) > 1 else "") if columns > 1 else None
    # A rack with two blanks is of a row that is joined with the next one, or has a sign between its columns.
    if (
        "  " in "".join(last[:-columns])
        or len(first) < 4
        or not first[2].isdigit()
        or endpoint_type not in ("broker", "controller")
        or state not in (None, *_STATES)
        or (state == "fenced" and last[0].endswith((" u", " un")))  # of `unfenced`
    ):
        raise rejection(line, expected=_EXPECTED_ROW, actual=shown(content))
    if endpoint_type == "controller":
        raise rejection(line, expected="a broker's endpoint", actual="a controller's")
    rack = last[0] if len(last) > columns else ""
    broker_id = required_number(line, first[0], f"{_BROKER_ID} under ID")
    return Broker(broker_id, None if rack == "null" else rack, fenced=state == "fenced")
