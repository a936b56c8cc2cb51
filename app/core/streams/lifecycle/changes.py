"""What an event makes of the clients, before anybody rebalances."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from app.core.streams.lifecycle.events import (
    DeployAtOnce,
    Event,
    LoseClient,
    LoseRack,
    LoseTag,
    NoChange,
    RollingDeploy,
    ScaleIn,
    ScaleOut,
)
from app.core.streams.lifecycle.rebalances import Cause
from app.core.streams.lifecycle.state import Setting, fresh, restarted
from app.core.streams.model import StreamsClient
from app.errors import ConflictingFields


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Why the group rebalances, over whom, and who of them was restarted."""

    cause: Cause
    clients: tuple[StreamsClient, ...]
    restarted: frozenset[UUID] = frozenset()


def steps_of(event: Event, clients: tuple[StreamsClient, ...], setting: Setting) -> Sequence[UUID | None]:
    """The steps of an event: one, or one for each client that a rolling deploy restarts.

    Raises
    ------
    ConflictingFields : if the event cannot be.
    """
    if isinstance(event, RollingDeploy):
        return [client.process_id for client in clients]
    changes_of(event, None, clients, setting)
    return [None]


def changes_of(
    event: Event, process_id: UUID | None, clients: tuple[StreamsClient, ...], setting: Setting
) -> tuple[Change, ...]:
    """What a step makes of the clients; each change takes a rebalance.

    Parameters
    ----------
    process_id : the client that is restarted, in a rolling deploy.

    Raises
    ------
    ConflictingFields : if the event cannot be.
    """
    match event:
        case RollingDeploy():
            return _restart(event, process_id, clients, setting)
        case DeployAtOnce(keeps_state, behind):
            back = tuple(restarted(its, setting, keeps_state=keeps_state, behind=behind) for its in clients)
            return (Change(Cause.RESTARTED, back, frozenset(its.process_id for its in back)),)
        case ScaleOut(new):
            return (Change(Cause.JOINED, (*clients, *_joining(clients, new, setting))),)
        case NoChange():
            return (Change(Cause.NOTHING, clients),)
        case _:
            return (_without(clients, _gone(event, clients)),)


def _restart(
    event: RollingDeploy, process_id: UUID | None, clients: tuple[StreamsClient, ...], setting: Setting
) -> tuple[Change, ...]:
    """A client goes and comes back, in its place."""
    back = tuple(
        restarted(its, setting, keeps_state=event.keeps_state, behind=event.behind)
        if its.process_id == process_id
        else its
        for its in clients
    )
    new = frozenset(its.process_id for its, old in zip(back, clients, strict=True) if its is not old)
    others = tuple(its for its in clients if its.process_id != process_id)
    returns = Change(Cause.RESTARTED, back, new)
    return (Change(Cause.LEFT, others), returns) if event.outlasts_session and others else (returns,)


def _gone(event: LoseClient | LoseTag | LoseRack | ScaleIn, clients: Sequence[StreamsClient]) -> set[UUID]:
    """Who leaves for good."""
    match event:
        case LoseTag(tag, value):
            gone = {its.process_id for its in clients if its.client_tags.get(tag) == value}
            what = f"client with {tag} = {value}"
        case LoseRack(rack_id):
            gone = {its.process_id for its in clients if its.rack_id == rack_id}
            what = f"client in rack {rack_id}"
        case LoseClient() | ScaleIn():
            named = [event.process_id] if isinstance(event, LoseClient) else event.process_ids
            known = {its.process_id for its in clients}
            for process_id in named:
                if process_id not in known:
                    raise ConflictingFields(f"no client {process_id} is in the group", process_id=str(process_id))
            gone, what = set(named), "client that is named"
    if not gone:
        raise ConflictingFields(f"no {what} is in the group")
    return gone


def _without(clients: Sequence[StreamsClient], gone: set[UUID]) -> Change:
    staying = tuple(its for its in clients if its.process_id not in gone)
    if not staying:
        raise ConflictingFields("the event leaves no client")
    return Change(Cause.LEFT, staying)


def _joining(clients: Sequence[StreamsClient], new: Iterable[StreamsClient], setting: Setting) -> list[StreamsClient]:
    known = {its.process_id for its in clients}
    joining = []
    for client in new:
        if client.process_id in known:
            raise ConflictingFields(
                f"client {client.process_id} is in the group already", process_id=str(client.process_id)
            )
        known.add(client.process_id)
        joining.append(fresh(client, setting))
    return joining
