"""A stored request in its form: changed, and planned or submitted again."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.api.examples import (
    CONSUMERS_REQUEST,
    EXAMPLE_GROUP_PLAN_ID,
    EXAMPLE_SWEEP_ID,
    GROUP_REQUEST,
    PLACE,
    PLACE_REQUEST,
    REASSIGNMENT_REQUEST,
    RESTART_REQUEST,
    STREAMS_REQUEST,
)
from app.web.forms.requests import FIELDS_OF
from tests.web.browser import Page

CONFIGURED: dict[str, Any] = PLACE | {"topics": [PLACE["topics"][0] | {"configs": {"min.insync.replicas": "2"}}]}
REQUESTS = {
    "reassignment": REASSIGNMENT_REQUEST,
    "replicas": PLACE_REQUEST | {"configs": {"value": CONFIGURED}},
    "group": GROUP_REQUEST,
    "streams": STREAMS_REQUEST,
    "restart": RESTART_REQUEST,
    "consumers": CONSUMERS_REQUEST,
}


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in REQUESTS for name in REQUESTS[kind]])
def test_a_stored_request_is_changed_and_planned_again(client: httpx.Client, kind: str, name: str) -> None:
    """The page of the plan leads to the form, which can be sent as it is: it then makes the same plan."""
    plan = client.post(f"/v1/plans/{kind}", json=REQUESTS[kind][name]["value"]).json()["id"]
    assert f'href="/plan/{kind}?again={plan}"' in client.get(f"/plans/{plan}").text
    form = client.get(f"/plan/{kind}?again={plan}")
    page = Page(form.status_code, form.headers, form.text)
    controls = {each: value for each, value in page.form().items() if each in (*FIELDS_OF[kind], "body")}
    missing = [each for each in page.all("input") if "required" in each.attributes and not each.attributes["value"]]
    assert [each.attributes["name"] for each in missing if each.attributes["id"] in controls] == []
    made = client.post(f"/plan/{kind}", data=controls)
    assert made.status_code == 303, Page(made.status_code, made.headers, made.text).by_id("body-problem").text
    assert made.headers["location"] == f"/plans/{plan}"


def test_a_request_of_another_kind_is_not_found(client: httpx.Client) -> None:
    for wrong in ("x", uuid4(), EXAMPLE_GROUP_PLAN_ID):
        assert client.get(f"/plan/streams?again={wrong}").status_code == 404


def test_a_sweep_is_changed_and_submitted_again(client: httpx.Client) -> None:
    assert f'href="/plan/sweep?again={EXAMPLE_SWEEP_ID}"' in client.get(f"/sweeps/{EXAMPLE_SWEEP_ID}").text
    form = client.get(f"/plan/sweep?again={EXAMPLE_SWEEP_ID}")
    page = Page(form.status_code, form.headers, form.text)
    made = client.post("/plan/sweep", data={name: page.form()[name] for name in FIELDS_OF["sweep"]})
    assert made.status_code == 303, made.text[:2000]
    new = client.get("/v1" + made.headers["location"]).json()
    assert new["definition"] == client.get(f"/v1/sweeps/{EXAMPLE_SWEEP_ID}").json()["definition"]
    assert str(client.base_url).rstrip("/") + "/v1/sweeps" in page.text  # the address of curl's request
