"""`POST /v1/plans/replicas` with the algorithm copysets: fields of the answer, exports and rejections."""

from typing import Any

import httpx
import pytest

from tests.api.contract import brokers, only_error, place, problem, topic


def on_sets(client: httpx.Client, *topics: dict[str, Any], **fields: Any) -> httpx.Response:
    return place(client, *topics, **{"algorithm": "copysets", "brokers": brokers(12, 3)} | fields)


def sets_of(plan: dict[str, Any]) -> set[frozenset[int]]:
    return {frozenset(row) for placed in plan["topics"] for row in placed["replicas"]}


def test_a_plan_states_its_sets_and_the_front(client: httpx.Client) -> None:
    response = on_sets(
        client, topic(partitions=48), scatter_width=4, front=True, defaults={"min_insync_replicas": 2}, seed=1
    )
    assert response.status_code == 201, response.text
    plan = response.json()
    assert (plan["prediction"], plan["violations"], plan["scatter_width"]) == ("pinned", [], 4)
    assert {name: plan["request"][name] for name in ("algorithm", "scatter_width", "front", "rack_mode")} == {
        "algorithm": "copysets",
        "scatter_width": 4,
        "front": True,
        "rack_mode": "enforced",
    }
    chosen = next(point for point in plan["front"] if point["scatter_width"] == 4)
    measured, losses = plan["measures"]["copysets"], plan["measures"]["losses"]
    assert (chosen["sets"], chosen["loss_probability"]) == (measured["sets"], measured["loss_probability"])
    assert chosen["unwritable_pairs"] == losses["pairs"]["unwritable_pairs"] == measured["pairs"]
    assert (plan["measures"]["replicas"]["spread"], plan["measures"]["leaders"]["spread"]) == (0, 0)
    exported = client.get(f"/v1/plans/{plan['id']}/export", params={"format": "reassignment"}).json()
    assert [each["replicas"] for each in exported["partitions"]] == plan["topics"][0]["replicas"]
    assert client.get(response.headers["location"]).content == response.content


def test_a_later_topic_has_the_sets_of_earlier_ones(client: httpx.Client) -> None:
    """Also if a broker is fenced meanwhile."""
    earlier = on_sets(client, topic(partitions=60), seed=1).json()
    fenced = [broker | {"fenced": broker["id"] == 3} for broker in brokers(12, 3)]
    later = on_sets(client, topic("later", 50), seed=2, brokers=fenced).json()
    assert sets_of(later) == sets_of(earlier)
    assert (earlier["scatter_width"], earlier["front"]) == (4, None)


@pytest.mark.parametrize(
    ("fields", "code", "pointer"),
    [
        ({"scatter_width": 1}, "copysets_impossible", "/scatter_width"),
        ({"scatter_width": 9}, "copysets_impossible", "/scatter_width"),
        ({"scatter_width": 65}, "validation", "/scatter_width"),
        ({"brokers": brokers(11, 3)}, "copysets_impossible", "/algorithm"),
        ({"fixed_start_index": 1}, "conflicting_fields", "/fixed_start_index"),
        ({"algorithm": "striped", "scatter_width": 4}, "conflicting_fields", "/scatter_width"),
        ({"brokers": [{"id": 1, "rack": "a"}, {"id": 2}, {"id": 3}]}, "brokers_without_rack", None),
    ],
)
def test_what_is_rejected(client: httpx.Client, fields: dict[str, Any], code: str, pointer: str | None) -> None:
    document = problem(on_sets(client, topic(), **fields), 422, code)
    if pointer is not None:
        only_error(document, pointer)


def test_without_racks_unequal_ones_do_not_matter(client: httpx.Client) -> None:
    plan = on_sets(client, topic(), brokers=brokers(11, 3), rack_mode="disabled").json()
    assert plan["measures"]["replicas"]["max"] <= 3
