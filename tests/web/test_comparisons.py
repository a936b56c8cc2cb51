"""Two plans or two sweeps side by side."""

import copy
import json
import re
from typing import Any
from uuid import uuid4

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import (
    EXAMPLE_GROUP_PLAN_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_STREAMS_PLAN_ID,
    EXAMPLE_SWEEP_ID,
    SWEEP,
)
from app.api.sweeps.capacity import CapacitySweepRequest
from app.services import sweeps
from app.store.database import Database
from app.web.plans.selection import differing
from tests.web.browser import Browser, Page
from tests.web.test_clusters import TEXT

values = st.integers(-9, 9) | st.dictionaries(st.sampled_from("xy"), st.booleans(), min_size=1)


@given(st.dictionaries(st.sampled_from("abc"), values))
def test_documents_differ_in_their_fields(document: dict[str, Any]) -> None:
    assert differing(document, document) == []
    assert {path.partition(".")[0] for path, *_ in differing(document, {})} == set(document)
    assert [other for _, _, other in differing({}, document)] == [one for _, one, _ in differing(document, {})]


def made(browser: Browser, **fields: object) -> str:
    """The id of a reassignment of nine brokers."""
    body = json.dumps({"cluster": "nine", **fields})
    answer = browser.ask("POST", "/plan/reassignment", data={"body": body})
    return str(answer.headers["location"]).rpartition("/")[2]


def test_plans_of_a_cluster_are_compared(browser: Browser) -> None:
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    one = made(browser, remove_brokers=[105])
    other = made(browser, remove_brokers=[105], balance={"replicas": "tight"})
    newest = made(browser, remove_brokers=[106])
    alone = browser.get(f"/plans/compare?a={one}")
    assert f'value="{newest}"' in alone.source
    assert "Each plan is better" in alone.text, "an alternative to a plan is compared with it first"
    assert f'<option value="{other}" selected' in alone.source
    page = browser.get(f"/plans/compare?a={one}&b={other}")
    assert page.status == 200
    for words in ("Bytes moved", "Optimality gap", "Preferred leaders changed", "balance"):
        assert words in page.text
    assert "Replica sets" in page.text
    assert "Three lost brokers lose data" in page.text
    assert len([image for image in page.all("img") if "/pictures/plan.svg" in image.attributes["src"]]) == 2
    of_boxes = browser.get(f"/plans/compare?plan={one}&plan={other}")
    assert [link.attributes["href"] for link in of_boxes.all("a")] == [
        link.attributes["href"] for link in page.all("a")
    ]
    assert browser.get(f"/plans/compare?plan={one}").status == 200
    same = browser.get(f"/plans/compare?a={one}&b={one}")
    assert "The requests are equal" in same.text
    assert "Both plans place every partition equally" in same.text
    half = browser.get(f"/plans/compare?a={one}")
    assert half.status == 200
    assert browser.get("/plans/compare").status == 200


def test_a_compared_plan_is_approved(browser: Browser) -> None:
    """The button of the one plan changes its status, and leaves its notes and the other plan as they are."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    one, other = (
        browser.ask("POST", "/plan/reassignment", data={"cluster": "nine", "remove_brokers": broker}).headers[
            "location"
        ]
        for broker in ("105", "106")
    )
    address = f"/plans/compare?a={one.rpartition('/')[2]}&b={other.rpartition('/')[2]}"
    page = browser.get(address)
    forms = [form.attributes["action"] for form in page.all("form") if form.text.strip() == "Approve this one"]
    assert forms == [f"{one}/status", f"{other}/status"]
    sent = {name: value for name, value in page.form().items() if name in ("revision", "notes", "labels", "status")}
    assert browser.ask("POST", forms[1], data=sent).status_code == 303
    statuses = [pill.text for pill in browser.get(address).all("span") if "pill" in pill.attributes.get("class", "")]
    assert statuses == ["proposed", "approved"]


@pytest.mark.parametrize("plan_id", [EXAMPLE_PLAN_ID, EXAMPLE_GROUP_PLAN_ID, EXAMPLE_STREAMS_PLAN_ID])
def test_plans_of_every_kind_are_compared(client: httpx.Client, plan_id: object) -> None:
    assert client.get("/plans/compare", params={"a": str(plan_id), "b": str(plan_id)}).status_code == 200


LOADS = ("replicas", "leaders", "bytes")
MADE: dict[str, dict[str, Any]] = {
    "group": {"assignor": "range", "members": [{"member_id": f"m-{n}", "topics": ["t"]} for n in range(2)]},
    "replicas": {
        "algorithm": "striped",
        "seed": 1,
        "topics": [{"name": "n", "partitions": 4, "replication_factor": 2}],
    },
}


@pytest.mark.parametrize("kind", MADE)
def test_plans_of_other_snapshots_are_compared_row_by_row(client: httpx.Client, kind: str) -> None:
    """The second plan is of a later snapshot, with a broker and a partition more; the rows are the diff's."""
    brokers = [{"id": number, "rack": "abc"[number % 3]} for number in range(1, 5)]
    partitions = [
        {"partition": number, "replicas": [1, 2], "isr": [1, 2], "leader": 1, "size_bytes": 1} for number in range(4)
    ]
    ids = []
    for count in (3, 4):
        topics = [{"name": "t", "partitions": partitions[:count]}]
        stored = client.post("/v1/snapshots", json={"cluster": "c", "brokers": brokers[:count], "topics": topics})
        body = {"snapshot_id": stored.json()["id"], **MADE[kind]}
        ids.append(client.post(f"/v1/plans/{kind}", json=body).json()["id"])
    page = client.get("/plans/compare", params={"a": ids[0], "b": ids[1]})
    assert page.status_code == 200
    assert "were made on different snapshots" in page.text
    found = client.get(f"/v1/plans/{ids[1]}/diff", params={"against": ids[0]}).json()
    assert found["items"]
    listed = re.findall(r'<tr><th scope="row" class="name"><bdi>([^<]+)</bdi>', page.text)
    assert listed == [f"{row['topic']}-{row['partition']}" for row in found["items"]]


def test_streams_plans_are_compared_task_by_task(client: httpx.Client) -> None:
    ids = []
    for clients in (2, 3):
        listed = [{"process_id": f"00000000-0000-0000-0000-00000000000{number}"} for number in range(clients)]
        body = {"tasks": ["0_0", "0_1", "0_2"], "assignor": "high_availability", "clients": listed}
        ids.append(client.post("/v1/plans/streams", json=body).json()["id"])
    page = client.get("/plans/compare", params={"a": ids[0], "b": ids[1]})
    [task] = [row["task"] for row in client.get(f"/v1/plans/{ids[1]}/diff", params={"against": ids[0]}).json()["items"]]
    assert f"<bdi>{task}</bdi>" in page.text
    assert "00000000-0000-0000-0000-000000000002" in page.text


def test_what_cannot_be_compared(client: httpx.Client) -> None:
    for kind, a, b, words in (
        ("plans", EXAMPLE_REASSIGNMENT_PLAN_ID, EXAMPLE_GROUP_PLAN_ID, "nothing in common"),
        ("plans", EXAMPLE_REASSIGNMENT_PLAN_ID, uuid4(), "there is no plan"),
        ("sweeps", EXAMPLE_SWEEP_ID, uuid4(), "there is no sweep"),
    ):
        answer = client.get(f"/{kind}/compare", params={"a": str(a), "b": str(b)})
        assert (answer.status_code, words in answer.text) == (422, True), words
    assert client.get("/pictures/sweeps-compared.svg", params={"a": "x", "b": "y"}).status_code == 404


def test_sweeps_are_compared(client: httpx.Client, database: Database) -> None:
    body: Any = copy.deepcopy(SWEEP)
    body["base"]["broker_profile"]["price_per_month"] *= 2
    second = uuid4()
    with database.begin() as uow:
        request = CapacitySweepRequest.model_validate(body).service()
        sweeps.store_scored(uow, request, principal="test", sweep_id=second)
    ids = {"a": str(EXAMPLE_SWEEP_ID), "b": str(second)}
    page = client.get("/sweeps/compare", params={**ids, "x": "headroom"})
    assert page.status_code == 200
    text = " ".join(page.text.split())
    one, other = (client.get(f"/v1/sweeps/{sweep}/best").json()["best"]["monthly_cost"] for sweep in ids.values())
    change = f"{100 * (other - one) / one:+.3g} %"
    assert f"cost a month (currency of the prices) {other:,.0f} instead of {one:,.0f} ({change})" in text
    rows = re.findall(r"<tr><td>(.*?)</td><th[^>]*><bdi>(.*?)</bdi>.*?<td class=\"n\">(.*?)</td></tr>", text)
    assert ("best scenario", "cost a month (currency of the prices)", change) in rows
    assert [name for part, name, _ in rows if part == "definition"] == ["base.broker_profile.price_per_month"]
    assert text.index("last the 12 months") < text.index("Differences") < text.index("Pareto fronts")
    same = client.get("/sweeps/compare", params={"a": ids["a"], "b": ids["a"]}).text
    assert "Both have the same figures." in same
    spec = client.get("/pictures/sweeps-compared.json", params=ids).json()
    assert {row["series"] for row in spec["data"]["values"]} == {"A", "B"}
    assert client.get("/pictures/sweeps-compared.svg", params=ids).text.startswith("<svg")
    assert f'value="{second}"' in client.get(f"/sweeps/{EXAMPLE_SWEEP_ID}?tab=about").text


def test_reassignments_are_compared_as_by_the_diff_of_the_api(client: httpx.Client) -> None:
    """The partitions are the diff's, each with both lists, and the brokers those whose loads differ."""
    assert client.post("/clusters", data={"cluster": "nine", "text": TEXT}).status_code == 303
    bodies = [{"cluster": "nine", "remove_brokers": [broker]} for broker in (105, 106)]
    one, other = (client.post("/v1/plans/reassignment", json=body).json()["id"] for body in bodies)
    page = Page(200, {}, client.get("/plans/compare", params={"a": one, "b": other}).text)
    found = client.get(f"/v1/plans/{other}/diff", params={"against": one}).json()
    lists = [(row, *(", ".join(map(str, row[side])) for side in ("before", "after"))) for row in found["items"]]
    rows = [f"{row['topic']}-{row['partition']} {before} {after}" for row, before, after in lists]
    assert rows
    assert " ".join(page.by_id("compared").text.split()).endswith(" ".join(rows))
    figures = [
        (row, [(row[f"{name}_before"], row[f"{name}_after"]) for name in LOADS]) for row in found["summary"]["brokers"]
    ]
    unequal = [row["broker"] for row, pairs in figures if any(before != after for before, after in pairs)]
    assert {105, 106} <= set(unequal)
    assert f"{len(unequal)} of {len(unequal)} brokers that differ, the largest difference first." in page.text
    table = page.text.rpartition("Brokers Broker")[2]
    apart = [
        (abs(int(after) - int(before)), broker)
        for broker, before, after in re.findall(r"(\d+) \S+ (\d+) (\d+) \d+ \d+ ", table)
    ]
    assert sorted(int(broker) for _, broker in apart) == sorted(unequal)
    assert [difference for difference, _ in apart] == sorted((each for each, _ in apart), reverse=True)
