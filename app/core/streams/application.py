"""A Streams application as arrays: clients and tasks in Kafka's order, client tags, and an assignment in progress."""

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
from app.errors.kafka import InconsistentTasks, KafkaError, NoClients, UnknownTaskLag


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
