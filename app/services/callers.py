"""The caller of a request: the holder of an API key, or the subject of a token of the OIDC issuer."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from app.errors import Failure, Json, crossing

OIDC_PREFIX = "oidc:"
"""The beginning of the names of callers that the issuer knows; no API key has a name that begins so."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller whose credentials are valid.

    Parameters
    ----------
    name : which changes are recorded under. described : the same in a sentence.
    teams : for which it may act, one at a time, or `teams.ALL`. scopes : values of `Scope`.
    shown : its name on pages, if a session of a browser states it; empty otherwise.
    """

    name: str
    described: str
    teams: tuple[str, ...]
    scopes: tuple[str, ...]
    shown: str = ""

    def document(self) -> dict[str, Json]:
        """The caller as JSON, with which it crosses to a slot and is stored with a session."""
        return asdict(self)

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """The caller that `document` wrote."""
        teams, scopes = tuple(document["teams"]), tuple(document["scopes"])
        return cls(document["name"], document["described"], teams, scopes, document["shown"])


STATE = "caller"
"""The name, in the state of a request, of the value from `as_state`."""


def as_state(found: Caller | Failure) -> dict[str, Json]:
    """A caller, or why its credentials are rejected, as JSON for the state of a request."""
    if isinstance(found, Failure):
        return {"failure": crossing.to_json(found).decode()}
    return found.document()


def of_state(state: Mapping[str, Any]) -> Caller | None:
    """The caller in the state of a request; None if only an API key can tell. Raises the failure if it is rejected."""
    document = state.get(STATE)
    if document is None:
        return None
    if "failure" in document:
        raise crossing.from_json(document["failure"].encode())
    return Caller.of_document(document)
