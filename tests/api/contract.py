"""Rules for every answer of the service, whatever the resource."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx

from app.api.examples import EXAMPLE_SNAPSHOT_ID

PROBLEM = "application/problem+json"
UNKNOWN_ID = "01890a5d-0000-7000-8000-000000000000"
SNAPSHOT_ID = str(EXAMPLE_SNAPSHOT_ID)


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem that a response states, having the form of RFC 9457 and this status and code."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM
    document: dict[str, Any] = response.json()
    assert document["code"] == code, document
    assert document["status"] == status
    assert document["type"] == f"/problems#{code}"
    assert document["title"]
    assert document["detail"]
    assert document["instance"] == response.request.url.path
    assert document["request_id"] == response.headers["x-request-id"]
    for error in document["errors"]:
        assert error["detail"]
        assert error["pointer"] == "" or error["pointer"][0] in "/#"
    return document


def only_error(document: dict[str, Any], pointer: str) -> dict[str, Any]:
    """The one field error of a problem, at this pointer."""
    assert [error["pointer"] for error in document["errors"]] == [pointer], document
    error: dict[str, Any] = document["errors"][0]
    return error


def is_uuid7(text: str) -> bool:
    """Whether it is a UUID of version 7, as it is written."""
    found = UUID(text)
    return found.version == 7 and str(found) == text


def is_utc(text: str) -> bool:
    """Whether it is a moment of RFC 3339 in UTC."""
    return text.endswith("Z") and datetime.fromisoformat(text).utcoffset() == timedelta(0)


def place(client: httpx.Client, *topics: dict[str, Any], **fields: Any) -> httpx.Response:
    """Ask for a placement: of one small topic on the example's snapshot, where nothing else is said."""
    body: dict[str, Any] = {"topics": list(topics) or [topic()], **fields}
    if body.get("brokers") is None:
        body.setdefault("snapshot_id", SNAPSHOT_ID)
    return client.post("/v1/plans/replicas", json=body)


def topic(name: str = "t", partitions: int = 6, replication_factor: int = 3, **fields: int) -> dict[str, Any]:
    """A topic to place."""
    return {"name": name, "partitions": partitions, "replication_factor": replication_factor, **fields}


def brokers(count: int, racks: int) -> list[dict[str, Any]]:
    """Brokers from 1 on, dealt to `racks`; without racks if 0."""
    return [{"id": i + 1} | ({"rack": f"r{i % racks}"} if racks else {}) for i in range(count)]
