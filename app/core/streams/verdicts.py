"""KIP-708's verdicts: are a task's copies apart in every listed tag, could they be, and what does each loss cost?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.model import RUNNING_ACTIVE, UNKNOWN_LAG, Bools, StreamsAssignment, StreamsClient, StreamsOptions


@dataclass(frozen=True, slots=True)
class SharedValue:
    """A value of a tag that several copies of a task have; or None, and how many copies' clients lack the tag."""

    tag: str
    value: str | None
    copies: int


@dataclass(frozen=True, slots=True)
class TaskVerdict:
    """Whether a task's copies, active and standby, are as many as asked and differ in every listed tag.

    `shared` : what they do not differ in, by tag as listed, then by value. Warm-ups are no copies.
    """

    task: TaskId
    missing_standbys: int
    shared: tuple[SharedValue, ...]

    @property
    def is_ideal(self) -> bool:
        """Every copy is there, and no loss of one tag value takes two of them."""
        return not self.missing_standbys and not self.shared


@dataclass(frozen=True, slots=True)
class TagVerdict:
    """Whether a tag has a value for each copy of a task.

    `values` : by UTF-8, how many clients have each. `needed` : copies of a task. `without` : clients that lack the tag.
    """

    tag: str
    values: tuple[tuple[str, int], ...]
    needed: int
    without: int

    @property
    def has_enough(self) -> bool:
        """Whether an ideal distribution over this tag is possible."""
        return len(self.values) >= self.needed


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """What goes when a client or all clients with a value of a tag do.

    Parameters
    ----------
    tag, value : what is lost; or process_id, of a single client. n_clients : how many.
    without_survivor : stateful tasks that have no copy left, and are restored from their changelogs.
    promoted : stateful tasks that ran there and have a copy elsewhere, a standby or a warm-up.
    survivor_lag : (promoted,) int64 of the copy that is least behind; `UNKNOWN_LAG` where nobody knows of any.
    moved : tasks without state that ran there; they start elsewhere with nothing to restore.
    """

    n_clients: int
    without_survivor: tuple[TaskId, ...]
    promoted: tuple[TaskId, ...]
    moved: tuple[TaskId, ...]
    survivor_lag: Int64s = field(repr=False)
    tag: str | None = None
    value: str | None = None
    process_id: UUID | None = None


def task_verdicts(
    assignment: StreamsAssignment,
    clients: Sequence[StreamsClient],
    stateful: Sequence[TaskId],
    options: StreamsOptions,
) -> list[TaskVerdict]:
    """Say of each stateful task whether its distribution is ideal.

    Parameters
    ----------
    assignment : its `process_ids` are those of `clients`, in the same order. stateful : tasks of the assignment.

    Returns
    -------
    By task id. Without listed tags a task is ideal where it has its standbys.
    """
    row_of = {task: row for row, task in enumerate(assignment.task_ids)}
    copies = assignment.active | (assignment.standby & ~assignment.warmup)
    verdicts = []
    for task in sorted(stateful):
        places = np.flatnonzero(copies[:, row_of[task]]).tolist()
        shared = tuple(
            found
            for tag in dict.fromkeys(options.rack_aware_assignment_tags)
            for found in _shared(tag, [clients[place].client_tags.get(tag) for place in places])
        )
        missing = max(options.num_standby_replicas + 1 - len(places), 0)
        verdicts.append(TaskVerdict(task, missing, shared))
    return verdicts


def _shared(tag: str, values: Sequence[str | None]) -> Iterator[SharedValue]:
    for value in sorted({value for value in values if value is not None}):
        if (n := values.count(value)) > 1:
            yield SharedValue(tag, value, n)
    if n := values.count(None):
        yield SharedValue(tag, None, n)


def tag_verdicts(clients: Sequence[StreamsClient], options: StreamsOptions) -> list[TagVerdict]:
    """Say of each listed tag whether it has values enough, in the order in which tags are listed."""
    verdicts = []
    for tag in dict.fromkeys(options.rack_aware_assignment_tags):
        had = [client.client_tags[tag] for client in clients if tag in client.client_tags]
        values = tuple((value, had.count(value)) for value in sorted(set(had)))
        verdicts.append(TagVerdict(tag, values, options.num_standby_replicas + 1, len(clients) - len(had)))
    return verdicts


def losses(
    assignment: StreamsAssignment,
    clients: Sequence[StreamsClient],
    stateful: Sequence[TaskId],
    options: StreamsOptions,
) -> list[Loss]:
    """Say what each loss costs: of each value of each listed tag, then of each client, as listed.

    Parameters
    ----------
    assignment, clients, stateful : as in `task_verdicts`. Lags are those that the clients came with; the client that a
        task is active on and said that it ran it is not behind.
    """
    has_state = np.isin(np.arange(len(assignment.task_ids)), _rows(assignment, stateful))
    lags = _lags(assignment, clients)
    found = []
    for verdict in tag_verdicts(clients, options):
        for value, n_clients in verdict.values:
            gone = np.array([client.client_tags.get(verdict.tag) == value for client in clients], np.bool_)
            found.append(_loss(assignment, gone, has_state, lags, n_clients, verdict.tag, value))
    for place, client in enumerate(clients):
        gone = np.arange(len(clients)) == place
        found.append(_loss(assignment, gone, has_state, lags, 1, process_id=client.process_id))
    return found


def _loss(
    assignment: StreamsAssignment,
    gone: Bools,
    has_state: Bools,
    lags: Int64s,
    n_clients: int,
    tag: str | None = None,
    value: str | None = None,
    *,
    process_id: UUID | None = None,
) -> Loss:
    held = assignment.active | assignment.standby
    ran_there = assignment.active[gone].any(axis=0)
    survives = held[~gone].any(axis=0)
    promoted = np.flatnonzero(ran_there & has_state & survives)
    behind = np.where(held[~gone][:, promoted], lags[~gone][:, promoted], _NOBODY).min(axis=0, initial=_NOBODY)
    return Loss(
        n_clients,
        _named(assignment, held[gone].any(axis=0) & has_state & ~survives),
        tuple(assignment.task_ids[row] for row in promoted.tolist()),
        _named(assignment, ran_there & ~has_state),
        np.where(behind == _NOBODY, UNKNOWN_LAG, behind),
        tag,
        value,
        process_id,
    )


_NOBODY = np.iinfo(np.int64).max
"""A lag above all others, of whom nobody knows how far he is behind."""


def _lags(assignment: StreamsAssignment, clients: Sequence[StreamsClient]) -> Int64s:
    """(clients, tasks) int64 offsets behind; `_NOBODY` where it is not known."""
    row_of = {task: row for row, task in enumerate(assignment.task_ids)}
    lags = np.full(assignment.active.shape, _NOBODY, np.int64)
    for place, client in enumerate(clients):
        if client.default_lag is not None:
            lags[place] = client.default_lag
        for task, lag in client.lags.items():
            if task in row_of:
                lags[place, row_of[task]] = {RUNNING_ACTIVE: 0, UNKNOWN_LAG: _NOBODY}.get(lag, lag)
    return lags


def _rows(assignment: StreamsAssignment, tasks: Sequence[TaskId]) -> Int64s:
    row_of = {task: row for row, task in enumerate(assignment.task_ids)}
    return np.array([row_of[task] for task in tasks], np.int64)


def _named(assignment: StreamsAssignment, rows: Bools) -> tuple[TaskId, ...]:
    return tuple(assignment.task_ids[row] for row in np.flatnonzero(rows).tolist())
