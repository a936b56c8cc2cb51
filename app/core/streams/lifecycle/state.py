"""Clients between rebalances: which tasks each had, and how far it is behind in every one.

A client that runs a task is `RUNNING_ACTIVE`; a standby is not behind once it has had time; whoever has nothing of a
task lacks its whole changelog. With time, a warm-up has caught up and state that is no longer assigned is gone:
`state.cleanup.delay.ms` and the probing interval are ten minutes each by default. Without, everybody is as far behind
as before, and state that is no longer assigned is still there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from app.core.jvm.hashes import TaskId
from app.core.streams.model import (
    RUNNING_ACTIVE,
    UNBOUNDED_LAG,
    UNKNOWN_LAG,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
)


@dataclass(frozen=True, slots=True)
class Changelogs:
    """How large the state of each task is.

    Parameters
    ----------
    offsets : by stateful task, what a client without any of it has to restore; default_offsets : of those not named.
    state_bytes : by task, where it is known.
    """

    offsets: Mapping[TaskId, int] = field(default_factory=dict, hash=False)
    default_offsets: int = 1_000_000
    state_bytes: Mapping[TaskId, int] = field(default_factory=dict, hash=False)

    def offsets_of(self, task: TaskId) -> int:
        """All of a task's changelog."""
        return self.offsets.get(task, self.default_offsets)

    def bytes_of(self, task: TaskId, offsets: int) -> int:
        """What so many offsets of a task's state weigh, rounded down; 0 where nobody knows."""
        return self.state_bytes.get(task, 0) * offsets // max(self.offsets_of(task), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What stays the same through all events."""

    tasks: StreamsTasks
    options: StreamsOptions
    changelogs: Changelogs
    stateful: frozenset[TaskId]

    @property
    def whole(self) -> tuple[dict[TaskId, int], int]:
        """The lags of a client that has nothing, and its default lag."""
        return {
            task: offsets for task, offsets in self.changelogs.offsets.items() if task in self.stateful
        }, self.changelogs.default_offsets

    def lag_of(self, client: StreamsClient, task: TaskId) -> int:
        """How far a client says that it is behind; the whole changelog, where it says nothing."""
        default = self.changelogs.offsets_of(task) if client.default_lag is None else client.default_lag
        return client.lags.get(task, default)

    def missing(self, client: StreamsClient, task: TaskId) -> int:
        """The offsets that a client lacks of a task; all, where it does not know."""
        lag = self.lag_of(client, task)
        return self.changelogs.offsets_of(task) if lag == UNKNOWN_LAG else max(lag, 0)

    def is_caught_up(self, lag: int) -> bool:
        """KIP-441: a client runs a task, or is no further behind than is acceptable."""
        acceptable = self.options.acceptable_recovery_lag
        return acceptable == UNBOUNDED_LAG or lag == RUNNING_ACTIVE or 0 <= lag <= acceptable


def fresh(client: StreamsClient, setting: Setting) -> StreamsClient:
    """A client that has no state."""
    lags, default_lag = setting.whole
    return replace(client, previous_active=(), previous_standby=(), lags=lags, default_lag=default_lag)


def restarted(client: StreamsClient, setting: Setting, *, keeps_state: bool, behind: int) -> StreamsClient:
    """A client after a restart: what it finds on its disk it has as standbys, since it runs nothing yet.

    Without its state directory it has another process id, made from the one before.
    """
    if not keeps_state:
        return fresh(replace(client, process_id=restarted_id(client.process_id)), setting)
    lags = {}
    for task in setting.tasks.stateful:
        whole = setting.changelogs.offsets_of(task)
        own = setting.missing(client, task)
        lags[task] = own if own >= whole else min(own + behind, whole)
    had = {*client.previous_active, *client.previous_standby}
    on_disk = tuple(task for task in setting.tasks.stateful if task in had)
    return replace(client, previous_active=(), previous_standby=on_disk, lags=lags)


def restarted_id(process_id: UUID) -> UUID:
    """The process id of a client that lost its state directory: Kafka draws one; here it is the same every time."""
    return uuid5(process_id, "restarted")


def at_first(clients: Sequence[StreamsClient], setting: Setting) -> tuple[StreamsClient, ...]:
    """The clients with a lag for every stateful task: as they say it, else as their default, else all of it."""
    whole, default_lag = setting.whole
    return tuple(
        replace(client, lags={**whole, **client.lags}, default_lag=default_lag)
        if client.default_lag is None
        else client
        for client in clients
    )


def after(
    clients: Sequence[StreamsClient], assignment: StreamsAssignment, setting: Setting, *, has_caught_up: bool
) -> tuple[StreamsClient, ...]:
    """The clients with what they were assigned, after some time or at once.

    Parameters
    ----------
    assignment : its `process_ids` are those of `clients`, in the same order.
    """
    whole, default_lag = setting.whole
    later = []
    for place, client in enumerate(clients):
        own = assignment.of_client(place)
        copies = sorted({*own.standby, *own.warmup})
        if has_caught_up:
            lags = {**whole, **dict.fromkeys(copies, 0)}
            runs: Sequence[TaskId] = own.active
        else:
            lags = {task: setting.missing(client, task) for task in client.lags}
            runs = [task for task in own.active if setting.is_caught_up(setting.lag_of(client, task))]
        lags |= {task: RUNNING_ACTIVE for task in runs if task in setting.stateful}
        later.append(
            replace(
                client,
                previous_active=own.active,
                previous_standby=tuple(copies),
                lags=lags,
                default_lag=default_lag if has_caught_up else client.default_lag,
            )
        )
    return tuple(later)
