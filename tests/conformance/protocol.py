"""Cases of the consumer protocol's bytes."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from app.core.groups.model import Owned
from app.formats.groups.consumer_protocol import Assignment, Subscription, read_assignment, read_subscription
from tests.formats.writers.assignor_user_data import write_cooperative, write_sticky
from tests.formats.writers.consumer_protocol import write_assignment, write_subscription


def _owned(listed: Iterable[tuple[str, list[int]]]) -> tuple[Owned, ...]:
    return tuple([Owned(topic, np.array(partitions, np.int32)) for topic, partitions in listed])


def _listed(owned: Iterable[Owned]) -> list[list[Any]]:
    """As the vectors write a list of partitions: neighbours of one topic in one entry."""
    listed: list[list[Any]] = []
    for entry in owned:
        partitions = entry.partitions.tolist()
        if listed and listed[-1][0] == entry.topic:
            listed[-1][1].extend(partitions)
        elif partitions:
            listed.append([entry.topic, partitions])
    return listed


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _encoded(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()


def _serialize_subscription(given: Mapping[str, Any]) -> Any:
    subscription = Subscription(
        topics=tuple(given["topics"]),
        user_data=_decoded(given["user_data_base64"]),
        owned=_owned(given["owned"]),
        generation_id=given["generation_id"],
        rack_id=given["rack_id"],
        version=given["version"],
    )
    return {"bytes_base64": _encoded(write_subscription(subscription))}


def _serialize_assignment(given: Mapping[str, Any]) -> Any:
    assignment = Assignment(_owned(given["partitions"]), _decoded(given["user_data_base64"]), given["version"])
    return {"bytes_base64": _encoded(write_assignment(assignment))}


def _deserialize_subscription(given: Mapping[str, Any]) -> Any:
    read = read_subscription(b64decode(given["bytes_base64"]), wraps_errors=given.get("wraps_errors", False))
    return {
        "topics": list(read.topics),
        "owned": _listed(read.owned),
        "user_data_base64": _encoded(read.user_data),
        "generation_id": read.generation_id,
        "rack_id": read.rack_id,
    }


def _deserialize_assignment(given: Mapping[str, Any]) -> Any:
    read = read_assignment(b64decode(given["bytes_base64"]), wraps_errors=given.get("wraps_errors", False))
    return {"partitions": _listed(read.partitions), "user_data_base64": _encoded(read.user_data)}


def _sticky_user_data(given: Mapping[str, Any]) -> Any:
    written = write_sticky(_owned(given["owned"]), generation_id=given["generation_id"])
    return {"bytes_base64": _encoded(written)}


def _cooperative_user_data(given: Mapping[str, Any]) -> Any:
    return {"bytes_base64": _encoded(write_cooperative(given["generation_id"]))}


_OPERATIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = MappingProxyType(
    {
        "serialize_subscription": _serialize_subscription,
        "serialize_assignment": _serialize_assignment,
        "deserialize_subscription": _deserialize_subscription,
        "deserialize_assignment": _deserialize_assignment,
        "sticky_user_data": _sticky_user_data,
        "cooperative_user_data": _cooperative_user_data,
    }
)


def _consumer_protocol(given: Mapping[str, Any]) -> Any:
    return _OPERATIONS[given["op"]](given)


ANSWERS = {"consumer_protocol": _consumer_protocol}
