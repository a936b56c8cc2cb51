"""Input and output of a task assignor: clients, tasks, racks of their partitions, settings, assignment."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.core.jvm.hashes import TaskId, TopicPartition

Bools: TypeAlias = NDArray[np.bool_]

RUNNING_ACTIVE = -2
"""The lag of a client on which the task is active: `Task.LATEST_OFFSET`."""
UNKNOWN_LAG = -3
"""The lag of a client whose subscription version has no lags: `SubscriptionInfo.UNKNOWN_OFFSET_SUM`."""
UNBOUNDED_LAG = 2**63 - 1
"""As `acceptable.recovery.lag`: every client counts as caught up, with an unknown lag too."""


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
            self._ids(self.active[client]),
            self._ids(self.standby[client] & ~self.warmup[client]),
            self._ids(self.warmup[client]),
        )

    def _ids(self, is_assigned: Bools) -> tuple[TaskId, ...]:
        return tuple(self.task_ids[row] for row in np.flatnonzero(is_assigned).tolist())


class AssignTasks(Protocol):
    """An assignor of tasks to clients. Without `partitions` racks are unknown, and KIP-925 is off."""

    def __call__(
        self,
        clients: Sequence[StreamsClient],
        tasks: StreamsTasks,
        options: StreamsOptions,
        partitions: TaskPartitions | None = None,
    ) -> StreamsAssignment: ...
