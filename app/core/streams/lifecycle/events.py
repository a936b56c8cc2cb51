"""Events of an application's life, and the clients before each rebalance that an event causes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias
from uuid import UUID

from app.core.streams.lifecycle.state import LifecycleSetting, fresh, restarted
from app.core.streams.model import StreamsClient
from app.errors.requests import ConflictingFields


@dataclass(frozen=True, slots=True)
class RollingDeploy:
    """Every client is restarted once, in their order, each after the previous one has settled. One step a client.

    Parameters
    ----------
    keeps_state : whether a client finds its state directory again: then it has its state and its process id, which is
        stored there. Otherwise it is a new client without state.
    behind : offsets of each task that a client with its state has missed when it returns.
    outlasts_session : whether a client is away for longer than `session.timeout.ms`, so that the group rebalances
        without it. Clients do not announce that they leave; one that returns earlier causes a single rebalance.
    """

    keeps_state: bool = True
    behind: int = 0
    outlasts_session: bool = True


@dataclass(frozen=True, slots=True)
class DeployAtOnce:
    """All clients stop and start together; `keeps_state` and `behind` as in `RollingDeploy`."""

    keeps_state: bool = True
    behind: int = 0


@dataclass(frozen=True, slots=True)
class LoseClient:
    """A client dies."""

    process_id: UUID


@dataclass(frozen=True, slots=True)
class LoseTag:
    """All clients with a value of a tag die together: a zone, a cluster."""

    tag: str
    value: str


@dataclass(frozen=True, slots=True)
class LoseRack:
    """All clients of a rack die together. Its brokers do not: partitions keep their replicas' racks."""

    rack_id: str


@dataclass(frozen=True, slots=True)
class ScaleOut:
    """Clients join without state, whatever their records state."""

    clients: Sequence[StreamsClient]


@dataclass(frozen=True, slots=True)
class ScaleIn:
    """Clients leave together and do not return."""

    process_ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class NoChange:
    """The group rebalances without any change."""


Event: TypeAlias = RollingDeploy | DeployAtOnce | LoseClient | LoseTag | LoseRack | ScaleOut | ScaleIn | NoChange


class Cause(Enum):
    """The reason of a rebalance."""

    LEFT = "left"
    JOINED = "joined"
    RESTARTED = "restarted"
    PROBING = "probing"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, eq=False)
class MembershipChange:
    """A change of the clients that causes one rebalance.

    Parameters
    ----------
    clients : after the change.
    restarted : process ids of the clients that have been restarted.
    """

    cause: Cause
    clients: tuple[StreamsClient, ...]
    restarted: frozenset[UUID] = frozenset()


def steps_of(event: Event, clients: tuple[StreamsClient, ...], setting: LifecycleSetting) -> Sequence[UUID | None]:
    """The process id of each step of an event: None, or one for each client that a rolling deploy restarts.

    Raises
    ------
    ConflictingFields : if the event is impossible.
    """
    if isinstance(event, RollingDeploy):
        return [client.process_id for client in clients]
    changes_of(event, None, clients, setting)
    return [None]


def changes_of(
    event: Event, process_id: UUID | None, clients: tuple[StreamsClient, ...], setting: LifecycleSetting
) -> tuple[MembershipChange, ...]:
    """The changes of the clients in one step; each causes a rebalance.

    Parameters
    ----------
    process_id : the client that is restarted, in a rolling deploy.

    Raises
    ------
    ConflictingFields : if the event is impossible.
    """
    match event:
        case RollingDeploy():
            return _restart(event, process_id, clients, setting)
        case DeployAtOnce(keeps_state, behind):
            returned = tuple(restarted(client, setting, keeps_state=keeps_state, behind=behind) for client in clients)
            ids = frozenset(client.process_id for client in returned)
            return (MembershipChange(Cause.RESTARTED, returned, ids),)
        case ScaleOut(new):
            return (MembershipChange(Cause.JOINED, (*clients, *_joining(clients, new, setting))),)
        case NoChange():
            return (MembershipChange(Cause.NOTHING, clients),)
        case _:
            return (_without(clients, _removed(event, clients)),)


def _restart(
    event: RollingDeploy, process_id: UUID | None, clients: tuple[StreamsClient, ...], setting: LifecycleSetting
) -> tuple[MembershipChange, ...]:
    """A client leaves and returns, at its position."""
    returned = tuple(
        restarted(client, setting, keeps_state=event.keeps_state, behind=event.behind)
        if client.process_id == process_id
        else client
        for client in clients
    )
    new_ids = frozenset(client.process_id for client, old in zip(returned, clients, strict=True) if client is not old)
    others = tuple(client for client in clients if client.process_id != process_id)
    returns = MembershipChange(Cause.RESTARTED, returned, new_ids)
    return (MembershipChange(Cause.LEFT, others), returns) if event.outlasts_session and others else (returns,)


def _removed(event: LoseClient | LoseTag | LoseRack | ScaleIn, clients: Sequence[StreamsClient]) -> set[UUID]:
    """The clients that leave and do not return."""
    match event:
        case LoseTag(tag, value):
            removed = {client.process_id for client in clients if client.client_tags.get(tag) == value}
            description = f"client with {tag} = {value}"
        case LoseRack(rack_id):
            removed = {client.process_id for client in clients if client.rack_id == rack_id}
            description = f"client in rack {rack_id}"
        case LoseClient() | ScaleIn():
            process_ids = [event.process_id] if isinstance(event, LoseClient) else event.process_ids
            known = {client.process_id for client in clients}
            for process_id in process_ids:
                if process_id not in known:
                    raise ConflictingFields(f"no client {process_id} is in the group", process_id=str(process_id))
            removed, description = set(process_ids), "client that is named"
    if not removed:
        raise ConflictingFields(f"no {description} is in the group")
    return removed


def _without(clients: Sequence[StreamsClient], removed: set[UUID]) -> MembershipChange:
    remaining = tuple(client for client in clients if client.process_id not in removed)
    if not remaining:
        raise ConflictingFields("the event leaves no client")
    return MembershipChange(Cause.LEFT, remaining)


def _joining(
    clients: Sequence[StreamsClient], new: Iterable[StreamsClient], setting: LifecycleSetting
) -> list[StreamsClient]:
    known = {client.process_id for client in clients}
    joining = []
    for client in new:
        if client.process_id in known:
            raise ConflictingFields(
                f"client {client.process_id} is in the group already", process_id=str(client.process_id)
            )
        known.add(client.process_id)
        joining.append(fresh(client, setting))
    return joining
