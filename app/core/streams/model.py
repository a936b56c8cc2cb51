"""What a task assignor works on: clients, tasks, their partitions' racks, settings; and what it answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.core.jvm.hashes import TaskId, TopicPartition

Bools: TypeAlias = NDArray[np.bool_]
Float64s: TypeAlias = NDArray[np.float64]

RUNNING_ACTIVE = -2
"""The lag of a client that runs the task as its active one: `Task.LATEST_OFFSET`."""
UNKNOWN_LAG = -3
"""The lag of a client whose subscription is too old to say: `SubscriptionInfo.UNKNOWN_OFFSET_SUM`."""
UNBOUNDED_LAG = 2**63 - 1
"""As `acceptable.recovery.lag` it takes every client for caught up, those of unknown lag too."""


class RackAwareStrategy(Enum):
    """`rack.aware.assignment.strategy` of KIP-925."""

    NONE = "none"
    MIN_TRAFFIC = "min_traffic"
    BALANCE_SUBTOPOLOGY = "balance_subtopology"


@dataclass(frozen=True, slots=True, eq=False)
class StreamsClient:
    """An instance of the application, as the group's leader sees it.

    Parameters
    ----------
    process_id : what clients are sorted by: Java compares both halves of a UUID as signed 64-bit integers.
    capacity : stream threads.
    client_tags : `client.tag.<key>` by key (KIP-708).
    rack_id : `client.rack` of its consumers, None where they have none.
    previous_active, previous_standby : what it ran before.
    lags : offsets that it is behind, by stateful task, or `RUNNING_ACTIVE` or `UNKNOWN_LAG`; default_lag : of the
        stateful tasks that `lags` does not name, which Kafka takes from the end offsets; None where nobody knows.
    """

    process_id: UUID
    capacity: int = 1
    client_tags: Mapping[str, str] = field(default_factory=dict)
    rack_id: str | None = None
    previous_active: Collection[TaskId] = ()
    previous_standby: Collection[TaskId] = ()
    lags: Mapping[TaskId, int] = field(default_factory=dict)
    default_lag: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StreamsTasks:
    """The application's tasks, without one twice: all of them, and those with state.

    Listed order decides where the sticky assignor goes through tasks whose hashes share a bin, and nothing else.
    """

    ids: Sequence[TaskId]
    stateful: Sequence[TaskId]


@dataclass(frozen=True, slots=True, eq=False)
class TaskPartitions:
    """What KIP-925 asks of the cluster: which partitions each task reads and restores, and who holds them.

    Parameters
    ----------
    sources, changelogs : partitions by task.
    replicas : by topic, the broker ids of each partition; a topic without metadata is not among them.
    rack_of : by broker; one that it does not name has no rack.
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
    traffic_cost, non_overlap_cost : None is the assignor's own default: 10 and 1 for the high-availability one, 1 and
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
    """One client's tasks, each ascending. `standby` leaves out warm-ups."""

    active: tuple[TaskId, ...]
    standby: tuple[TaskId, ...]
    warmup: tuple[TaskId, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StreamsAssignment:
    """Where every task runs and where its state is kept warm.

    Parameters
    ----------
    process_ids : in the order in which the clients were given. task_ids : ascending.
    active, standby : (clients, tasks) bool. standby : all copies beside the active one, as Kafka sends them to clients.
    warmup : (clients, tasks) bool, the part of `standby` that is there only until it has caught up (KIP-441).
    probing_rebalance : whether the group rebalances again to see whether warm-ups have caught up.
    """

    process_ids: tuple[UUID, ...]
    task_ids: tuple[TaskId, ...]
    active: Bools = field(repr=False)
    standby: Bools = field(repr=False)
    warmup: Bools = field(repr=False)
    probing_rebalance: bool = False

    def of_client(self, client: int) -> ClientTasks:
        """What the client at a place of `process_ids` gets."""
        return ClientTasks(
            self._named(self.active[client]),
            self._named(self.standby[client] & ~self.warmup[client]),
            self._named(self.warmup[client]),
        )

    def _named(self, held: Bools) -> tuple[TaskId, ...]:
        return tuple(self.task_ids[row] for row in np.flatnonzero(held).tolist())


class AssignTasks(Protocol):
    """An assignor of tasks to clients. Without `partitions` it knows of no racks, and KIP-925 stays off."""

    def __call__(
        self,
        clients: Sequence[StreamsClient],
        tasks: StreamsTasks,
        options: StreamsOptions,
        partitions: TaskPartitions | None = None,
    ) -> StreamsAssignment: ...
