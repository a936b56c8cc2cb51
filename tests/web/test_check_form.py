"""The form that checks: its answer is the API's, errors are beside their fields, and nothing is stored."""

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
        ({"output": MOVE, "disk": "80"}, "disk", "capacity"),
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


def test_conditions_state_whether_the_check_fails(nine: Browser) -> None:
    """The same conditions and values as of the command; a share has its limit in percent or as a number."""
    page = posted(nine, fail_on="violations, skew>=10% leader_spread<0")
    assert page.status == 200
    assert "The check fails: 1 of 3 conditions holds." in page.text
    assert "skew>=10% 53.8 % fails" in page.text
    assert "violations 0 passes" in page.text
    assert "The check passes: 0 of 1 condition hold." in posted(nine, output=MOVE, fail_on="moved_replicas>100").text
    assert "The check" not in posted(nine).text


@pytest.mark.parametrize(
    ("fail_on", "words"),
    [
        ("skw>1", "skew"),
        ("skew>>1", "is no condition"),
        ("moved_replicas", "of a reassignment"),
        ("<b>", "no condition"),
    ],
)
def test_what_is_no_condition(nine: Browser, fail_on: str, words: str) -> None:
    page = posted(nine, fail_on=fail_on)
    assert page.status == 422
    assert words in page.by_id("fail_on-problem").text


def test_further_fields_are_those_of_the_api(nine: Browser, client: httpx.Client) -> None:
    """Rates, consumers, prices: an error in them is beside their field, one of a limit beside that."""
    further = {"ingress_bytes_per_s": {"clicks": 1e6}, "limits": {"replicas": {"absolute": 40}}}
    own = client.post("/v1/checks", json={"cluster": "nine", **further}).json()
    page = posted(nine, more=orjson.dumps(further).decode(), leader_limit="100")
    assert page.status == 200, page.text
    assert f"Loads over a limit {len(own['over_limit'])} " in page.text
    for more, field in (
        ("{", "more"),
        ("[]", "more"),
        ('{"prices": 1}', "more"),
        ('{"ingress_bytes_per_s": {"clicks": -1}}', "more"),
        ('{"limits": {"nic_in": -1}}', "nic_in"),
    ):
        page = posted(nine, more=more)
        assert page.status == 422, more
        assert page.by_id(f"{field}-problem").text, more
        assert page.form()["more"] == more


def test_what_is_not_safe_is_on_the_page(browser: Browser, client: httpx.Client) -> None:
    """A lower factor, and a list that waits for a broker that is down; further fields allow the former."""
    partition = {"partition": 0, "replicas": [1, 2, 3], "leader": 1, "isr": [1, 2]}
    topic = {"name": "t", "configs": {"min.insync.replicas": "3"}, "partitions": [partition]}
    brokers = [{"id": broker, "fenced": broker == 3} for broker in (1, 2, 3)]
    snapshot = {"cluster": "unsafe", "kafka_version": "4.1", "brokers": brokers, "topics": [topic]}
    assert client.post("/v1/snapshots", json=snapshot).status_code == 201
    move = '{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [3]}]}'
    typed = {**EMPTY, "cluster": "unsafe", "output": move, "fail_on": "violations"}
    page = browser.post("/plan/check", typed).text
    assert "The check fails" in page
    assert "min.insync.replicas=3" in page
    assert "Kafka 4.1.0 never completes 1 of 1 partitions of t" in page
    allowed = browser.post("/plan/check", {**typed, "more": '{"allow_lower_factor": true}'}).text
    assert "Note: 1 of 1 partitions of t get fewer replicas" in allowed
