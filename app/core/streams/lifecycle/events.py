"""What may happen to an application."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from app.core.streams.model import StreamsClient


@dataclass(frozen=True, slots=True)
class RollingDeploy:
    """Every client is restarted once, in their order, each when the one before it has settled. One step a client.

    Parameters
    ----------
    keeps_state : whether a client finds its state directory again: then it has its state and its process id, which is
        kept there. Else it is a new client with nothing.
    behind : offsets that a client which kept its state has missed of each task when it is back.
    outlasts_session : whether a client is away for longer than `session.timeout.ms`, so that the group rebalances
        without it. Clients do not say that they leave; one that is back before that is a single rebalance.
    """

    keeps_state: bool = True
    behind: int = 0
    outlasts_session: bool = True


@dataclass(frozen=True, slots=True)
class DeployAtOnce:
    """All clients stop and start together. keeps_state, behind : as of `RollingDeploy`."""

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
    """All clients of a rack die together. Its brokers are not minded: partitions keep their replicas' racks."""

    rack_id: str


@dataclass(frozen=True, slots=True)
class ScaleOut:
    """Clients join; they have no state, whatever their records say."""

    clients: Sequence[StreamsClient]


@dataclass(frozen=True, slots=True)
class ScaleIn:
    """Clients leave for good, together."""

    process_ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class NoChange:
    """The group rebalances, and nothing has changed."""


Event: TypeAlias = RollingDeploy | DeployAtOnce | LoseClient | LoseTag | LoseRack | ScaleOut | ScaleIn | NoChange
