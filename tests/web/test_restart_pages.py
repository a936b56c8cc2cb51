"""The page of a restart: its waves, the proof, blocked brokers; the picture, the form, and two restarts compared."""

import re
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_SNAPSHOT_ID
from app.web.forms.requests import FIELDS_OF
from app.web.pictures.waves import MOST_RACKS, Wave, draw
from tests.web.browser import Page

FRAGILE = {
    "cluster": "fragile",
    "brokers": [{"id": place, "rack": "abc"[place % 3]} for place in range(3)],
    "topics": [
        {
            "name": "orders",
            "configs": {"min.insync.replicas": "2"},
            "partitions": [{"partition": 0, "replicas": [0, 1], "isr": [0, 1], "leader": 0}],
        }
    ],
}


def planned(client: httpx.Client, **fields: Any) -> Any:
    response = client.post("/v1/plans/restart", json={"snapshot_id": str(EXAMPLE_SNAPSHOT_ID), **fields})
    assert response.status_code == 201, response.text
    return response.json()


def text_of(client: httpx.Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[:2000]
    return " ".join(Page(answer.status_code, answer.headers, answer.text).text.split())


def test_a_page_has_the_waves_and_the_proof(client: httpx.Client) -> None:
    plan = planned(client, per="rack", limits={"leaders": {"absolute": 9}})
    shown = text_of(client, f"/plans/{plan['id']}")
    assert "101, 102" in shown
    assert "1 on 103 of 9" in shown
    assert "No schedule has fewer waves" in shown
    assert "3 waves: no two of these brokers may be in one wave: 101, 103, 105" in shown
    picture = client.get(f"/v1/plans/{plan['id']}/picture.svg")
    assert picture.status_code == 200
    assert all(f"wave {number}" in picture.text for number in (1, 2, 3))


def test_blocked_partitions_are_listed_with_the_reason(client: httpx.Client) -> None:
    snapshot = client.post("/v1/snapshots", json=FRAGILE)
    assert snapshot.status_code == 201, snapshot.text
    plan = planned(client, snapshot_id=snapshot.json()["id"], controllers=[0, 1])
    shown = text_of(client, f"/plans/{plan['id']}")
    assert "orders-0 it has as many replicas as min.insync.replicas" in shown
    assert "controllers the restart of one controller leaves no majority" in shown


@pytest.mark.parametrize("fields", [{"max_brokers_per_wave": 4}, {"per": "rack", "order": "controllers_last"}])
def test_a_stored_request_is_planned_again(client: httpx.Client, fields: dict[str, Any]) -> None:
    plan = planned(client, **fields)
    assert f'href="/plan/restart?again={plan["id"]}"' in client.get(f"/plans/{plan['id']}").text
    form = client.get(f"/plan/restart?again={plan['id']}")
    page = Page(form.status_code, form.headers, form.text)
    made = client.post("/plan/restart", data={name: page.form()[name] for name in FIELDS_OF["restart"]})
    assert (made.status_code, made.headers.get("location")) == (303, f"/plans/{plan['id']}"), made.text[:2000]


def test_two_restarts_are_compared_by_their_waves(client: httpx.Client) -> None:
    one, other = planned(client, per="rack"), planned(client, max_brokers_per_wave=1)
    shown = text_of(client, f"/plans/compare?a={one['id']}&b={other['id']}")
    assert "Waves after 6" in shown
    assert "Time of all waves, s" in shown


@given(
    st.dictionaries(st.integers(0, 9_999), st.tuples(st.integers(0, 39), st.integers(0, 15)), min_size=1, max_size=400)
)
def test_every_broker_of_a_picture_is_in_its_wave_and_its_rack(placed: dict[int, tuple[int, int]]) -> None:
    """As a line of its cell, or in the words of the cell, which has their number; no wave is lost between bands."""
    listed = [[broker for broker, (at, _) in placed.items() if at == wave] for wave in range(40)]
    shown = [brokers for brokers in listed if brokers]
    racks = {broker: f"rack {rack}" for broker, (_, rack) in placed.items()}
    drawn = draw("Restart", [], [Wave(brokers, len(brokers), 0) for brokers in shown], racks, style="")
    cells = re.findall(r"<title>wave ([0-9]+), ([^:]+): [0-9]+ brokers?: ([0-9, ]+)</title>", drawn)
    has_rows = len({*racks.values()}) <= MOST_RACKS
    found = {int(broker): (int(wave), rack) for wave, rack, brokers in cells for broker in brokers.split(", ")}
    assert found == {
        broker: (wave, racks[broker] if has_rows else "all racks")
        for wave, brokers in enumerate(shown, 1)
        for broker in brokers
    }
    assert [int(number) for number in re.findall(r'class="number"[^>]*>([0-9]+)<', drawn)] == [
        *range(1, len(shown) + 1)
    ]
    width = re.search(r'<svg[^>]* width="([0-9]+)"', drawn)
    assert width is not None
    assert int(width[1]) <= 1_010
