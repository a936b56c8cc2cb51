"""The heads of requests and responses, with which they cross to a slot and back.

A slot trusts this process, which does not trust a slot: heads of requests are pickled, those of responses are JSON.
"""

import pickle
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from starlette.types import Scope

from app import tracing
from app.services import callers
from app.store.audit import Actor

_OF_REQUESTS = frozenset(
    {"type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "root_path", "query_string", "headers"}
    | {"client", "server"}
)


def written_scope(scope: Scope) -> bytes:
    """The head of a request for the application of a slot."""
    state = scope.get("state", {})
    noted = {"request_id": state.get("request_id", ""), callers.STATE: state.get(callers.STATE)}
    head = {name: value for name, value in scope.items() if name in _OF_REQUESTS}
    return pickle.dumps(head | {"state": {**noted, "traceparent": tracing.traceparent()}})


def read_scope(content: bytes) -> Scope:
    """The scope of a request, in the process of a slot."""
    scope: Scope = pickle.loads(content)  # noqa: S301 -- of the process that has started this one
    return scope


def read_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Headers from texts: a header is any bytes, and each is a character of Latin-1."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def start(message: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """The head of a response, as ASGI has it, for JSON, with the audit log's facts about the request."""
    state = scope.get("state", {})
    return {
        "status": message["status"],
        "headers": [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", ())],
        "route": getattr(scope.get("route"), "path", None),
        "failure_code": state.get("failure_code"),
        "actor": state.get("actor"),
    }


def note(head: Mapping[str, Any], scope: Scope) -> None:
    """Note on a request the audit facts in the head of its response."""
    state = scope.setdefault("state", {})
    if head["route"] is not None:
        scope["route"] = SimpleNamespace(path=head["route"])
    if head["failure_code"] is not None:
        state["failure_code"] = head["failure_code"]
    if head["actor"] is not None:
        state["actor"] = Actor(**head["actor"])
