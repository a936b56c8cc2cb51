"""Clients between rebalances: the tasks that each had, and its lag in every one.

A client that runs a task is `RUNNING_ACTIVE`; a client without state of a task lacks its whole changelog. After some
time, standbys and warm-ups have caught up and unassigned state is deleted: `state.cleanup.delay.ms` and the probing
interval are ten minutes each by default. Without that time, lags are unchanged, and unassigned state still exists.
"""

from collections.abc import Iterable, Mapping, Sequence
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
    StreamThread,
)


@dataclass(frozen=True, slots=True)
class Changelogs:
    """Sizes of the state of each task.

    Parameters
    ----------
    offsets : by stateful task, the offsets that a client without any state has to restore.
    default_offsets : of tasks that `offsets` does not name.
    state_bytes : by task, as far as it is known.
    """

    offsets: Mapping[TaskId, int] = field(default_factory=dict, hash=False)
    default_offsets: int = 1_000_000
    state_bytes: Mapping[TaskId, int] = field(default_factory=dict, hash=False)

    def offsets_of(self, task: TaskId) -> int:
        """Offsets of a task's whole changelog."""
        return self.offsets.get(task, self.default_offsets)

    def bytes_of(self, task: TaskId, offsets: int) -> int:
        """Bytes of this number of offsets of a task's state, rounded down; 0 if unknown."""
        return self.state_bytes.get(task, 0) * offsets // max(self.offsets_of(task), 1)


@dataclass(frozen=True, slots=True, eq=False)
class LifecycleSetting:
    """Tasks, options and changelogs, which no event changes."""

    tasks: StreamsTasks
    options: StreamsOptions
    changelogs: Changelogs
    stateful: frozenset[TaskId]

    @property
    def full_lags(self) -> tuple[dict[TaskId, int], int]:
        """The lags of a client without state, and its default lag."""
        return {
            task: offsets for task, offsets in self.changelogs.offsets.items() if task in self.stateful
        }, self.changelogs.default_offsets

    def lag_of(self, client: StreamsClient, task: TaskId) -> int:
        """The lag that a client states; the whole changelog if it states none."""
        default = self.changelogs.offsets_of(task) if client.default_lag is None else client.default_lag
        return client.lags.get(task, default)

    def missing(self, client: StreamsClient, task: TaskId) -> int:
        """The offsets that a client lacks of a task; all if its lag is unknown."""
        lag = self.lag_of(client, task)
        return self.changelogs.offsets_of(task) if lag == UNKNOWN_LAG else max(lag, 0)

    def is_caught_up(self, lag: int) -> bool:
        """Whether a client runs the task, or its lag is within `acceptable.recovery.lag` (KIP-441)."""
        acceptable = self.options.acceptable_recovery_lag
        return acceptable == UNBOUNDED_LAG or lag == RUNNING_ACTIVE or 0 <= lag <= acceptable


def fresh(client: StreamsClient, setting: LifecycleSetting) -> StreamsClient:
    """The client without any state."""
    lags, default_lag = setting.full_lags
    threads = tuple(StreamThread(thread.member_id) for thread in client.threads)
    return replace(client, previous_active=(), previous_standby=(), lags=lags, default_lag=default_lag, threads=threads)


def restarted(client: StreamsClient, setting: LifecycleSetting, *, keeps_state: bool, behind: int) -> StreamsClient:
    """The client after a restart: state on its disk counts as standbys, since no task runs yet.

    Without its state directory it has another process id, which is derived from the old one. In a streams group its
    threads are new members, the first of which reports the state on its disk.
    """
    threads = tuple(StreamThread(f"{thread.member_id}-restarted") for thread in client.threads)
    if not keeps_state:
        process_id = restarted_id(client.process_id)
        is_uuid = client.process_name in (None, str(client.process_id))
        name = str(process_id) if is_uuid else f"{client.process_name}-restarted"
        return fresh(replace(client, process_id=process_id, process_name=name, threads=threads), setting)
    lags = {}
    for task in setting.tasks.stateful:
        total = setting.changelogs.offsets_of(task)
        missing = setting.missing(client, task)
        lags[task] = missing if missing >= total else min(missing + behind, total)
    previous = {*client.previous_active, *client.previous_standby}
    on_disk = tuple(task for task in setting.tasks.stateful if task in previous)
    if threads:
        threads = (replace(threads[0], task_offsets=_restored(lags, on_disk, setting)), *threads[1:])
    return replace(client, previous_active=(), previous_standby=on_disk, lags=lags, threads=threads)


def restarted_id(process_id: UUID) -> UUID:
    """The process id of a client that lost its state directory: random in Kafka, derived from the old one here."""
    return uuid5(process_id, "restarted")


def _restored(lags: Mapping[TaskId, int], tasks: Iterable[TaskId], setting: LifecycleSetting) -> dict[TaskId, int]:
    """The offsets up to which the state of some tasks is restored; a task of which nothing is has none."""
    restored = {task: setting.changelogs.offsets_of(task) - max(lags[task], 0) for task in tasks if task in lags}
    return {task: offset for task, offset in restored.items() if offset > 0}


def at_first(clients: Sequence[StreamsClient], setting: LifecycleSetting) -> tuple[StreamsClient, ...]:
    """The clients with a lag for every stateful task: as stated, else their default, else the whole changelog."""
    full_lags, default_lag = setting.full_lags
    return tuple(
        replace(client, lags={**full_lags, **client.lags}, default_lag=default_lag)
        if client.default_lag is None
        else client
        for client in clients
    )


def after(
    clients: Sequence[StreamsClient], assignment: StreamsAssignment, setting: LifecycleSetting, *, has_caught_up: bool
) -> tuple[StreamsClient, ...]:
    """The clients with their new tasks.

    Parameters
    ----------
    assignment : its `process_ids` are the clients', in the same order.
    has_caught_up : whether enough time has passed for standbys and warm-ups to catch up.
    """
    full_lags, default_lag = setting.full_lags
    later = []
    for place, client in enumerate(clients):
        client_tasks = assignment.of_client(place)
        copies = sorted({*client_tasks.standby, *client_tasks.warmup})
        if has_caught_up:
            lags = {**full_lags, **dict.fromkeys(copies, 0)}
            runs: Sequence[TaskId] = client_tasks.active
        else:
            lags = {task: setting.missing(client, task) for task in client.lags}
            runs = [task for task in client_tasks.active if setting.is_caught_up(setting.lag_of(client, task))]
        lags |= {task: RUNNING_ACTIVE for task in runs if task in setting.stateful}
        threads = tuple(
            replace(thread, task_offsets=_restored(lags, (*thread.active, *thread.standby), setting))
            for thread in assignment.threads.get(client.process_id, ())
        )
        later.append(
            replace(
                client,
                previous_active=client_tasks.active,
                previous_standby=tuple(copies),
                lags=lags,
                default_lag=default_lag if has_caught_up else client.default_lag,
                threads=threads,
            )
        )
    return tuple(later)
