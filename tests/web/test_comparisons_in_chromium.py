"""Comparisons in a browser: the decision on the first screen, equal figures folded, no point cut at an edge."""

import httpx
import pytest

from app.api.sweeps.groups import GroupsSweepRequest
from app.services import sweeps
from app.store.database import Database
from app.store.transaction import uuid7
from tests.web.chromium import Visit
from tests.web.test_console_in_chromium import most_pixels

pytestmark = pytest.mark.slow

SCREEN = 800


def made(client: httpx.Client, address: str, **typed: str) -> str:
    """The id of what a form made."""
    answer = client.post(address, data=typed)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"]).rpartition("/")[2]


def test_two_plans_are_a_decision_on_the_first_screen(client: httpx.Client, visit: Visit) -> None:
    assert client.post("/clusters/example").status_code == 303
    one, other = (
        made(client, "/plan/reassignment", cluster="example-shop", remove_brokers="103", replicas=band)
        for band in ("", "tight")
    )
    visit.page.set_viewport_size({"width": 1280, "height": SCREEN})
    visit.open(f"/plans/compare?a={one}&b={other}", until="#decision")
    assert visit.page.title().startswith("Plans compared: Remove broker 103")
    buttons = visit.page.get_by_role("button", name="Approve this one").all()
    assert len(buttons) == 2
    for button in buttons:
        box = button.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= SCREEN
    decision = visit.page.locator("#decision").inner_text()
    assert "Better in replicas moved; bytes moved" in decision
    assert "replicas balanced" in decision  # the difference of plans of one title
    assert not visit.page.get_by_role("rowheader", name="Rack-safe partitions").is_visible()  # equal in both
    visit.page.get_by_text("equal in both").first.click()
    assert visit.page.get_by_role("rowheader", name="Rack-safe partitions").is_visible()
    visit.page.reload()
    for width in (390, 1280):
        visit.page.set_viewport_size({"width": width, "height": SCREEN})
        assert visit.page.evaluate("document.documentElement.scrollHeight") <= most_pixels(width)
    rows = visit.page.locator("#brokers tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].slice(2).map(cell => cell.textContent))"
    )
    assert rows
    assert all(any(row[at] != row[at + 1] for at in (1, 4, 7)) for row in rows)  # equal brokers are folded
    buttons[1].click()
    visit.page.wait_for_selector('.steps [aria-current]:has-text("Approved")')
    assert (visit.complaints, visit.elsewhere) == ([], [])


@pytest.mark.long
def test_points_of_studies_of_groups_are_not_cut(client: httpx.Client, database: Database, visit: Visit) -> None:
    """Each point is within the plot, its axes are words, and both studies are in the legend."""
    snapshot = client.get("/v1/snapshots", params={"cluster": "example-groups"}).json()["items"][0]["id"]
    pair = [uuid7(), uuid7()]
    for study, assignor in zip(pair, ("range", "cooperative-sticky"), strict=True):
        body = {"snapshot_id": snapshot, "assignors": [assignor], "members_lost": [0, 1], "members_added": [0, 1]}
        request = GroupsSweepRequest.model_validate({"kind": "consumer_groups", **body}).service()
        with database.begin() as uow:
            sweeps.store_scored(uow, request, principal="test", sweep_id=study)
    visit.open(f"/sweeps/compare?a={pair[0]}&b={pair[1]}", until=".chart")
    visit.page.locator(".chart").scroll_into_view_if_needed()
    visit.page.wait_for_selector(".chart svg.marks .mark-symbol path")
    plot, points = visit.page.evaluate(
        """() => {
            const box = (element) => {
                const { left, right, top, bottom } = element.getBoundingClientRect();
                return [left, top, right, bottom];
            };
            const points = [...document.querySelectorAll(".chart .role-mark.mark-symbol path")];
            return [box(document.querySelector(".chart .root .background")), points.map(box)];
        }"""
    )
    assert points
    for left, top, right, bottom in points:
        assert plot[0] <= left
        assert plot[1] <= top
        assert right <= plot[2]
        assert bottom <= plot[3]
    words = visit.page.locator(".chart svg.marks").text_content() or ""
    assert "partitions moved" in words
    assert "difference between two members (partitions)" in words
    assert visit.page.locator(".chart .role-legend-label text").all_text_contents() == ["A", "B"]
    assert (visit.complaints, visit.elsewhere) == ([], [])
