"""What the optimum of standbys works on: stateful tasks on their clients, tags as numbers, who has whose state."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.client_tags import tag_vectors
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsOptions
from app.errors import ConflictingFields, ImpossibleValue

LARGEST_COMMON_MULTIPLE = 10**6
"""Of the numbers of threads: loads are compared exactly as whole numbers, which must stay within 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What there is to place.

    Parameters
    ----------
    rows : (stateful,) int64 rows of the assignment, ascending by task. active : (stateful,) int64 clients.
    has_state : (clients, stateful) bool: ran the task before, or had a standby of it.
    vectors : (clients, tags) int64. copies_asked : of each task, the active one included.
    standbys : how many each task gets: as many as asked, or as there are other clients.
    unit : a client's n-th standby adds `(2n − 1)·unit / threads` to the imbalance, a whole number.
    """

    rows: Int64s = field(repr=False)
    active: Int64s = field(repr=False)
    has_state: Bools = field(repr=False)
    vectors: Int64s = field(repr=False)
    capacities: Int64s = field(repr=False)
    copies_asked: int
    standbys: int
    unit: int

    @property
    def weights(self) -> Int64s:
        """(clients,) int64: `unit / threads`."""
        weights: Int64s = self.unit // self.capacities
        return weights


def problem_of(
    assignment: StreamsAssignment,
    clients: Sequence[StreamsClient],
    stateful: Sequence[TaskId],
    options: StreamsOptions,
) -> Problem:
    """Read an assignment's active tasks.

    Raises
    ------
    ConflictingFields : the assignment is of other clients, does not know a stateful task, or has one active on no
        client or on several.
    ImpossibleValue : a client has no thread, or numbers of threads have no common multiple that is small enough.
    """
    if assignment.process_ids != tuple(client.process_id for client in clients):
        raise ConflictingFields("the assignment's clients are not those that are given", path=("assignment",))
    for place, client in enumerate(clients):
        if client.capacity < 1:
            detail = f"client {client.process_id} has {client.capacity} threads, so that no load on it can be compared"
            raise ImpossibleValue(detail, path=("clients", place, "capacity"), value=client.capacity)
    unit = lcm(*(client.capacity for client in clients))
    if unit > LARGEST_COMMON_MULTIPLE:
        raise ImpossibleValue(f"the clients' numbers of threads have {unit} as their least common multiple", value=unit)
    rows = _rows(assignment, stateful)
    has_state = np.zeros((len(clients), len(rows)), np.bool_)
    at_of = {assignment.task_ids[row]: at for at, row in enumerate(rows.tolist())}
    for place, client in enumerate(clients):
        held = (*client.previous_active, *client.previous_standby)
        has_state[place, [at_of[task] for task in held if task in at_of]] = True
    return Problem(
        rows=rows,
        active=assignment.active[:, rows].argmax(axis=0).astype(np.int64) if len(rows) else np.zeros(0, np.int64),
        has_state=has_state,
        vectors=tag_vectors(clients, options.rack_aware_assignment_tags),
        capacities=np.array([client.capacity for client in clients], np.int64),
        copies_asked=max(options.num_standby_replicas, 0) + 1,
        standbys=max(min(options.num_standby_replicas, len(clients) - 1), 0),
        unit=unit,
    )


def _rows(assignment: StreamsAssignment, stateful: Sequence[TaskId]) -> Int64s:
    row_of = {task: row for row, task in enumerate(assignment.task_ids)}
    rows = []
    for task in sorted(set(stateful)):
        row = row_of.get(task)
        times = 0 if row is None else int(assignment.active[:, row].sum())
        if row is None or times != 1:
            raise ConflictingFields(
                f"task {task[0]}_{task[1]} is active on {times} clients", path=("assignment",), times=times
            )
        rows.append(row)
    return np.array(rows, np.int64)
