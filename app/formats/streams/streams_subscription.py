"""The user data of its subscription.

It starts with a version of its own as four bytes:

    00000002 000…001           00000001 00000000 00000003  00000000     00000003 613a31
    v2       process id (16)   1 active task: 0_3          no standby   user end point "a:1"

    versions   fields, in this order
    1          version, process id, previous active tasks, previous standby tasks
    2          and the user end point
    3–6        and, after the version, the latest version that the member supports
    7          task offset sums by subtopology, after the end point, in place of both lists of tasks (KIP-441)
    8          and a byte that makes the bytes differ from the previous rebalance's
    9          and an error code
    10         offset sums task by task, each with the name of its topology or null
    11         and client tags (KIP-708)

A task's offset sum is the position of its state, −2 if the member runs the task as active, −3 if the
version is too old to say. From a version that it does not know, a leader reads two numbers, the version and the latest
supported one, and so does this reader. Tasks of named topologies, which no public API makes, are rejected.

Source: `SubscriptionInfo` and `SubscriptionInfoData` of Apache Kafka 4.0; KIP-441, KIP-708.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from app.core.jvm.hashes import TaskId
from app.core.streams.model import RUNNING_ACTIVE, UNKNOWN_LAG
from app.errors.kafka import KafkaError
from app.formats.syntax.generated_bytes import GeneratedReader, java_text
from app.formats.syntax.lines import rejection, shown

NEWEST_VERSION = 11
OLDEST_VERSION = 1


@dataclass(frozen=True, slots=True)
class SubscriptionInfo:
    """The process of a member, as its subscription describes it.

    Parameters
    ----------
    process_id : None if the version is from the future; the other fields are then not read either.
    task_offset_sums : by task, in the order read or to be written; `RUNNING_ACTIVE` and `UNKNOWN_LAG` stand for −2, −3.
        Up to version 6 there is nothing but these two.
    user_end_point : `application.server`; None if empty.
    unique_field : of no meaning.
    error_code : 0 for none, 4 if the member requests the shutdown of the application.
    latest_supported_version : None in versions 1 and 2, which do not say.
    """

    process_id: UUID | None
    task_offset_sums: Mapping[TaskId, int] = field(default_factory=dict)
    user_end_point: str | None = None
    unique_field: int = 0
    error_code: int = 0
    client_tags: Mapping[str, str] = field(default_factory=dict)
    latest_supported_version: int | None = NEWEST_VERSION
    version: int = NEWEST_VERSION

    @property
    def is_from_the_future(self) -> bool:
        """The version is one that this reader does not know: nothing but the two versions was read."""
        return self.version > NEWEST_VERSION

    @property
    def previous_active(self) -> tuple[TaskId, ...]:
        """The tasks that the member reports as running; an assignor also uses its owned partitions."""
        return tuple(task for task, offset_sum in self.task_offset_sums.items() if offset_sum == RUNNING_ACTIVE)

    @property
    def previous_standby(self) -> tuple[TaskId, ...]:
        """The other tasks of which it has state: standbys, warm-ups and state left on its disk."""
        return tuple(task for task, offset_sum in self.task_offset_sums.items() if offset_sum != RUNNING_ACTIVE)


def read(data: bytes) -> SubscriptionInfo:
    """Read a member's user data; bytes after the last field are ignored.

    Raises
    ------
    CorruptProtocolBytes
        The bytes end too early, have an impossible count, name a client tag twice, or their version is below 1 or
        above the latest that they say the member supports; it carries Kafka's exception.
    MalformedText
        A task is of a named topology.
    """
    reader = _Reader(data, "subscription info")
    version = reader.int32("a version (int32)")
    if version < OLDEST_VERSION:
        expected = f"a version from {OLDEST_VERSION}"
        raise reader.reject(0, expected, str(version), KafkaError("IllegalArgumentException"))
    latest = reader.latest_supported_version(version) if version >= 3 else None
    if version > NEWEST_VERSION:
        return SubscriptionInfo(None, latest_supported_version=latest, version=version)
    process_id = reader.uuid("a process id")
    sums = reader.task_lists() if version <= 6 else {}
    end_point = reader.copied_bytes("userEndPoint") if version >= 2 else b""
    if version >= 7:
        sums = reader.task_offset_sums() if version >= 10 else reader.nested_offset_sums()
    return SubscriptionInfo(
        process_id=process_id,
        task_offset_sums=sums,
        user_end_point=java_text(end_point) or None,
        unique_field=reader.int8("a unique field (int8)") if version >= 8 else 0,
        error_code=reader.int32("an error code (int32)") if version >= 9 else 0,
        client_tags=reader.client_tags() if version >= 11 else {},
        latest_supported_version=latest,
        version=version,
    )


class _Reader(GeneratedReader):
    """The generated reader with this message's fields; nothing wraps its exceptions."""

    def latest_supported_version(self, version: int) -> int:
        start = self.offset
        latest = self.int32("a latest supported version (int32)")
        if latest < version:
            expected = f"a latest supported version from {version}, which is the bytes' own"
            raise self.reject(start, expected, str(latest), KafkaError("IllegalArgumentException"))
        return latest

    def task_lists(self) -> dict[TaskId, int]:
        """Both lists of up to version 6. A task that is in both counts as a standby, as it does for Kafka."""
        sums: dict[TaskId, int] = {}
        for field_name, offset_sum in (("prevTasks", RUNNING_ACTIVE), ("standbyTasks", UNKNOWN_LAG)):
            for _ in range(self.count(field_name)):
                sums[self._task()] = offset_sum
        return sums

    def nested_offset_sums(self) -> dict[TaskId, int]:
        """Offset sums of versions 7 to 9, by subtopology."""
        sums: dict[TaskId, int] = {}
        for _ in range(self.count("taskOffsetSums")):
            subtopology = self._subtopology()
            for _ in range(self.count("partitionToOffsetSum")):
                partition = self._partition()
                sums[subtopology, partition] = self._offset_sum()
        return sums

    def task_offset_sums(self) -> dict[TaskId, int]:
        """Offset sums of version 10 and later, task by task."""
        sums: dict[TaskId, int] = {}
        for _ in range(self.count("taskOffsetSums")):
            task = self._task()
            sums[task] = self._offset_sum()
            start = self.offset
            name = self.nullable_string("namedTopology")
            if name:
                actual = f"one of {shown(name)} at byte {start}"
                raise rejection(None, expected="a task of no named topology", actual=actual, byte=start)
        return sums

    def client_tags(self) -> dict[str, str]:
        tags: dict[str, str] = {}
        for _ in range(self.count("clientTags")):
            start = self.offset
            key = java_text(self.copied_bytes("key"))
            if key in tags:
                kafka = KafkaError("IllegalStateException")
                raise self.reject(start, "each client tag once", f"{shown(key)} again", kafka)
            tags[key] = java_text(self.copied_bytes("value"))
        return tags

    def _task(self) -> TaskId:
        subtopology = self._subtopology()
        return subtopology, self._partition()

    def _subtopology(self) -> int:
        return self.int32("a task's subtopology (int32)")

    def _partition(self) -> int:
        return self.int32("a task's partition (int32)")

    def _offset_sum(self) -> int:
        return self.int64("a task's offset sum (int64)")

    def _underflow(self) -> KafkaError:
        return KafkaError("BufferUnderflowException")
