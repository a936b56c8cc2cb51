"""Input and output of the coordinator's task assignor: subtopologies, members, assignment."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Protocol, TypeAlias

from app.core.jvm import KeyType, string_hash_order
from app.core.jvm.hashes import int32, string_hash_code, utf16_order
from app.errors.kafka import KafkaError, NoMembersForTasks

Task: TypeAlias = tuple[str, int]
"""Subtopology id and partition."""


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A part of the topology.

    Parameters
    ----------
    partitions : the largest number of partitions of its source topics, and so its number of tasks.
    """

    id: str
    partitions: int
    is_stateful: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StreamsMember:
    """A member of a streams group, which is a stream thread, as the coordinator knows it.

    Parameters
    ----------
    process_id : equal for the members of one process.
    active, standby : its tasks in the current target assignment; tasks that no longer exist are ignored.
    task_offsets : by task with state on its disk, the end of the restored records. Read since 4.4.
    """

    id: str
    process_id: str
    active: Collection[Task] = ()
    standby: Collection[Task] = ()
    task_offsets: Mapping[Task, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemberTasks:
    """The tasks of one member, by subtopology text and partition."""

    active: tuple[Task, ...] = ()
    standby: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class StreamsGroupAssignment:
    """The tasks of every member.

    Parameters
    ----------
    members : by id, in the order in which they were given.
    by_chance : whether Kafka chose between processes of equal load by identity hash codes, so that another run of its
        code may answer otherwise.
    """

    members: Mapping[str, MemberTasks]
    by_chance: bool = False

    @classmethod
    def of(
        cls, members: Sequence[StreamsMember], active: Mapping[str, list[Task]], standby: Mapping[str, list[Task]]
    ) -> "StreamsGroupAssignment":
        """Sort each member's tasks."""
        return cls(
            {
                member.id: MemberTasks(tuple(sorted(active[member.id])), tuple(sorted(standby[member.id])))
                for member in members
            }
        )


class AssignGroupTasks(Protocol):
    """An assignor of the coordinator: tasks to members."""

    def __call__(
        self, members: Sequence[StreamsMember], subtopologies: Sequence[Subtopology], *, num_standby_replicas: int = 0
    ) -> StreamsGroupAssignment: ...


def tasks_of(subtopologies: Sequence[Subtopology], *, stateful_only: bool = False) -> list[Task]:
    """The tasks in the order of the subtopologies, the partitions of each ascending."""
    return [
        (subtopology.id, partition)
        for subtopology in subtopologies
        if subtopology.is_stateful or not stateful_only
        for partition in range(subtopology.partitions)
    ]


def task_hash_code(task: Task) -> int:
    """`TaskId.hashCode` of the coordinator, a record's."""
    return int32(31 * string_hash_code(task[0]) + task[1])


def text_order(task: Task) -> tuple[bytes, int]:
    """A sort key by the text of the subtopology, so that "10" is before "9", then by partition."""
    return utf16_order(task[0]), task[1]


def partition_order(task: Task) -> tuple[int, bytes]:
    """A sort key by partition, then by the text of the subtopology."""
    return task[1], utf16_order(task[0])


def by_hash(texts: Sequence[str]) -> list[str]:
    """Distinct texts in the order of a hash map."""
    return [texts[index] for index in string_hash_order(texts).tolist()]


def owners_of_standbys(members: Iterable[StreamsMember]) -> dict[Task, list[str]]:
    """The members that had a standby of each task, in the order of `members`."""
    owners: dict[Task, list[str]] = {}
    for member in members:
        for task in member.standby:
            owners.setdefault(task, []).append(member.id)
    return owners


def no_members(tasks: int, message: str) -> NoMembersForTasks:
    """The failure of Kafka's assignor if there is no member for a task, with its message."""
    detail, kafka = f"{tasks} tasks need a member; 0 given", KafkaError("TaskAssignorException", message)
    return NoMembersForTasks(detail, kafka=kafka, path=("members",), tasks=tasks)


load_of = attrgetter("load")
STREAMS_TASK: KeyType[Task] = KeyType("streams_task", task_hash_code, text_order)


@dataclass(slots=True)
class Quota:
    """The quota, and the remaining members and tasks once full members are no longer counted."""

    tasks: int
    members: int

    @property
    def limit(self) -> int:
        """⌈tasks / members⌉, 0 if no member is left."""
        return -(-self.tasks // self.members) if self.members else 0

    def record(self, tasks_of_member: int) -> None:
        """Note how many tasks a member has now: at the limit it is full."""
        if tasks_of_member == self.limit:
            self.members -= 1
            self.tasks -= tasks_of_member
