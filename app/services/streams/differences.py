"""Changes of a Streams plan: the tasks that pass from one client to another, by the clients' names."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TypeAlias
from uuid import UUID

from app.core.jvm.hashes import TaskId, task_id
from app.core.model import NO_REPLICA
from app.core.streams.model import name_of
from app.services.bodies import ListOf, reader_of_stored
from app.services.plans import Difference, Plan, other_plan
from app.services.plans.answers import DifferencePage
from app.services.streams.requests import READER
from app.services.streams.rows import client_names, tasks_of
from app.services.streams.threads import read_client, whole_client
from app.store.unit import UnitOfWork


@dataclass(frozen=True, slots=True)
class TaskHolders:
    """The client that runs a task, None if none does, and those with a standby of it, by name."""

    active: str | None
    """Process id of the client that runs the task; null if none does."""
    standby: tuple[str, ...]
    """Process ids of the clients with a standby of the task, by name."""


@dataclass(frozen=True, slots=True)
class TaskChange:
    """One task that other clients have; None on the side on which it is not there."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    before: TaskHolders | None
    """Clients of the task before; null if there is no such task."""
    after: TaskHolders | None
    """Clients of the task after; null if there is no such task."""


@dataclass(frozen=True, slots=True)
class TaskMoves:
    """Tasks counted: `active_moved` run elsewhere, `standbys_changed` run where they did with other standbys."""

    tasks: int
    """Number of tasks on either side."""
    unchanged: int
    """Number of tasks with the same clients."""
    active_moved: int
    """Number of tasks that another client runs."""
    standbys_changed: int
    """Number of tasks that the same client runs, with other standbys."""
    added: int
    """Number of tasks that are only in the second assignment."""
    removed: int
    """Number of tasks that are only in the first assignment."""


Held: TypeAlias = Mapping[TaskId, TaskHolders]


class StreamsDiffDocument(DifferencePage):
    """The tasks whose clients differ, by task id."""

    summary: TaskMoves
    items: ListOf[TaskChange]


def difference(uow: UnitOfWork, plan: Plan, against: UUID | None) -> Difference:
    """Changes of the plan against another Streams plan, or against its own clients' previous tasks.

    Raises `ConflictingFields` if `against` is a plan of another kind, and `PlanNotFound` if it is no plan.
    """
    other = other_plan(uow, plan, against)
    return task_difference(_previous(plan) if other is None else _planned(other), _planned(plan))


def task_difference(before: Held, after: Held) -> Difference:
    """Changes by task id."""
    there = sorted({*before, *after})
    changed = [task for task in there if before.get(task) != after.get(task)]
    both = [task for task in changed if task in before and task in after]
    moved = sum(before[task].active != after[task].active for task in both)
    moves = TaskMoves(
        tasks=len(there),
        unchanged=len(there) - len(changed),
        active_moved=moved,
        standbys_changed=len(both) - moved,
        added=sum(task not in before for task in changed),
        removed=sum(task not in after for task in changed),
    )

    def items(start: int, stop: int) -> list[TaskChange]:
        return [TaskChange(name_of(task), before.get(task), after.get(task)) for task in changed[start:stop]]

    return Difference(asdict(moves), len(changed), items)


def _planned(plan: Plan) -> Held:
    names = client_names(plan.head)
    return {
        (subtopology, number): TaskHolders(
            None if places[0] == NO_REPLICA else names[places[0]],
            tuple(sorted(names[place] for place in places[1:] if place != NO_REPLICA)),
        )
        for subtopology, number, places in tasks_of(plan.placements)
    }


def _previous(plan: Plan) -> Held:
    """Previous tasks of the clients in the plan's request."""
    active: dict[TaskId, str] = {}
    standby: dict[TaskId, list[str]] = {}
    request = reader_of_stored(READER)(plan.head.request)
    for place, listed in enumerate(request.clients):
        client = read_client(listed, ("clients", place))
        if request.protocol == "streams":
            client = whole_client(client, ("clients", place))
        active |= {task_id(task): str(client.process_id) for task in client.previous_active}
        for task in client.previous_standby:
            standby.setdefault(task_id(task), []).append(str(client.process_id))
    return {task: TaskHolders(active.get(task), tuple(sorted(standby.get(task, ())))) for task in {*active, *standby}}
