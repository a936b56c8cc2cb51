"""User data of a Streams subscription."""

from collections.abc import Mapping

from app.core.jvm.hashes import TaskId
from app.errors.kafka import KafkaError
from app.formats.streams.streams_subscription import NEWEST_VERSION, OLDEST_VERSION, SubscriptionInfo
from tests.formats.writers import generated_bytes as generated
from tests.kafka_refusals import NotSerializable


def write(info: SubscriptionInfo) -> bytes:
    """Write a member's user data. Fields that the version lacks are left out; so is, up to version 6, every offset
    sum but −2: such a task is a standby. Tasks and tags are in the given order; Kafka follows its hash maps.

    Raises
    ------
    NotSerializable
        The version is not 1 to 11, from 3 not up to the latest supported one, or there is no process id.
    """
    version = _checked(info)
    fields = [generated.int32(version)]
    if version >= 3:
        fields.append(generated.int32(-1 if info.latest_supported_version is None else info.latest_supported_version))
    fields.append(b"" if info.process_id is None else info.process_id.bytes)
    if version <= 6:
        fields += [_task_list(info.previous_active), _task_list(info.previous_standby)]
    if version >= 2:
        fields.append(_text(info.user_end_point or ""))
    if version >= 7:
        sums = info.task_offset_sums
        fields.append(_task_offset_sums(sums) if version >= 10 else _nested_offset_sums(sums))
    if version >= 8:
        fields.append(generated.int8(info.unique_field))
    if version >= 9:
        fields.append(generated.int32(info.error_code))
    if version >= 11:
        tags = [_text(key) + _text(value) for key, value in info.client_tags.items()]
        fields += [generated.int32(len(tags)), *tags]
    return b"".join(fields)


def _checked(info: SubscriptionInfo) -> int:
    version, latest = info.version, info.latest_supported_version
    if version > NEWEST_VERSION:
        _reject(f"versions are up to {NEWEST_VERSION}; {version} given", "IllegalStateException", version)
    if version < OLDEST_VERSION or (version >= 3 and (latest is None or latest < version)):
        detail = f"versions are from {OLDEST_VERSION} up to the latest supported one; {version} of {latest} given"
        _reject(detail, "IllegalArgumentException", version)
    if info.process_id is None:
        _reject("there is no process id", "NullPointerException", version)
    return version


def _reject(detail: str, exception: str, version: int) -> None:
    raise NotSerializable(detail, kafka=KafkaError(exception), version=version)


def _text(text: str) -> bytes:
    return generated.nullable_bytes(text.encode("utf-8", "replace"))


def _task(task: TaskId) -> bytes:
    return generated.int32(task[0]) + generated.int32(task[1])


def _task_list(tasks: tuple[TaskId, ...]) -> bytes:
    return generated.int32(len(tasks)) + b"".join([_task(task) for task in tasks])


def _nested_offset_sums(sums: Mapping[TaskId, int]) -> bytes:
    by_subtopology: dict[int, list[bytes]] = {}
    for (subtopology, partition), offset_sum in sums.items():
        entry = generated.int32(partition) + generated.int64(offset_sum)
        by_subtopology.setdefault(subtopology, []).append(entry)
    groups = [
        generated.int32(subtopology) + generated.int32(len(entries)) + b"".join(entries)
        for subtopology, entries in by_subtopology.items()
    ]
    return generated.int32(len(groups)) + b"".join(groups)


def _task_offset_sums(sums: Mapping[TaskId, int]) -> bytes:
    entries = [
        _task(task) + generated.int64(offset_sum) + generated.nullable_string(None, "namedTopology")
        for task, offset_sum in sums.items()
    ]
    return generated.int32(len(entries)) + b"".join(entries)
