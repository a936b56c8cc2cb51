"""The actor of a transaction, for the audit log: the key, address and id of a request, or a command of the operator."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias

ActorKind: TypeAlias = Literal["key", "token", "link", "anyone", "unknown", "command"]
"""An API key, a token or session of the OIDC issuer, a share link, any process while the service is open, a request
without valid credentials, a command."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The actor of a change.

    Parameters
    ----------
    name : of the key, or of the subject of the token; None if there is none.
    key_id : the UUID of the key, as a text.
    team : that is acted for, or `teams.ALL`; None if it is not known.
    address : of the client. request_id : of the request. Both are None for a command.
    """

    kind: ActorKind
    name: str | None = None
    key_id: str | None = None
    team: str | None = None
    address: str | None = None
    request_id: str | None = None


COMMAND = Actor("command")
"""Whatever runs outside of requests."""
_ACTING: ContextVar[Actor] = ContextVar("acting", default=COMMAND)


def acting() -> Actor:
    """The actor of this request or command."""
    return _ACTING.get()


def become(actor: Actor) -> None:
    """Set the actor of the context of the middleware, which ends with the request."""
    _ACTING.set(actor)
