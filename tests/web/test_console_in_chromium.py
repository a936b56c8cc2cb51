"""The pages in a browser: every switch, both widths, light and dark, large clusters, no error on the console."""

import os
import re
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from app.api.examples import (
    EXAMPLE_GROUP_PLAN_ID,
    EXAMPLE_JOB_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_SNAPSHOT_ID,
    EXAMPLE_STREAMS_PLAN_ID,
    EXAMPLE_SWEEP_ID,
    EXAMPLE_WEBHOOK_ID,
)
from app.core.model import Broker, Cluster, Placement, Topic
from app.services import snapshots
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER
from app.store.database import Database, UnitOfWork
from app.store.records import PlanHead, Snapshot
from tests.web.chromium import Visit
from tests.web.contrast import pale
from tests.web.test_clusters import TEXT, small

pytestmark = pytest.mark.slow

PAGES = {
    "clusters": "/",
    "cluster": "/clusters/example?measure=leaders&lose=rack:use1-az1",
    "brokers": "/clusters/example/brokers",
    "broker": "/clusters/example/brokers/101",
    "topics": "/clusters/example/topics",
    "topic of a cluster": "/clusters/example/topics/orders",
    "groups": "/clusters/example-groups/groups",
    "what if": "/clusters/example/what-if?lose=rack:use1-az1",
    "plans of a cluster": "/clusters/example/plans",
    "capacity": "/clusters/example/capacity",
    "history": "/clusters/example/history",
    "history, compared": f"/clusters/example/history?against={EXAMPLE_SNAPSHOT_ID}",
    "plans": "/plans",
    "plan": f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}",
    "plan of topics": f"/plans/{EXAMPLE_PLAN_ID}",
    "plan of a group": f"/plans/{EXAMPLE_GROUP_PLAN_ID}",
    "plan of an application": f"/plans/{EXAMPLE_STREAMS_PLAN_ID}",
    "kinds": "/plan",
    "change": "/plan/reassignment?cluster=example",
    "topic": "/plan/replicas",
    "group": "/plan/group?example=range",
    "application": "/plan/streams?example=zones",
    "new sweep": "/plan/sweep?example=grid",
    "placed keys": "/plan/keys?example=1",
    "check": "/plan/check?cluster=example",
    "sweeps": "/sweeps",
    "sweep": f"/sweeps/{EXAMPLE_SWEEP_ID}",
    "plans compared": f"/plans/compare?a={EXAMPLE_REASSIGNMENT_PLAN_ID}&b={EXAMPLE_REASSIGNMENT_PLAN_ID}",
    **{f"sweep, {tab}": f"/sweeps/{EXAMPLE_SWEEP_ID}?tab={tab}" for tab in ("scenarios", "charts", "about")},
    "new study": "/plan/sweep?cluster=example",
    "study of groups": "/plan/sweep-consumer_groups?cluster=example-groups",
    "consumers": "/plan/consumers?example=hours",
    "partitions of topics": f"/plans/{EXAMPLE_PLAN_ID}/partitions",
    "members of a group": f"/plans/{EXAMPLE_GROUP_PLAN_ID}/members",
    "tasks of an application": f"/plans/{EXAMPLE_STREAMS_PLAN_ID}/tasks",
    "found": "/search?q=orders",
    "sweeps compared": f"/sweeps/compare?a={EXAMPLE_SWEEP_ID}&b={EXAMPLE_SWEEP_ID}",
    "partitions in a state": "/clusters/example/topics?state=not_rack_safe",
    "group of a cluster": "/clusters/example-groups/groups/billing",
    "scenario": f"/sweeps/{EXAMPLE_SWEEP_ID}/scenarios/1",
    **{
        f"plan, {tab}": f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}/{tab}"
        for tab in ("changes", "brokers", "execute", "about")
    },
    "measures of topics": f"/plans/{EXAMPLE_PLAN_ID}/measures",
    **{f"group, {tab}": f"/plans/{EXAMPLE_GROUP_PLAN_ID}/{tab}" for tab in ("assignors", "traffic", "events")},
    **{f"application, {tab}": f"/plans/{EXAMPLE_STREAMS_PLAN_ID}/{tab}" for tab in ("clients", "losses", "events")},
    "restart": "/plan/restart?cluster=example",
    **{
        f"study of {kind}": f"/plan/sweep-{kind}"
        for kind in ("reassignment", "placement_draws", "key_skew", "consumers")
    },
    "deliveries": f"/webhooks/{EXAMPLE_WEBHOOK_ID}",
    "keys": "/keys",
    "webhooks": "/webhooks",
    "audit log": "/audit",
    "jobs": "/jobs",
    "job": f"/jobs/{EXAMPLE_JOB_ID}",
    "guide": "/guide/glossary",
    "search": "/guide?q=preferred+leader",
}
SHORT = ("cluster", "plan", "change")
"""The pages that every run looks at; the others are looked at by the long tests."""
SCREENSHOTS = os.environ.get("RACKPLAN_SCREENSHOTS")
"""A folder for screenshots of every page, which `make test` and `make test-long` name; none are made without it."""
LOOKS = ((390, "dark"), (1280, "light"), (390, "light"), (1280, "dark"), (1680, "light"))
MOST_SCREENS = 2.5
"""The greatest height in screens, of 800 pixels, and of 844 if they are 390 wide; texts may be longer."""


def large(brokers: int, partitions: int) -> Cluster:
    """A cluster of `brokers` in six racks, and `partitions` in topics of 100."""
    random = np.random.default_rng(7)
    topics = []
    for number in range(partitions // 100):
        lists = np.argsort(random.random((100, min(brokers, 60))), axis=1)[:, :3].astype(np.int32)
        lists = (lists + int(random.integers(brokers))) % brokers
        none = np.zeros((100, 0), np.int32)
        ids, sizes = np.arange(100, dtype=np.int32), random.integers(1, 1 << 30, 100)
        topics.append(Topic(f"topic-{number}", ids, lists, lists[:, 0].copy(), lists.copy(), none, none, sizes))
    return Cluster("large", tuple(Broker(each, f"rack-{each % 6}") for each in range(brokers)), tuple(topics))


def keep(database: Database, cluster: Cluster) -> None:
    with database.begin() as uow:
        snapshots.store(uow, cluster, Limits(max_brokers=2000))


def most_pixels(width: int) -> float:
    """The greatest height of a page."""
    return MOST_SCREENS * (844 if width == 390 else 800)


def is_too_wide(page: Page) -> bool:
    """Whether the page can be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


@pytest.mark.parametrize(
    ("name", "address_of"),
    [pytest.param(*page, id=page[0], marks=() if page[0] in SHORT else pytest.mark.long) for page in PAGES.items()],
)
def test_every_page_fits_is_accessible_and_complains_of_nothing(
    client: httpx.Client,  # noqa: ARG001 -- stores the examples
    visit: Visit,
    name: str,
    address_of: str,
) -> None:
    """At 390, 1,280 and 1,680 pixels, light and dark; axe finds nothing, no text and no edge of a control is pale, and
    no request leaves the service.
    """
    for width, scheme in LOOKS[:2] if name in SHORT else LOOKS:
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type] # one of its values
        visit.open(address_of, until="h1")
        assert not is_too_wide(visit.page), (name, width)
        height = visit.page.evaluate("document.documentElement.scrollHeight")
        assert height < most_pixels(width) or "guide" in address_of, (name, width, height)
        assert (visit.elsewhere, visit.complaints) == ([], []), name
        if SCREENSHOTS:
            visit.page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{width}-{scheme}.png", full_page=True)
        found = Axe().run(visit.page).response["violations"]
        assert not [(rule["id"], rule["nodes"][0]["html"]) for rule in found], (name, width)
        assert pale(visit.page) == [], (name, width, scheme)


def test_what_is_pale_is_found(client: httpx.Client, visit: Visit) -> None:
    """Texts, placeholders, edges and switches, once the colours of the page are pale; none before."""
    assert client.post("/clusters/example").status_code == 303
    visit.open("/clusters/example-shop", until=".cells")
    visit.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert pale(visit.page) == []
    for name in ("muted", "edge", "accent-line"):
        visit.page.evaluate("name => document.documentElement.style.setProperty(name, '#c8ccd0')", f"--{name}")
    assert {kind for kind, *_ in pale(visit.page)} == {"text", "placeholder", "edge", "switch"}


def test_a_loss_is_switched_in_place_and_has_an_address(client: httpx.Client, database: Database, visit: Visit) -> None:
    """A click replaces the map without loading a page; the address leads to the same state, and back goes back."""
    assert client.get("/").status_code == 200
    keep(database, small())
    visit.open("/clusters/small", until=".cells")
    visit.page.evaluate("window.isTheSamePage = true")
    visit.page.get_by_role("link", name="Leaders").click()
    visit.page.wait_for_selector('[aria-current]:has-text("Leaders")')
    visit.page.get_by_title("Lose this rack").first.click()
    visit.page.wait_for_selector('[role="status"] dt:text-is("leaders elected elsewhere") + dd:text-is("1")')
    assert visit.page.evaluate("window.isTheSamePage")
    assert "lose=rack%3Aa" in visit.page.url
    visit.page.reload()
    visit.page.wait_for_selector('[role="status"] dt:text-is("leaders elected elsewhere") + dd:text-is("1")')
    visit.page.wait_for_load_state("networkidle")  # the script has run
    visit.page.get_by_role("link", name="Leaders").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(
        '[aria-current]:has-text("Leaders"):focus'
    )  # the new link has the focus of the old one
    visit.page.wait_for_load_state("networkidle")  # while the map is replaced a click is lost
    visit.page.get_by_title("broker 3").click()
    visit.page.wait_for_selector('h1:has-text("Brokers / 3")')
    visit.page.go_back()
    visit.page.wait_for_selector("text=Undo all losses")
    assert visit.complaints == []


def test_the_actions_of_a_cluster_are_one_row_on_a_phone(
    client: httpx.Client, database: Database, visit: Visit
) -> None:
    """Update snapshot, Share and Plan a change; the primary action is on the first screen."""
    assert client.get("/").status_code == 200
    keep(database, small())
    visit.page.set_viewport_size({"width": 390, "height": 800})
    visit.open("/clusters/small/brokers", until=".bar")
    tops = visit.page.eval_on_selector_all(".bar .button", "all => all.map(each => each.getBoundingClientRect().top)")
    assert len(tops) == 3
    assert len(set(tops)) == 1
    assert tops[0] < 200
    assert not is_too_wide(visit.page)


FOCUSED = """() => {
  const focused = document.activeElement, box = focused.getBoundingClientRect(), style = getComputedStyle(focused);
  if (focused === document.body) return null;
  const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  const isSeen = top && (focused.contains(top) || top.contains(focused)) && style.outlineStyle !== "none";
  return [isSeen, focused.outerHTML.slice(0, 80)];
}"""


def test_the_focus_is_seen_at_each_stop_of_the_keyboard(client: httpx.Client, database: Database, visit: Visit) -> None:
    """It has an outline, and neither the bar of the cluster nor the actions of the form cover it."""
    assert client.get("/").status_code == 200
    keep(database, small())
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    visit.open("/plan/reassignment?cluster=small", until="#preview")
    stops = 0
    while True:
        visit.page.keyboard.press("Tab")
        focused = visit.page.evaluate(FOCUSED)
        if focused is None or stops == 100:
            break
        assert focused[0], focused[1]
        stops += 1
    assert 40 < stops < 100


def test_files_that_are_dropped_become_a_cluster(client: httpx.Client, tmp_path: Path, visit: Visit) -> None:
    assert client.get("/").status_code == 200
    file = tmp_path / "kafka.txt"
    file.write_text(TEXT)
    visit.open("/", until="#fleet")
    visit.page.get_by_role("link", name="Add a cluster").click()
    visit.page.wait_for_selector("#files")
    visit.page.locator("#cluster").fill("nine")
    visit.page.locator("#files").set_input_files(file)
    visit.page.get_by_role("button", name="Store the snapshot").click()
    visit.page.wait_for_selector(".cells")
    assert visit.page.locator(".cells a").count() == 9


def test_the_request_of_a_form_is_shown_as_it_is_typed_and_planned(client: httpx.Client, visit: Visit) -> None:
    """With the keyboard alone: the fields, the request beside them, the plan, and the slider through its batches."""
    assert client.post("/clusters", data={"cluster": "nine", "text": TEXT}).status_code == 303
    visit.open("/plan/reassignment?cluster=nine", until="#preview")
    visit.page.locator("#remove_brokers").focus()
    visit.page.keyboard.type("105")
    visit.page.wait_for_selector('#as-json:has-text("105")')
    visit.page.wait_for_selector('#estimate:has-text("moves ")')
    visit.page.get_by_role("button", name="Plan", exact=True).focus()
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("link", name="Brokers").last.click()
    visit.page.wait_for_selector("#batch")
    visit.page.wait_for_load_state("networkidle")  # the slider sends its form once the script has run
    visit.page.locator("#batch").focus()
    visit.page.keyboard.press("End")
    visit.page.wait_for_selector('td:text-is("0") + td:text-is("0")')  # nothing is left on the removed broker
    assert visit.page.evaluate("document.activeElement.id") == "batch"  # the focus stays after the part has changed
    visit.page.locator("[data-filter=brokers]").fill("no such rack")
    assert visit.page.locator("#brokers tbody tr:not([hidden])").count() == 0
    visit.page.locator("[data-filter=brokers]").fill("")
    visit.page.locator("#brokers th button").first.click()
    assert visit.page.locator("#brokers th[aria-sort]").count() == 1
    assert visit.complaints == []


def test_events_are_rows_of_pickers_and_json_in_both_directions(client: httpx.Client, visit: Visit) -> None:
    """A verb, what it is about, and a new row after the last; without a script they are lines of a text."""
    assert client.get("/").status_code == 200
    visit.open("/plan/group?cluster=example-groups", until=".row")
    page = visit.page
    page.locator("#group").fill("billing")
    page.wait_for_selector('#known-events-leave option[value="billing-0-35ee"]', state="attached")
    rows = page.locator(".row")
    rows.nth(0).locator("select").select_option("leave")
    rows.nth(0).locator("input").fill("billing-0-35ee")
    rows.nth(1).locator("select").select_option("rolling_restart")
    assert not rows.nth(1).locator("input").is_visible()
    rows.nth(2).locator("select").select_option("topic_grown")
    text = page.locator("#events").input_value().splitlines()
    assert text[:2] == ["leave billing-0-35ee", "rolling_restart"]
    assert text[2].startswith('topic_grown {"topic":')
    page.get_by_role("button", name="Edit as JSON").click()
    page.wait_for_selector("#body")
    page.get_by_role("button", name="Edit as fields").click()
    page.wait_for_selector(".row")
    assert page.locator("#events").input_value().splitlines() == text
    rows.nth(1).locator("select").select_option("")
    rows.nth(2).locator("select").select_option("")
    page.get_by_role("button", name="Plan", exact=True).click()
    page.get_by_role("link", name="Events").click()
    page.wait_for_selector('td:has-text("billing-0-35ee leaves"), th:has-text("billing-0-35ee leaves")')
    assert visit.complaints == []


@pytest.mark.long
def test_a_broker_is_chosen_in_the_picture(client: httpx.Client, visit: Visit) -> None:
    """By pointer and by keyboard: its moves are marked, the table has them alone, and the address leads there again."""
    assert client.post("/clusters", data={"cluster": "nine", "text": TEXT}).status_code == 303
    body = '{"cluster": "nine", "remove_brokers": [105], "balance": {"replicas": "tight"}}'
    plan = client.post("/plan/reassignment", data={"body": body}).headers["location"]
    visit.open(plan, until=".column[role=button]")
    visit.page.locator('.column[data-item="105"]').click()  # on the summary it leads to the changes
    visit.page.wait_for_selector('#moves h2:has-text("of broker 105")')
    visit.page.wait_for_url("**select=broker%3A105**")
    assert visit.page.locator('.column[data-chosen][aria-pressed="true"]').count() == 1
    visit.page.locator('.column[data-item="104"]').focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector('#moves h2:has-text("of broker 104")')
    seen = visit.page.locator("#differences tbody tr").evaluate_all(
        """rows => rows.map((row) => row.getBoundingClientRect())
            .filter(({ top, bottom }) => bottom > 0 && top < innerHeight).length"""
    )
    assert seen > 0  # the table that has changed is in view beside the picture
    assert visit.page.locator('.column[data-item="105"][data-chosen]').count() == 0
    visit.page.keyboard.press("Enter")  # again: nothing is chosen any longer
    visit.page.wait_for_selector('#moves h2:text-is("Differences")')
    visit.page.locator("#select").select_option("topic:clicks")
    visit.page.wait_for_selector('#moves h2:has-text("of topic clicks")')
    found = [rule["id"] for rule in Axe().run(visit.page).response["violations"]]
    assert (found, visit.complaints, visit.elsewhere) == ([], [], [])


@pytest.mark.long
def test_a_shared_page_works_in_a_browser_without_a_key(client: httpx.Client, database: Database, visit: Visit) -> None:
    """Its switches, charts and pictures have the link that it was opened by; nothing asks for a key."""
    keep(database, small())
    with database.begin() as uow:
        _, secret = uow.api_keys.create("admin", ["admin"])
    paths = {}
    for kind, name in (("cluster", "small"), ("sweep", str(EXAMPLE_SWEEP_ID))):
        shared = client.post("/share", data={"kind": kind, "name": name, "days": "1"}, auth=("", secret)).text
        [found] = re.findall(r'<pre id="link"[^>]*><code>http://[^/]+([^<]+)</code>', shared)
        paths[kind] = found
    visit.open(paths["cluster"], until=".cells")
    visit.page.get_by_role("link", name="Leaders").click()
    visit.page.wait_for_selector('[aria-current]:has-text("Leaders")')
    assert "share=" in visit.page.url
    visit.open(paths["sweep"], until=".chart")
    visit.page.locator(".chart").first.scroll_into_view_if_needed()
    visit.page.wait_for_selector(".chart svg.marks")
    assert (visit.elsewhere, visit.complaints) == ([], [])


def test_charts_become_interactive_under_the_policy(client: httpx.Client, visit: Visit) -> None:
    assert client.get("/").status_code == 200
    visit.open(f"/sweeps/{EXAMPLE_SWEEP_ID}?tab=charts", until=".chart")
    visit.page.locator(".chart").first.scroll_into_view_if_needed()
    visit.page.wait_for_selector(".chart svg.marks")
    visit.page.locator("#x").select_option("headroom")
    visit.page.get_by_role("button", name="Draw").click()
    visit.page.wait_for_url("**x=headroom**")
    visit.page.locator(".chart").first.scroll_into_view_if_needed()
    visit.page.wait_for_selector(".chart svg.marks")
    assert (visit.elsewhere, visit.complaints) == ([], [])


def test_progress_is_followed_to_the_end(client: httpx.Client, database: Database, visit: Visit) -> None:
    """A job that is cancelled elsewhere: the page notices by itself."""
    assert client.get("/").status_code == 200
    with database.begin() as uow:
        job = uow.jobs.enqueue("replicas", {})
    visit.page.goto(f"{client.base_url}".rstrip("/") + f"/jobs/{job.id}")
    visit.page.wait_for_selector("progress")
    assert client.delete(f"/v1/jobs/{job.id}").status_code == 200
    visit.page.wait_for_selector('h1:has-text("Cancelled")')
    assert visit.complaints == []


def test_pages_without_a_script_do_the_same(client: httpx.Client, database: Database, chromium: Browser) -> None:
    keep(database, small())
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(str(client.base_url).rstrip("/") + "/clusters/small")
    page.get_by_title("Lose this rack").first.click()
    assert page.locator('[role="status"] dt:text-is("leaders elected elsewhere") + dd').text_content() == "1"
    context.close()


@pytest.mark.parametrize(
    ("brokers", "partitions"), [(300, 10_000), pytest.param(1_000, 20_000, marks=pytest.mark.long)]
)
def test_large_clusters_are_maps_that_fit(
    client: httpx.Client, database: Database, visit: Visit, brokers: int, partitions: int
) -> None:
    """All brokers are there, the page is not wider than the window, and small enough to be sent."""
    keep(database, large(brokers, partitions))
    answer = client.get("/clusters/large")
    assert len(answer.content) < 1_000_000
    visit.page.set_viewport_size({"width": 390, "height": 900})
    for room in ("", "/brokers", "/what-if", "/topics", "/topics/topic-5", "/topics?state=not_preferred"):
        visit.open(f"/clusters/large{room}", until="h1")
        assert visit.page.evaluate("document.documentElement.scrollHeight") < most_pixels(390), room
        assert not is_too_wide(visit.page), room
    visit.open("/clusters/large", until=".cells")
    assert visit.page.locator(".cells a").count() == brokers
    assert ("; most on " in visit.page.locator("#map .legend").inner_text()) == (brokers > 300)
    assert not is_too_wide(visit.page)


def moved_away(uow: UnitOfWork, cluster: Cluster, snapshot: Snapshot) -> PlanHead:
    """Store a plan that moves all of broker 3 to broker 503, with the answer of a small plan: nothing is solved."""
    small_one = draft_plan(PLANNER, PLANNER.restored({"remove_brokers": [3]}), large(10, 100), Limits())
    placements = [
        Placement(topic.name, 0, np.where(topic.replicas == 3, 503, topic.replicas).astype(np.int32))
        for topic in cluster.topics
    ]
    of_large = replace(small_one, cluster=cluster.name, snapshot_id=snapshot.id, placements=placements)
    return uow.plans.store(of_large)


READERS_OF_ALL = [
    {"member_id": f"reader-{n}", "rack_id": f"rack-{n % 6}", "topics": [f"topic-{t}" for t in range(10_000)]}
    for n in range(40)
]


@pytest.mark.long
def test_a_million_partitions_are_pages_of_a_megabyte_at_most(client: httpx.Client, database: Database) -> None:
    cluster = large(1_000, 1_000_000)
    with database.begin() as uow:
        snapshot = snapshots.store(uow, cluster, Limits(max_brokers=2000))
        plan = moved_away(uow, cluster, snapshot)
    new_topics = [{"name": f"new-{n}", "partitions": 100, "replication_factor": 3} for n in range(10_000)]
    bodies = (
        ("replicas", {"cluster": "large", "algorithm": "striped", "seed": 1, "topics": new_topics}),
        ("group", {"cluster": "large", "assignor": "range", "members": READERS_OF_ALL}),
    )
    made = [client.post(f"/v1/plans/{kind}", json=body, timeout=300).json()["id"] for kind, body in bodies]
    for first_view, second_view in (
        ("/clusters/large", "/clusters/large?measure=leaders&lose=rack:rack-1"),
        ("/clusters/large/topics", "/clusters/large/topics/topic-5"),
        (f"/plans/{plan.id}", f"/plans/{plan.id}/changes?select=broker:503"),
        (f"/plans/{plan.id}/execute", f"/plans/{plan.id}/brokers?batch=1"),
        *((f"/plans/{each}", f"/plans/{each}?embed=1") for each in made),
    ):
        first, second = client.get(first_view), client.get(second_view)
        assert first.status_code == second.status_code == 200
        assert max(len(first.content), len(second.content)) < 1_000_000


MEMBERS = [
    {
        "member_id": f"payments-service-{n}-5f3c6c1e",
        "rack_id": f"rack-{n % 6}",
        "topics": [f"topic-{t}" for t in range(40)],
    }
    for n in range(200)
]
CLIENTS = [
    {"process_id": f"00000000-0000-0000-0000-{n:012d}", "capacity": 4, "client_tags": {"zone": "abc"[n % 3]}}
    for n in range(60)
]
TASKS = [f"{subtopology}_{partition}" for subtopology in range(10) for partition in range(40)]
LARGE_PLANS: dict[str, tuple[str, dict[str, object]]] = {
    "a broker removed": ("reassignment", {"cluster": "large", "remove_brokers": [3]}),
    "leaders": ("reassignment", {"cluster": "large", "leaders_only": True, "balance": {"leaders": "tight"}}),
    "40 topics": (
        "replicas",
        {
            "cluster": "large",
            "algorithm": "striped",
            "seed": 1,
            "topics": [{"name": f"new-{n}", "partitions": 100, "replication_factor": 3} for n in range(40)],
        },
    ),
    "200 members": (
        "group",
        {"cluster": "large", "assignor": "range", "members": MEMBERS, "events": [{"leave": MEMBERS[0]["member_id"]}]},
    ),
    "60 clients": (
        "streams",
        {
            "tasks": TASKS,
            "stateful_tasks": TASKS[:200],
            "assignor": "high_availability",
            "num_standby_replicas": 1,
            "rack_aware_assignment_tags": ["zone"],
            "clients": CLIENTS,
        },
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("brokers", [300, 1_000])
def test_pages_of_large_plans_fit(client: httpx.Client, database: Database, visit: Visit, brokers: int) -> None:
    """10⁴ partitions; at both widths the page is not wider than the window, not taller than allowed, and complete."""
    keep(database, large(brokers, 10_000))
    for name, (kind, body) in LARGE_PLANS.items():
        made = client.post(f"/v1/plans/{kind}", json=body, timeout=300)
        assert made.status_code == 201, made.text[:500]
        for width in (390, 1280):
            visit.page.set_viewport_size({"width": width, "height": 900})
            visit.open(f"/plans/{made.json()['id']}", until="#status")
            height = visit.page.evaluate("document.documentElement.scrollHeight")
            assert height < most_pixels(width), (name, width, height)
            assert not is_too_wide(visit.page), (name, width)
            if SCREENSHOTS:
                file = f"{name}, {brokers} brokers-{width}.png"
                visit.page.screenshot(path=Path(SCREENSHOTS) / file, full_page=True)
    assert visit.complaints == []


def test_the_focus_is_seen_and_leads_past_the_navigation(client: httpx.Client, visit: Visit) -> None:
    """The first Tab is the link to the content; the focused element has an outline of three pixels."""
    assert client.get("/").status_code == 200
    visit.open("/plans", until="h1")
    visit.page.keyboard.press("Tab")
    focused = visit.page.evaluate(
        "[document.activeElement.textContent, getComputedStyle(document.activeElement).outlineWidth]"
    )
    assert focused == ["Skip to the content", "3px"]
    visit.page.keyboard.press("Enter")
    assert visit.page.url.endswith("#main")
    assert visit.page.locator('nav [aria-current="page"]').text_content() == "Plans"
    assert (visit.complaints, visit.elsewhere) == ([], [])
