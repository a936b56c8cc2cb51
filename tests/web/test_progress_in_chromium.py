"""Progress and copies in a browser: a sweep that is followed and cancelled on its page, texts on the clipboard."""

import httpx
import orjson
import pytest

from app.api.examples import EXAMPLE_REASSIGNMENT_PLAN_ID
from app.services.sweeps.kinds import KINDS
from app.store.database import Database
from tests.web.chromium import Visit
from tests.web.test_sweep_pages import DEFINITION

pytestmark = pytest.mark.slow


def test_a_sweep_is_followed_live_and_cancelled_on_its_page(
    client: httpx.Client, database: Database, visit: Visit
) -> None:
    """A chunk that a worker scores moves the bar and renews the best scenario; Enter on the button ends the sweep."""
    sweep_id = client.post("/v1/sweeps", json={"kind": "capacity", **DEFINITION}).json()["id"]
    visit.page.goto(f"{client.base_url}".rstrip("/") + f"/sweeps/{sweep_id}")
    visit.page.wait_for_selector("#best:has-text('No scenario is scored yet')")
    with database.begin() as uow:
        sweep = uow.sweeps.get(sweep_id)
        uow.sweeps.start(sweep.id)
        rows = [(row.index, orjson.dumps(row.document)) for row in KINDS["capacity"].score(sweep.definition, 0, 2)]
        uow.sweeps.record(sweep.id, 0, rows, stop=2, seconds=0.1)
    visit.page.wait_for_selector("[data-words]:has-text('running: 2 of 4')")
    assert visit.page.locator("progress").evaluate("bar => bar.value / bar.max") == 0.5
    assert visit.page.title() == "running 2 of 4 – Rackplan"
    assert visit.page.locator("h1").inner_text() == "Capacity study, running"
    visit.page.wait_for_selector("#best:has-text('Of 2 scored scenarios')")
    visit.page.get_by_role("button", name="Cancel the study").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h1:has-text('Capacity study, cancelled')")
    assert "2 of 4 scenarios were scored before it was cancelled" in visit.page.locator("main").inner_text()
    assert client.get(f"/v1/sweeps/{sweep_id}").json()["state"] == "cancelled"
    assert visit.complaints == []


def test_the_time_left_is_shown_once_a_tenth_is_scored(client: httpx.Client, database: Database, visit: Visit) -> None:
    """The first chunks are slower than the rest: 2 scenarios in 18 s of 40 would be 342 s left."""
    axes = {"topology.brokers_per_rack": {"from": 1, "to": 40}}
    sweep_id = client.post("/v1/sweeps", json={"kind": "capacity", **DEFINITION, "axes": axes}).json()["id"]
    visit.page.goto(f"{client.base_url}".rstrip("/") + f"/sweeps/{sweep_id}")
    with database.begin() as uow:
        sweep = uow.sweeps.get(sweep_id)
        uow.sweeps.start(sweep.id)
        rows = [(row.index, orjson.dumps(row.document)) for row in KINDS["capacity"].score(sweep.definition, 0, 20)]
        uow.sweeps.record(sweep.id, 0, rows[:2], stop=2, seconds=18)
    visit.page.wait_for_selector("[data-words]:has-text('running: 2 of 40')")
    assert " left" not in visit.page.locator("[data-words]").inner_text()
    with database.begin() as uow:
        uow.sweeps.record(sweep.id, 2, rows[2:], stop=20, seconds=2)
    visit.page.wait_for_selector("[data-words]:has-text('running: 20 of 40 scored, 1 a second, 20 s left')")
    client.post(f"/v1/sweeps/{sweep_id}/cancel")


@pytest.mark.long
@pytest.mark.parametrize("has_clipboard", [True, False])
def test_texts_and_files_are_copied(client: httpx.Client, visit: Visit, *, has_clipboard: bool) -> None:
    """Also on a page over plain HTTP from another machine, for which browsers have no clipboard."""
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    if not has_clipboard:
        visit.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    reader = visit.page.context.new_page()
    reader.goto(f"{client.base_url}".rstrip("/") + "/plans")

    def clipboard() -> str:
        reader.bring_to_front()
        text: str = reader.evaluate("navigator.clipboard.readText()")
        visit.page.bring_to_front()
        return text

    plan = f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}"
    visit.open(f"{plan}/execute", until="#status")
    visit.page.get_by_role("button", name="Copy Rollback").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("button:text-is('Copied')")
    assert clipboard() == client.get(f"/v1{plan}/export?format=rollback").text
    visit.open("/plan/reassignment?cluster=example", until="#preview")
    visit.page.locator("[data-copy=as-json]").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("button:text-is('Copied')")
    assert '"cluster": "example"' in clipboard()
    assert visit.complaints == []


def test_a_plan_is_changed_and_planned_again_by_keyboard(client: httpx.Client, visit: Visit) -> None:
    """From its page to the form with its request, shown beside it as it is typed, and to the page of the new plan."""
    plan = f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}"
    visit.open(plan, until="#status")
    visit.page.get_by_role("link", name="Change the request").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#remove_brokers")
    visit.page.wait_for_load_state("networkidle")  # the request is shown as it is typed once the script has run
    visit.page.locator("#remove_brokers").focus()
    visit.page.keyboard.press("ControlOrMeta+A")
    visit.page.keyboard.insert_text("105")
    visit.page.wait_for_selector('#as-json:has-text("105")')
    visit.page.get_by_role("button", name="Plan", exact=True).focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h1:has-text('remove broker 105')")
    assert not visit.page.url.endswith(plan)
    made = client.get("/v1" + visit.page.url.removeprefix(f"{client.base_url}".rstrip("/"))).json()
    assert made["request"]["remove_brokers"] == [105]
    assert (visit.complaints, visit.elsewhere) == ([], [])
