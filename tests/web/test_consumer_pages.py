"""The page of consumers over time: its chart, schedule and tables; the form, and two plans compared."""

import time
from typing import Any

import httpx
import pytest

from app.api.examples import CONSUMERS_REQUEST
from app.web.forms import requests
from app.web.forms.requests import FIELDS_OF
from app.web.words import byte_size
from tests.web.browser import Page

HOURS: dict[str, Any] = CONSUMERS_REQUEST["hours"]["value"]


def planned(client: httpx.Client, **fields: Any) -> Any:
    response = client.post("/v1/plans/consumers", json={**HOURS, **fields})
    assert response.status_code == 201, response.text
    return response.json()


def text_of(client: httpx.Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[:2000]
    return " ".join(Page(answer.status_code, answer.headers, answer.text).text.split())


def test_a_page_has_the_schedule_the_intervals_and_the_chart(client: httpx.Client) -> None:
    plan = planned(client)
    shown = text_of(client, f"/plans/{plan['id']}")
    assert "2026-11-27 05:58 1" in shown
    third = plan["intervals"][2]
    assert f"2026-11-27 08:00 {byte_size(third['bytes_per_s'])}/s {third['consumers']} {third['lower_bound']}" in shown
    assert "4 consumers at most; uniform, which does not know rates, needs 5." in shown
    assert "Partitions above a consumer" not in shown
    picture = client.get(f"/v1/plans/{plan['id']}/picture.svg")
    assert picture.status_code == 200
    assert "5 intervals, 5 proven fewest" in picture.text
    assert f"up to {max(each['consumers'] for each in plan['intervals'])}<" in picture.text


def test_a_partition_above_a_consumer_is_listed_with_what_helps(client: httpx.Client) -> None:
    plan = planned(client, capacity_bytes_per_s=1_800_000)
    shown = text_of(client, f"/plans/{plan['id']}")
    assert "orders-0: 1.8 MiB/s in 1 interval; 5 partitions, or a consumer of that capacity" in shown


def test_a_stored_request_is_planned_again(client: httpx.Client) -> None:
    plan = planned(client)
    assert f'href="/plan/consumers?again={plan["id"]}"' in client.get(f"/plans/{plan['id']}").text
    form = client.get(f"/plan/consumers?again={plan['id']}")
    page = Page(form.status_code, form.headers, form.text)
    made = client.post("/plan/consumers", data={name: page.form()[name] for name in FIELDS_OF["consumers"]})
    assert (made.status_code, made.headers.get("location")) == (303, f"/plans/{plan['id']}"), made.text[:2000]


def test_a_choice_between_consumers_and_movement_opens_the_form_with_its_fields(client: httpx.Client) -> None:
    plan = planned(client)
    shown = Page(200, {}, client.get(f"/plans/{plan['id']}").text)
    links = [each.attributes["href"] for each in shown.all("a") if each.text == "With these"]
    for point, link in zip(plan["front"], links, strict=True):
        form = Page(200, {}, client.get(link).text).form()
        made = client.post("/plan/consumers", data={name: form[name] for name in FIELDS_OF["consumers"]})
        answer = client.get(f"/v1{made.headers['location']}").json()
        assert answer["consumer_hours"] == point["consumer_hours"]


def test_two_plans_are_compared_by_their_intervals(client: httpx.Client) -> None:
    one, other = planned(client), planned(client, spare=1)
    shown = text_of(client, f"/plans/compare?a={one['id']}&b={other['id']}")
    assert "Consumer hours" in shown
    assert "intervals 5" in shown.lower()


def stored(client: httpx.Client, cluster: str, sizes: int) -> None:
    """Store a cluster whose group `billing` reads its one topic, of that size."""
    partition = {"partition": 0, "replicas": [1], "isr": [1], "leader": 1, "size_bytes": sizes}
    group = {
        "group_id": "billing",
        "members": [{"member_id": "m", "topics": ["orders"], "assigned_partitions": {"orders": [0]}}],
    }
    body = {"cluster": cluster, "brokers": [{"id": 1}], "topics": [{"name": "orders", "partitions": [partition]}]}
    assert client.post("/v1/snapshots", json={**body, "groups": [group]}).status_code == 201


def test_the_form_of_a_cluster_has_the_rates_of_its_snapshots(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their range, the topics of its groups and the rates as a picture, before anything is planned."""
    for size in (1_000, 9_000_000):
        stored(client, "growing", size)
        time.sleep(1.1)  # times of snapshots count in seconds
    form = client.get("/plan/consumers", params={"cluster": "growing"})
    page = Page(form.status_code, form.headers, form.text)
    typed = page.form()
    assert typed["snapshots_from"] < typed["snapshots_to"]
    assert '<option value="orders">read by billing</option>' in form.text
    assert "The fewest consumers that could read it." in page.text
    made = client.post("/plan/consumers", data={name: typed[name] for name in FIELDS_OF["consumers"]})
    assert made.status_code == 303, made.text
    unknown = {**typed, "topics": "none"}
    assert "the fewest consumers" not in client.get("/plan/consumers", params=unknown).text
    assert client.get("/plan/consumers/estimate", params=unknown).text.startswith("Not possible: topic none is missing")
    monkeypatch.setattr(requests, "MOST_CHARTED", 1)  # more is not read while the form is filled in
    assert "the fewest consumers" not in client.get("/plan/consumers", params=typed).text
    assert client.get("/plan/consumers/estimate", params=typed).text == ""
