"""The form that checks: its answer is that of the API, errors are beside their fields, and nothing is stored."""

import httpx
import orjson
import pytest

from app.store.database import Database
from app.web.forms.check import FIELDS
from tests.web.browser import Browser, Page
from tests.web.test_clusters import TEXT

EMPTY = dict.fromkeys(FIELDS, "")
MOVE = '{"version": 1, "partitions": [{"topic": "clicks", "partition": 0, "replicas": [101, 102, 103]}]}'


@pytest.fixture
def nine(browser: Browser) -> Browser:
    """A browser of a service that has a cluster of nine brokers."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    return browser


def posted(browser: Browser, **typed: str) -> Page:
    return browser.post("/plan/check", {**EMPTY, "cluster": "nine", **typed})


def test_a_pasted_reassignment_is_checked_as_the_api_does(nine: Browser, client: httpx.Client) -> None:
    own = client.post("/v1/checks", json={"cluster": "nine", "reassignment": orjson.loads(MOVE)}).json()
    page = posted(nine, output=MOVE)
    assert page.status == 200
    assert "accepts the reassignment" in page.text
    assert f"Violations {len(own['violations'])} " in page.text
    assert f"Replicas copied {own['movement']['replicas_added']} " in page.text
    assert all(violation["detail"] in page.text for violation in own["violations"])
    least = own["minimum"]["moved_replicas"]
    assert (f"take at least {least} copied replica" if least else "take no copied replica") in page.text
    assert page.form()["output"] == MOVE


def test_a_cluster_as_it_is_has_its_limits_and_the_least_repair(nine: Browser, client: httpx.Client) -> None:
    limits = {"replicas": {"absolute": 5}}
    own = client.post("/v1/checks", json={"cluster": "nine", "limits": limits}).json()
    page = posted(nine, replica_limit="5")
    assert page.status == 200
    assert f"Loads over a limit {len(own['over_limit'])} " in page.text
    assert len(own["over_limit"]) > 0
    assert "What fails first" in page.text
    assert page.form()["replica_limit"] == "5"
    assert "The cluster as it is" in posted(nine).text


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"cluster": "none"}, "cluster", "no snapshot of a cluster"),
        ({"cluster": ""}, "cluster", ""),
        ({"output": "nonsense <script>"}, "output", ""),
        ({"output": MOVE.replace("103", "999")}, "output", "999"),
        ({"output": MOVE.replace("102", "101")}, "output", "101"),
        ({"output": MOVE.replace('"clicks"', '"nothing"')}, "output", "nothing"),
        ({"output": MOVE, "disk": "80"}, "disk", "leave one of them out"),
        ({"disk": "much"}, "disk", "Enter a number"),
        ({"disk": "1e999"}, "disk", "Enter a number"),
        ({"disk": "-1"}, "disk", ""),
        ({"disk": "80"}, "disk", "capacity"),
        ({"leader_limit": "1.5"}, "leader_limit", "whole numbers"),
    ],
)
def test_an_error_is_beside_its_field(nine: Browser, typed: dict[str, str], field: str, words: str) -> None:
    page = posted(nine, **typed)
    assert (page.status, page.inline_scripts) == (422, [])
    problem = page.by_id(f"{field}-problem").text
    assert problem
    assert words in problem
    assert page.by_id(field).attributes["aria-invalid"] == "true"
    assert page.form()[field] == typed[field]


def test_nothing_is_stored(nine: Browser, database: Database) -> None:
    def counts() -> tuple[int, int]:
        with database.begin() as uow:
            page = uow.snapshots.page(cluster="nine", before=None, size=10)
            return len(page.items), sum(1 for _ in uow.plans.requests())

    before = counts()
    posted(nine, output=MOVE)
    posted(nine)
    assert counts() == before
