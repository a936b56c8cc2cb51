"""Events of a Streams application: from the request to the core, and each step as a record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from app.core.streams.lifecycle import events as lifecycle
from app.core.streams.lifecycle.state import Changelogs, restarted_id
from app.core.streams.lifecycle.steps import StreamsRebalance, StreamsStep, apply_events
from app.core.streams.model import AssignTasks, StreamsClient, StreamThread, name_of
from app.core.streams.verdicts import task_verdicts
from app.errors.every import ConflictingFields, DuplicateMember, FieldPath, ImpossibleValue, Json
from app.services.streams import answers
from app.services.streams.reports import tasks_of_clients
from app.services.streams.requests import JoiningClient, StreamsEvent, StreamsRequest
from app.services.streams.sources import WHOLE_CHANGELOG, StreamsSource, process_id_of
from app.services.streams.threads import member_ids


@dataclass(frozen=True, slots=True, eq=False)
class AppliedEvents:
    """Events in order, as the core applies them.

    Parameters
    ----------
    documents : the same events as the caller wrote them. names : clients by name, joining ones included.
    """

    events: Sequence[lifecycle.Event]
    documents: Sequence[dict[str, Json]]
    changelogs: Changelogs
    names: "_Names"


def events_of(request: StreamsRequest, source: StreamsSource) -> AppliedEvents:
    """Read a request's events. Raises `ConflictingFields`, `ImpossibleValue` with the place among the events."""
    names = _Names(source, in_group=request.protocol == "streams")
    return AppliedEvents(
        events=[names.event_of(event, ("events", place)) for place, event in enumerate(request.events)],
        documents=[event.as_json() for event in request.events],
        changelogs=Changelogs(offsets=source.changelog_offsets, state_bytes=source.state_bytes),
        names=names,
    )


def steps_of(happening: AppliedEvents, source: StreamsSource, assign: AssignTasks) -> list[answers.StreamsStep]:
    """Apply the events to the application as the plan has it, and report each.

    Raises
    ------
    ConflictingFields : an event cannot be, with its place among the events; the assignor's errors pass through.
    """
    if not happening.events:
        return []
    try:
        # The plan itself is the first rebalance; the events come after it.
        steps = apply_events(
            [_unassuming(client) for client in source.clients],
            source.tasks,
            source.options,
            [lifecycle.NoChange(), *happening.events],
            assign=assign,
            partitions=source.partitions,
            changelogs=happening.changelogs,
        )
    except ConflictingFields as failure:
        if failure.path[:1] == ("events",):
            failure.path = ("events", int(failure.path[1]) - 1, *failure.path[2:])
        raise
    return [_step(step, happening, source) for step in steps if step.index]


def _unassuming(client: StreamsClient) -> StreamsClient:
    """A client without default lag, in place of one that lags by all of a changelog: here changelogs have a length."""
    if client.default_lag != WHOLE_CHANGELOG:
        return client
    return replace(client, default_lag=None)


class _Names:
    """Clients by their names, those that join included; one that lost its state keeps its name."""

    def __init__(self, source: StreamsSource, *, in_group: bool) -> None:
        self._names = {client.process_id: name for client, name in zip(source.clients, source.names, strict=True)}
        self._ids = {name: process_id for process_id, name in self._names.items()}
        self._has_uuids = source.has_uuids
        self._in_group = in_group
        self._members = {thread.member_id for client in source.clients for thread in client.threads}

    def of(self, process_id: UUID) -> str:
        return self._names[process_id]

    def event_of(self, event: StreamsEvent, path: FieldPath) -> lifecycle.Event:
        """An event as the core knows it."""
        happening: lifecycle.Event
        if event.rolling_deploy is not None:
            deploy = event.rolling_deploy
            happening = lifecycle.RollingDeploy(deploy.keeps_state, deploy.behind, deploy.outlasts_session)
            self._restarted(deploy.keeps_state)
        elif event.deploy_at_once is not None:
            happening = lifecycle.DeployAtOnce(event.deploy_at_once.keeps_state, event.deploy_at_once.behind)
            self._restarted(event.deploy_at_once.keeps_state)
        elif event.lose_client is not None:
            happening = lifecycle.LoseClient(self._id(event.lose_client, (*path, "lose_client")))
        elif event.lose_tag is not None:
            happening = lifecycle.LoseTag(event.lose_tag.tag, event.lose_tag.value)
        elif event.lose_rack is not None:
            happening = lifecycle.LoseRack(event.lose_rack)
        elif event.scale_in is not None:
            where = (*path, "scale_in")
            happening = lifecycle.ScaleIn([self._id(name, (*where, at)) for at, name in enumerate(event.scale_in)])
        else:
            joining = event.scale_out or ()
            happening = lifecycle.ScaleOut(
                [self._joins(client, (*path, "scale_out", at)) for at, client in enumerate(joining)]
            )
        return happening

    def _restarted(self, keeps_state: bool) -> None:
        if not keeps_state:
            self._ids = {name: restarted_id(process_id) for name, process_id in self._ids.items()}
            self._names |= {process_id: name for name, process_id in self._ids.items()}

    def _id(self, name: str, path: FieldPath) -> UUID:
        if name not in self._ids:
            raise ConflictingFields(f"there is no client {name}", path=path, value=name)
        return self._ids[name]

    def _joins(self, client: JoiningClient, path: FieldPath) -> StreamsClient:
        name = client.process_id
        where = (*path, "process_id")
        if name in self._ids:
            raise ConflictingFields(f"client {name} is there already", path=where, value=name)
        process_id = process_id_of(name) if self._has_uuids else UUID(int=len(self._names) + 1)
        if process_id is None:
            detail = f"process_id {name!r} is no UUID, and those of the application are"
            raise ImpossibleValue(detail, path=where, value=name)
        self._ids[name], self._names[process_id] = process_id, name
        return StreamsClient(
            process_id,
            len(client.member_ids) or client.capacity,
            client.client_tags,
            client.rack_id or None,
            process_name=name,
            threads=self._threads(client, path),
        )

    def _threads(self, client: JoiningClient, path: FieldPath) -> tuple[StreamThread, ...]:
        if not self._in_group:
            return ()
        ids = member_ids(client.member_ids, client.process_id, client.capacity, path)
        for place, member_id in enumerate(ids):
            if member_id in self._members:
                where = (*path, "member_ids", place)
                raise DuplicateMember(f"member {member_id} is listed twice", path=where, value=member_id)
            self._members.add(member_id)
        return tuple(map(StreamThread, ids))


def _step(step: StreamsStep, happening: AppliedEvents, source: StreamsSource) -> answers.StreamsStep:
    assignment, clients, names = step.after.assignment, step.after.clients, happening.names
    verdicts = task_verdicts(assignment, clients, source.tasks.stateful, source.options)
    return answers.StreamsStep.of(
        step,
        event_index=step.index - 1,
        event=happening.documents[step.index - 1],
        process_id=None if step.process_id is None else names.of(step.process_id),
        assignment=tasks_of_clients([*map(names.of, assignment.process_ids)], assignment),
        ideal=all(verdict.is_ideal for verdict in verdicts),
        active_moved=len(step.active_moved),
        interrupted=len(step.interrupted),
        without_copy=[*map(name_of, step.without_copy)],
        restored_bytes=step.restored_bytes if source.state_bytes else None,
        probing_rebalances=step.probes,
        settled=step.is_settled,
        by_chance=any(rebalance.assignment.by_chance for rebalance in step.rebalances),
        rebalances=[*map(_rebalance, step.rebalances)],
    )


def _rebalance(rebalance: StreamsRebalance) -> answers.StreamsRebalance:
    return answers.StreamsRebalance(
        cause=rebalance.cause.value,
        active_moved=len(rebalance.active_moved),
        restored_copies=len(rebalance.restored),
        warmups=int(rebalance.assignment.warmup.sum()),
        not_running=[*map(name_of, rebalance.not_running)],
    )
