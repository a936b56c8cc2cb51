"""Quality of a distribution of standbys in the order of the optimum's goals, and the problem it is measured on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.model import (
    NO_TAG,
    Bools,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    listed_tasks,
    tag_vectors,
)
from app.errors.requests import ConflictingFields, ImpossibleValue

LARGEST_COMMON_MULTIPLE = 10**6
"""Limit for the numbers of threads: loads are compared exactly as integers, which must stay within 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class StandbyProblem:
    """Active tasks, tags and state, as arrays.

    Parameters
    ----------
    rows : (stateful,) int64 rows of the assignment, ascending by task.
    active : (stateful,) int64 client of each active task.
    has_state : (clients, stateful) bool: the client ran the task before, or had a standby of it.
    vectors : (clients, tags) int64, as `tag_vectors` returns them.
    capacities : (clients,) int64 threads.
    copies : requested copies of each task, the active one included.
    standbys : of each task: as many as requested, or as there are other clients.
    unit : a client's n-th standby adds `(2n − 1)·unit / threads` to the imbalance, an integer.
    """

    rows: Int64s = field(repr=False)
    active: Int64s = field(repr=False)
    has_state: Bools = field(repr=False)
    vectors: Int64s = field(repr=False)
    capacities: Int64s = field(repr=False)
    copies: int
    standbys: int
    unit: int

    @property
    def weights(self) -> Int64s:
        """(clients,) int64: `unit / threads`."""
        return self.unit // self.capacities


def standby_problem(
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], stateful: Sequence[TaskId], options: StreamsOptions
) -> StandbyProblem:
    """The problem for the active tasks of an assignment.

    Raises
    ------
    ConflictingFields : the assignment is of other clients, or a stateful task is active on no client or on several.
    ImpossibleValue : a client has no thread, or the least common multiple of the numbers of threads is above
        `LARGEST_COMMON_MULTIPLE`.
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
    previous = ((*client.previous_active, *client.previous_standby) for client in clients)
    return StandbyProblem(
        rows=rows,
        active=assignment.active[:, rows].argmax(axis=0).astype(np.int64) if len(rows) else np.zeros(0, np.int64),
        has_state=listed_tasks([assignment.task_ids[row] for row in rows.tolist()], previous),
        vectors=tag_vectors(clients, options.rack_aware_assignment_tags),
        capacities=np.array([client.capacity for client in clients], np.int64),
        copies=max(options.num_standby_replicas, 0) + 1,
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


@dataclass(frozen=True, slots=True)
class StandbyQuality:
    """The measures of a distribution of standbys, most important first; `rank` is smaller the better.

    Parameters
    ----------
    missing : requested standbys of stateful tasks that do not exist. Warm-ups are no copies.
    ideal : tasks with all copies and distinct values of all listed tags (KIP-708); a copy on a client that lacks a
        listed tag has no value.
    distinct_values : number of values that a task's copies have, over all tasks and listed tags.
    imbalance : the sum over clients of standbys² / threads: for a given number of standbys, the variance of standbys a
        thread, by threads, but for a constant.
    restored : standbys on clients that neither ran the task before nor had a standby of it.
    spread : largest − smallest number of standbys a thread; reported, and not ranked.
    """

    missing: int
    ideal: int
    distinct_values: int
    imbalance: Fraction
    restored: int
    spread: Fraction = field(compare=False)

    @property
    def rank(self) -> tuple[int, int, int, Fraction, int]:
        """A sort key; the better distribution is first."""
        return (self.missing, -self.ideal, -self.distinct_values, self.imbalance, self.restored)


def standby_quality(
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], stateful: Sequence[TaskId], options: StreamsOptions
) -> StandbyQuality:
    """Measure the standbys of an assignment, however it was made, for its active tasks.

    Parameters
    ----------
    assignment : its `process_ids` are the clients', in the same order.

    Raises
    ------
    ConflictingFields, ImpossibleValue : as `standby_problem`.
    """
    problem = standby_problem(assignment, clients, stateful, options)
    return quality_of(problem, (assignment.standby & ~assignment.warmup)[:, problem.rows])


def quality_of(problem: StandbyProblem, standby: Bools) -> StandbyQuality:
    """Measure standbys: (clients, stateful) bool."""
    tasks = np.arange(len(problem.rows))
    copies = standby.copy()
    copies[problem.active, tasks] = True
    present = copies.sum(axis=0)
    distinct = distinct_values(problem.vectors, copies)
    ideal = (present >= problem.copies) & (distinct == present[:, None]).all(axis=1)
    counts: Int64s = standby.sum(axis=1, dtype=np.int64)
    loads = [
        Fraction(count, threads) for count, threads in zip(counts.tolist(), problem.capacities.tolist(), strict=True)
    ]
    return StandbyQuality(
        missing=int(np.maximum(problem.copies - present, 0).sum()),
        ideal=int(ideal.sum()),
        distinct_values=int(distinct.sum()),
        imbalance=sum((load * count for load, count in zip(loads, counts.tolist(), strict=True)), Fraction(0)),
        restored=int((standby & ~problem.has_state).sum()),
        spread=max(loads, default=Fraction(0)) - min(loads, default=Fraction(0)),
    )


def distinct_values(vectors: Int64s, copies: Bools) -> Int64s:
    """(tasks, tags) int64: the number of values of each tag that the copies have; copies : (clients, tasks) bool."""
    distinct = np.zeros((copies.shape[1], vectors.shape[1]), np.int64)
    for tag in range(vectors.shape[1]):
        for value in range(NO_TAG + 1, int(vectors[:, tag].max(initial=NO_TAG)) + 1):
            distinct[:, tag] += copies[vectors[:, tag] == value].any(axis=0)
    return distinct
