"""From a request to the input of an assignor, with warnings about missing data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.core.groups.model import GroupMetadata
from app.core.jvm.hashes import TaskId
from app.core.streams.model import (
    RUNNING_ACTIVE,
    RackAwareStrategy,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
    name_of,
)
from app.errors.every import ConflictingFields, DuplicateClient, ImpossibleValue
from app.formats.syntax.quantities import first_of
from app.services.cautions import NAMED_MEMBERS, Caution, caution
from app.services.snapshots import first_repeated
from app.services.streams import threads
from app.services.streams.requests import ClientRequest, StreamsRequest, SubtopologyRequest
from app.services.streams.subtopologies import has_state, partitions_of, subtopologies_of

WHOLE_CHANGELOG = 2**62
"""The lag of a client that has nothing of a task: all of it, whose length a plan does not know."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMED_TASKS = 20


@dataclass(frozen=True, slots=True, eq=False)
class StreamsSource:
    """The input of an application's plan.

    Parameters
    ----------
    names : of the clients, as they were given, in the order of `clients`; has_uuids : whether these are process ids.
    partitions : None if the partitions that tasks read are unknown.
    state_bytes, changelog_offsets : by task, where they are known.
    """

    names: Sequence[str]
    clients: Sequence[StreamsClient]
    tasks: StreamsTasks
    options: StreamsOptions
    partitions: TaskPartitions | None = None
    state_bytes: Mapping[TaskId, int] = field(default_factory=dict)
    changelog_offsets: Mapping[TaskId, int] = field(default_factory=dict)
    cautions: Sequence[Caution] = ()
    has_uuids: bool = True


def source_of(request: StreamsRequest, metadata: GroupMetadata | None) -> StreamsSource:
    """Read a request, with the topics and racks that it names or that its snapshot has.

    Raises
    ------
    MalformedText, CorruptProtocolBytes : the topology or a subscription cannot be read.
    ImpossibleValue : a task id is malformed, an id of a client is not like the others.
    DuplicateClient : two clients have the same process id.
    ConflictingFields : a task is listed twice or was active on two clients, a topic of a subtopology is not known,
        the tasks are unknown.
    """
    threads.require_protocol(request)
    in_group = request.protocol == "streams"
    subtopologies = subtopologies_of(request, metadata)
    partitions = None if metadata is None else partitions_of(subtopologies, metadata)
    tasks = _tasks(request, subtopologies, partitions)
    there = {*tasks.ids, *tasks.stateful}
    listed = [threads.read_client(client, ("clients", place)) for place, client in enumerate(request.clients)]
    as_listed = listed
    if in_group:
        listed = [threads.whole_client(client, ("clients", place)) for place, client in enumerate(listed)]
        threads.require_group(listed, tasks)
    names = [str(client.process_id) for client in listed]
    ids, cautions = _process_ids(names, in_group=in_group)
    previous = [_previous(client, place) for place, client in enumerate(listed)]
    _require_once([active for active, _ in previous], listed)
    state_bytes = threads.by_task(request.state_bytes, "state_bytes")
    changelog_offsets = threads.by_task(request.changelog_offsets, "changelog_offsets")
    lag_of_new = _lags_without_state(tasks, changelog_offsets, state_bytes)
    clients = [
        _client(client, process_id, active, standby, place, tasks, lag_of_new)
        for place, (client, process_id, (active, standby)) in enumerate(zip(listed, ids, previous, strict=True))
    ]
    cautions += [
        *(threads.group_cautions(as_listed, tasks, request) if in_group else ()),
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
        changelog_offsets=changelog_offsets,
        has_uuids=all(process_id_of(name) == process_id for name, process_id in zip(names, ids, strict=True)),
    )


def _lags_without_state(
    tasks: StreamsTasks, changelog_offsets: Mapping[TaskId, int], state_bytes: Mapping[TaskId, int]
) -> dict[TaskId, int]:
    """By stateful task, the lag of a client without any of its state, if the request has its size."""
    empty = {task: 0 for task in tasks.stateful if state_bytes.get(task) == 0}
    return empty | {task: changelog_offsets[task] for task in tasks.stateful if task in changelog_offsets}


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


def _tasks(
    request: StreamsRequest, subtopologies: Sequence[SubtopologyRequest], partitions: TaskPartitions | None
) -> StreamsTasks:
    """The listed tasks; else a task for each partition that a subtopology reads."""
    if request.tasks is not None:
        ids = threads.read_tasks(request.tasks, "tasks")
    elif partitions is not None:
        ids = list(partitions.sources)
    else:
        raise ConflictingFields("the tasks are unknown: give tasks, or subtopologies and their topics", path=("tasks",))
    if request.stateful_tasks is not None:
        return StreamsTasks(ids, threads.read_tasks(request.stateful_tasks, "stateful_tasks"))
    stateful = {subtopology.id for subtopology in subtopologies if has_state(subtopology)}
    return StreamsTasks(ids, [task for task in ids if task[0] in stateful])


def process_id_of(name: str) -> UUID | None:
    """The UUID that a name writes, if it is one."""
    return UUID(name) if _UUID.fullmatch(name) else None


def _process_ids(names: Sequence[str], *, in_group: bool) -> tuple[list[UUID], list[Caution]]:
    """Sort keys of clients: their UUIDs, or their positions in the list if they have names."""
    if (twice := first_repeated(names if in_group else [name.lower() for name in names])) is not None:
        path = ("clients", twice, "process_id")
        raise DuplicateClient(f"client {names[twice]} is listed twice", path=path, value=names[twice])
    ids = [process_id_of(name) for name in names]
    known = [process_id for process_id in ids if process_id is not None]
    if len(set(known)) == len(ids):
        return known, []
    if known and not in_group:
        odd = ids.index(None)
        detail = f"process_id {names[odd]!r} is no UUID, and that of others is one; Kafka sorts clients by them"
        raise ImpossibleValue(detail, path=("clients", odd, "process_id"), value=names[odd])
    named = caution("process_ids_are_names" if in_group else "process_ids_are_names.sorted")
    return [UUID(int=place + 1) for place in range(len(names))], [named]


def _previous(client: ClientRequest, place: int) -> tuple[list[TaskId], list[TaskId]]:
    active = threads.read_tasks(client.previous_active, "clients", place, "previous_active")
    standby = threads.read_tasks(client.previous_standby, "clients", place, "previous_standby")
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
    lag_of_new: Mapping[TaskId, int],
) -> StreamsClient:
    stateful = set(tasks.stateful)
    # Unreported lags: 0 of tasks it runs or has as standbys, and the whole changelog of all others.
    assumed = dict(lag_of_new) | {
        task: lag for previous, lag in ((standby, 0), (active, RUNNING_ACTIVE)) for task in previous if task in stateful
    }
    reported = threads.by_task(client.lags, "clients", place, "lags")
    return StreamsClient(
        process_id=process_id,
        capacity=client.capacity,
        client_tags=client.client_tags,
        rack_id=client.rack_id or None,
        previous_active=active,
        previous_standby=standby,
        lags=reported if client.default_lag is not None else assumed | reported,
        default_lag=WHOLE_CHANGELOG if client.default_lag is None else client.default_lag,
        process_name=client.process_id,
        threads=threads.threads_of(client, ("clients", place)),
    )


def _of_strangers(names: Sequence[str], clients: Sequence[StreamsClient], there: set[TaskId]) -> Iterator[Caution]:
    """Clients' reports of tasks that do not exist, which Kafka ignores."""
    for code, what, named in (
        ("previous_tasks_unknown", "had", [{*client.previous_active, *client.previous_standby} for client in clients]),
        ("lags_of_unknown_tasks", "say lags of", [set(client.lags) for client in clients]),
    ):
        unknown = [tasks - there for tasks in named]
        if any(unknown):
            members = tuple(name for name, client in zip(names, unknown, strict=True) if client)
            tasks = first_of([*map(name_of, sorted(set().union(*unknown)))], _NAMED_TASKS)
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
        & there - threads.by_task(request.lags, "clients", place, "lags").keys()
    )
    if assumed:
        yield caution("lags_assumed", members=assumed)


def _of_tags(names: Sequence[str], clients: Sequence[StreamsClient], tags: Sequence[str]) -> Iterator[Caution]:
    for tag in dict.fromkeys(tags):
        without = tuple(name for name, client in zip(names, clients, strict=True) if tag not in client.client_tags)
        if clients and len(without) == len(clients):
            yield Caution("tag_nobody_has", f"no client has the tag {tag}, so that it keeps no copies apart")
        elif without:
            yield caution("clients_without_tag", of=clients, tag=tag, members=without)
