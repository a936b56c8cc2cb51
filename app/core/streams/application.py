"""An application as arrays: clients and tasks in Kafka's sorted order, and who holds what while it is being decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.core.jvm.hashes import JAVA_UUID, TaskId
from app.core.model import Int64s
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsTasks
from app.errors import InconsistentTasks, KafkaError, NoClients, UnknownTaskLag


def java_order(process_id: UUID) -> Any:
    """A sort key in the order of `java.util.UUID.compareTo`."""
    return process_id if JAVA_UUID.order is None else JAVA_UUID.order(process_id)


class Application:
    """Clients by process id, tasks by subtopology and partition.

    Parameters
    ----------
    clients : as listed. tasks : a stateful task that is not among all of them is one of them.
    """

    def __init__(self, clients: Sequence[StreamsClient], tasks: StreamsTasks) -> None:
        self.listed = tuple(clients)
        self.tasks = tasks
        places = sorted(range(len(clients)), key=lambda place: java_order(clients[place].process_id))
        self.clients = tuple(clients[place] for place in places)
        self.place_of = np.array(places, np.int64)
        """(clients,) int64: where each was listed."""
        self.task_ids = tuple(sorted({*tasks.ids, *tasks.stateful}))
        self.row_of: Mapping[TaskId, int] = {task: row for row, task in enumerate(self.task_ids)}
        self.stateful = self.rows(tasks.stateful)
        self.stateless = np.setdiff1d(self.rows(tasks.ids), self.stateful, assume_unique=True)
        self.capacities = np.array([client.capacity for client in self.clients], np.int64)

    def rows(self, tasks: Sequence[TaskId]) -> Int64s:
        """(tasks,) int64 rows of some tasks, ascending."""
        return np.sort(np.array([self.row_of[task] for task in dict.fromkeys(tasks)], np.int64))

    @cached_property
    def lags(self) -> Int64s:
        """(clients, tasks) int64; of stateless tasks, meaningless.

        Raises
        ------
        UnknownTaskLag : for a stateful task whose lag on some client nobody knows; Kafka's own code fails then.
        """
        lags: Int64s = np.zeros((len(self.clients), len(self.task_ids)), np.int64)
        for place, client in enumerate(self.clients):
            known = client.lags
            if client.default_lag is not None:
                lags[place] = client.default_lag
            elif missing := [task for task in self.tasks.stateful if task not in known]:
                raise UnknownTaskLag(
                    f"client {client.process_id} says no lag of task {name_of(min(missing))}, and there is no default",
                    kafka=KafkaError("IllegalStateException"),
                    task=name_of(min(missing)),
                )
            for task, lag in known.items():
                row = self.row_of.get(task)
                if row is not None:
                    lags[place, row] = lag
        return lags

    def require_clients(self, exception: str) -> None:
        """Refuse an application of which no client runs, with the exception that Kafka's own code ends in."""
        if not self.clients:
            raise NoClients("there is no client to give tasks to", kafka=KafkaError(exception))

    def answer(self, held: "Holdings", *, probing_rebalance: bool) -> StreamsAssignment:
        """The assignment, with clients as they were listed."""
        listed = np.argsort(self.place_of)
        return StreamsAssignment(
            tuple(client.process_id for client in self.listed),
            self.task_ids,
            held.active[listed],
            held.standby[listed],
            held.warmup[listed],
            probing_rebalance,
        )


@dataclass(slots=True, eq=False)
class Holdings:
    """Who holds what so far: (clients, tasks) bool each, in the application's order. Changed in place."""

    active: Bools
    standby: Bools
    warmup: Bools

    @classmethod
    def none(cls, application: Application) -> "Holdings":
        """Nothing is assigned yet."""
        shape = (len(application.clients), len(application.task_ids))
        return cls(*(np.zeros(shape, np.bool_) for _ in range(3)))

    @property
    def counts(self) -> Int64s:
        """(clients,) int64 tasks of each."""
        counts: NDArray[np.int64] = self.active.sum(axis=1) + self.standby.sum(axis=1)
        return counts


def name_of(task: TaskId) -> str:
    """A task id as Kafka prints it: `<subtopology>_<partition>`."""
    return f"{task[0]}_{task[1]}"


def inconsistent(application: Application, row: int, what: str, exception: str) -> InconsistentTasks:
    """The failure of an assignment that starts from tasks which are held as no assignor holds them."""
    task = name_of(application.task_ids[row])
    return InconsistentTasks(f"task {task} {what}", kafka=KafkaError(exception), task=task)
