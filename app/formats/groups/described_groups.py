r"""Groups as a client's admin call describes them, decoded to JSON: each member with its metadata.

    {"billing": {"group_id": "billing", "group_state": "Stable", "protocol_type": "consumer", "protocol_data": "range",
      "members": [{"member_id": "billing-0-ceff…", "group_instance_id": null, "client_id": "billing-0",
        "client_host": "/127.0.0.1",
        "member_metadata": {"topics": ["orders"], "user_data": null, "owned_partitions": [], "generation_id": 4,
                            "rack_id": "use1-az1"},
        "member_assignment": {"assigned_partitions": [{"topic": "orders", "partitions": [0, 1]}], "user_data": null}}],
      "authorized_operations": ["READ"], "error": null}}

`member_metadata` and `member_assignment` may also be the raw bytes in base64, as the coordinator answers them, or as
KafkaJS prints them, which names keys `memberMetadata`.
kafka-python writes bytes (`user_data`, and metadata that it cannot decode) as text instead: UTF-8 in which other bytes
are `\xff`. A group whose `error` is not null has no members: of one of KIP-848, KIP-932 or KIP-1071 the coordinator
says that it is not a classic group. Other keys are ignored: clients print more or less around these.
Source: the DescribeGroups response of the Kafka protocol, versions 0 to 5; `kafka-python`'s naming.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from app.core.groups.model import Owned
from app.core.model import control_in
from app.errors import FieldPath
from app.errors.kafka import CorruptProtocolBytes
from app.formats.groups.consumer_protocol import Assignment, Subscription, read_assignment, read_subscription
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import first_repeated, shown
from app.formats.syntax.loose_objects import LooseObject

_PROTOCOL = ("protocoldata", "protocol", "partitionassignor")
_STATES = ("", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
"""By the number that librdkafka's clients state."""
_ESCAPED_BYTE = re.compile(r"\\x([0-9a-f]{2})")
Decoded = TypeVar("Decoded")


class _Unreadable(Exception):
    """Bytes of a member that cannot be decoded, and why; the rest of the document may be right."""


@dataclass(frozen=True, slots=True, eq=False)
class DescribedMember:
    """A member; subscription and assignment are None while the group rebalances, when the coordinator has none."""

    member_id: str
    client_id: str
    client_host: str
    group_instance_id: str | None
    subscription: Subscription | None
    assignment: Assignment | None


@dataclass(frozen=True, slots=True, eq=False)
class DescribedGroup:
    """A group.

    Parameters
    ----------
    protocol : the assignor's name, empty if there are no members.
    error : the reason, if the coordinator did not describe the group; then nothing else is known of it.
    """

    group_id: str
    state: str
    protocol: str
    members: tuple[DescribedMember, ...]
    error: str | None = None


def read(text: str) -> tuple[DescribedGroup, ...]:
    """Read the groups of a document.

    Raises
    ------
    MalformedText
        The text is no JSON, a key is missing, a value is of another kind, a member comes twice. A group with a member
        whose bytes cannot be decoded has this as its error.
    """
    return groups_of(Document.parse(text, "described groups"))


def groups_of(document: Document) -> tuple[DescribedGroup, ...]:
    """The groups of a parsed document; raises `MalformedText` as `read` does."""
    groups = document.mapping(document.root, ())
    return tuple(
        [
            group_of(LooseObject.of(document, group, (name,)), text_of(document, name, (name,)))
            for name, group in groups.items()
        ]
    )


def group_of(group: LooseObject, name: str) -> DescribedGroup:
    """The group of this name; raises `MalformedText` as `read` does."""
    error, (_, code) = group.text("error"), group.get("errorcode")
    if error or code:
        return DescribedGroup(name, "", "", (), error or f"error code {code}")
    path, listed = group.get("members")
    items = [
        LooseObject.of(group.document, one, (*path, i)) for i, one in enumerate(group.document.array(listed, path))
    ]
    try:
        members = tuple([_member(item) for item in items])
    except _Unreadable as unreadable:
        return DescribedGroup(name, "", "", (), str(unreadable))
    if (again := first_repeated(member.member_id for member in members)) is not None:
        at = [member.member_id for member in members].index(again, 1)
        place = items[at].get("memberid")[0]
        raise group.document.reject(place, expected="each member once", actual=f"{shown(again)} again")
    path, state = group.get("groupstate", "state")
    if type(state) is int and state < len(_STATES):
        state = _STATES[state]
    protocol = name_of(group, *_PROTOCOL) if members or group.has(*_PROTOCOL) else ""
    return DescribedGroup(name, text_of(group.document, state, path), protocol, members)


def _member(member: LooseObject) -> DescribedMember:
    return DescribedMember(
        member_id=name_of(member, "memberid"),
        client_id=name_of(member, "clientid"),
        client_host=name_of(member, "clienthost"),
        group_instance_id=_optional(member, "groupinstanceid"),
        subscription=_decoded(member, "membermetadata", read_subscription, _subscription),
        assignment=_decoded(member, "memberassignment", read_assignment, _assignment),
    )


def _decoded(
    member: LooseObject,
    name: str,
    read_bytes: Callable[[bytes], Decoded],
    read_object: Callable[[LooseObject], Decoded],
) -> Decoded | None:
    """Raw bytes in base64 or a Buffer of Node.js, or an object; None if there is nothing."""
    path, value = member.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, dict) and value.get("type") == "Buffer" and isinstance(value.get("data"), list):
        numbers = [member.document.integer(one, (*path, "data", i), most=255) for i, one in enumerate(value["data"])]
        value = b64encode(bytes(numbers)).decode()
    if not isinstance(value, str):
        return read_object(LooseObject.of(member.document, value, path))
    try:
        return read_bytes(_bytes(member.document, value, path))
    except CorruptProtocolBytes as corrupt:
        raise _unreadable(member.document, path, "bytes of the consumer protocol", corrupt.detail) from None


def _subscription(values: LooseObject) -> Subscription:
    document, (at, topics) = values.document, values.get("topics")
    listed = enumerate(document.array(topics, at))
    path, generation_id = values.get("generationid")
    if generation_id is not None:
        generation_id = document.integer(generation_id, path, least=-1)
    return Subscription(
        topics=tuple(
            dict.fromkeys(values.document.topic_name(topic, (*path[:-1], "topics", i)) for i, topic in listed)
        ),
        user_data=_optional_bytes(values, "userdata"),
        owned=_owned(values, "ownedpartitions"),
        generation_id=None if generation_id == -1 else generation_id,
        rack_id=_optional(values, "rackid") or None,
    )


def _assignment(values: LooseObject) -> Assignment:
    values.required_each("assignedpartitions")
    return Assignment(_owned(values, "assignedpartitions"), _optional_bytes(values, "userdata"))


def _owned(values: LooseObject, name: str) -> tuple[Owned, ...]:
    owned = []
    for entry in values.each(name):
        path, listed = entry.get("partitions")
        partitions = entry.document.distinct(listed, path, "partition")
        owned.append(Owned(entry.required_topic("topic"), np.array(partitions, np.int32)))
    return tuple(owned)


def _optional_bytes(values: LooseObject, name: str) -> bytes | None:
    path, value = values.get(name)
    return None if value is None else _bytes(values.document, values.document.string(value, path), path)


def _bytes(document: Document, text: str, path: FieldPath) -> bytes:
    """Bytes in base64, or as kafka-python writes them: those of the consumer protocol have control characters."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        if control_in(text) is None and not _ESCAPED_BYTE.search(text):
            raise _unreadable(document, path, "bytes in base64", "another text") from None
    try:
        parts = _ESCAPED_BYTE.split(text)
        return b"".join([bytes.fromhex(part) if i % 2 else part.encode() for i, part in enumerate(parts)])
    except UnicodeEncodeError:
        raise _unreadable(document, path, "bytes as text in UTF-8", "a surrogate") from None


def _unreadable(document: Document, path: FieldPath, expected: str, actual: str) -> _Unreadable:
    return _Unreadable(document.reject(path, expected=expected, actual=actual).detail)


def text_of(document: Document, value: object, path: FieldPath) -> str:
    """A string as the group protocol's names are in a request, too."""
    text = document.string(value, path)
    if control_in(text) is not None:
        raise document.reject(path, expected="a string without control characters", actual=shown(text))
    return text


def name_of(item: LooseObject, *names: str) -> str:
    """A text that has to be there."""
    path, value = item.get(*names)
    return text_of(item.document, value, path)


def _optional(item: LooseObject, name: str) -> str | None:
    return None if item.get(name)[1] is None else name_of(item, name)
