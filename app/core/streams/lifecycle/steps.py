"""Events in order, each with its rebalances until no task warms up.

After each event the group rebalances. If tasks warm up after that, it probes: it rebalances again when the warm-ups
have caught up, until none is left or nothing changes. Before the next event, every copy has caught up.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.streams.lifecycle.events import Cause, Event, changes_of, steps_of
from app.core.streams.lifecycle.state import Changelogs, LifecycleSetting, after, at_first
from app.core.streams.model import (
    AssignTasks,
    ClientTasks,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
    listed_tasks,
)
from app.errors.requests import ConflictingFields


@dataclass(frozen=True, slots=True)
class RestoredCopy:
    """A copy that a client has to restore when it is assigned, and the number of offsets."""

    process_id: UUID
    task: TaskId
    offsets: int


@dataclass(frozen=True, slots=True, eq=False)
class StreamsRebalance:
    """A rebalance and its effects.

    Parameters
    ----------
    active_moved : tasks that ran on one client before it and run on another after it.
    restored : new copies, active ones included, whose clients are behind.
    restored_bytes : of these copies, as far as state sizes are known.
    not_running : stateful tasks that have to be restored before they run: their client is further behind than is
        acceptable, and no other client is closer.
    """

    cause: Cause
    assignment: StreamsAssignment
    active_moved: tuple[TaskId, ...] = field(repr=False)
    restored: tuple[RestoredCopy, ...] = field(repr=False)
    restored_bytes: int
    not_running: tuple[TaskId, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StreamsGroup:
    """The group of an application's clients: its settings, assignor and partitions."""

    setting: LifecycleSetting
    assign: AssignTasks
    partitions: TaskPartitions | None

    def rebalance(
        self,
        cause: Cause,
        clients: Sequence[StreamsClient],
        before: StreamsAssignment | None,
        restarted: Collection[UUID] = (),
    ) -> StreamsRebalance:
        """Assign the tasks to the given clients.

        Parameters
        ----------
        before : the last assignment, perhaps to other clients, or None.
        restarted : clients that have been away since then: copies that they had before count as new.
        """
        setting = self.setting
        assignment = self.assign(clients, setting.tasks, setting.options, self.partitions)
        old_copies = {} if before is None else copies(before)
        restored: list[RestoredCopy] = []
        not_running: list[TaskId] = []
        for place, client in enumerate(clients):
            client_tasks = assignment.of_client(place)
            had = () if client.process_id in restarted else old_copies.get(client.process_id, ())
            restored += self._restored(client, client_tasks, had)
            not_running += [
                task
                for task in client_tasks.active
                if task in setting.stateful and not setting.is_caught_up(setting.lag_of(client, task))
            ]
        return StreamsRebalance(
            cause,
            assignment,
            active_moved=() if before is None else _moved(before, assignment),
            restored=tuple(restored),
            restored_bytes=sum(setting.changelogs.bytes_of(copy.task, copy.offsets) for copy in restored),
            not_running=tuple(sorted(not_running)),
        )

    def _restored(
        self, client: StreamsClient, client_tasks: ClientTasks, had: Collection[TaskId]
    ) -> Iterator[RestoredCopy]:
        """The copies of stateful tasks that a client did not have, and whose state it lacks."""
        for task in (*client_tasks.active, *client_tasks.standby, *client_tasks.warmup):
            if task in self.setting.stateful and task not in had:
                missing = self.setting.missing(client, task)
                if missing:
                    yield RestoredCopy(client.process_id, task, missing)


def active_clients(assignment: StreamsAssignment) -> dict[TaskId, UUID]:
    """The process id of the client that each task is active on."""
    return {
        task: process_id
        for place, process_id in enumerate(assignment.process_ids)
        for task in assignment.of_client(place).active
    }


def _moved(before: StreamsAssignment, assignment: StreamsAssignment) -> tuple[TaskId, ...]:
    """The tasks that are active on another client than before, ascending."""
    client_of = active_clients(assignment)
    return tuple(task for task, client in sorted(active_clients(before).items()) if client_of.get(task) != client)


def copies(assignment: StreamsAssignment) -> dict[UUID, set[TaskId]]:
    """The tasks that each client has any copy of."""
    copies_of = {}
    for place, process_id in enumerate(assignment.process_ids):
        client_tasks = assignment.of_client(place)
        copies_of[process_id] = {*client_tasks.active, *client_tasks.standby, *client_tasks.warmup}
    return copies_of


MOST_PROBES = 100
"""Probing rebalances of a step; by default, they are ten minutes apart."""


@dataclass(frozen=True, slots=True, eq=False)
class SettledApplication:
    """An application between two events: its clients with their tasks and lags, and the last assignment."""

    clients: tuple[StreamsClient, ...]
    assignment: StreamsAssignment


@dataclass(frozen=True, slots=True, eq=False)
class StreamsStep:
    """One event, or the restart of one client in a rolling deploy, and its effects.

    Parameters
    ----------
    index : of the event that the step is, or is part of.
    process_id : the client that is restarted in a rolling deploy, else None.
    before, after : the application before the step and when it has settled.
    rebalances : in order, the probing ones included.
    interrupted : tasks that were active on clients that left.
    without_copy : interrupted stateful tasks of which no remaining client had a copy: they are down until a changelog
        is restored or their client returns.
    active_moved : tasks that are active on another client after the step than before.
    restored_copies, restored_bytes : over all rebalances.
    is_settled : whether no probing rebalance follows; False if `most_probes` did not suffice, or probing changes
        nothing.
    """

    index: int
    event: Event
    process_id: UUID | None
    before: SettledApplication
    after: SettledApplication
    rebalances: tuple[StreamsRebalance, ...] = field(repr=False)
    interrupted: tuple[TaskId, ...] = field(repr=False)
    without_copy: tuple[TaskId, ...]
    active_moved: tuple[TaskId, ...] = field(repr=False)
    restored_copies: int
    restored_bytes: int
    is_settled: bool

    @property
    def probes(self) -> int:
        """Number of probing rebalances."""
        return sum(rebalance.cause is Cause.PROBING for rebalance in self.rebalances)


def apply_events(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    events: Sequence[Event],
    *,
    assign: AssignTasks,
    partitions: TaskPartitions | None = None,
    changelogs: Changelogs | None = None,
    most_probes: int = MOST_PROBES,
) -> tuple[StreamsStep, ...]:
    """Apply events in order, each to the outcome of the previous one.

    Parameters
    ----------
    clients : with their previous tasks and lags. A client without a default lag lacks the whole changelog of the tasks
        that it does not name. The previous tasks are taken as the current assignment: `NoChange` as the first event
        shows the effect of a rebalance on it. The clients of a step's `after` can start another call.
    assign : any assignor.
    partitions : None if KIP-925 is to be off.
    changelogs : sizes of state.
    most_probes : the largest number of probing rebalances in a step.

    Raises
    ------
    ConflictingFields : if an event is impossible: it names a client, tag or rack that does not exist, leaves no client,
        or adds a client that exists. Its path contains the index of the event.
    Errors of the assignor are raised unchanged.
    """
    setting = LifecycleSetting(tasks, options, changelogs or Changelogs(), frozenset(tasks.stateful))
    group = StreamsGroup(setting, assign, partitions)
    current = at_first(clients, setting)
    state = SettledApplication(current, _stated_assignment(current, tasks))
    steps: list[StreamsStep] = []
    for index, event in enumerate(events):
        try:
            restarts = steps_of(event, state.clients, setting)
        except ConflictingFields as failure:
            failure.path = ("events", index, *failure.path)
            raise
        for process_id in restarts:
            step = _step(group, state, event, index, process_id, most_probes)
            steps.append(step)
            state = step.after
    return tuple(steps)


def _step(
    group: StreamsGroup, state: SettledApplication, event: Event, index: int, process_id: UUID | None, most_probes: int
) -> StreamsStep:
    setting = group.setting
    rebalances: list[StreamsRebalance] = []
    clients, last = state.clients, state.assignment
    changes = changes_of(event, process_id, clients, setting)
    remaining = {client.process_id for client in changes[0].clients} - changes[0].restarted
    for change in changes:
        # Copies of the previous rebalance have not been restored yet; a restarted client has its copies as before.
        after_previous = {client.process_id: client for client in clients} if rebalances else {}
        current = tuple(
            client if client.process_id in change.restarted else after_previous.get(client.process_id, client)
            for client in change.clients
        )
        rebalances.append(group.rebalance(change.cause, current, last, change.restarted))
        last = rebalances[-1].assignment
        clients = after(current, last, setting, has_caught_up=False)
    clients, probes, is_settled = _settled(group, clients, last, most_probes)
    rebalances += probes
    ran_on = sorted(active_clients(state.assignment).items())
    interrupted = tuple(task for task, client in ran_on if client not in remaining)
    copies_of = copies(state.assignment)
    lost = setting.stateful.difference(*(copies_of[client] for client in remaining & copies_of.keys()))
    return StreamsStep(
        index=index,
        event=event,
        process_id=process_id,
        before=state,
        after=SettledApplication(clients, rebalances[-1].assignment),
        rebalances=tuple(rebalances),
        interrupted=interrupted,
        without_copy=tuple(filter(lost.__contains__, interrupted)),
        active_moved=_moved(state.assignment, rebalances[-1].assignment),
        restored_copies=sum(len(rebalance.restored) for rebalance in rebalances),
        restored_bytes=sum(rebalance.restored_bytes for rebalance in rebalances),
        is_settled=is_settled,
    )


def _settled(
    group: StreamsGroup, clients: tuple[StreamsClient, ...], last: StreamsAssignment, most_probes: int
) -> tuple[tuple[StreamsClient, ...], list[StreamsRebalance], bool]:
    """Probe until no task warms up; at the end all copies have caught up."""
    probes: list[StreamsRebalance] = []
    clients = after(clients, last, group.setting, has_caught_up=True)
    while last.probing_rebalance and len(probes) < most_probes:
        probe = group.rebalance(Cause.PROBING, clients, last)
        probes.append(probe)
        changes_nothing = _same(probe.assignment, last)
        last = probe.assignment
        clients = after(clients, last, group.setting, has_caught_up=True)
        if changes_nothing:
            break
    return clients, probes, not last.probing_rebalance


def _same(one: StreamsAssignment, other: StreamsAssignment) -> bool:
    return all(
        np.array_equal(*pair)
        for pair in ((one.active, other.active), (one.standby, other.standby), (one.warmup, other.warmup))
    )


def _stated_assignment(clients: tuple[StreamsClient, ...], tasks: StreamsTasks) -> StreamsAssignment:
    """The assignment that the clients' previous tasks describe; of two clients with a task active, the first has it."""
    task_ids = tuple(sorted({*tasks.ids, *tasks.stateful}))
    active = listed_tasks(task_ids, (client.previous_active for client in clients))
    standby = listed_tasks(task_ids, (client.previous_standby for client in clients))
    active &= active.cumsum(axis=0) == 1
    return StreamsAssignment(
        tuple(client.process_id for client in clients), task_ids, active, standby & ~active, np.zeros_like(active)
    )
