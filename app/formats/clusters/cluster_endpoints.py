"""What `kafka-cluster list-endpoints` prints: a table of the brokers, with racks and, if requested, fenced brokers.

    ID         HOST      PORT       RACK       STATE      ENDPOINT_TYPE
    4          localhost 29092      null       unfenced   broker
    5          localhost 39092      null       fenced     broker

`--include-fenced-brokers` adds the brokers that are registered and fenced. A table of controllers
(`--bootstrap-controller`) has no brokers and is rejected. HOST and RACK are as wide as their longest cell, even if that
is shorter than the column's name, so that a row is read by the form of its cells and not at the offsets of the header.

Source: `ClusterTool.listEndpoints` of Apache Kafka 4.x.
"""

import re

from app.formats.clusters.broker_api_versions import BrokerHeader
from app.formats.syntax.lines import last_line, numbered, rejection, required_number, shown, whole_number
from app.formats.syntax.wire import HIGHEST_PORT

HEADER = re.compile(r"ID\s+HOST\s+PORT\s+RACK\s+(?:STATE\s+)?ENDPOINT_TYPE\s*")
_EXPECTED_HEADER = "the header `ID HOST PORT RACK STATE ENDPOINT_TYPE`"
_EXPECTED_ROW = "a broker's row (`101 kafka-1 9092 use1-az1 unfenced broker`)"
_TYPES = ("broker", "controller")
_STATES = ("fenced", "unfenced")


def read(text: str) -> tuple[BrokerHeader, ...]:
    """Read the rows in the order in which they are printed.

    Raises
    ------
    MalformedText
        The header is missing, a line is no row, an id is negative or comes twice, a row is a controller's, or there is
        no row; names the line.
    """
    rows: dict[int, BrokerHeader] = {}
    header: str | None = None
    for line, content in numbered(text):
        if HEADER.fullmatch(content):
            header = content
            continue
        if header is None:
            raise rejection(line, expected=_EXPECTED_HEADER, actual=shown(content))
        row = _row(line, content, columns=2 if "STATE" in header else 1)
        if row.id in rows:
            raise rejection(line, expected="each broker once", actual=f"broker {row.id} again")
        rows[row.id] = row
    if not rows:
        expected = _EXPECTED_HEADER if header is None else _EXPECTED_ROW
        raise rejection(last_line(text), expected=expected, actual="no broker")
    return tuple(rows.values())


def _row(line: int, content: str, *, columns: int) -> BrokerHeader:
    # A rack may contain blanks; the other cells do not.
    first = content.split(maxsplit=3)
    last = first[-1].rsplit(maxsplit=columns)
    endpoint_type, state = last[-1], (last[-2] if len(last) > 1 else "") if columns > 1 else None
    # A rack with three blanks is of a row that is joined with the next one.
    if (
        "   " in "".join(last[:-columns])
        or len(first) < 4
        or endpoint_type not in _TYPES
        or state not in (None, *_STATES)
        or (state == "fenced" and last[0].endswith((" u", " un")))  # of `unfenced`
    ):
        raise rejection(line, expected=_EXPECTED_ROW, actual=shown(content))
    if endpoint_type == "controller":
        raise rejection(line, expected="a broker's endpoint", actual="a controller's")
    broker_id = required_number(line, first[0], "a broker id from 0 to 2147483647 under ID")
    port = whole_number(first[2])
    if port is None or port > HIGHEST_PORT:
        raise rejection(line, expected=f"a port from 0 to {HIGHEST_PORT} under PORT", actual=shown(first[2]))
    rack = last[0] if len(last) > columns else ""
    return BrokerHeader(
        id=broker_id,
        host=first[1],
        port=port,
        rack=None if rack == "null" else rack,
        fenced=None if state is None else state == "fenced",
    )
