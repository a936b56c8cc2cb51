"""Any of the formats of `WireFormat` as JSON: the command `rackplan decode`.

Members are named as Kafka's schemas name the fields, in snake case. User data is in base64. A field is null if the
version does not have it.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

import orjson

from app.core.groups.model import Owned
from app.core.jvm.hashes import TaskId, TopicPartition
from app.errors import Json
from app.errors.requests import MalformedText
from app.formats.clusters import broker_registration, topic_metadata, update_metadata
from app.formats.groups import consumer_protocol
from app.formats.streams import streams_assignment, streams_subscription
from app.formats.streams.streams_assignment import PartitionsByHost
from app.formats.syntax.lines import decode
from app.formats.syntax.wire import decoded
from app.formats.syntax.wire_formats import ByteEncoding, WireFormat


def as_json(wire_format: WireFormat, content: bytes, encoding: ByteEncoding = ByteEncoding.AUTO) -> bytes:
    """Decode the content of a file and print it as indented JSON.

    Parameters
    ----------
    encoding : of the bytes in the content.

    Raises
    ------
    MalformedText
        The content is not of the encoding or the format; names the byte offset, and for a JSON text the line.
    """
    members = _READERS[wire_format](decoded(content, encoding))
    return orjson.dumps(members, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _registration(data: bytes) -> Mapping[str, Json]:
    try:
        return asdict(broker_registration.read(decode(data, "registration")))
    except MalformedText as malformed:
        if "byte" in malformed.context:
            raise
        before = data.split(b"\n")[: (malformed.line or 1) - 1]
        byte = sum(len(line) + 1 for line in before)
        detail = f"{malformed.detail.removeprefix(f'line {malformed.line}: ')}; the line starts at byte {byte}"
        raise MalformedText(detail, line=malformed.line, expected=malformed.expected, byte=byte) from None


def _subscription(data: bytes) -> Mapping[str, Json]:
    subscription = consumer_protocol.read_subscription(data)
    return {
        "version": subscription.version,
        "topics": subscription.topics,
        "user_data": _base64(subscription.user_data),
        "owned_partitions": _owned(subscription.owned),
        "generation_id": subscription.generation_id,
        "rack_id": subscription.rack_id,
    }


def _assignment(data: bytes) -> Mapping[str, Json]:
    assignment = consumer_protocol.read_assignment(data)
    return {
        "version": assignment.version,
        "assigned_partitions": _owned(assignment.partitions),
        "user_data": _base64(assignment.user_data),
    }


def _streams_subscription_info(data: bytes) -> Mapping[str, Json]:
    info = streams_subscription.read(data)
    return {
        "version": info.version,
        "latest_supported_version": info.latest_supported_version,
        "process_id": None if info.process_id is None else str(info.process_id),
        "user_end_point": info.user_end_point,
        "task_offset_sums": {_task(task): offset_sum for task, offset_sum in info.task_offset_sums.items()},
        "previous_active_tasks": [_task(task) for task in info.previous_active],
        "previous_standby_tasks": [_task(task) for task in info.previous_standby],
        "unique_field": info.unique_field,
        "error_code": info.error_code,
        "client_tags": info.client_tags,
    }


def _streams_assignment_info(data: bytes) -> Mapping[str, Json]:
    info = streams_assignment.read(data)
    return {
        "version": info.version,
        "commonly_supported_version": info.commonly_supported_version,
        "active_tasks": [_task(task) for task in info.active_tasks],
        "standby_tasks": {_task(task): _partitions(restored) for task, restored in info.standby_tasks.items()},
        "partitions_by_host": _by_host(info.partitions_by_host),
        "standby_partitions_by_host": _by_host(info.standby_partitions_by_host),
        "error_code": info.error_code,
        "next_rebalance_ms": info.next_rebalance_ms,
    }


def _base64(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode("ascii")


def _owned(owned: Iterable[Owned]) -> Json:
    return [{"topic": entry.topic, "partitions": entry.partitions.tolist()} for entry in owned]


def _task(task: TaskId) -> str:
    return f"{task[0]}_{task[1]}"


def _partitions(partitions: Iterable[TopicPartition]) -> Json:
    return [{"topic": topic, "partition": partition} for topic, partition in partitions]


def _by_host(by_host: PartitionsByHost) -> Json:
    return [
        {"host": host.host, "port": host.port, "partitions": _partitions(partitions)}
        for host, partitions in by_host.items()
    ]


_READERS: Mapping[WireFormat, Callable[[bytes], Mapping[str, Json]]] = {
    WireFormat.REGISTRATION: _registration,
    WireFormat.BROKER: lambda data: asdict(update_metadata.read_broker(data)),
    WireFormat.TOPIC_METADATA: lambda data: asdict(topic_metadata.read(data)),
    WireFormat.UPDATE_METADATA: lambda data: asdict(update_metadata.read(data)),
    WireFormat.SUBSCRIPTION: _subscription,
    WireFormat.ASSIGNMENT: _assignment,
    WireFormat.STREAMS_SUBSCRIPTION_INFO: _streams_subscription_info,
    WireFormat.STREAMS_ASSIGNMENT_INFO: _streams_assignment_info,
}
