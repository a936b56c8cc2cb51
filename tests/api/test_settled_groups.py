"""Events of a recorded group that is stable: the first rebalance is the first event's."""

import json
from typing import Any

import httpx
import pytest

from tests.api.group_requests import brokers, plan, topic

OWNED = {"m-a": [0, 1, 2, 3], "m-b": [4, 5], "m-c": [6]}
"""Not balanced, as a sticky assignor would not leave it: it shows whether the group rebalances before the event."""


def snapshot(client: httpx.Client, state: str, assignor: str) -> str:
    members = [
        {"member_id": name, "client_id": name, "host": "/h", "topics": ["t"], "assigned_partitions": {"t": partitions}}
        for name, partitions in OWNED.items()
    ]
    group = {"group_id": "g", "state": state, "assignor": assignor, "members": members}
    body = {"cluster": "c", "brokers": brokers(), "topics": [topic(partitions=7)], "groups": [group]}
    response = client.post("/v1/snapshots", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()
    return str(created["id"])


@pytest.mark.parametrize(
    ("state", "assignor", "moved"),
    [
        ("Stable", "cooperative-sticky", 1),
        # These rebalance first, so that m-c has two partitions when it leaves.
        ("PreparingRebalance", "cooperative-sticky", 2),
        ("Stable", "range", 2),
    ],
)
def test_only_a_stable_group_of_the_same_assignor_starts_as_it_was_recorded(
    client: httpx.Client, state: str, assignor: str, moved: int
) -> None:
    """m-c leaves, and its partitions move; it has one in the snapshot."""
    found = plan(
        client,
        snapshot_id=snapshot(client, state, assignor),
        group="g",
        assignor="cooperative-sticky",
        events=[{"leave": "m-c"}],
    )
    assert {len(by_topic["t"]) for by_topic in found["assignment"].values()} == {2, 3}
    (step,) = found["steps"]
    assert step["moved"] == moved
