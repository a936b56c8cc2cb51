"""Events in turn, each with its rebalances until no task warms up.

After each event the group rebalances; where that leaves tasks warming up, it probes: it rebalances again when warm-ups
have caught up, until none is left or nothing changes any more. Then, before the next event, every copy has caught up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.streams.lifecycle.changes import changes_of, steps_of
from app.core.streams.lifecycle.events import Event
from app.core.streams.lifecycle.rebalances import Cause, Group, Rebalance, copies, holders
from app.core.streams.lifecycle.state import Changelogs, Setting, after, at_first
from app.core.streams.model import (
    AssignTasks,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
)
from app.errors import ConflictingFields

MOST_PROBES = 100
"""Probing rebalances of a step; by default, they are ten minutes apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Application:
    """An application as it stands: `clients` with what they run and have, and the assignment that gave it to them."""

    clients: tuple[StreamsClient, ...]
    assignment: StreamsAssignment


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One event, or one client's part in a rolling deploy, and what came of it.

    Parameters
    ----------
    index : which of the given events it is, or is part of. process_id : the client that is restarted, in a rolling one.
    before, after : the application as it was and as it is when it has settled.
    rebalances : in order, the probing ones included.
    interrupted : tasks that ran on clients that went away. without_copy : of those with state, the ones of which no
        client that stayed had a copy: they are down until a changelog is restored or their client is back.
    active_moved : tasks that run on another client after it than before. restored_copies, restored_bytes : over all
        rebalances.
    is_settled : whether no probing rebalance follows any more; False where `most_probes` did not suffice, or probing
        changes nothing.
    """

    index: int
    event: Event
    process_id: UUID | None
    before: Application
    after: Application
    rebalances: tuple[Rebalance, ...] = field(repr=False)
    interrupted: tuple[TaskId, ...] = field(repr=False)
    without_copy: tuple[TaskId, ...]
    active_moved: tuple[TaskId, ...] = field(repr=False)
    restored_copies: int
    restored_bytes: int
    is_settled: bool

    @property
    def probes(self) -> int:
        """How many probing rebalances it took."""
        return sum(its.cause is Cause.PROBING for its in self.rebalances)


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
) -> tuple[Step, ...]:
    """Apply events in order, each on what the one before left.

    Parameters
    ----------
    clients : they say what they have and how far they are behind; where they have no default lag, they lack the whole
        changelog of what they do not name. What they run is taken for their assignment: `NoChange` as the first event
        shows what a rebalance makes of it. The clients of a step's `after` go on where it ended.
    assign : any assignor. partitions : None where KIP-925 is to stay off.
    changelogs : how large state is.

    Raises
    ------
    ConflictingFields : if an event cannot be: it names a client, tag or rack that is not there, leaves no client, or
        joins one that is there. Its path says which event. What the assignor raises goes through.
    """
    setting = Setting(tasks, options, changelogs or Changelogs(), frozenset(tasks.stateful))
    group = Group(setting, assign, partitions)
    own = at_first(clients, setting)
    state = Application(own, _held(own, tasks))
    steps: list[Step] = []
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
    group: Group, state: Application, event: Event, index: int, process_id: UUID | None, most_probes: int
) -> Step:
    setting = group.setting
    rebalances: list[Rebalance] = []
    clients, last = state.clients, state.assignment
    changes = changes_of(event, process_id, clients, setting)
    staying = {client.process_id for client in changes[0].clients} - changes[0].restarted
    for change in changes:
        # What was assigned moments ago has not been restored yet; who was away at that time has it as it was.
        given = {its.process_id: its for its in clients} if rebalances else {}
        now = tuple(
            given.get(its.process_id, its) if its.process_id not in change.restarted else its for its in change.clients
        )
        rebalances.append(group.rebalance(change.cause, now, last, change.restarted))
        last = rebalances[-1].assignment
        clients = after(now, last, setting, has_caught_up=False)
    clients, probes, is_settled = _settled(group, clients, last, most_probes)
    rebalances += probes
    ran, runs = holders(state.assignment), holders(rebalances[-1].assignment)
    interrupted = tuple(task for task, holder in sorted(ran.items()) if holder not in staying)
    kept = {task for holder, held in copies(state.assignment).items() if holder in staying for task in held}
    stateful = setting.stateful
    return Step(
        index=index,
        event=event,
        process_id=process_id,
        before=state,
        after=Application(clients, rebalances[-1].assignment),
        rebalances=tuple(rebalances),
        interrupted=interrupted,
        without_copy=tuple(task for task in interrupted if task in stateful and task not in kept),
        active_moved=tuple(task for task, holder in sorted(ran.items()) if runs.get(task) != holder),
        restored_copies=sum(len(its.restored) for its in rebalances),
        restored_bytes=sum(its.restored_bytes for its in rebalances),
        is_settled=is_settled,
    )


def _settled(
    group: Group, clients: tuple[StreamsClient, ...], last: StreamsAssignment, most_probes: int
) -> tuple[tuple[StreamsClient, ...], list[Rebalance], bool]:
    """Probe until nothing warms up; all copies have caught up in the end."""
    probes: list[Rebalance] = []
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
        np.array_equal(own, its)
        for own, its in ((one.active, other.active), (one.standby, other.standby), (one.warmup, other.warmup))
    )


def _held(clients: tuple[StreamsClient, ...], tasks: StreamsTasks) -> StreamsAssignment:
    """What clients say that they run and have, as an assignment; of two that run a task, the first does."""
    task_ids = tuple(sorted({*tasks.ids, *tasks.stateful}))
    row_of = {task: row for row, task in enumerate(task_ids)}
    active = np.zeros((len(clients), len(task_ids)), np.bool_)
    standby = np.zeros_like(active)
    for place, client in enumerate(clients):
        active[place, [row_of[task] for task in client.previous_active if task in row_of]] = True
        standby[place, [row_of[task] for task in client.previous_standby if task in row_of]] = True
    active &= active.cumsum(axis=0) == 1
    return StreamsAssignment(
        tuple(client.process_id for client in clients),
        task_ids,
        active,
        standby & ~active,
        np.zeros_like(active),
    )
