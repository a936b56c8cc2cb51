"""A stored request in its form: changed, and planned or submitted again."""

from uuid import UUID, uuid4

import httpx
import pytest

from app.api.examples import (
    EXAMPLE_GROUP_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_STREAMS_PLAN_ID,
    EXAMPLE_SWEEP_ID,
)
from app.web.forms.requests import FIELDS_OF
from tests.web.browser import Page


@pytest.mark.parametrize(
    ("kind", "plan"), [("reassignment", EXAMPLE_REASSIGNMENT_PLAN_ID), ("streams", EXAMPLE_STREAMS_PLAN_ID)]
)
def test_a_stored_request_is_changed_and_planned_again(client: httpx.Client, kind: str, plan: UUID) -> None:
    """As fields that are sent as they are, it is the same plan; the page of the plan leads to it. A plan of another
    kind is a 404.
    """
    assert f'href="/plan/{kind}?again={plan}"' in client.get(f"/plans/{plan}").text
    form = client.get(f"/plan/{kind}?again={plan}")
    page = Page(form.status_code, form.headers, form.text)
    made = client.post(f"/plan/{kind}", data={name: page.form()[name] for name in FIELDS_OF[kind]})
    assert (made.status_code, made.headers.get("location")) == (303, f"/plans/{plan}"), made.text[:2000]
    for wrong in ("x", uuid4(), EXAMPLE_GROUP_PLAN_ID):
        assert client.get(f"/plan/{kind}?again={wrong}").status_code == 404
        assert client.get(f"/plan/group?again={wrong}").status_code == 404


def test_a_sweep_is_changed_and_submitted_again(client: httpx.Client) -> None:
    assert f'href="/plan/sweep?again={EXAMPLE_SWEEP_ID}"' in client.get(f"/sweeps/{EXAMPLE_SWEEP_ID}").text
    form = client.get(f"/plan/sweep?again={EXAMPLE_SWEEP_ID}")
    page = Page(form.status_code, form.headers, form.text)
    made = client.post("/plan/sweep", data={name: page.form()[name] for name in FIELDS_OF["sweep"]})
    assert made.status_code == 303, made.text[:2000]
    new = client.get("/v1" + made.headers["location"]).json()
    assert new["definition"] == client.get(f"/v1/sweeps/{EXAMPLE_SWEEP_ID}").json()["definition"]
    assert str(client.base_url).rstrip("/") + "/v1/sweeps" in page.text  # the address of curl's request
