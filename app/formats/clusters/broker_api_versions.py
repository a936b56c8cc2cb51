"""The header lines of `kafka-broker-api-versions`, and of `kafka-cluster api-versions`, which replaces it in 4.4.

    127.0.0.1:19199 (id: 109 rack: use1-az4 isFenced: false) -> (
    kafka-1:9092 (id: 1 rack: null) -> ERROR: org.apache.kafka.common.errors.DisconnectException

`isFenced` came with 4.0; `rack: null` is a broker without rack. A broker that answered is followed by its APIs, a line
each, and a `)`; the one that did not has its error on the line. The API lines are checked for their shape and
dropped.

Source: `BrokerApiVersionsCommand` and, since 4.4, `ClusterTool` (KAFKA-19663), `Node.toString` and
`NodeApiVersions.toString` of Apache Kafka.
"""

import re
from dataclasses import dataclass

from app.core.model import CONTROLS
from app.formats.syntax.lines import last_line, numbered, rejection, required_number, shown, whole_number
from app.formats.syntax.wire import HIGHEST_PORT

_HEADER = re.compile(
    rf"(?P<host>[^\s{CONTROLS}]+):(?P<port>[0-9]+) "
    rf"\(id: (?P<id>-?[0-9]+) rack: (?P<rack>[^{CONTROLS}]*?)(?: isFenced: (?P<fenced>true|false))?\)"
    r" -> (?:\(|ERROR: (?P<error>.*))"
)
_REST = re.compile(r" -> |\(id: | isF|: (?:true|false)$")
"""What a rack does not have, but a broken line or two lines in one."""
_API = re.compile(r"\s*(?:[A-Za-z]+\([0-9]+\): .+|\))")
_EXPECTED = "a broker's header (`host:port (id: 101 rack: use1-az1 isFenced: false) -> (`)"


@dataclass(frozen=True, slots=True)
class BrokerHeader:
    """A broker as the tool names it.

    Parameters
    ----------
    host : as printed, an IPv6 address with or without its brackets.
    rack : None if the tool prints `null`, which it also prints for a rack of that name.
    fenced : None if the tool does not print it.
    error : the reason, if the broker did not answer.
    """

    id: int
    host: str
    port: int
    rack: str | None = None
    fenced: bool | None = None
    error: str | None = None


def read(text: str) -> tuple[BrokerHeader, ...]:
    """Read the headers in the order in which they are printed.

    Raises
    ------
    MalformedText
        A line is neither header nor API line, an id is negative (a bootstrap address, not a broker) or comes twice,
        there is no header at all.
    """
    headers: dict[int, BrokerHeader] = {}
    for line, content in numbered(text):
        if _API.fullmatch(content):
            if not headers:
                raise rejection(line, expected=f"{_EXPECTED} before its API lines", actual=shown(content))
            continue
        header = _header(line, content)
        if header.id in headers:
            raise rejection(line, expected="each broker once", actual=f"broker {header.id} again")
        headers[header.id] = header
    if not headers:
        raise rejection(last_line(text), expected=_EXPECTED, actual="no broker")
    return tuple(headers.values())


def _header(line: int, content: str) -> BrokerHeader:
    match = _HEADER.fullmatch(content.strip())
    if not match or _REST.search(match["rack"]):
        raise rejection(line, expected=_EXPECTED, actual=shown(content))
    host, port_text, id_text, rack, fenced, error = match.groups()
    broker_id = required_number(line, id_text, "a broker id from 0 to 2147483647 after `id:`")
    port = whole_number(port_text)
    if port is None or port > HIGHEST_PORT:
        raise rejection(line, expected=f"a port from 0 to {HIGHEST_PORT}", actual=shown(port_text))
    return BrokerHeader(
        id=broker_id,
        host=host,
        port=port,
        rack=None if rack == "null" else rack,
        fenced=None if fenced is None else fenced == "true",
        error=error,
    )
