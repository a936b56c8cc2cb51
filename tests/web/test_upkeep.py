"""Cancelling, deleting, labelling, resending and looking up on pages."""

import re
from html import unescape
from uuid import uuid4

import httpx
import pytest

from app.api.examples import EXAMPLE_DELIVERY_ID, EXAMPLE_WEBHOOK_ID, SNAPSHOT_EXAMPLES
from app.store import transaction
from app.store.audit import LONGEST
from app.store.database import Database
from app.web.administration.audit import ACTIONS, PHRASES
from app.web.plans import selection
from tests.web.browser import Browser, Page
from tests.web.test_clusters import TEXT, keep, small
from tests.web.test_plan_forms import EMPTY

HTML = {"Accept": "text/html"}
ADMIN = {"name": "ops", "scope": "admin"}


@pytest.fixture
def plan(browser: Browser) -> str:
    """The address of a reassignment that removes a broker of nine."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    typed = {**EMPTY, "cluster": "nine", "remove_brokers": "105"}
    return str(browser.ask("POST", "/plan/reassignment", data=typed).headers["location"])


def test_a_job_is_cancelled_once(browser: Browser, database: Database) -> None:
    with database.begin() as uow:
        job = uow.jobs.enqueue("replicas", {})
    assert "Cancel the job" in browser.get(f"/jobs/{job.id}").text
    for _ in range(2):  # also one that has ended in the meantime
        assert browser.ask("POST", f"/jobs/{job.id}/cancel").headers["location"] == f"/jobs/{job.id}"
    page = browser.get(f"/jobs/{job.id}")
    assert ("Cancelled" in page.text, "Cancel the job" in page.text) == (True, False)


class TestLabels:
    """They are replaced by the form's."""

    def test_change(self, browser: Browser, plan: str) -> None:
        for typed in ("team=payments\n\nticket = OPS-1 ", "ticket=OPS-1", ""):
            sent = {**browser.get(f"{plan}/about").form(), "labels": typed}
            assert browser.ask("POST", f"{plan}/status", data=sent).status_code == 303
            text = "\n".join(line.replace(" ", "") for line in typed.splitlines() if line)
            assert browser.get(f"{plan}/about").by_id("labels").text.strip() == text
        assert "labels removed" in browser.get(f"{plan}/about").text
        assert plan in browser.get("/plans").source

    @pytest.mark.parametrize("typed", ["team", "=x", "a=" + "x" * 256, "x" * 64 + "=", "a=\x07"])
    def test_rejected(self, browser: Browser, plan: str, typed: str) -> None:
        """With the typed values, and nothing changed."""
        sent = {**browser.get(f"{plan}/about").form(), "labels": typed, "notes": "mine", "status": "approved"}
        page = browser.post(f"{plan}/status", sent)
        assert (page.status, "Nothing was changed" in page.text) == (422, True)
        assert (page.form()["notes"], page.form()["status"]) == ("mine", "approved")
        assert "mine" not in browser.get(f"{plan}/about").text

    def test_too_many(self, browser: Browser, plan: str) -> None:
        sent = {**browser.get(f"{plan}/about").form(), "labels": "\n".join(f"l{n}=" for n in range(65))}
        assert "at most 64 labels" in browser.post(f"{plan}/status", sent).text

    def test_what_is_written_is_read(self) -> None:
        stated = {"a": "b=c", "with blank": "x y", "empty": ""}
        assert selection.read(selection.write(stated)) == stated


class TestDeletion:
    """Of plans and snapshots; needed ones stay."""

    def test_a_plan(self, browser: Browser, plan: str) -> None:
        assert browser.ask("POST", f"{plan}/delete").headers["location"] == "/plans"
        assert browser.get(plan).status == 404
        assert browser.ask("POST", f"{plan}/delete").status_code == 404
        assert browser.ask("POST", "/plans/x/delete").status_code == 404

    def test_a_snapshot(self, client: httpx.Client, database: Database) -> None:
        """One that a plan needs stays, and a page says so; a cluster without any is gone."""
        assert client.post("/clusters", data={"cluster": "nine", "text": TEXT}).status_code == 303
        made = client.post("/v1/plans/reassignment", json={"cluster": "nine", "remove_brokers": [105]}).json()
        rejection = client.post(f"/snapshots/{made['snapshot_id']}/delete", headers=HTML)
        assert (rejection.status_code, "plans: 1" in rejection.text) == (409, True)
        keep(database, small())
        keep(database, small(leader=2))
        for left in (1, 0):
            [snapshot] = re.findall(r'action="/snapshots/([^/]+)/delete"', client.get("/clusters/small/history").text)
            address = client.post(f"/snapshots/{snapshot}/delete").headers["location"]
            assert address == ("/clusters/small" if left else "/")
        assert client.get("/clusters/small").status_code == 404
        assert client.post(f"/snapshots/{uuid4()}/delete", headers=HTML).status_code == 404


def test_a_delivery_is_sent_again(client: httpx.Client) -> None:
    address = f"/webhooks/{EXAMPLE_WEBHOOK_ID}/deliveries/{EXAMPLE_DELIVERY_ID}/replay"
    assert f'action="{address}"' in client.get("/webhooks").text
    assert client.post(address).headers["location"] == "/webhooks"
    listed = client.get(f"/webhooks/{EXAMPLE_WEBHOOK_ID}")
    assert f'action="{address}"' in listed.text
    assert "&#34;type&#34;:" in listed.text
    assert "There is no delivery in this state" in client.get(f"/webhooks/{EXAMPLE_WEBHOOK_ID}?state=succeeded").text
    assert client.get(f"/webhooks/{uuid4()}").status_code == 404
    unknown = client.post(f"/webhooks/{EXAMPLE_WEBHOOK_ID}/deliveries/{uuid4()}/replay")
    assert (unknown.status_code, "has no delivery" in unknown.text) == (422, True)


class TestAuditLog:
    """Its page lists the same as the API."""

    def test_entries(self, client: httpx.Client) -> None:
        client.post("/clusters", data={"cluster": "<b>nine</b>", "text": TEXT})
        listed = client.get("/audit?action=POST+/clusters")
        assert listed.text.count('title="POST /clusters">Stored a snapshot</a>') == 1
        assert "<b>nine</b>" not in listed.text
        assert 'href="/v1/audit/export?action=POST+%2Fclusters&amp;format=csv"' in listed.text
        assert 'href="/v1/audit/export?action=POST+%2Fclusters&amp;format=jsonl"' in listed.text
        assert "No entry matches" in client.get("/audit?action=POST+/clusters&outcome=failed").text

    def test_entries_are_words_with_links_to_pages(self, client: httpx.Client) -> None:
        """A route without words is shown as it is; one that was rejected was not carried out."""
        client.post("/clusters", data={"cluster": "nine", "text": TEXT})
        change = {"cluster": "nine", "remove_brokers": [105]}
        plan = client.post("/v1/plans/reassignment", json=change).json()
        client.post("/v1/plans/reassignment", json={"cluster": "none", "remove_brokers": [105]})
        shown = Page(200, {}, client.get("/audit").text)
        rows = [" ".join(each.text.split()) for each in shown.all("tr")]
        assert rows[1].startswith("Could not plan a reassignment anyone")
        assert "snapshot not found" in rows[1]
        assert rows[2].startswith("Planned a reassignment Remove broker 105 from nine anyone")
        assert " done " in rows[2]
        assert f"/plans/{plan['id']}" in [each.attributes.get("href") for each in shown.all("a")]

    def test_every_operation_that_changes_something_has_words(self, client: httpx.Client) -> None:
        for path, operations in client.get("/openapi.json").json()["paths"].items():
            for method in operations.keys() & {"post", "patch", "delete"}:
                assert f"{method.upper()} {path}" in ACTIONS

    def test_entries_of_a_time_an_address_and_a_request(self, client: httpx.Client) -> None:
        """Moments are of UTC unless they state an offset; the export has the same entries as the page."""
        made = client.post("/clusters", data={"cluster": "nine", "text": TEXT})
        request_id = made.headers["x-request-id"]
        for query, found in (
            ({"request_id": request_id}, 1),
            ({"request_id": request_id, "address": "127.0.0.1"}, 1),
            ({"request_id": request_id, "address": "192.0.2.1"}, 0),
            ({"request_id": request_id, "since": "2020-01-31 13:00", "until": "2999-01-01T00:00+02:00"}, 1),
            ({"request_id": request_id, "until": "2020-01-31"}, 0),
        ):
            listed = client.get("/audit", params=query)
            assert listed.text.count(">Stored a snapshot<") == found, query
            [exported] = re.findall(r'href="(/v1/audit/export[^"]*jsonl)"', listed.text)
            assert len(client.get(unescape(exported)).text.splitlines()) == found, query
        for typed in ("yesterday", "2026-13-01", "0001-01-01T00:00+23:59"):
            answer = client.get("/audit", params={"since": typed})
            assert (answer.status_code, 'id="since-problem"' in answer.text) == (422, True), typed

    def test_pages(self, client: httpx.Client, database: Database) -> None:
        with database.begin(is_own=True) as uow:
            for number in range(41):
                uow.audit.record("key.created", f"key-{number}", team=transaction.DEFAULT)
        first = client.get("/audit?action=key.created").text
        [older] = re.findall(r'href="(/audit\?[^"]*before=\d+)"', first.replace("&amp;", "&"))
        second = client.get(older).text
        assert (first.count(">Created an API key<"), second.count(">Created an API key<")) == (40, 1)

    @pytest.mark.parametrize(("wanted", "count"), [("", 2), ("done", 1), ("failed", 1), ("unknown", 2)])
    def test_outcomes(self, client: httpx.Client, wanted: str, count: int) -> None:
        """An outcome that there is not is any; the export has the same entries."""
        client.post("/clusters", data={"cluster": "nine", "text": TEXT})
        client.post("/clusters", data={"cluster": "nine", "text": "no cluster"})
        listed = client.get("/audit", params={"action": "stored a snapshot", "outcome": wanted}).text
        assert len([*Page(200, {}, listed).all("tr")]) - 1 == count
        if wanted != "unknown":
            [exported] = re.findall(r'href="(/v1/audit/export[^"]*jsonl)"', listed)
            assert len(client.get(unescape(exported)).text.splitlines()) == count

    def test_a_key_that_a_page_creates_is_one_entry(self, client: httpx.Client) -> None:
        """The entry of the change says what the one of its request does; both are exported."""
        secret = re.search(r'id="secret"[^>]*><code>([^<]+)', client.post("/keys", data=ADMIN).text)
        assert secret is not None
        key = {"authorization": f"Bearer {secret[1]}"}
        listed = client.get("/audit?action=created+an+API+key", headers=key).text
        assert listed.count(">Created an API key<") == 1
        [exported] = re.findall(r'href="(/v1/audit/export[^"]*jsonl)"', listed)
        assert len(client.get(unescape(exported), headers=key).text.splitlines()) == 2

    def test_phrases_are_in_the_filter_and_fit_it(self, client: httpx.Client) -> None:
        """Each action is in one phrase; the actions of a phrase are one parameter of an export."""
        listed = {each.attributes["value"] for each in Page(200, {}, client.get("/audit").text).all("option")}
        assert PHRASES.keys() <= listed
        assert sum(actions.count(",") + 1 for actions in PHRASES.values()) == len(ACTIONS)
        assert max(map(len, PHRASES.values())) <= LONGEST

    def test_a_snapshot_and_a_study_are_named_and_linked(self, client: httpx.Client) -> None:
        client.post("/clusters", data={"cluster": "nine", "text": TEXT})
        client.post("/v1/snapshots", json=SNAPSHOT_EXAMPLES["json"]["value"] | {"cluster": "ten"})
        changes = {"kind": "reassignment", "cluster": "nine", "axes": {"remove_broker": "each"}}
        study = client.post("/v1/sweeps", json=changes | {"labels": {"study": "Which one"}}).json()["id"]
        shown = client.get("/audit").text
        assert f'href="/sweeps/{study}"><bdi>Which one</bdi>' in shown
        assert re.search(r'href="/clusters/ten\?snapshot=[0-9a-f-]{36}"><bdi>ten</bdi>', shown)
