"""One rebalance: who holds what after it, which active tasks moved, what has to be restored for it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from app.core.jvm.hashes import TaskId
from app.core.streams.lifecycle.state import Setting
from app.core.streams.model import AssignTasks, StreamsAssignment, StreamsClient, TaskPartitions


class Cause(Enum):
    """Why a group rebalances."""

    LEFT = "left"
    JOINED = "joined"
    RESTARTED = "restarted"
    PROBING = "probing"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Restored:
    """A copy that a client did not have up to date when it was given it, and by how many offsets."""

    process_id: UUID
    task: TaskId
    offsets: int


@dataclass(frozen=True, slots=True, eq=False)
class Rebalance:
    """A rebalance and what it brings.

    Parameters
    ----------
    active_moved : tasks that ran on one client before it and run on another after it.
    restored : copies, active ones included, that clients are given by it and are behind in.
    restored_bytes : of them, where state sizes are known.
    not_running : stateful tasks that have to be restored before they run: their client is further behind than is
        acceptable. Kafka gives them to nobody better, since there is nobody.
    """

    cause: Cause
    assignment: StreamsAssignment
    active_moved: tuple[TaskId, ...] = field(repr=False)
    restored: tuple[Restored, ...] = field(repr=False)
    restored_bytes: int
    not_running: tuple[TaskId, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """How an application assigns."""

    setting: Setting
    assign: AssignTasks
    partitions: TaskPartitions | None

    def rebalance(
        self,
        cause: Cause,
        clients: Sequence[StreamsClient],
        before: StreamsAssignment | None,
        restarted: Collection[UUID] = (),
    ) -> Rebalance:
        """Assign anew.

        Parameters
        ----------
        before : what was assigned last, perhaps to other clients; None where nothing was.
        restarted : clients that have been away since: they are given what they had once more.
        """
        setting = self.setting
        assignment = self.assign(clients, setting.tasks, setting.options, self.partitions)
        stateful = setting.stateful
        ran = {} if before is None else holders(before)
        had = {} if before is None else copies(before)
        restored, not_running = [], []
        for place, client in enumerate(clients):
            own = assignment.of_client(place)
            for task in (*own.active, *own.standby, *own.warmup):
                if task not in stateful:
                    continue
                missing = setting.missing(client, task)
                is_new = client.process_id in restarted or task not in had.get(client.process_id, ())
                if missing and is_new:
                    restored.append(Restored(client.process_id, task, missing))
            not_running += [
                task
                for task in own.active
                if task in stateful and not setting.is_caught_up(setting.lag_of(client, task))
            ]
        runs = holders(assignment)
        return Rebalance(
            cause,
            assignment,
            active_moved=tuple(task for task in assignment.task_ids if task in ran and ran[task] != runs.get(task)),
            restored=tuple(restored),
            restored_bytes=sum(setting.changelogs.bytes_of(its.task, its.offsets) for its in restored),
            not_running=tuple(sorted(not_running)),
        )


def holders(assignment: StreamsAssignment) -> dict[TaskId, UUID]:
    """Who runs each task."""
    return {
        task: process_id
        for place, process_id in enumerate(assignment.process_ids)
        for task in assignment.of_client(place).active
    }


def copies(assignment: StreamsAssignment) -> dict[UUID, set[TaskId]]:
    """The tasks that each client has any copy of."""
    every = {}
    for place, process_id in enumerate(assignment.process_ids):
        own = assignment.of_client(place)
        every[process_id] = {*own.active, *own.standby, *own.warmup}
    return every
