"""The threads of clients, which are the members of a streams group (KIP-1071)."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from app.core.jvm.hashes import TaskId
from app.core.model import INT32_MAX
from app.core.streams.coordinator.processes import irregular_task
from app.core.streams.model import StreamsTasks, StreamThread, name_of
from app.errors.every import ConflictingFields, DuplicateMember, FieldPath, ImpossibleValue, MalformedText
from app.formats.streams import streams_subscription
from app.services.cautions import Caution, caution
from app.services.snapshots import first_repeated
from app.services.streams.requests import ClientRequest, StreamsRequest, ThreadRequest

_TASK = re.compile(r"([0-9]{1,10})_([0-9]{1,10})")


def task_of(text: str, path: FieldPath) -> TaskId:
    """A task by its name. Raises `ImpossibleValue`."""
    match = _TASK.fullmatch(text)
    numbers = (-1, -1) if match is None else (int(match[1]), int(match[2]))
    if match is None or max(numbers) > INT32_MAX:
        shown = text if len(text) <= 80 else text[:80] + "…"
        detail = f"a task id is <subtopology>_<partition>, such as 0_3, with numbers up to {INT32_MAX}; {shown!r} given"
        raise ImpossibleValue(detail, path=path, value=shown)
    return numbers


def read_tasks(names: Sequence[str], *path: str | int) -> list[TaskId]:
    """Tasks by their names. Raises `ImpossibleValue`, and `ConflictingFields` if one is listed twice."""
    tasks = [task_of(name, (*path, place)) for place, name in enumerate(names)]
    if (twice := first_repeated(tasks)) is not None:
        raise ConflictingFields(f"task {names[twice]} is listed twice", path=(*path, twice), value=names[twice])
    return tasks


def by_task(stated: Mapping[str, int] | None, *path: str | int) -> dict[TaskId, int]:
    """Numbers by task, which are stated by its name; none if nothing is stated. Raises `ImpossibleValue`."""
    return {task_of(name, (*path, name)): number for name, number in (stated or {}).items()}


MOST_THREADS = 10_000
"""Members that a plan makes up for a client that lists none."""
BROKERS_MOST_STANDBYS = 2
"""`group.streams.max.standby.replicas`, by default."""


def require_protocol(request: StreamsRequest) -> None:
    """Raise `ConflictingFields` for fields of the other protocol."""
    for place, client in enumerate(request.clients):
        path = ("clients", place)
        if request.protocol == "classic" and client.members:
            detail = "members are those of a streams group; protocol is classic, in which a client has capacity"
            raise ConflictingFields(detail, path=(*path, "members"))
        if request.protocol == "streams" and client.subscription_info is not None:
            detail = "a member of a streams group has no subscription in the form of the classic protocol"
            raise ConflictingFields(detail, path=(*path, "subscription_info"))
    for place, event in enumerate(request.events):
        for at, joining in enumerate(event.scale_out or ()):
            if request.protocol == "classic" and joining.member_ids:
                detail = "member_ids are those of a streams group; protocol is classic"
                raise ConflictingFields(detail, path=("events", place, "scale_out", at, "member_ids"))
        deploy = event.rolling_deploy
        if request.protocol == "streams" and deploy is not None and not deploy.outlasts_session:
            detail = (
                "a member of a streams group leaves the group when its client stops, however short the restart is; "
                "only static members (group.instance.id, since 4.4) return to their tasks without a rebalance"
            )
            raise ConflictingFields(detail, path=("events", place, "rolling_deploy", "outlasts_session"))


def whole_client(client: ClientRequest, path: FieldPath) -> ClientRequest:
    """The client of a streams group with a member for each thread, and with the previous tasks of all of them.

    Raises
    ------
    ConflictingFields : previous tasks are the client's, and it has several threads, or lists members; its capacity is
        not the number of its members.
    """
    for name in ("previous_active", "previous_standby"):
        if getattr(client, name) and (client.members or client.capacity > 1):
            detail = f"{name} of a client with several threads, or with members, are those of its members"
            raise ConflictingFields(detail, path=(*path, name))
    listed = [member.member_id for member in client.members]
    ids = member_ids(listed, client.process_id or "", client.capacity, path)
    if not client.members:
        members = [ThreadRequest(member_id) for member_id in ids]
        if client.capacity == 1:
            members = [ThreadRequest(ids[0], client.previous_active, client.previous_standby)]
        return replace(client, members=members)
    active, standby = previous_tasks(
        (member.previous_active for member in client.members), (member.previous_standby for member in client.members)
    )
    return replace(client, capacity=len(client.members), previous_active=active, previous_standby=standby)


def previous_tasks(active: Iterable[Iterable[str]], copies: Iterable[Iterable[str]]) -> tuple[list[str], list[str]]:
    """A client's active tasks and standbys, each once, from its threads' tasks; an active task is no standby."""
    running = dict.fromkeys(chain.from_iterable(active))
    return list(running), [name for name in dict.fromkeys(chain.from_iterable(copies)) if name not in running]


def member_ids(listed: Sequence[str], process_id: str, threads: int, path: FieldPath) -> Sequence[str]:
    """Ids of the members of a client: those that it lists, else assumed ones, since Kafka's are random.

    Raises `ConflictingFields` if the client lists another number of members, or none and has too many threads.
    """
    if listed:
        if threads not in (1, len(listed)):
            detail = f"the client lists {len(listed)} members and has a capacity of {threads}"
            raise ConflictingFields(detail, path=(*path, "capacity"), value=threads)
        return listed
    if threads > MOST_THREADS:
        detail = f"a client that lists no members has up to {MOST_THREADS} threads; {threads} given"
        raise ConflictingFields(detail, path=(*path, "capacity"), value=threads, maximum=MOST_THREADS)
    return [f"{process_id}-{number}" for number in range(1, threads + 1)]


def threads_of(client: ClientRequest, path: FieldPath) -> tuple[StreamThread, ...]:
    """The members as the core knows them. Raises `ImpossibleValue`, `ConflictingFields` for their tasks."""
    return tuple(_thread(member, (*path, "members", place)) for place, member in enumerate(client.members))


def _thread(member: ThreadRequest, path: FieldPath) -> StreamThread:
    return StreamThread(
        member.member_id,
        tuple(read_tasks(member.previous_active, *path, "previous_active")),
        tuple(read_tasks(member.previous_standby, *path, "previous_standby")),
        by_task(member.task_offsets, *path, "task_offsets"),
    )


def require_group(clients: Sequence[ClientRequest], tasks: StreamsTasks) -> None:
    """Reject inputs that a coordinator cannot have: no topology, tasks with gaps, members of one id.

    Raises
    ------
    ConflictingFields : there are no tasks; a subtopology lacks a task, or only some of its tasks are stateful.
    DuplicateMember : two members have one id.
    """
    if not tasks.ids and not tasks.stateful:
        detail = "a streams group has a topology: give subtopologies and topics, or topology, or tasks"
        raise ConflictingFields(detail, path=("subtopologies",))
    if (irregular := irregular_task(tasks)) is not None:
        (subtopology, partition), why = irregular
        field = "tasks" if why == "is missing" else "stateful_tasks"
        detail = (
            f"task {subtopology}_{partition} {why}: a subtopology has a task for each partition from 0 on, and all or "
            "none of them are stateful"
        )
        raise ConflictingFields(detail, path=(field,), value=f"{subtopology}_{partition}")
    first: dict[str, str] = {}
    for at, client in enumerate(clients):
        for of, member in enumerate(client.members):
            for task in member.previous_active:
                other = first.setdefault(task, member.member_id)
                if other != member.member_id:
                    path = ("clients", at, "members", of, "previous_active")
                    detail = f"task {task} was active on members {other} and {member.member_id}"
                    raise ConflictingFields(detail, path=path, value=task)
    ids = [member.member_id for client in clients for member in client.members]
    if (twice := first_repeated(ids)) is not None:
        places = [(at, of) for at, client in enumerate(clients) for of in range(len(client.members))]
        at, of = places[twice]
        path = ("clients", at, "members", of, "member_id")
        raise DuplicateMember(f"member {ids[twice]} is listed twice", path=path, value=ids[twice])


def group_cautions(listed: Sequence[ClientRequest], tasks: StreamsTasks, request: StreamsRequest) -> Iterator[Caution]:
    """Assumptions about members, and options that brokers may not allow. listed : clients, as in the request."""
    if assumed := tuple(str(client.process_id) for client in listed if not client.members):
        yield caution("member_ids_assumed", members=assumed)
    if tasks.stateful and request.num_standby_replicas > BROKERS_MOST_STANDBYS:
        stated = request.num_standby_replicas
        yield caution("standbys_above_brokers_limit", stated=stated, most=BROKERS_MOST_STANDBYS)


_OF_SUBSCRIPTION = ("process_id", "client_tags", "previous_active", "previous_standby")


def read_client(client: ClientRequest, path: FieldPath) -> ClientRequest:
    """The client with the fields of its subscription, if it has one: process id, tags, its tasks and its state.

    How far its state reaches is of no use without the ends of the changelogs; `lags` may say how far it is behind.

    Raises
    ------
    MalformedText, CorruptProtocolBytes : the bytes are no subscription that Kafka Streams writes.
    ConflictingFields : neither or both identify the client. ImpossibleValue : the subscription is from the future.
    """
    if client.subscription_info is None:
        if client.process_id is None:
            detail = "a client needs a process_id, or its subscription_info, which has one"
            raise ConflictingFields(detail, path=(*path, "process_id"))
        return client
    for name in _OF_SUBSCRIPTION:
        if getattr(client, name):
            raise ConflictingFields(f"{name} is part of subscription_info; give one of the two", path=(*path, name))
    where = (*path, "subscription_info")
    try:
        info = streams_subscription.read(b64decode(client.subscription_info, validate=True))
    except Base64Error as error:
        raise ImpossibleValue(f"subscription_info is not base64: {error}", path=where) from None
    except MalformedText as malformed:
        malformed.path = where
        raise
    if info.process_id is None:
        newest = streams_subscription.NEWEST_VERSION
        detail = f"the subscription is of version {info.version}; versions up to {newest} can be read"
        raise ImpossibleValue(detail, path=where, value=info.version, maximum=newest)
    return replace(
        client,
        process_id=str(info.process_id),
        client_tags=info.client_tags,
        previous_active=[name_of(task) for task in info.previous_active],
        previous_standby=[name_of(task) for task in info.previous_standby],
    )
