"""From a request to the input of an assignor, with warnings about what is missing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.core.groups.model import GroupMetadata
from app.core.jvm.hashes import TaskId
from app.core.model import INT32_MAX
from app.core.streams.model import (
    RUNNING_ACTIVE,
    RackAwareStrategy,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
)
from app.errors import FieldPath
from app.errors.requests import ConflictingFields, DuplicateClient, ImpossibleValue
from app.services.cautions import NAMED_MEMBERS, Caution
from app.services.snapshots import first_repeated
from app.services.streams.clients import read_client
from app.services.streams.requests import ClientRequest, StreamsRequest, SubtopologyRequest
from app.services.streams.subtopologies import has_state, partitions_of, subtopologies_of

WHOLE_CHANGELOG = 2**62
"""The lag of a client that has nothing of a task: all of it, whose length a plan does not know."""
_TASK = re.compile(r"([0-9]{1,10})_([0-9]{1,10})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMED_TASKS = 20


@dataclass(frozen=True, slots=True, eq=False)
class StreamsSource:
    """What an application is planned from.

    Parameters
    ----------
    names : of the clients, as they were given, in the order of `clients`; has_uuids : whether these are process ids.
    partitions : None where nothing is known of what tasks read.
    state_bytes : by task, where it is known.
    """

    names: Sequence[str]
    clients: Sequence[StreamsClient]
    tasks: StreamsTasks
    options: StreamsOptions
    partitions: TaskPartitions | None = None
    state_bytes: Mapping[TaskId, int] = field(default_factory=dict)
    cautions: Sequence[Caution] = ()
    has_uuids: bool = True


def source_of(request: StreamsRequest, metadata: GroupMetadata | None) -> StreamsSource:
    """Read a request, with the topics and racks that it names or that its snapshot has.

    Raises
    ------
    MalformedText, CorruptProtocolBytes : the topology or a subscription cannot be read.
    ImpossibleValue : what should be a task id is none, an id of a client is not like the others.
    DuplicateClient : two clients have the same process id.
    ConflictingFields : a task is listed twice or was active on two clients, a topic of a subtopology is not known,
        the tasks are unknown.
    """
    subtopologies = subtopologies_of(request, metadata)
    partitions = None if metadata is None else partitions_of(subtopologies, metadata)
    tasks = _tasks(request, subtopologies, partitions)
    there = {*tasks.ids, *tasks.stateful}
    listed = [read_client(client, ("clients", place)) for place, client in enumerate(request.clients)]
    names = [str(client.process_id) for client in listed]
    ids, cautions = _process_ids(names)
    previous = [_previous(client, place) for place, client in enumerate(listed)]
    _require_once([active for active, _ in previous], listed)
    clients = [
        _client(client, process_id, active, standby, place, tasks)
        for place, (client, process_id, (active, standby)) in enumerate(zip(listed, ids, previous, strict=True))
    ]
    state_bytes = {task_of(name, ("state_bytes", name)): size for name, size in (request.state_bytes or {}).items()}
    cautions += [
        *_of_strangers(names, clients, there),
        *_of_lags(listed, clients, there, tasks),
        *_of_tags(names, clients, request.rack_aware_assignment_tags),
    ]
    return StreamsSource(
        names=names,
        clients=clients,
        tasks=tasks,
        options=_options(request),
        partitions=partitions,
        state_bytes=state_bytes,
        cautions=cautions,
        has_uuids=process_id_of(names[0]) is not None if names else True,
    )


def _options(request: StreamsRequest) -> StreamsOptions:
    return StreamsOptions(
        num_standby_replicas=request.num_standby_replicas,
        max_warmup_replicas=request.max_warmup_replicas,
        acceptable_recovery_lag=request.acceptable_recovery_lag,
        rack_aware_assignment_tags=tuple(request.rack_aware_assignment_tags),
        rack_aware_assignment_strategy=RackAwareStrategy(request.rack_aware_assignment_strategy),
        traffic_cost=request.traffic_cost,
        non_overlap_cost=request.non_overlap_cost,
    )


def task_of(text: str, path: FieldPath) -> TaskId:
    """A task by its name. Raises `ImpossibleValue`."""
    match = _TASK.fullmatch(text)
    numbers = (-1, -1) if match is None else (int(match[1]), int(match[2]))
    if match is None or max(numbers) > INT32_MAX:
        shown = text if len(text) <= 80 else text[:80] + "…"
        detail = f"a task id is <subtopology>_<partition>, such as 0_3, with numbers up to {INT32_MAX}; {shown!r} given"
        raise ImpossibleValue(detail, path=path, value=shown)
    return numbers


def _task_list(names: Sequence[str], *path: str | int) -> list[TaskId]:
    tasks = [task_of(name, (*path, place)) for place, name in enumerate(names)]
    if (twice := first_repeated(tasks)) is not None:
        detail = f"task {names[twice]} is listed twice"
        raise ConflictingFields(detail, path=(*path, twice), value=names[twice])
    return tasks


def _tasks(
    request: StreamsRequest, subtopologies: Sequence[SubtopologyRequest], partitions: TaskPartitions | None
) -> StreamsTasks:
    """Those that are listed; else a task for each partition of what a subtopology reads."""
    if request.tasks is not None:
        ids = _task_list(request.tasks, "tasks")
    elif partitions is not None:
        ids = list(partitions.sources)
    else:
        detail = "the tasks are unknown: give tasks, or subtopologies and their topics"
        raise ConflictingFields(detail, path=("tasks",))
    if request.stateful_tasks is not None:
        return StreamsTasks(ids, _task_list(request.stateful_tasks, "stateful_tasks"))
    stateful = {subtopology.id for subtopology in subtopologies if has_state(subtopology)}
    return StreamsTasks(ids, [task for task in ids if task[0] in stateful])


def process_id_of(name: str) -> UUID | None:
    """The UUID that a name writes, if it is one."""
    return UUID(name) if _UUID.fullmatch(name) else None


def _process_ids(names: Sequence[str]) -> tuple[list[UUID], list[Caution]]:
    """What clients are sorted by: their UUIDs, or the order in which they are listed where they have names."""
    if (twice := first_repeated([name.lower() for name in names])) is not None:
        path = ("clients", twice, "process_id")
        raise DuplicateClient(f"client {names[twice]} is listed twice", path=path, value=names[twice])
    ids = [process_id_of(name) for name in names]
    known = [process_id for process_id in ids if process_id is not None]
    if len(known) == len(ids):
        return known, []
    if known:
        odd = ids.index(None)
        detail = f"process_id {names[odd]!r} is no UUID, and that of others is one; Kafka sorts clients by them"
        raise ImpossibleValue(detail, path=("clients", odd, "process_id"), value=names[odd])
    detail = "Kafka sorts clients by process id, a UUID; these names are taken to be in the order in which they stand"
    return [UUID(int=place + 1) for place in range(len(names))], [Caution("process_ids_are_names", detail)]


def _previous(client: ClientRequest, place: int) -> tuple[list[TaskId], list[TaskId]]:
    active = _task_list(client.previous_active, "clients", place, "previous_active")
    standby = _task_list(client.previous_standby, "clients", place, "previous_standby")
    for at, task in enumerate(standby):
        if task in set(active):
            name = client.previous_standby[at]
            detail = f"client {client.process_id} had task {name} both active and as a standby"
            raise ConflictingFields(detail, path=("clients", place, "previous_standby", at), value=name)
    return active, standby


def _require_once(active: Sequence[Sequence[TaskId]], clients: Sequence[ClientRequest]) -> None:
    first: dict[TaskId, int] = {}
    for place, tasks in enumerate(active):
        for at, task in enumerate(tasks):
            other = first.setdefault(task, place)
            if other != place:
                name = clients[place].previous_active[at]
                detail = f"task {name} was active on {clients[other].process_id} and on {clients[place].process_id}"
                raise ConflictingFields(detail, path=("clients", place, "previous_active", at), value=name)


def _client(
    client: ClientRequest,
    process_id: UUID,
    active: Sequence[TaskId],
    standby: Sequence[TaskId],
    place: int,
    tasks: StreamsTasks,
) -> StreamsClient:
    stateful = set(tasks.stateful)
    # Unreported lags: 0 of what it runs or has as a standby, and the whole changelog of everything else.
    assumed = {
        task: lag for previous, lag in ((standby, 0), (active, RUNNING_ACTIVE)) for task in previous if task in stateful
    }
    reported = {task_of(name, ("clients", place, "lags", name)): lag for name, lag in client.lags.items()}
    return StreamsClient(
        process_id=process_id,
        capacity=client.capacity,
        client_tags=client.client_tags,
        rack_id=client.rack_id or None,
        previous_active=active,
        previous_standby=standby,
        lags=reported if client.default_lag is not None else assumed | reported,
        default_lag=WHOLE_CHANGELOG if client.default_lag is None else client.default_lag,
    )


def _of_strangers(names: Sequence[str], clients: Sequence[StreamsClient], there: set[TaskId]) -> Iterator[Caution]:
    """What clients say of tasks that do not exist; Kafka passes over it."""
    for code, what, named in (
        ("previous_tasks_unknown", "had", [{*client.previous_active, *client.previous_standby} for client in clients]),
        ("lags_of_unknown_tasks", "say lags of", [set(client.lags) for client in clients]),
    ):
        unknown = [tasks - there for tasks in named]
        if any(unknown):
            members = tuple(name for name, client in zip(names, unknown, strict=True) if client)
            tasks = _some(sorted(set().union(*unknown)))
            detail = f"{len(members)} clients {what} tasks that are not there, which Kafka passes over: {tasks}"
            yield Caution(code, detail, members=members[:NAMED_MEMBERS])


def _of_lags(
    listed: Sequence[ClientRequest], clients: Sequence[StreamsClient], there: set[TaskId], tasks: StreamsTasks
) -> Iterator[Caution]:
    stateful = set(tasks.stateful)
    assumed = tuple(
        str(request.process_id)
        for place, (request, client) in enumerate(zip(listed, clients, strict=True))
        if request.default_lag is None
        and {*client.previous_active, *client.previous_standby}
        & stateful
        & there - {task_of(name, ("clients", place, "lags", name)) for name in request.lags}
    )
    if assumed:
        detail = (
            f"{len(assumed)} clients say no lag of tasks that they had: these are taken to be at the end of their "
            "changelogs, and other clients to have nothing of them"
        )
        yield Caution("lags_assumed", detail, members=assumed)


def _of_tags(names: Sequence[str], clients: Sequence[StreamsClient], tags: Sequence[str]) -> Iterator[Caution]:
    for tag in dict.fromkeys(tags):
        without = tuple(name for name, client in zip(names, clients, strict=True) if tag not in client.client_tags)
        if clients and len(without) == len(clients):
            yield Caution("tag_nobody_has", f"no client has the tag {tag}, so that it keeps no copies apart")
        elif without:
            detail = f"{len(without)} of {len(clients)} clients lack the tag {tag}"
            yield Caution("clients_without_tag", detail, members=without)


def _some(tasks: Sequence[TaskId]) -> str:
    names = [f"{subtopology}_{partition}" for subtopology, partition in tasks[:_NAMED_TASKS]]
    return ", ".join(names) + (" …" if len(tasks) > _NAMED_TASKS else "")
