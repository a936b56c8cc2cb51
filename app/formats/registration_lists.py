"""ZooKeeper registrations of several brokers with their ids, which the registrations themselves do not contain.

As `zookeeper-shell` prints them, each on one line after its path; the shell's own lines are ignored:

    get /brokers/ids/101
    {"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://kafka-1:9092"],"rack":"a",…}

Or as a JSON array of registrations that each have the key `id`:

    [{"id":101,"endpoints":["PLAINTEXT://kafka-1:9092"],"rack":"a","jmx_port":-1,"host":"kafka-1",…}]

Source: `BrokerIdZNode` of Apache Kafka; the `get` command of ZooKeeper's shell.
"""

import re
from collections.abc import Iterator

import orjson

from app.core.model import Broker
from app.errors import MalformedText
from app.formats import broker_registration
from app.formats.documents import Document
from app.formats.lines import last_line, numbered, refusal, shown, whole_number

_ARRAY = re.compile(r"\s*\[\s*[{\]]")
_PATH = re.compile(r"/brokers/ids/(?P<id>[0-9]+)")
# Lines of the shell: its connection and prompt, its watcher, and the statistics of a node in older versions.
_SHELL = re.compile(
    r"Connecting to |WATCHER::|WatchedEvent |\[zk: |"
    r"(?:cZxid|ctime|mZxid|mtime|pZxid|cversion|dataVersion|aclVersion|ephemeralOwner|dataLength|numChildren) = "
)


def is_list(text: str) -> bool:
    """Whether the text is meant as registrations: an array, an object, or a line with the path of a broker."""
    return bool(_ARRAY.match(text) or text.lstrip().startswith("{") or _PATH.search(text))


def read(text: str) -> tuple[Broker, ...]:
    """Read the brokers, by ascending id.

    Raises
    ------
    MalformedText
        There is no registration, one has no id or is malformed, a broker is listed twice, or a line is neither a path,
        a registration nor a line of the shell; names the line.
    """
    brokers: dict[int, Broker] = {}
    for line, broker in _of_array(text) if _ARRAY.match(text) else _of_lines(text):
        if broker.id in brokers:
            raise refusal(line, expected="each broker once", found=f"broker {broker.id} again")
        brokers[broker.id] = broker
    if not brokers:
        raise refusal(last_line(text), expected="a broker registration", found="none")
    return tuple(brokers[broker_id] for broker_id in sorted(brokers))


def _of_array(text: str) -> Iterator[tuple[int | None, Broker]]:
    document = Document.parse(text, "broker registrations")
    for i, value in enumerate(document.array(document.root, ())):
        members = dict(document.mapping(value, (i,)))
        if "id" not in members:
            raise document.refuse((i,), expected="the key 'id', which is the broker's", found="no such key")
        broker_id = document.integer(members.pop("id"), (i, "id"))
        try:
            registration = broker_registration.read(orjson.dumps(members).decode())
        except MalformedText as malformed:
            # The registration was printed again on one line, whose number says nothing about the text.
            reason = malformed.detail.removeprefix("line 1: ")
            raise document.refuse((i,), expected="a broker registration", found=f"one with {reason}") from None
        yield None, broker_registration.broker(registration, broker_id=broker_id)


def _of_lines(text: str) -> Iterator[tuple[int | None, Broker]]:
    broker_id: int | None = None
    for line, content in numbered(text):
        if content.lstrip().startswith("{"):
            if broker_id is None:
                raise refusal(line, expected="a line with /brokers/ids/<id> before the registration", found="none")
            yield line, broker_registration.broker(_registration(line, content), broker_id=broker_id)
            broker_id = None
        elif path := _PATH.search(content):
            broker_id = whole_number(path["id"])
            if broker_id is None:
                raise refusal(line, expected="a broker id from 0 to 2147483647", found=shown(path["id"]))
        elif not _SHELL.match(content):
            raise refusal(
                line, expected="/brokers/ids/<id>, or a registration in JSON on one line", found=shown(content)
            )


def _registration(line: int, content: str) -> broker_registration.BrokerRegistration:
    try:
        return broker_registration.read(content)
    except MalformedText as malformed:
        raise MalformedText(malformed.detail.removeprefix("line 1: "), line=line, expected=malformed.expected) from None
