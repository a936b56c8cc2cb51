"""KIP-708: whether a task's copies are apart in every listed tag, whether they can be, and the effects of each loss."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.model import (
    RUNNING_ACTIVE,
    UNKNOWN_LAG,
    Bools,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    listed_tasks,
)


@dataclass(frozen=True, slots=True)
class SharedValue:
    """A value of a tag that several copies of a task share; or None, for copies on clients that lack the tag."""

    tag: str
    value: str | None
    copies: int


@dataclass(frozen=True, slots=True)
class TaskVerdict:
    """Whether a task's copies, active and standby, are as many as requested and differ in every listed tag.

    Parameters
    ----------
    missing_standbys : requested − existing copies. Warm-ups are no copies.
    shared : values in which copies do not differ, by tag as listed, then by value.
    """

    task: TaskId
    missing_standbys: int
    shared: tuple[SharedValue, ...]

    @property
    def is_ideal(self) -> bool:
        """Whether all copies exist, and no loss of one tag value takes two of them."""
        return not self.missing_standbys and not self.shared


@dataclass(frozen=True, slots=True)
class TagVerdict:
    """Whether a tag has a value for each copy of a task.

    Parameters
    ----------
    values : with the number of clients of each, sorted by code point.
    needed : copies of a task.
    without : number of clients that lack the tag.
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
    """Effects of the loss of one client, or of all clients with a value of a tag.

    Parameters
    ----------
    n_clients : number of lost clients.
    without_survivor : stateful tasks that have no remaining copy, and are restored from their changelogs.
    promoted : stateful tasks that ran on a lost client and have another copy, a standby or a warm-up.
    moved : stateless tasks that ran on a lost client; they start on another one without a restore.
    survivor_lag : (promoted,) int64 offsets of the remaining copy with the smallest lag; `UNKNOWN_LAG` if all are
        unknown.
    tag, value : that is lost, or None.
    process_id : of the single client that is lost, or None.
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
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], stateful: Sequence[TaskId], options: StreamsOptions
) -> list[TaskVerdict]:
    """Whether the distribution of each stateful task is ideal.

    Parameters
    ----------
    assignment : its `process_ids` are the clients', in the same order. stateful : tasks of the assignment.

    Returns
    -------
    By task id. Without listed tags a task is ideal if it has its standbys.
    """
    row_of = {task: row for row, task in enumerate(assignment.task_ids)}
    copies = assignment.active | (assignment.standby & ~assignment.warmup)
    verdicts = []
    for task in sorted(stateful):
        places = np.flatnonzero(copies[:, row_of[task]]).tolist()
        shared = tuple(
            shared_value
            for tag in dict.fromkeys(options.rack_aware_assignment_tags)
            for shared_value in _shared(tag, [clients[place].client_tags.get(tag) for place in places])
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
    """Whether each listed tag has enough values, in the order in which tags are listed."""
    verdicts = []
    for tag in dict.fromkeys(options.rack_aware_assignment_tags):
        values_of_clients = [client.client_tags[tag] for client in clients if tag in client.client_tags]
        values = tuple((value, values_of_clients.count(value)) for value in sorted(set(values_of_clients)))
        verdicts.append(
            TagVerdict(tag, values, options.num_standby_replicas + 1, len(clients) - len(values_of_clients))
        )
    return verdicts


def losses(
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], stateful: Sequence[TaskId], options: StreamsOptions
) -> list[Loss]:
    """The effects of each loss: of each value of each listed tag, then of each client, as listed.

    Parameters
    ----------
    assignment, clients, stateful : as in `task_verdicts`. Lags are those that the clients state; a client that is
        `RUNNING_ACTIVE` has a lag of 0.
    """
    [has_state] = listed_tasks(assignment.task_ids, [stateful])
    lags = _lags(assignment, clients)
    result = []
    values = ((verdict.tag, value) for verdict in tag_verdicts(clients, options) for value, _ in verdict.values)
    for tag, value in values:
        is_lost = np.array([client.client_tags.get(tag) == value for client in clients], np.bool_)
        result.append(replace(_loss(assignment, is_lost, has_state, lags), tag=tag, value=value))
    for is_lost, client in zip(np.eye(len(clients), dtype=np.bool_), clients, strict=True):
        result.append(replace(_loss(assignment, is_lost, has_state, lags), process_id=client.process_id))
    return result


def _loss(assignment: StreamsAssignment, is_lost: Bools, has_state: Bools, lags: Int64s) -> Loss:
    has_copy = assignment.active | assignment.standby
    was_active = assignment.active[is_lost].any(axis=0)
    survives = has_copy[~is_lost].any(axis=0)
    promoted = was_active & has_state & survives
    smallest_lag = np.where(has_copy[~is_lost][:, promoted], lags[~is_lost][:, promoted], _UNKNOWN).min(
        axis=0, initial=_UNKNOWN
    )
    return Loss(
        int(is_lost.sum()),
        assignment.ids(has_copy[is_lost].any(axis=0) & has_state & ~survives),
        assignment.ids(promoted),
        assignment.ids(was_active & ~has_state),
        np.where(smallest_lag == _UNKNOWN, UNKNOWN_LAG, smallest_lag),
    )


_UNKNOWN = np.iinfo(np.int64).max
"""An unknown lag, which is above all others."""


def _lags(assignment: StreamsAssignment, clients: Sequence[StreamsClient]) -> Int64s:
    """(clients, tasks) int64 offset lags, or `_UNKNOWN`."""
    row_of = {task: row for row, task in enumerate(assignment.task_ids)}
    lags = np.full(assignment.active.shape, _UNKNOWN, np.int64)
    for place, client in enumerate(clients):
        if client.default_lag is not None:
            lags[place] = client.default_lag
        for task, lag in client.lags.items():
            if task in row_of:
                lags[place, row_of[task]] = {RUNNING_ACTIVE: 0, UNKNOWN_LAG: _UNKNOWN}.get(lag, lag)
    return lags
