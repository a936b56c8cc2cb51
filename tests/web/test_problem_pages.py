"""Problems as pages: for browsers alone, and never for an operation of the API."""

import httpx
import pytest

from tests.web.browser import Page

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
TOO_LARGE = b"x" * (10 * 1024 * 1024 + 1)


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "words"),
    [
        ("GET", "/nothing<script>", {}, 404, "there is nothing at /nothing"),
        ("GET", "/pictures/plan.svg?plan=x", {}, 404, "there is nothing at /pictures/plan.svg"),
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
    answer = client.request(method, path, headers=BROWSER, **sent)  # type: ignore[arg-type] # what a request takes
    page = Page(answer.status_code, answer.headers, answer.text)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert words in page.text
    assert page.inline_scripts == []
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-request-id"] in page.text
    assert "All clusters" in page.text
    other = client.request(method, path, **sent)  # type: ignore[arg-type] # as above
    assert (other.status_code, other.headers["content-type"]) == (status, "application/problem+json")


def test_an_operation_of_the_api_answers_a_browser_with_json(client: httpx.Client) -> None:
    answer = client.get("/v1/plans/x", headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
