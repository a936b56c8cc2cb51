"""Problems as pages: for browsers alone, and never for an operation of the API."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import httpx
import pytest

from app.api.examples import EXAMPLE_REASSIGNMENT_PLAN_ID
from app.services import api_keys, share_links
from app.services.share_links import Subject
from app.store.database import Database
from tests.api.test_admission import locked
from tests.databases import Rows
from tests.jobs.cluster import wait_for
from tests.service import client_of, served
from tests.web.browser import Page

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
TOO_LARGE = b"x" * (10 * 1024 * 1024 + 1)


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "words"),
    [
        ("GET", "/nothing<script>", {}, 404, "there is nothing at /nothing"),
        ("GET", "/pictures/plan.svg?plan=x", {}, 404, "x is no id"),
        ("DELETE", "/plans", {}, 405, "does not take DELETE"),
        ("POST", "/clusters", {"content": TOO_LARGE}, 413, "the limit is 10485760 bytes"),
        ("POST", "/share", {"data": {"kind": "plan", "name": "x", "days": "0"}}, 422, "greater than or equal to 1"),
        ("GET", "/plans/x?batch=none", {}, 422, "batch"),
    ],
)
def test_a_problem_is_a_page_for_a_browser(
    client: httpx.Client, method: str, path: str, sent: dict[str, object], status: int, words: str
) -> None:
    """With the status and headers of the problem, nothing of the request as markup, and a way on."""
    answer = client.request(method, path, headers=BROWSER, **sent)  # type: ignore[arg-type] # fields of a request
    page = Page(answer.status_code, answer.headers, answer.text)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert words in page.text
    assert page.inline_scripts == []
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-request-id"] in page.text
    assert "All clusters" in page.text
    other = client.request(method, path, **sent)  # type: ignore[arg-type] # fields of a request
    assert (other.status_code, other.headers["content-type"]) == (status, "application/problem+json")


def test_an_operation_of_the_api_answers_a_browser_with_json(client: httpx.Client) -> None:
    answer = client.get("/v1/plans/x", headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


PLAN = f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}"
REQUESTS_PER_MINUTE = 40


@pytest.fixture(scope="module")
def strict_address(rows: Rows) -> Iterator[str]:
    """A service as it is deployed, in processes, with one slot of each kind, no queue and a low rate."""
    narrow = {"solver_processes": 1, "reader_processes": 1, "queued_requests": 0, "rate_per_key": REQUESTS_PER_MINUTE}
    with served(rows.database, **narrow) as address:
        yield address


@pytest.fixture
def strict(strict_address: str, client: httpx.Client) -> Iterator[httpx.Client]:  # noqa: ARG001 -- rows are reset
    with client_of(strict_address) as strict:
        strict.headers["Accept"] = BROWSER["Accept"]
        yield strict


def page_of(answer: httpx.Response, status: HTTPStatus) -> Page:
    """The page of an answer, which is a page of a problem and has a way on."""
    assert answer.status_code == status, answer.text[:500]
    page = Page(answer.status_code, answer.headers, answer.text)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    return page


def key_of(database: Database, scope: str) -> dict[str, str]:
    """The header of a new API key with that scope."""
    with database.begin() as uow:
        _, secret = api_keys.create(uow, name=f"key of {scope}", scopes=[scope])
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.slow
class TestProvoked:
    """Each problem as a person meets it, of a service that has reason to answer so."""

    @pytest.mark.long
    def test_a_link_that_has_expired(self, strict: httpx.Client, database: Database) -> None:
        with database.begin() as uow:
            subject = Subject("plan", str(EXAMPLE_REASSIGNMENT_PLAN_ID))
            made = (
                share_links.links(uow, share_links.signing_key(uow), "", subject, days=days).page for days in (1, -1)
            )
            valid, expired = (address.partition("share=")[2] for address in made)
        assert strict.get(PLAN, params={"share": valid}).is_success
        page = page_of(strict.get(PLAN, params={"share": expired}), HTTPStatus.FORBIDDEN)
        assert "the link expired at" in page.text

    def test_a_page_has_nothing_of_the_request_before(self, strict: httpx.Client) -> None:
        """A slot serves one request after another: a page that fails early has no navigation of the page before."""
        assert 'aria-current="page"' in strict.get("/jobs").text
        rejected = strict.get(PLAN, params={"share": "page.1.none"})
        assert 'aria-current="page"' not in page_of(rejected, HTTPStatus.FORBIDDEN).source

    def test_no_slot_is_free(self, strict: httpx.Client, database: Database) -> None:
        with ThreadPoolExecutor(3) as threads:
            with locked(database, "plans"):
                sent = [threads.submit(strict.get, PLAN) for _ in range(3)]
                wait_for(lambda: sum(answer.done() for answer in sent) == 2, within_s=20)
                turned_away = [answer.result() for answer in sent if answer.done()]
            assert [answer.result(60).is_success for answer in sent].count(True) == 1
        for answer in turned_away:
            page = page_of(answer, HTTPStatus.SERVICE_UNAVAILABLE)
            assert f"may be sent again in {answer.headers['Retry-After']} s" in page.text

    @pytest.mark.long
    def test_a_key_beyond_its_scope(self, strict: httpx.Client, database: Database) -> None:
        key = key_of(database, "read")
        assert strict.get(PLAN, headers=key).is_success
        page = page_of(strict.post("/plan/reassignment", headers=key, data={"body": "{}"}), HTTPStatus.FORBIDDEN)
        assert "plan" in page.text
        assert "key of read" in page.text

    def test_a_key_beyond_its_rate(self, strict: httpx.Client, database: Database) -> None:
        key = key_of(database, "plan")
        answers = (strict.get("/jobs", headers=key) for _ in range(3 * REQUESTS_PER_MINUTE))
        rejected = next(answer for answer in answers if answer.is_error)
        page = page_of(rejected, HTTPStatus.TOO_MANY_REQUESTS)
        assert f"may be sent again in {rejected.headers['Retry-After']} s" in page.text
