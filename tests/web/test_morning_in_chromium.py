"""A morning without curl, and faults that need a layout: sizes sorted by value, every row printed."""

from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Locator

from tests.web.chromium import Visit
from tests.web.test_clusters import TEXT

pytestmark = pytest.mark.slow

MOST_CLICKS = 12


class Clicks:
    """The clicks of a person, each on an element seen without scrolling more than a screen."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.count = visit, 0

    def on(self, role: str, name: str, *, until: str, last: bool = False) -> None:
        found = self.visit.page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type] # a role of ARIA
        self.at(found.last if last else found.first, until=until)

    def at(self, target: Locator, *, until: str) -> None:
        box = target.bounding_box()
        assert box is not None, target
        assert box["y"] < 2 * 800, target
        target.click()
        self.count += 1
        self.visit.page.wait_for_selector(until)


@pytest.mark.long
def test_a_morning_takes_twelve_clicks_and_no_json(client: httpx.Client, visit: Visit) -> None:
    """From the health of a cluster over a lost rack, a decommissioning and its alternative to the comparison, the
    approval, the files, the progress, the size of next year and a link for others: with the pages alone.
    """
    assert client.post("/clusters/example").status_code == 303
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    visit.open("/clusters/example-shop", until="#findings")
    clicks = Clicks(visit)
    clicks.on("button", "az-a", until=".strip")
    assert "Plan so that this is safe" in visit.page.locator(".strip").inner_text()
    clicks.at(visit.page.get_by_title("broker 103"), until='h1:has-text("Brokers / 103")')
    clicks.on("link", "Decommission it", until="#remove_brokers")
    assert visit.page.locator("#remove_brokers").input_value() == "103"
    clicks.on("button", "Plan", until=".steps")
    clicks.on("link", "Change the request", until="#replicas")
    visit.page.locator("#replicas").select_option("tight")
    clicks.on("button", "Plan and compare", until='h1:has-text("compared")')
    assert visit.page.get_by_text("Better in").count() > 0
    clicks.on("button", "Approve this one", until='.steps [aria-current]:has-text("Approved")', last=True)
    assert urlsplit(visit.page.url).path.endswith("/execute")
    assert "not started" in visit.page.locator('#execution [role="status"]').inner_text()
    with visit.page.expect_download() as download:
        clicks.on("link", "Batches (zip)", until="#batches")
    assert download.value.suggested_filename.endswith(".zip")
    clicks.on("link", "Capacity", until="#brokers_per_rack")
    assert visit.page.locator("#study").input_value() == "Size for next year"
    clicks.on("button", "Start the study", until='h1:has-text("Size for next year")')
    clicks.at(visit.page.locator(".bar summary", has_text="Share"), until="#days")
    clicks.on("button", "Make a link", until="#link")
    assert "share=" in visit.page.locator("#link").inner_text()
    assert clicks.count <= MOST_CLICKS
    assert (visit.complaints, visit.elsewhere) == ([], [])


def test_sizes_and_changes_are_sorted_by_value(client: httpx.Client, visit: Visit) -> None:
    """MiB before GiB, and `9 → 10` after `12 → 8`; the heading has an arrow."""
    assert client.post("/clusters", data={"cluster": "nine", "text": TEXT}).status_code == 303
    visit.open("/plans", until="h1")
    assert visit.page.locator("[aria-label=Plans] th .sort").all_inner_texts() == [
        "Plan",
        "Kind",
        "Cluster",
        "Status",
        "Made",
    ]
    visit.page.evaluate(
        """() => {
            const head = "<table data-sort id=sizes><thead><tr><th>a</th><th>b</th></tr></thead><tbody>";
            document.querySelector("main").innerHTML = head + [
                ["1.5 GiB", "9 → 10"], ["900.0 MiB", "12 → 8"], ["–", "3 → 2"], ["2,000 B", "1"]]
                .map(([a, b]) => `<tr><td>${a}</td><td>${b}</td></tr>`).join("") + "</tbody></table>";
        }"""
    )
    script = visit.page.locator("script[src*=console]").get_attribute("src")
    visit.page.evaluate("script => import(script + '&again')", script)
    ordered = {"a": ["–", "2,000 B", "900.0 MiB", "1.5 GiB"], "b": ["1", "3 → 2", "12 → 8", "9 → 10"]}
    for column, wanted in ordered.items():
        visit.page.locator("#sizes").get_by_role("button", name=column).click()
        cells = visit.page.locator(f"#sizes tbody td:nth-child({'ab'.index(column) + 1})").all_inner_texts()
        assert cells == wanted
    head = visit.page.locator('th[aria-sort="ascending"] .sort')
    assert "↑" in head.evaluate("button => getComputedStyle(button, '::after').content")


@pytest.mark.long
def test_every_row_is_printed(client: httpx.Client, visit: Visit) -> None:
    """Elements that scroll on a screen have their full length on paper."""
    long = "".join(f"\tTopic: long\tPartition: {each}\tLeader: 101\tReplicas: 101\tIsr: 101\n" for each in range(60))
    assert client.post("/clusters", data={"cluster": "nine", "text": f"{TEXT}\n{long}"}).status_code == 303
    visit.open("/clusters/nine/topics/long", until="#partitions")
    region = visit.page.get_by_role("region", name="Partitions")
    assert region.evaluate("each => each.scrollHeight > each.clientHeight + 20")
    visit.page.emulate_media(media="print")
    assert region.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    assert not visit.page.get_by_role("navigation", name="Main").is_visible()
    body = '{"cluster": "nine", "remove_brokers": [105]}'
    visit.page.emulate_media(media="screen")
    plan = client.post("/plan/reassignment", data={"body": body}).headers["location"]
    visit.open(plan, until="main details")
    folded = visit.page.locator("main details:not([open]):not(:has(form)) li").first
    assert not folded.is_visible()
    visit.page.emulate_media(media="print")
    assert folded.is_visible()
    visit.page.set_viewport_size({"width": 794, "height": 1123})  # A4 at 96 dots an inch
    for address in ("/", "/clusters/nine/topics", "/clusters/nine/what-if", plan):
        visit.open(address, until="main table")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 794, address
