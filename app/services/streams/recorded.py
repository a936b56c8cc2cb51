"""A Streams group of a snapshot as the clients and tasks of a request."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.core.model import Cluster
from app.core.recorded import RecordedGroup, RecordedMember, RecordedTasks
from app.errors.every import ConflictingFields
from app.services.cautions import Caution, caution
from app.services.groups import recorded_group
from app.services.streams.requests import ClientRequest, StreamsRequest, ThreadRequest
from app.services.streams.threads import previous_tasks, task_of

MOST_MISSING = 100_000
"""Upper limit of tasks added to a recorded group."""


def with_recorded_clients(request: StreamsRequest, cluster: Cluster | None) -> tuple[StreamsRequest, Sequence[Caution]]:
    """The request with the clients of its `group`, a client for each process, and warnings about missing data.

    If the request has neither tasks nor subtopologies, they come from the group's current or target assignment;
    subtopologies with a standby or a warm-up are stateful, unless the request has these tasks.

    Raises
    ------
    ConflictingFields : the request has clients too, or no snapshot; the snapshot has no such group, or it is not a
        Streams group, or its tasks are in no table.
    """
    if request.group is None:
        return request, ()
    group = _streams_group(request.group, cluster, lists_clients=bool(request.clients))
    in_group = request.protocol == "streams"
    filled = replace(request, group=None, clients=_clients(group, with_members=in_group))
    cautions = list(_of_target(group)) if in_group else []
    if request.tasks is not None or request.subtopologies is not None or request.topology is not None:
        return filled, cautions
    every = [tasks for member in group.members for tasks in (member.tasks, member.target_tasks) if tasks is not None]
    names = list(dict.fromkeys(name for tasks in every for name in (*tasks.active, *tasks.standby, *tasks.warmup)))
    names = _whole_subtopologies(names) if in_group else names
    if request.stateful_tasks is not None:
        return replace(filled, tasks=names), cautions
    stateful, caution = _stateful(names, every)
    return replace(filled, tasks=names, stateful_tasks=stateful), [*cautions, caution]


def _streams_group(group_id: str, cluster: Cluster | None, *, lists_clients: bool) -> RecordedGroup:
    if lists_clients:
        raise ConflictingFields("a request lists clients or names a group of its snapshot", path=("clients",))
    if cluster is None:
        raise ConflictingFields(
            "a group is read from a snapshot, which snapshot_id or cluster names, and neither is given", path=("group",)
        )
    group = recorded_group(cluster, group_id)
    if group.type != "streams" or any(member.tasks is None for member in group.members):
        detail = f"{group.group_id} is not a Streams group whose tasks are recorded (kafka-streams-groups --members)"
        raise ConflictingFields(detail, path=("group",), value=group.group_id)
    return group


def _stateful(names: Sequence[str], every: Sequence[RecordedTasks]) -> tuple[list[str], Caution]:
    """The tasks of subtopologies with a standby or a warm-up, and the warning that these are taken to be stateful."""
    copied = {_subtopology(name) for tasks in every for name in (*tasks.standby, *tasks.warmup)}
    stateful = [name for name in names if _subtopology(name) in copied]
    return stateful, caution("stateful_tasks_not_recorded", copied=copied)


def _of_target(group: RecordedGroup) -> Iterator[Caution]:
    if group.members and all(member.target_tasks is None for member in group.members) and group.state != "Stable":
        yield caution("target_tasks_not_recorded")


def _whole_subtopologies(names: Sequence[str]) -> list[str]:
    """The tasks with those that lie between them and 0: a subtopology has them, even if no member runs them now."""
    most: dict[str, int] = {}
    for place, name in enumerate(names):
        subtopology, partition = task_of(name, ("tasks", place))
        most[str(subtopology)] = max(most.get(str(subtopology), 0), partition)
    missing = sum(most.values()) + len(most) - len(names)
    if missing > MOST_MISSING:
        detail = f"{missing} tasks between those of the group are in no table; give tasks or subtopologies"
        raise ConflictingFields(detail, path=("tasks",), value=missing, maximum=MOST_MISSING)
    return [f"{subtopology}_{number}" for subtopology, last in most.items() for number in range(last + 1)]


def _clients(group: RecordedGroup, *, with_members: bool) -> list[ClientRequest]:
    """A client for each process, in order of appearance; its members are its stream threads."""
    by_process: dict[str, list[RecordedMember]] = {}
    for member in group.members:
        by_process.setdefault(member.process_id or member.member_id, []).append(member)
    read = _client_with_members if with_members else _client
    return [read(process_id, members) for process_id, members in by_process.items()]


def _client_with_members(process_id: str, members: Sequence[RecordedMember]) -> ClientRequest:
    """Members with their tasks in the target assignment, or their current ones if the table does not have it."""
    threads = []
    for member in members:
        tasks = member.target_tasks or member.tasks or RecordedTasks()
        threads.append(ThreadRequest(member.member_id, tasks.active, tasks.standby))
    return ClientRequest(process_id, members=threads)


def _client(process_id: str, members: Sequence[RecordedMember]) -> ClientRequest:
    tasks = [member.tasks or RecordedTasks() for member in members]
    active, standby = previous_tasks((one.active for one in tasks), ((*one.standby, *one.warmup) for one in tasks))
    return ClientRequest(process_id, capacity=len(members), previous_active=active, previous_standby=standby)


def _subtopology(name: str) -> str:
    return name.rpartition("_")[0]
