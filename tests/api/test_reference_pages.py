"""`/docs` and `/redoc` in a browser: they work on a closed network, under their policy, and cannot be framed."""

import re
from threading import Event
from typing import Literal

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from app.api.http.compression import LEAST_BYTES
from app.web.reference import OpenApiDocument
from tests.api.operations import OPERATIONS
from tests.web.browser import Page as Source
from tests.web.chromium import Visit

PAGES = ["/docs", "/redoc", "/problems", "/warnings", "/violations"]


def _open_every_group(visit: Visit) -> None:
    visit.open("/docs", until=".opblock-tag")
    for group in visit.page.locator(".opblock-tag[data-is-open=false]").all()[::-1]:
        group.click()


@pytest.mark.long
@pytest.mark.slow
def test_swagger_ui_opens_within_a_few_screens_and_filters_operations(visit: Visit) -> None:
    """By group, method, path and summary; groups with a match are open."""
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    visit.open("/docs", until=".opblock-tag")
    assert visit.page.locator(".opblock").count() == 0
    assert visit.page.evaluate("document.documentElement.scrollHeight") <= 2.5 * 800
    visit.page.locator(".operation-filter-input").fill("/PARTITIONERS")
    visit.page.wait_for_selector("#operations-keys-list_partitioners")
    paths = visit.page.locator(".opblock-summary-path").all_inner_texts()
    assert paths
    assert all("/partitioners" in path.replace("\u200b", "") for path in paths)
    assert visit.complaints == []


@pytest.mark.long
@pytest.mark.slow
def test_swagger_ui_lists_every_operation_and_runs_one(visit: Visit) -> None:
    """Collapsed: parameters and answers of an operation are rendered when it is opened."""
    _open_every_group(visit)
    assert visit.page.locator(".opblock").count() == len(OPERATIONS)
    assert visit.page.locator(".opblock.is-open").count() == 0
    assert visit.page.locator("section.models").count() == 0
    assert (visit.elsewhere, visit.complaints) == ([], [])
    visit.page.locator("#operations-keys-list_partitioners .opblock-summary-control").click()
    visit.page.locator("#operations-keys-list_partitioners button.execute").click()
    visit.page.wait_for_selector(".live-responses-table .response-col_status")
    assert "200" in visit.page.locator(".live-responses-table .response-col_status").last.inner_text()
    assert (visit.elsewhere, visit.complaints) == ([], [])


OF_SWAGGER_UI = {"heading-order", "nested-interactive"}
"""Rules that its markup breaks: groups are headings of level 3 below one of level 1, and the path of an operation is a
link within the button that opens it."""


@pytest.mark.long
def test_swagger_ui_breaks_no_rule_but_by_its_own_markup(visit: Visit) -> None:
    """Closed, with every group open, and with an operation open, whose examples are reached by keyboard."""
    visit.open("/docs", until=".opblock-tag")
    assert {rule["id"] for rule in Axe().run(visit.page).response["violations"]} <= OF_SWAGGER_UI
    _open_every_group(visit)
    visit.page.locator("#operations-keys-list_partitioners .opblock-summary-control").click()
    visit.page.wait_for_selector("#operations-keys-list_partitioners .example[tabindex='0']")
    assert {rule["id"] for rule in Axe().run(visit.page).response["violations"]} <= OF_SWAGGER_UI


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_swagger_ui_is_readable_and_fits(visit: Visit, scheme: Literal["light", "dark"]) -> None:
    """Every operation with enough contrast, in the colours of the reader's choice, at both widths."""
    visit.page.emulate_media(color_scheme=scheme)
    for width in (1280, 390):
        visit.page.set_viewport_size({"width": width, "height": 800})
        _open_every_group(visit)
        found = Axe().run(visit.page, options={"runOnly": ["color-contrast"]}).response["violations"]
        assert [node["html"] for rule in found for node in rule["nodes"]] == []
        assert not visit.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


@pytest.mark.long
def test_redoc_contacts_no_other_host(visit: Visit) -> None:
    visit.open("/redoc", until="h1")
    assert visit.page.locator("h1").first.inner_text().startswith("Rackplan")
    assert (visit.elsewhere, visit.complaints) == ([], [])


@pytest.mark.parametrize("path", PAGES)
def test_no_page_runs_inline_scripts_or_can_be_framed(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert policy.get("script-src", "'self'") == "'self'"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", PAGES)
def test_every_file_is_the_services_own_compressed_and_cached_for_ever(client: httpx.Client, path: str) -> None:
    page = client.get(path)
    files = [
        element.attributes.get("src") or element.attributes.get("href", "")
        for element in Source(page.status_code, page.headers, page.text).elements
        if element.tag in ("script", "link", "img")
    ]
    assert all(address.startswith("/") and not address.startswith("//") for address in files)
    for address in files:
        answer = client.get(address, headers={"Accept-Encoding": "gzip"})
        assert answer.status_code == 200
        assert len(answer.content) < LEAST_BYTES or answer.headers["content-encoding"] == "gzip"
        if address != "/openapi.json":
            assert "immutable" in answer.headers["cache-control"]


def test_no_line_of_a_description_is_taken_for_an_item_of_a_list() -> None:
    """Swagger UI takes a line that begins with "404." for one, in the midst of a sentence."""
    lines = [line for *_, operation in OPERATIONS for line in operation["description"].splitlines()]
    assert lines
    assert [line for line in lines if re.match(r"\s*\d+[.)] ", line)] == []


def test_a_document_that_a_page_will_ask_for_is_built_once() -> None:
    begun, builds = Event(), []

    def build() -> bytes:
        builds.append("{}")
        begun.set()
        return b"{}"

    document = OpenApiDocument(build)
    document.begin()
    assert begun.wait(30)
    assert document.built()[0] == b"{}"
    document.begin()
    assert document.built() == document.built()
    assert builds == ["{}"]
