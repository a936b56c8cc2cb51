"""The heads of requests and responses as JSON, with which they cross to a slot and back."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import orjson
from starlette.types import Scope

from app import tracing
from app.services import callers
from app.store.audit import Actor

_TEXTS = ("method", "path", "root_path", "scheme", "http_version")


def written_scope(scope: Scope) -> bytes:
    """The head of a request as JSON."""
    document = {name: scope[name] for name in _TEXTS}
    document |= {
        "query_string": scope["query_string"].decode("latin-1"),
        "raw_path": scope.get("raw_path", b"").decode("latin-1"),
        "headers": written_headers(scope["headers"]),
        "client": scope.get("client"),
        "server": scope.get("server"),
        "request_id": scope.get("state", {}).get("request_id", ""),
        "traceparent": tracing.traceparent(),
        "caller": scope.get("state", {}).get(callers.STATE),
    }
    return orjson.dumps(document)


def read_scope(content: bytes) -> Scope:
    """The scope of a request for the application of a slot."""
    document: dict[str, Any] = orjson.loads(content)
    scope: dict[str, Any] = {name: document[name] for name in _TEXTS}
    return scope | {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "query_string": document["query_string"].encode("latin-1"),
        "raw_path": document["raw_path"].encode("latin-1"),
        "headers": read_headers(document["headers"]),
        "client": document["client"] and tuple(document["client"]),
        "server": document["server"] and tuple(document["server"]),
        "state": {
            "request_id": document["request_id"],
            "traceparent": document["traceparent"],
            callers.STATE: document["caller"],
        },
    }


def written_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Headers as texts: a header is any bytes, and each is a character of Latin-1."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def read_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def start(message: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """The head of a response, as ASGI has it, for JSON, with the audit log's facts about the request."""
    state = scope.get("state", {})
    return {
        "status": message["status"],
        "headers": written_headers(message.get("headers", ())),
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
