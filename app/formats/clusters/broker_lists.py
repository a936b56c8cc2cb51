"""The brokers of a cluster from any text that lists them.

    kafka-broker-api-versions    its output, or that of `kafka-cluster api-versions` or `list-endpoints`
                                 (broker_api_versions.py)
    ZooKeeper registrations      versions 1 to 5 (broker_registration.py) with their ids, see below
    bytes of Kafka's protocol    the body of a TopicMetadata response v1 (topic_metadata.py) or of an UpdateMetadata
                                 request v2 (update_metadata.py), as hexadecimal digits or in base64

A registration does not contain the broker's id. So registrations are given as `zookeeper-shell` prints them, each on
one line after its path (other lines are ignored), or as a JSON array in which each also has the key `id`:

    get /brokers/ids/101
    {"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://kafka-1:9092"],"rack":"a",…}

    [{"id":101,"endpoints":["PLAINTEXT://kafka-1:9092"],"rack":"a","jmx_port":-1,"host":"kafka-1",…}]

Source: KIP-36; `BrokerIdZNode` of Apache Kafka; the `get` command of ZooKeeper's shell.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from app.core.model import Broker
from app.errors import Json
from app.errors.requests import MalformedText
from app.formats.clusters import (
    broker_api_versions,
    broker_registration,
    topic_metadata,
    update_metadata,
)
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import last_line, numbered, rejection, required_number
from app.formats.syntax.wire import decoded, detect
from app.formats.syntax.wire_formats import ByteEncoding

_ARRAY = re.compile(r"\s*\[\s*[{\]]")
REGISTRATION_PATH = re.compile(r"/brokers/ids/(?P<id>[0-9]+)")


def read(text: str) -> tuple[Broker, ...]:
    """Read the brokers, by ascending id.

    Raises
    ------
    MalformedText
        The text is of none of these forms, or malformed; names the line or the byte offset.
    """
    content = text.encode("utf-8")
    if detect(content) is not ByteEncoding.RAW:
        listed: Iterable[Broker] = [Broker(one.id, one.rack) for one in _of_bytes(decoded(content))]
    elif _lists_registrations(text):
        listed = _registered(text)
    else:
        listed = broker_api_versions.read(text)
    return tuple(sorted(listed, key=lambda broker: broker.id))


def _of_bytes(data: bytes) -> Sequence[Any]:
    """The brokers of a response or a request. Both are read to their end, so bytes of one kind are not of the other."""
    try:
        return topic_metadata.read(data).brokers
    except MalformedText as malformed:
        as_response = malformed
    try:
        return update_metadata.read(data).live_brokers
    except MalformedText as malformed:
        as_request = malformed
    raise rejection(
        None,
        expected="the body of a TopicMetadata response v1 or of an UpdateMetadata request v2",
        actual=f"{len(data)} bytes of neither (as a response: {as_response.detail}; as a request: {as_request.detail})",
        byte=max((_byte(as_response), _byte(as_request))),
    )


def _byte(malformed: MalformedText) -> int:
    byte: Json = malformed.context["byte"]
    return byte if isinstance(byte, int) else 0


def _lists_registrations(text: str) -> bool:
    """Whether the text is meant as registrations: an array, an object, or a line with the path of a broker."""
    return bool(_ARRAY.match(text) or text.lstrip().startswith("{") or REGISTRATION_PATH.search(text))


def _registered(text: str) -> Iterable[Broker]:
    """The brokers of registrations."""
    brokers: dict[int, Broker] = {}
    for line, broker in _of_array(text) if _ARRAY.match(text) else _of_lines(text):
        if broker.id in brokers:
            raise rejection(line, expected="each broker once", actual=f"broker {broker.id} again")
        brokers[broker.id] = broker
    if not brokers:
        raise rejection(last_line(text), expected="a broker registration", actual="none")
    return brokers.values()


def _of_array(text: str) -> Iterator[tuple[int | None, Broker]]:
    document = Document.parse(text, "broker registrations")
    for i, value in enumerate(document.array(document.root, ())):
        members = dict(document.mapping(value, (i,)))
        if "id" not in members:
            raise document.reject((i,), expected="the key 'id', which is the broker's", actual="no such key")
        broker_id = document.integer(members.pop("id"), (i, "id"))
        try:
            registration = broker_registration.read(orjson.dumps(members).decode())
        except MalformedText as malformed:
            # The registration was printed again on one line, whose number says nothing about the text.
            reason = malformed.detail.removeprefix("line 1: ")
            raise document.reject((i,), expected="a broker registration", actual=f"one with {reason}") from None
        yield None, broker_registration.broker(registration, broker_id=broker_id)


def _of_lines(text: str) -> Iterator[tuple[int | None, Broker]]:
    broker_id: int | None = None
    for line, content in numbered(text):
        if content.lstrip().startswith("{"):
            if broker_id is None:
                raise rejection(line, expected="a line with /brokers/ids/<id> before the registration", actual="none")
            yield line, broker_registration.broker(_registration(line, content), broker_id=broker_id)
            broker_id = None
        elif path := REGISTRATION_PATH.search(content):
            broker_id = required_number(line, path["id"], "a broker id from 0 to 2147483647")


def _registration(line: int, content: str) -> broker_registration.BrokerRegistration:
    try:
        return broker_registration.read(content)
    except MalformedText as malformed:
        raise MalformedText(malformed.detail.removeprefix("line 1: "), line=line, expected=malformed.expected) from None
