"""A stored plan's tasks: a row a task, with the positions of its clients."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Placement
from app.core.streams.model import StreamsAssignment
from app.services.bodies import AnswerRecord
from app.store.records import NewPlan, PlanHead


def placements_of(assignment: StreamsAssignment) -> list[Placement]:
    """The clients of each task, as positions in the list of clients: active, standbys, warm-ups.

    A subtopology is a topic of its tasks, or several where its tasks' numbers have gaps.
    """
    if not assignment.task_ids:
        return []
    rows = _rows(assignment)
    tasks = np.array(assignment.task_ids, np.int64)
    starts = np.flatnonzero((np.diff(tasks[:, 0]) != 0) | (np.diff(tasks[:, 1]) != 1)) + 1
    bounds = [0, *starts.tolist(), len(tasks)]
    return [
        Placement(str(assignment.task_ids[start][0]), assignment.task_ids[start][1], rows[start:stop])
        for start, stop in pairwise(bounds)
    ]


def _rows(assignment: StreamsAssignment) -> Int32s:
    """(tasks, widest) int32 places, padded; a task that runs nowhere begins with `NO_REPLICA`."""
    standby = assignment.standby & ~assignment.warmup
    width = 1 + int((standby | assignment.warmup).sum(axis=0).max(initial=0))
    rows: Int32s = np.full((len(assignment.task_ids), width), NO_REPLICA, np.int32)
    task, client = np.nonzero(assignment.active.T)
    rows[task, 0] = client
    used = np.ones(len(rows), np.int64)
    for has_copy in (standby, assignment.warmup):
        tasks, clients = np.nonzero(has_copy.T)
        first = np.searchsorted(tasks, tasks)
        rows[tasks, used[tasks] + np.arange(len(tasks)) - first] = clients
        used += has_copy.sum(axis=0)
    return rows


def client_names(head: PlanHead | NewPlan) -> list[str]:
    """The clients at those places."""
    loads: Any = head.answer["loads"]
    return [client["process_id"] for client in loads["per_client"]]


class PlannedTaskDocument(AnswerRecord):
    """One task of a Streams plan and its clients; `standby` includes warm-ups."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    active: str | None
    """Process id of the client that runs it; null if no client does."""
    standby: list[str]
    """Process ids of the clients with a standby or warm-up of it."""


def tasks_of(placements: Sequence[Placement]) -> Iterator[tuple[int, int, list[int]]]:
    """(subtopology, partition, places) of every task."""
    for placement in placements:
        for at, places in enumerate(placement.replicas.tolist()):
            yield int(placement.topic), placement.first_partition_id + at, places
