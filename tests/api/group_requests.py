"""Requests for group plans, small enough to follow by hand."""

from typing import Any

import httpx

Json = dict[str, Any]
RACKS = {1: "a", 2: "b", 3: "c"}


def brokers(racks: dict[int, str] | None = None) -> list[Json]:
    """Brokers in these racks; three in three where none are given."""
    return [{"id": broker, "rack": rack} for broker, rack in (RACKS if racks is None else racks).items()]


def topic(name: str = "t", partitions: int = 6, *, replicas: int = 1) -> Json:
    """A topic whose partition p is on brokers 1 + p % 3, …: in the racks a, b, c, a, b, c."""
    rows = [[1 + (p + r) % 3 for r in range(replicas)] for p in range(partitions)]
    return {"name": name, "partitions": [{"partition": p, "replicas": row} for p, row in enumerate(rows)]}


def member(member_id: str, rack: str | None = None, *topics: str, **fields: Any) -> Json:
    """A member; it subscribes to `t` where nothing else is said."""
    return {"member_id": member_id, "rack_id": rack, "topics": list(topics) or ["t"], **fields}


def owning(member_id: str, rack: str | None, *partitions: int, **fields: Any) -> Json:
    """A member that owns partitions of `t` in generation 1."""
    return member(member_id, rack, owned_partitions={"t": list(partitions)}, generation_id=1, **fields)


def three() -> list[Json]:
    """A member in each of the three racks."""
    return [member("m-a", "a"), member("m-b", "b"), member("m-c", "c")]


def ask(client: httpx.Client, **body: Any) -> httpx.Response:
    """A group planned: three members, a topic of six partitions, where nothing else is said."""
    if "snapshot_id" not in body:
        body = {"brokers": brokers(), "topics": [topic()]} | body
    if "group" not in body:
        body = {"members": three()} | body
    return client.post("/v1/plans/group", json={key: value for key, value in body.items() if value is not None})


def plan(client: httpx.Client, **body: Any) -> Json:
    """The plan of a group that can be planned."""
    response = ask(client, **body)
    assert response.status_code == 201, response.text
    found: Json = response.json()
    return found


def codes(found: Json) -> list[str]:
    """The warnings of a plan, by code."""
    return [warning["code"] for warning in found["warnings"]]


def read_in(assignment: Json) -> list[tuple[str, int]]:
    """Every partition that somebody reads, ascending."""
    return sorted((name, p) for by_topic in assignment.values() for name, listed in by_topic.items() for p in listed)
