"""The coordinator's task assignor over the clients of an application: a client is a process, its threads are members.

The assignment has the form of the classic assignors', so that the same measures, optimum and events serve both
protocols. Client tags, racks, lags and the settings of warm-ups have no influence on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.streams.coordinator.model import AssignGroupTasks, MemberTasks, StreamsMember, Subtopology, Task
from app.core.streams.model import (
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    StreamThread,
    TaskPartitions,
    listed_tasks,
)


def assign(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    _partitions: TaskPartitions | None = None,
    *,
    assign_tasks: AssignGroupTasks,
) -> StreamsAssignment:
    """Assign tasks to the threads of clients as the coordinator of a streams group does.

    Parameters
    ----------
    clients : with their threads, whose ids are distinct in the group.
    tasks : numbered from 0 on in each subtopology, of which all or none are stateful.
    assign_tasks : the assignor of a release.

    Raises
    ------
    NoMembersForTasks, TooManyTasks : as `assign_tasks` does.
    """
    members = [
        StreamsMember(
            thread.member_id,
            str(client.process_id) if client.process_name is None else client.process_name,
            [_named(task) for task in thread.active],
            [_named(task) for task in thread.standby],
            {_named(task): offset for task, offset in thread.task_offsets.items()},
        )
        for client in clients
        for thread in client.threads
    ]
    subtopologies = subtopologies_of(tasks)
    answer = assign_tasks(members, subtopologies, num_standby_replicas=options.num_standby_replicas)
    threads = {client.process_id: tuple(_threads(client, answer.members)) for client in clients}
    task_ids = tuple(sorted({*tasks.ids, *tasks.stateful}))
    active, standby = (
        listed_tasks(task_ids, (chain.from_iterable(map(kind, of_client)) for of_client in threads.values()))
        for kind in (attrgetter("active"), attrgetter("standby"))
    )
    return StreamsAssignment(
        *(tuple(threads), task_ids, active, standby, np.zeros_like(active)),
        threads=threads,
        by_chance=answer.by_chance,
    )


def subtopologies_of(tasks: StreamsTasks) -> list[Subtopology]:
    """The subtopologies of tasks in the coordinator's order: by their ids' texts."""
    stateful = {subtopology for subtopology, _ in tasks.stateful}
    counts: dict[int, int] = {}
    for subtopology, partition in {*tasks.ids, *tasks.stateful}:
        counts[subtopology] = max(counts.get(subtopology, 0), partition + 1)
    return [
        Subtopology(str(subtopology), counts[subtopology], subtopology in stateful)
        for subtopology in sorted(counts, key=str)
    ]


def irregular_task(tasks: StreamsTasks) -> tuple[TaskId, str] | None:
    """The first task that leaves its subtopology irregular, and why: it `is missing` below others of the subtopology,
    or `is stateless` where others are stateful; None if all are regular."""
    stateful = set(tasks.stateful)
    with_state = {subtopology for subtopology, _ in stateful}
    previous = (-1, -1)
    for task in sorted({*tasks.ids, *tasks.stateful}):
        expected = (task[0], previous[1] + 1 if task[0] == previous[0] else 0)
        if task != expected:
            return expected, "is missing"
        if task[0] in with_state and task not in stateful:
            return task, "is stateless"
        previous = task
    return None


def _threads(client: StreamsClient, tasks_of: Mapping[str, MemberTasks]) -> Iterable[StreamThread]:
    for thread in client.threads:
        tasks = tasks_of[thread.member_id]
        yield StreamThread(thread.member_id, _numbered(tasks.active), _numbered(tasks.standby))


def _named(task: TaskId) -> Task:
    return str(task[0]), task[1]


def _numbered(tasks: Iterable[Task]) -> tuple[TaskId, ...]:
    return tuple(sorted((int(subtopology), partition) for subtopology, partition in tasks))
