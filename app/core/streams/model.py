"""Input and output of a task assignor: clients, tasks, racks of their partitions, settings, assignment."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.core.jvm.hashes import JAVA_UUID, TaskId, TopicPartition
from app.core.model import Bools, Int64s
from app.errors.kafka import InconsistentTasks, KafkaError, NoClients, UnknownTaskLag

RUNNING_ACTIVE = -2
"""The lag of a client on which the task is active: `Task.LATEST_OFFSET`."""
UNKNOWN_LAG = -3
"""The lag of a client whose subscription version has no lags: `SubscriptionInfo.UNKNOWN_OFFSET_SUM`."""
UNBOUNDED_LAG = 2**63 - 1
"""Value of `acceptable.recovery.lag` with which every client counts as caught up, even if its lag is unknown."""


class RackAwareStrategy(Enum):
    """`rack.aware.assignment.strategy` of KIP-925."""

    NONE = "none"
    MIN_TRAFFIC = "min_traffic"
    BALANCE_SUBTOPOLOGY = "balance_subtopology"


@dataclass(frozen=True, slots=True, eq=False)
class StreamThread:
    """A stream thread of a client, which is a member of a streams group (KIP-1071), and its tasks.

    Parameters
    ----------
    member_id : the member's id.
    active, standby : its tasks in the target assignment.
    task_offsets : by task with state on the client's disk, the offset up to which it is restored. Read since 4.4.
    """

    member_id: str
    active: Collection[TaskId] = ()
    standby: Collection[TaskId] = ()
    task_offsets: Mapping[TaskId, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class StreamsClient:
    """An instance of the application, as the group's leader knows it.

    Parameters
    ----------
    process_id : the sort key of clients: Java compares both halves of a UUID as signed 64-bit integers.
    capacity : number of stream threads.
    client_tags : `client.tag.<key>` by key (KIP-708).
    rack_id : `client.rack` of its consumers, or None.
    previous_active, previous_standby : its previous tasks.
    lags : by stateful task, in offsets, or `RUNNING_ACTIVE` or `UNKNOWN_LAG`.
    default_lag : of the stateful tasks that `lags` does not name, which Kafka takes from the end offsets; None if
        unknown.
    process_name : the process id as the coordinator has it; None if it is the text of `process_id`.
    threads : the members of a streams group; none under the classic protocol, where threads have no influence.
    """

    process_id: UUID
    capacity: int = 1
    client_tags: Mapping[str, str] = field(default_factory=dict)
    rack_id: str | None = None
    previous_active: Collection[TaskId] = ()
    previous_standby: Collection[TaskId] = ()
    lags: Mapping[TaskId, int] = field(default_factory=dict)
    default_lag: int | None = None
    process_name: str | None = None
    threads: tuple[StreamThread, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class StreamsTasks:
    """The application's distinct tasks: all of them, and the stateful ones.

    The listed order decides only the order of tasks whose hashes share a bin, in the sticky assignor.
    """

    ids: Sequence[TaskId]
    stateful: Sequence[TaskId]


@dataclass(frozen=True, slots=True, eq=False)
class TaskPartitions:
    """The metadata that KIP-925 needs: the partitions that each task reads and restores, and their replicas.

    Parameters
    ----------
    sources, changelogs : partitions by task.
    replicas : by topic, the broker ids of each partition; topics without metadata are missing.
    rack_of : by broker id; a missing broker has no rack.
    """

    sources: Mapping[TaskId, Sequence[TopicPartition]]
    changelogs: Mapping[TaskId, Sequence[TopicPartition]]
    replicas: Mapping[str, Sequence[Sequence[int]]]
    rack_of: Mapping[int, str | None]

    def racks_of(self, partition: TopicPartition) -> set[str | None]:
        """The racks of a partition's replicas, None for those without one; empty if it is not in the metadata."""
        topic, number = partition
        replicas = self.replicas.get(topic, ())
        return {self.rack_of.get(broker) for broker in replicas[number]} if 0 <= number < len(replicas) else set()


@dataclass(frozen=True, slots=True)
class StreamsOptions:
    """The settings that decide an assignment, with Kafka's defaults.

    Parameters
    ----------
    traffic_cost, non_overlap_cost : None for the assignor's default: 10 and 1 for the high-availability one, 1 and
        10 for the sticky one (KIP-925).
    """

    num_standby_replicas: int = 0
    max_warmup_replicas: int = 2
    acceptable_recovery_lag: int = 10_000
    rack_aware_assignment_tags: tuple[str, ...] = ()
    rack_aware_assignment_strategy: RackAwareStrategy = RackAwareStrategy.NONE
    traffic_cost: int | None = None
    non_overlap_cost: int | None = None


@dataclass(frozen=True, slots=True)
class ClientTasks:
    """The tasks of one client, each ascending. `standby` does not contain warm-ups."""

    active: tuple[TaskId, ...]
    standby: tuple[TaskId, ...]
    warmup: tuple[TaskId, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StreamsAssignment:
    """The active, standby and warm-up tasks of every client.

    Parameters
    ----------
    process_ids : in the order in which the clients were given.
    task_ids : ascending.
    active : (clients, tasks) bool.
    standby : (clients, tasks) bool, all other copies, as Kafka sends them to clients.
    warmup : (clients, tasks) bool, the part of `standby` that exists only until it has caught up (KIP-441).
    probing_rebalance : whether the group rebalances again to check whether warm-ups have caught up.
    threads : by process id, the members of a streams group with their new tasks; empty under the classic protocol.
    by_chance : whether Kafka chose between processes of equal load by identity hash codes, so that another run of its
        code may answer otherwise.
    """

    process_ids: tuple[UUID, ...]
    task_ids: tuple[TaskId, ...]
    active: Bools = field(repr=False)
    standby: Bools = field(repr=False)
    warmup: Bools = field(repr=False)
    probing_rebalance: bool = False
    threads: Mapping[UUID, tuple[StreamThread, ...]] = field(default_factory=dict, repr=False)
    by_chance: bool = False

    def of_client(self, client: int) -> ClientTasks:
        """The tasks of the client at a position of `process_ids`."""
        return ClientTasks(
            self.ids(self.active[client]),
            self.ids(self.standby[client] & ~self.warmup[client]),
            self.ids(self.warmup[client]),
        )

    def ids(self, is_named: Bools) -> tuple[TaskId, ...]:
        """The ids of tasks; `is_named` : (tasks,) bool."""
        return tuple(self.task_ids[row] for row in np.flatnonzero(is_named).tolist())


def listed_tasks(task_ids: Sequence[TaskId], lists: Iterable[Iterable[TaskId]]) -> Bools:
    """(lists, tasks) bool: whether each list has the task. Tasks that are not among `task_ids` are left out."""
    row_of = {task: row for row, task in enumerate(task_ids)}
    rows = [[row_of[task] for task in listed if task in row_of] for listed in lists]
    has_task = np.zeros((len(rows), len(task_ids)), np.bool_)
    for place, of_list in enumerate(rows):
        has_task[place, of_list] = True
    return has_task


class AssignTasks(Protocol):
    """An assignor of tasks to clients. Without `partitions` racks are unknown, and KIP-925 is off."""

    def __call__(
        self,
        clients: Sequence[StreamsClient],
        tasks: StreamsTasks,
        options: StreamsOptions,
        partitions: TaskPartitions | None = None,
    ) -> StreamsAssignment: ...


def java_order(process_id: UUID) -> Any:
    """A sort key in the order of `java.util.UUID.compareTo`."""
    return process_id if JAVA_UUID.order is None else JAVA_UUID.order(process_id)


class Application:
    """Clients by process id, tasks by subtopology and partition.

    Parameters
    ----------
    clients : as listed.
    tasks : all tasks and the stateful ones; a stateful task that is not among all tasks is added to them.
    """

    def __init__(self, clients: Sequence[StreamsClient], tasks: StreamsTasks) -> None:
        self.listed = tuple(clients)
        self.tasks = tasks
        places = sorted(range(len(clients)), key=lambda place: java_order(clients[place].process_id))
        self.clients = tuple(clients[place] for place in places)
        self.place_of = np.array(places, np.int64)
        """(clients,) int64: the position at which each was listed."""
        self.task_ids = tuple(sorted({*tasks.ids, *tasks.stateful}))
        self.row_of: Mapping[TaskId, int] = {task: row for row, task in enumerate(self.task_ids)}
        self.stateful = self.rows(tasks.stateful)
        self.stateless = np.setdiff1d(self.rows(tasks.ids), self.stateful, assume_unique=True)
        self.capacities = np.array([client.capacity for client in self.clients], np.int64)

    def rows(self, tasks: Sequence[TaskId]) -> Int64s:
        """(tasks,) int64 rows of the given tasks, ascending."""
        return np.sort(np.array([self.row_of[task] for task in dict.fromkeys(tasks)], np.int64))

    @cached_property
    def lags(self) -> Int64s:
        """(clients, tasks) int64 offset lags; undefined for stateless tasks.

        Raises
        ------
        UnknownTaskLag : if a client states neither the lag of a stateful task nor a default; Kafka's own code fails.
        """
        lags: Int64s = np.zeros((len(self.clients), len(self.task_ids)), np.int64)
        for place, client in enumerate(self.clients):
            stated = client.lags
            if client.default_lag is not None:
                lags[place] = client.default_lag
            elif missing := [task for task in self.tasks.stateful if task not in stated]:
                raise UnknownTaskLag(
                    f"client {client.process_id} says no lag of task {name_of(min(missing))}, and there is no default",
                    kafka=KafkaError("IllegalStateException"),
                    task=name_of(min(missing)),
                )
            for task, lag in stated.items():
                row = self.row_of.get(task)
                if row is not None:
                    lags[place, row] = lag
        return lags

    def require_clients(self, exception: str) -> None:
        """Raise `NoClients` for an application without clients, with the exception of Kafka's own code."""
        if not self.clients:
            raise NoClients("there is no client to give tasks to", kafka=KafkaError(exception))

    def answer(self, partial: "PartialAssignment", *, probing_rebalance: bool) -> StreamsAssignment:
        """The assignment, with clients in the order in which they were listed."""
        listed = np.argsort(self.place_of)
        return StreamsAssignment(
            tuple(client.process_id for client in self.listed),
            self.task_ids,
            partial.active[listed],
            partial.standby[listed],
            partial.warmup[listed],
            probing_rebalance,
        )


@dataclass(slots=True, eq=False)
class PartialAssignment:
    """An assignment in progress, which the assignors change in place.

    Parameters
    ----------
    active, standby, warmup : (clients, tasks) bool, in the application's order.
    """

    active: Bools
    standby: Bools
    warmup: Bools

    @classmethod
    def empty(cls, application: Application) -> "PartialAssignment":
        """An assignment of no task."""
        shape = (len(application.clients), len(application.task_ids))
        return cls(*(np.zeros(shape, np.bool_) for _ in range(3)))

    @property
    def counts(self) -> Int64s:
        """(clients,) int64 number of tasks of each client, active and standby."""
        counts: NDArray[np.int64] = self.active.sum(axis=1) + self.standby.sum(axis=1)
        return counts


def name_of(task: TaskId) -> str:
    """A task id as Kafka prints it: `<subtopology>_<partition>`."""
    return f"{task[0]}_{task[1]}"


def inconsistent(application: Application, row: int, predicate: str, exception: str) -> InconsistentTasks:
    """The failure of an assignment that starts from tasks placed as no assignor places them."""
    task = name_of(application.task_ids[row])
    return InconsistentTasks(f"task {task} {predicate}", kafka=KafkaError(exception), task=task)


NO_TAG = -1
"""The value of a tag that a client does not have."""


def tag_vectors(clients: Sequence[StreamsClient], tags: Sequence[str]) -> Int64s:
    """Client tags as numbers: (clients, tags) int64 value of each tag, or `NO_TAG`; each tag numbers its values from 0.

    A tag that is listed twice has one column.
    """
    keys = tuple(dict.fromkeys(tags))
    vectors = np.full((len(clients), len(keys)), NO_TAG, np.int64)
    for column, key in enumerate(keys):
        numbers: dict[str, int] = {}
        for place, client in enumerate(clients):
            if key in client.client_tags:
                vectors[place, column] = numbers.setdefault(client.client_tags[key], len(numbers))
    return vectors
