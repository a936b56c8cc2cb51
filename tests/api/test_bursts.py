"""The event `burst`: one step since 4.3, whose coordinator assigns once an interval, and a step each before."""

from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem
from tests.api.group_requests import ask, member, owning, plan

JOINS: list[dict[str, Any]] = [{"join": member("m1")}, {"join": member("m2")}]
MEMBERS = [owning("m0", None, 0, 1, 2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("assignor", "version", "steps"),
    [
        ("uniform", "4.2", 2),
        ("uniform", "4.3", 1),
        ("server-range", None, 1),
        ("range", "4.4", 2),
        ("simple", "4.4", 1),
    ],
)
def test_a_burst_is_one_step_if_the_coordinator_has_an_interval(
    client: httpx.Client, assignor: str, version: str | None, steps: int
) -> None:
    body = {"assignor": assignor, "members": MEMBERS, "kafka_version": version}
    answered = plan(client, **body, events=[{"burst": JOINS}])["steps"]
    assert [step["event_index"] for step in answered] == [0] * steps
    assert list(answered[-1]["assignment"]) == ["m0", "m1", "m2"]
    assert answered[0]["event"]["burst"][0]["join"]["member_id"] == "m1"


def test_without_an_interval_it_is_the_events_one_after_another(client: httpx.Client) -> None:
    body = {"assignor": "uniform", "members": MEMBERS, "kafka_version": "4.2"}
    burst = plan(client, **body, events=[{"burst": JOINS}])["steps"]
    single = plan(client, **body, events=JOINS)["steps"]
    assert [step["assignment"] for step in burst] == [step["assignment"] for step in single]


def test_a_burst_of_one_is_that_event(client: httpx.Client) -> None:
    body = {"assignor": "uniform", "members": MEMBERS}
    (burst,) = plan(client, **body, events=[{"burst": JOINS[:1]}])["steps"]
    (single,) = plan(client, **body, events=JOINS[:1])["steps"]
    assert burst["assignment"] == single["assignment"]
    assert burst["rebalances"] == single["rebalances"]


def test_a_member_that_joins_and_leaves_within_the_interval_was_never_assigned_anything(client: httpx.Client) -> None:
    """The assignment is for the remaining members; the step has one rebalance."""
    events = [{"burst": [{"join": member("m1")}, {"join": member("m2")}, {"leave": "m1"}]}]
    (step,) = plan(client, assignor="uniform", members=MEMBERS, events=events)["steps"]
    assert {name: len(by_topic.get("t", [])) for name, by_topic in step["assignment"].items()} == {"m0": 3, "m2": 3}
    assert len(step["rebalances"]) == 1
    assert step["moved"] == 3


def test_an_impossible_event_is_named_by_its_place(client: httpx.Client) -> None:
    events = [{"burst": [{"join": member("m1")}, {"leave": "nobody"}]}]
    body = problem(ask(client, assignor="uniform", members=MEMBERS, events=events), 422, "conflicting_fields")
    assert body["errors"][0]["pointer"].startswith("/events/0/burst/1")


@pytest.mark.parametrize("burst", [[], [{"rolling_restart": True}], [{"burst": JOINS}]])
def test_what_a_burst_cannot_have(client: httpx.Client, burst: list[dict[str, Any]]) -> None:
    events = [{"burst": burst}]
    body = problem(ask(client, assignor="uniform", members=MEMBERS, events=events), 422, "validation")
    assert only_error(body, body["errors"][0]["pointer"])["pointer"].startswith("/events/0")
