"""Pages that answer on themselves: the button and the answer are on the first screen, and the title says the answer."""

import re

import httpx
import pytest
from playwright.sync_api import Locator

from app.api.examples import EXAMPLE_JOB_ID, EXAMPLE_PLAN_ID
from app.store.database import Database
from tests.web.chromium import Visit
from tests.web.test_clusters import TEXT

pytestmark = pytest.mark.slow

SCREEN = 800


def is_on_the_first_screen(part: Locator) -> bool:
    """Whether the part is visible without scrolling."""
    box = part.bounding_box()
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= SCREEN


def test_keys_are_placed_on_one_screen(client: httpx.Client, visit: Visit) -> None:
    assert client.get("/plan/keys").status_code == 200
    visit.page.set_viewport_size({"width": 1280, "height": SCREEN})
    visit.open("/plan/keys?example=1", until="#keys")
    button = visit.page.get_by_role("button", name="Place the keys")
    assert is_on_the_first_screen(button)
    visit.page.locator("#without_key").fill("2")
    button.click()
    visit.page.wait_for_selector("#answer")
    assert is_on_the_first_screen(visit.page.locator("#placed"))
    assert visit.page.title() == "5 records on 12 partitions: Place keys – Rackplan"
    assert visit.page.locator("#placed").get_by_text("without key").count() == 2
    assert visit.page.locator("#without_key").input_value() == "2"
    assert (visit.complaints, visit.elsewhere) == ([], [])


def test_a_cluster_is_checked_on_one_screen(client: httpx.Client, visit: Visit) -> None:
    assert client.post("/clusters/example").status_code == 303
    visit.page.set_viewport_size({"width": 1280, "height": SCREEN})
    visit.open("/plan/check?cluster=example-shop", until="#output")
    button = visit.page.get_by_role("button", name="Check", exact=True)
    assert is_on_the_first_screen(button)
    visit.page.locator("#fail_on").fill("violations skew>10%")
    button.click()
    visit.page.wait_for_selector("#answer")
    assert is_on_the_first_screen(visit.page.locator("#answer .figures"))
    assert visit.page.title().startswith("Fails: Check")
    assert re.search(r"skew>10%\s+[\d.]+ %", visit.page.locator("#answer").inner_text())
    assert visit.page.locator('nav [aria-current="page"]').all_inner_texts() == ["Checks"]
    assert (visit.complaints, visit.elsewhere) == ([], [])


def test_a_failed_paste_is_on_the_first_screen(client: httpx.Client, visit: Visit) -> None:
    """Above the fleet, with the form that has the text."""
    for name in "abcdefgh":
        assert client.post("/clusters", data={"cluster": name, "text": TEXT}).status_code == 303
    visit.page.set_viewport_size({"width": 1280, "height": SCREEN})
    visit.open("/", until="#fleet")
    visit.page.get_by_role("link", name="Add a cluster").click()
    visit.page.locator("#cluster").fill("new")
    visit.page.locator("#text").fill("kubectl get pods")
    visit.page.get_by_role("button", name="Store the snapshot").click()
    visit.page.wait_for_selector('[role="alert"]')
    for seen in (visit.page.get_by_role("alert"), visit.page.get_by_role("button", name="Store the snapshot")):
        assert is_on_the_first_screen(seen)
    assert visit.page.title() == "Error: nothing was stored – Rackplan"
    assert visit.page.locator("#text").input_value() == "kubectl get pods"


def test_a_key_is_revoked_in_two_clicks_and_the_page_says_so(
    client: httpx.Client, database: Database, visit: Visit
) -> None:
    with database.begin() as uow:
        _, secret = uow.api_keys.create("admin", ["admin"])
        uow.api_keys.create("reports", ["read"])
    visit.page.set_extra_http_headers({"Authorization": f"Bearer {secret}"})
    visit.page.set_viewport_size({"width": 1280, "height": SCREEN})
    visit.open("/keys", until="#api-keys")
    assert is_on_the_first_screen(visit.page.get_by_role("button", name="Create the key"))
    assert is_on_the_first_screen(visit.page.locator("#api-keys"))
    row = visit.page.locator("#api-keys tr", has_text="reports")
    assert "valid" in row.inner_text()
    assert not row.get_by_role("button").is_visible()
    row.get_by_label("Revoke the key reports").click()
    revoke = row.get_by_role("button", name="Revoke the key reports")
    assert is_on_the_first_screen(revoke)
    revoke.click()
    visit.page.wait_for_selector('[role="status"]:has-text("The key is revoked")')
    assert visit.page.title() == "Revoked: Access – Rackplan"
    assert "revoked" in visit.page.locator("#api-keys tr", has_text="reports").inner_text()
    assert client.get("/plans", auth=("", secret)).status_code == 200
    assert (visit.complaints, visit.elsewhere) == ([], [])


def test_jobs_are_listed_by_their_plans_and_sorted_by_moment(
    client: httpx.Client, database: Database, visit: Visit
) -> None:
    assert client.get("/jobs").status_code == 200
    with database.begin() as uow:
        uow.jobs.enqueue("replicas", {})
        uow.jobs.start(EXAMPLE_JOB_ID)
        assert uow.jobs.succeed(EXAMPLE_JOB_ID, EXAMPLE_PLAN_ID)
    visit.open("/jobs", until="#job-list")
    assert visit.page.title() == "1 open job: Jobs – Rackplan"
    visit.page.get_by_role("button", name="Accepted").click()
    moments = visit.page.locator("#job-list time").evaluate_all("each => each.map((time) => time.dateTime)")
    assert len(moments) == 2
    assert moments == sorted(moments)
    visit.page.get_by_role("link", name="orders-v2").click()
    visit.page.wait_for_selector('h1:has-text("Succeeded")')
    assert "orders-v2" in visit.page.locator("main").inner_text()
    assert (visit.complaints, visit.elsewhere) == ([], [])


def test_a_study_is_started_without_scrolling(client: httpx.Client, visit: Visit) -> None:
    """The button stays on the screen below a long form, which is the page of capacity while there is no study."""
    assert client.post("/clusters/example").status_code == 303
    visit.page.set_viewport_size({"width": 1280, "height": SCREEN})
    visit.open("/clusters/example-shop/capacity", until="#racks")
    assert is_on_the_first_screen(visit.page.get_by_role("button", name="Start the study"))
    visit.open("/", until="#fleet")
    fleet = visit.page.get_by_role("region", name="Clusters")
    assert fleet.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert (visit.complaints, visit.elsewhere) == ([], [])
