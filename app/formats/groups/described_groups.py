r"""Groups as a client's admin call describes them, decoded to JSON: each member with its metadata.

    {"billing": {"group_id": "billing", "group_state": "Stable", "protocol_type": "consumer", "protocol_data": "range",
      "members": [{"member_id": "billing-0-ceff…", "group_instance_id": null, "client_id": "billing-0",
        "client_host": "/127.0.0.1",
        "member_metadata": {"topics": ["orders"], "user_data": null, "owned_partitions": [], "generation_id": 4,
                            "rack_id": "use1-az1"},
        "member_assignment": {"assigned_partitions": [{"topic": "orders", "partitions": [0, 1]}], "user_data": null}}],
      "authorized_operations": ["READ"], "error": null}}

`member_metadata` and `member_assignment` may also be the raw bytes in base64, as the coordinator answers them.
kafka-python writes bytes (`user_data`, and metadata that it cannot decode) as text instead: UTF-8 in which other bytes
are `\xff`. A group whose `error` is not null has no members: of one of KIP-848, KIP-932 or KIP-1071 the coordinator
says that it is not a classic group. Other keys are ignored: clients print more or less around these.
Source: the DescribeGroups response of the Kafka protocol, versions 0 to 5; `kafka-python`'s naming.
"""

import re
from base64 import b64decode
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
from app.formats.syntax.lines import shown

_GROUP = ("group_state", "protocol_data", "members")
_MEMBER = ("member_id", "client_id", "client_host", "member_metadata", "member_assignment")
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
        [group_of(document, text_of(document, name, (name,)), group, (name,)) for name, group in groups.items()]
    )


def group_of(document: Document, name: str, value: object, path: FieldPath) -> DescribedGroup:
    """The group of this name, described at `path`; raises `MalformedText` as `read` does."""
    error = document.mapping(value, path).get("error")
    if error is not None and (reason := document.string(error, (*path, "error"))):
        return DescribedGroup(name, "", "", (), reason)
    values = _required(document, value, path, _GROUP)
    listed = document.array(values["members"], (*path, "members"))
    try:
        members = tuple([_member(document, member, (*path, "members", i)) for i, member in enumerate(listed)])
    except _Unreadable as unreadable:
        return DescribedGroup(name, "", "", (), str(unreadable))
    seen: set[str] = set()
    for i, member in enumerate(members):
        if member.member_id in seen:
            at: FieldPath = (*path, "members", i, "member_id")
            raise document.reject(at, expected="each member once", actual=f"{shown(member.member_id)} again")
        seen.add(member.member_id)
    return DescribedGroup(
        group_id=name,
        state=text_of(document, values["group_state"], (*path, "group_state")),
        protocol=text_of(document, values["protocol_data"], (*path, "protocol_data")),
        members=members,
    )


def _member(document: Document, value: object, path: FieldPath) -> DescribedMember:
    values = _required(document, value, path, _MEMBER)
    instance = values.get("group_instance_id")
    metadata, assignment = values["member_metadata"], values["member_assignment"]
    return DescribedMember(
        member_id=text_of(document, values["member_id"], (*path, "member_id")),
        client_id=text_of(document, values["client_id"], (*path, "client_id")),
        client_host=text_of(document, values["client_host"], (*path, "client_host")),
        group_instance_id=None if instance is None else text_of(document, instance, (*path, "group_instance_id")),
        subscription=_decoded(document, metadata, (*path, "member_metadata"), read_subscription, _subscription),
        assignment=_decoded(document, assignment, (*path, "member_assignment"), read_assignment, _assignment),
    )


def _decoded(
    document: Document,
    value: object,
    path: FieldPath,
    read_bytes: Callable[[bytes], Decoded],
    read_object: Callable[[Document, object, FieldPath], Decoded],
) -> Decoded | None:
    """Raw bytes in base64, or an object; None if there is nothing."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        return read_object(document, value, path)
    try:
        return read_bytes(_bytes(document, value, path))
    except CorruptProtocolBytes as corrupt:
        raise _unreadable(document, path, "bytes of the consumer protocol", corrupt.detail) from None


def _subscription(document: Document, value: object, path: FieldPath) -> Subscription:
    values = _required(document, value, path, ("topics",))
    listed = enumerate(document.array(values["topics"], (*path, "topics")))
    topics = dict.fromkeys(document.topic_name(topic, (*path, "topics", i)) for i, topic in listed)
    generation_id = values.get("generation_id")
    if generation_id is not None:
        generation_id = document.integer(generation_id, (*path, "generation_id"), least=-1)
    rack_id = values.get("rack_id")
    return Subscription(
        topics=tuple(topics),
        user_data=_optional_bytes(document, values.get("user_data"), (*path, "user_data")),
        owned=_owned(document, values.get("owned_partitions"), (*path, "owned_partitions")),
        generation_id=None if generation_id == -1 else generation_id,
        rack_id=None if rack_id is None else text_of(document, rack_id, (*path, "rack_id")) or None,
    )


def _assignment(document: Document, value: object, path: FieldPath) -> Assignment:
    values = _required(document, value, path, ("assigned_partitions",))
    return Assignment(
        partitions=_owned(document, values["assigned_partitions"], (*path, "assigned_partitions")),
        user_data=_optional_bytes(document, values.get("user_data"), (*path, "user_data")),
    )


def _owned(document: Document, value: object, path: FieldPath) -> tuple[Owned, ...]:
    owned = []
    for i, entry in enumerate([] if value is None else document.array(value, path)):
        values = _required(document, entry, (*path, i), ("topic", "partitions"))
        partitions = document.distinct(values["partitions"], (*path, i, "partitions"), "partition")
        topic = document.topic_name(values["topic"], (*path, i, "topic"))
        owned.append(Owned(topic, np.array(partitions, np.int32)))
    return tuple(owned)


def _optional_bytes(document: Document, value: object, path: FieldPath) -> bytes | None:
    return None if value is None else _bytes(document, document.string(value, path), path)


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


def _required(document: Document, value: object, path: FieldPath, keys: tuple[str, ...]) -> dict[str, object]:
    """An object that has these keys; others are ignored."""
    members = document.mapping(value, path)
    known = {key: item for key, item in members.items() if key in keys}
    document.members(known, path, required=keys)
    return members
