"""Rules of every page: nothing of other hosts, no inline script, and assets that may be cached for ever."""

import re

import pytest
from fastapi import FastAPI

from app.api.forms import FormRequests
from app.errors.machine import SettingNotValid
from app.services.limits import Limits
from app.settings import Settings
from app.store.database import Database
from app.web import console
from app.web.assets import ASSETS, PACKAGES
from app.web.pages import headers
from tests.web.browser import Browser, Page

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


NEW_TOPIC = {"cluster": "example-shop", "topics_name": "orders-v2", "topics_partitions": "12"} | {
    "topics_replication_factor": "3"
}


@pytest.fixture
def pages(browser: Browser) -> list[Page]:
    """Each kind of page once."""
    cluster = browser.ask("POST", "/clusters/example").headers["location"]
    plan = browser.ask("POST", "/plan/replicas", data=NEW_TOPIC).headers["location"]
    return [
        browser.get("/"),
        browser.get(cluster),
        browser.get("/plans"),
        browser.get("/sweeps"),
        browser.get("/jobs"),
        browser.get("/guide"),
        browser.get("/guide?q=rack"),
        browser.get("/plan/replicas"),
        browser.post("/plan/replicas", {}),
        browser.get(plan),
        browser.get("/plans/none"),
    ]


def test_pages_load_and_run_nothing_but_what_is_ours(browser: Browser, pages: list[Page]) -> None:
    """Targets of a page's links are on this service and exist; the policy would block anything else, inline styles
    included.
    """
    assert [page.status for page in pages] == [200] * 8 + [422, 200, 404]
    for page in pages:
        assert page.headers["content-security-policy"] == POLICY
        assert page.headers["x-content-type-options"] == "nosniff"
        assert not page.inline_scripts
        for element in page.elements:
            assert element.tag not in ("style", "iframe", "object", "embed", "base")
            assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
            for name in ("href", "src", "action"):
                here = r"[/#?](?!/)|$" if name != "href" or element.tag != "a" else r"[/#?](?!/)|https?://|$"
                assert re.match(here, element.attributes.get(name, ""))
            if element.tag in ("img", "link"):
                address = element.attributes.get("src") or element.attributes["href"]
                assert browser.ask("GET", address).status_code == 200


def test_pages_read_in_order_and_in_any_width(pages: list[Page]) -> None:
    for page in pages:
        assert [heading.tag for heading in page.elements if heading.tag == "h1"] == ["h1"]
        assert next(page.all("html")).attributes["lang"] == "en"
        assert next(page.all("title")).text
        [viewport] = [meta for meta in page.all("meta") if meta.attributes.get("name") == "viewport"]
        assert viewport.attributes["content"] == "width=device-width, initial-scale=1"
        ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids))
        for link in page.all("a"):
            address = link.attributes.get("href", "")
            target = address.partition("#")[2]
            assert not target or re.match(r"[/?]", address) or target in ids


def test_frames_are_for_the_origins_that_the_operator_names(database: Database) -> None:
    app = FastAPI()
    app.include_router(console.router(database, Limits(), FormRequests(Limits()), ancestors=["https://portal.example"]))
    headers = Browser(app).get("/").headers
    assert "frame-ancestors https://portal.example;" in headers["content-security-policy"]
    assert "x-frame-options" not in headers
    for wrong in ("*; script-src *", "portal.example", "https://a.example/path", "javascript:x"):
        with pytest.raises(SettingNotValid, match="RACKPLAN_FRAME_ANCESTORS"):
            Settings(frame_ancestors=wrong)


def test_forms_name_their_origin() -> None:
    """With `no-referrer` a browser sends a form with `Origin: null`, which the service rejects as a foreign page."""
    assert headers()["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize("name", PACKAGES)
def test_an_asset_is_cached_for_ever_by_its_address_only(browser: Browser, name: str) -> None:
    answer = browser.ask("GET", ASSETS[name].address)
    assert answer.content == ASSETS[name].content
    assert answer.headers["content-type"] == ASSETS[name].media_type
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    for other in (f"/static/{name}", f"/static/{name}?v=0"):
        assert browser.ask("GET", other).headers["cache-control"] == "no-cache"


def test_there_are_no_other_assets(browser: Browser) -> None:
    for name in ("pages.py", "..%2Fpages.py", "%2Fetc%2Fpasswd"):
        assert browser.ask("GET", f"/static/{name}").status_code == 404


def test_style_sheets_take_nothing_from_elsewhere() -> None:
    for name in ("style.css", "picture.css"):
        assert not re.search(rb"@import|url\(|https?:", ASSETS[name].content)
