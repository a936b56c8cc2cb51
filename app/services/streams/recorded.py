"""A Streams group of a snapshot as the clients and tasks of a request."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.core.model import Cluster
from app.core.recorded import RecordedGroup, RecordedMember, RecordedTasks
from app.errors.requests import ConflictingFields
from app.services.cautions import Caution
from app.services.groups import recorded_group
from app.services.streams.requests import ClientRequest, StreamsRequest


def with_recorded_clients(request: StreamsRequest, cluster: Cluster | None) -> tuple[StreamsRequest, Sequence[Caution]]:
    """The request with the clients of its `group`, a client for each process, and warnings about missing data.

    If the request has neither tasks nor subtopologies, the tasks are those that the group has, or has in its target
    assignment; the stateful ones are those of subtopologies with a standby or a warm-up, unless the request has them.

    Raises
    ------
    ConflictingFields : the request has clients too, or no snapshot; the snapshot has no such group, or it is not a
        Streams group, or its tasks are in no table.
    """
    if request.group is None:
        return request, ()
    if request.clients:
        raise ConflictingFields("a request lists clients or names a group of its snapshot", path=("clients",))
    if cluster is None:
        raise ConflictingFields("a group is read from a snapshot, and snapshot_id is not there", path=("group",))
    group = recorded_group(cluster, request.group)
    if group.type != "streams" or any(member.tasks is None for member in group.members):
        detail = f"{group.group_id} is not a Streams group whose tasks are recorded (kafka-streams-groups --members)"
        raise ConflictingFields(detail, path=("group",), value=group.group_id)
    filled = replace(request, group=None, clients=_clients(group))
    if request.tasks is not None or request.subtopologies is not None or request.topology is not None:
        return filled, ()
    every = [tasks for member in group.members for tasks in (member.tasks, member.target_tasks) if tasks is not None]
    names = _each_once(name for tasks in every for name in (*tasks.active, *tasks.standby, *tasks.warmup))
    if request.stateful_tasks is not None:
        return replace(filled, tasks=names), ()
    copied = {_subtopology(name) for tasks in every for name in (*tasks.standby, *tasks.warmup)}
    stateful = [name for name in names if _subtopology(name) in copied]
    detail = (
        f"which tasks are stateful is not recorded; those of {len(copied)} subtopologies with a standby or a warm-up "
        "are taken to be; stateful_tasks states others"
    )
    return replace(filled, tasks=names, stateful_tasks=stateful), (Caution("stateful_tasks_not_recorded", detail),)


def _clients(group: RecordedGroup) -> list[ClientRequest]:
    """A client for each process, in order of appearance; its members are its stream threads."""
    by_process: dict[str, list[RecordedMember]] = {}
    for member in group.members:
        by_process.setdefault(member.process_id or member.member_id, []).append(member)
    return [_client(process_id, members) for process_id, members in by_process.items()]


def _client(process_id: str, members: Sequence[RecordedMember]) -> ClientRequest:
    tasks = [member.tasks or RecordedTasks() for member in members]
    active = _each_once(name for one in tasks for name in one.active)
    copies = _each_once(name for one in tasks for name in (*one.standby, *one.warmup))
    running = set(active)
    standby = [name for name in copies if name not in running]
    return ClientRequest(process_id, capacity=len(members), previous_active=active, previous_standby=standby)


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _subtopology(name: str) -> str:
    return name.rpartition("_")[0]
