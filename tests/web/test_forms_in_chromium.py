"""Every form of the pages in a browser, as it is opened: with its options set, then with a mistake in a field.

A form that is in no row of `FORMS` or `ELSEWHERE` fails a test, so that a new one is driven too. A browser sends more
than a client does: an empty file for each field that takes one, each select, and what the page has filled in.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page

import app.web
from app.api.examples import (
    EXAMPLE_GROUP_PLAN_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_SWEEP_ID,
)
from app.store.database import Database
from tests.web.test_console_in_chromium import keep, large

pytestmark = [pytest.mark.slow, pytest.mark.long]

NEW = {"topics_name": "new", "topics_partitions": "6", "topics_replication_factor": "3"}
REASSIGNMENT, SWEEP = f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}", f"/sweeps/{EXAMPLE_SWEEP_ID}"
TEXT = "Topic: orders Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1,2,3"


@dataclass(frozen=True)
class Form:
    """A form of a page.

    Parameters
    ----------
    page : where it is. action : its address. typed : what is filled in or chosen, by field. result : the address of
        the page that answers, a pattern. files : texts of the files that are chosen, by field.
    mistakes : fields and what each rejects; the page is then the form again.
    at : its number among the page's forms of that address; −1 is the last.
    """

    page: str
    action: str
    typed: Mapping[str, str] = field(default_factory=dict)
    result: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    mistakes: Mapping[str, str] = field(default_factory=dict)
    at: int = 0


def planned(kind: str, query: str, typed: Mapping[str, str] | None = None, **mistakes: str) -> Form:
    """A form of a plan or a study, whose result is a page of its own."""
    result = r"/sweeps/[0-9a-f-]{36}" if kind.startswith("sweep") else r"/plans/[0-9a-f-]{36}"
    return Form(f"/plan/{kind}?{query}", f"/plan/{kind}", typed or {}, result, mistakes=mistakes)


FORMS = {
    "search": Form("/", "/search", {"q": "orders"}, r"/search\?q=orders"),
    "search again": Form("/search?q=orders", "/search", {"q": "billing"}, r"/search\?q=billing"),
    "guide": Form("/guide", "/guide", {"q": "leader"}, r"/guide\?q=leader"),
    "cluster": Form("/", "/clusters", {"cluster": "new", "text": TEXT}, "/clusters/new", mistakes={"text": "no text"}),
    "cluster of a file": Form("/", "/clusters", {"cluster": "new"}, "/clusters/new", {"files": TEXT}),
    "snapshot": Form("/clusters/example/history", "/clusters", {"text": TEXT}, "/clusters/example"),
    "share a cluster": Form("/clusters/example", "/share", {"days": "30"}, "/share"),
    "share a plan": Form(f"{REASSIGNMENT}/about", "/share", {"days": "30"}, "/share"),
    "compare plans of a cluster": Form("/clusters/example/plans", "/plans/compare", {}, "/plans/compare"),
    "compare plans": Form(
        f"/plans/compare?a={EXAMPLE_REASSIGNMENT_PLAN_ID}&b={EXAMPLE_REASSIGNMENT_PLAN_ID}",
        "/plans/compare",
        {},
        r"/plans/compare\?a=",
    ),
    "plans": Form("/plans", "/plans", {"cluster": "example", "kind": "reassignment"}, r"/plans\?cluster=example"),
    "jobs": Form("/jobs", "/jobs", {"state": "succeeded"}, r"/jobs\?.*state=succeeded"),
    "studies": Form("/sweeps", "/sweeps", {"state": "succeeded"}, r"/sweeps\?.*state=succeeded"),
    "audit log": Form(
        "/audit", "/audit", {"outcome": "failed", "since": "2026-01-01T00:00"}, r"/audit\?.*outcome=failed"
    ),
    "keys": Form("/keys", "/keys", {"name": "operator", "days": "7"}, "/keys", mistakes={"days": "0"}),
    "place keys": Form(
        "/plan/keys?example=1",
        "/plan/keys",
        {"without_key": "2"},
        "/plan/keys",
        mistakes={"partitions": "-1", "seed": "x", "without_key": "99999999"},
    ),
    "check": Form(
        "/plan/check?cluster=example",
        "/plan/check",
        {"fail_on": "violations"},
        "/plan/check",
        mistakes={"cluster": "", "fail_on": "no-such", "output": "[1,", "disk": "x", "lost_brokers": "none"},
    ),
    "change": planned(
        "reassignment", "cluster=example", {"remove_brokers": "101"}, cluster="none", remove_brokers="x", disk="x"
    ),
    "change, as JSON": planned("reassignment", "cluster=example&removed=101&json=1", body="{"),
    "change again": planned(
        "reassignment", f"again={EXAMPLE_REASSIGNMENT_PLAN_ID}", balanced_topics="orders", throttle="fast"
    ),
    "topic": planned("replicas", "cluster=example", NEW, topics_partitions="-1", topics_replication_factor="99"),
    "group": planned("group", "cluster=example-groups", {"group": "billing"}, group="none", topic_rates="x"),
    "application": planned("streams", "example=zones", body="[1"),
    "restart": planned("restart", "cluster=example", {"per": "rack"}, restart_seconds="x", max_brokers_per_wave="-1"),
    "consumers": planned("consumers", "example=hours", series="1,2\n3", capacity_bytes_per_s="x", max="-1"),
    "study of capacity": planned("sweep", "cluster=example", growth_per_month="x", rates="x", racks="", count="-1"),
    "study of changes": planned("sweep-reassignment", "cluster=example", removed="x", throttle="fast"),
    "study of groups": planned(
        "sweep-consumer_groups", "cluster=example-groups", {"groups": "billing"}, groups="none", seed="x"
    ),
    "study of placements": planned("sweep-placement_draws", "cluster=example", NEW, count="x", first="x"),
    "study of consumers": planned("sweep-consumers", "example=consumers", spares="x", max="x"),
    "members": Form(
        "/plan/group?cluster=example-groups", "/plan/group/members", {}, "", mistakes={"text": "no members here"}
    ),
    "status": Form(f"{REASSIGNMENT}/about", f"{REASSIGNMENT}/status", {"notes": "Tonight"}, REASSIGNMENT, at=-1),
    "labels": Form(f"{REASSIGNMENT}/about", f"{REASSIGNMENT}/status", mistakes={"labels": "=no name"}, at=-1),
    "next status": Form(REASSIGNMENT, f"{REASSIGNMENT}/status", {}, REASSIGNMENT),
    "file of a topic": Form(f"{REASSIGNMENT}/about", f"/v1{REASSIGNMENT}/export"),
    "delete a plan": Form(
        f"/plans/{EXAMPLE_GROUP_PLAN_ID}/about", f"/plans/{EXAMPLE_GROUP_PLAN_ID}/delete", {}, "/plans"
    ),
    "moves": Form(f"{REASSIGNMENT}/changes", f"{REASSIGNMENT}/changes#moves", {}, f"{REASSIGNMENT}/changes"),
    "batch": Form(f"{REASSIGNMENT}/brokers", f"{REASSIGNMENT}/brokers#progress", {}, f"{REASSIGNMENT}/brokers"),
    "progress": Form(f"{REASSIGNMENT}/execute", f"{REASSIGNMENT}/execute#execution", {}, f"{REASSIGNMENT}/execute"),
    "state of now": Form(f"{REASSIGNMENT}/execute", f"{REASSIGNMENT}/progress", mistakes={"text": "no state"}),
    "differences": Form(
        f"/plans/{EXAMPLE_PLAN_ID}/partitions", f"/plans/{EXAMPLE_PLAN_ID}/partitions#against", {}, "/partitions"
    ),
    "charts": Form(f"{SWEEP}?tab=charts", SWEEP, {}, SWEEP),
    "scenario": Form(f"{SWEEP}/scenarios/1", f"{SWEEP}/scenarios/1/plan", {}, r"/plans/[0-9a-f-]{36}"),
    "compare studies": Form(
        f"/sweeps/compare?a={EXAMPLE_SWEEP_ID}&b={EXAMPLE_SWEEP_ID}", "/sweeps/compare", {}, "/sweeps/compare"
    ),
}
"""A row for each form, by a name of its own."""

ELSEWHERE = {
    "/clusters/example": "test_a_new_service_offers_a_form_and_an_example",
    "/jobs/{{ job.id }}/cancel": "test_a_job_is_cancelled_once",
    "/share/revoke": "test_the_page_of_keys_revokes_one_link",
    "/sign-out": "test_signing_out_ends_it_for_every_copy_of_the_cookie",
    "/snapshots/{{ snapshot.id }}/delete": "test_a_snapshot",
    "/sweeps/{{ sweep.id }}/cancel": "test_a_sweep_is_followed_live_and_cancelled_on_its_page",
    "/webhooks": "test_webhooks_are_created_tried_and_deleted",
    "/webhooks/{{ webhook.id }}": "test_webhooks_are_created_tried_and_deleted",
    "/webhooks/{{ webhook.id }}/delete": "test_webhooks_are_created_tried_and_deleted",
    "/webhooks/{{ webhook.id }}/deliveries/{{ delivery.id }}/replay": "test_a_delivery_is_sent_again",
    "/webhooks/{{ webhook.id }}/test": "test_webhooks_are_created_tried_and_deleted",
    "{{ action }}": "test_a_key_is_revoked_in_two_clicks_and_the_page_says_so",
    "{{ view.at('topics').partition('?')[0] }}": "test_a_topic_of_many_is_opened_by_its_name",
}
"""Forms that need a state of their own, by their address in the template, with the test of each."""


def forms_of_templates() -> set[str]:
    """The address of every form of a template, as it is written there."""
    templates = (Path(app.web.__file__).parent / "templates").glob("*.html")
    written = "".join(template.read_text(encoding="utf-8") for template in templates)
    return set(re.findall(r'<form[^>]*? action="((?:\{\{.*?\}\}|[^"])*)"', written))


def test_every_form_is_in_the_table() -> None:
    """By its address, in which an expression of a template is one part, and the address of a plan two."""
    addresses = {form.action for form in FORMS.values()}

    def has_row(written: str) -> bool:
        pattern = re.sub(r"\{\{.*?\}\}", "[^/]+", written.replace("{{ page_of }}", "/plans/[^/]+"))
        return any(re.fullmatch(pattern, address) for address in addresses)

    written = forms_of_templates()
    assert len(written) > 30
    assert sorted(each for each in written if not has_row(each)) == sorted(ELSEWHERE)


def test_forms_elsewhere_have_tests() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name in ELSEWHERE.values() if f"def {name}(" not in sources] == []


def opened(page: Page, address: str, form: Form) -> Locator:
    """The form on its page, with all of it open; the browser does not validate it."""
    page.goto(address + form.page)
    shown = shown_on(page, form)
    shown.evaluate("""each => {
        each.noValidate = true;
        each.querySelectorAll("details").forEach(part => part.open = true);
        for (let around = each.parentElement; around; around = around.parentElement)
            if (around.tagName === "DETAILS") around.open = true;
    }""")
    return shown


def shown_on(page: Page, form: Form) -> Locator:
    return page.locator(f'form[action="{form.action}"]').nth(form.at)


def filled_in(form: Locator, typed: Mapping[str, str]) -> None:
    for name, value in typed.items():
        control = form.locator(f'[name="{name}"]:not([type="checkbox"])').first
        if control.evaluate("each => each.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)


def sent(page: Page, form: Locator) -> None:
    """Send it by its first button, and wait for the page that answers.

    A form without a button is sent by the key; one whose answer replaces a part of the page, as without script.
    """
    page.evaluate("document.body.dataset.sent = 1")
    button = form.locator('button[type="submit"]')
    if form.evaluate("each => each.closest('[data-swap]') !== null"):
        form.evaluate("each => each.submit()")
    elif button.count():
        button.first.click()
    else:
        form.locator('input[type="search"]').press("Enter")
    page.wait_for_selector("body:not([data-sent]) h1")


@pytest.fixture(params=[True, False], ids=["script", "no script"])
def page(chromium: Browser, client: httpx.Client, request: pytest.FixtureRequest) -> Iterator[Page]:  # noqa: ARG001 -- stores the examples
    """A page with and without script, whose server must not fail."""
    with chromium.new_context(java_script_enabled=request.param) as windows:
        page = windows.new_page()
        failed: list[str] = []
        page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 500 else None)
        yield page
        assert failed == []


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.result])
def test_a_form_is_answered(page: Page, address: str, name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    shown = opened(page, address, form)
    filled_in(shown, form.typed)
    for field_name, text in form.files.items():
        chosen = tmp_path / "chosen.txt"
        chosen.write_text(text, encoding="utf-8")
        shown.locator(f'[name="{field_name}"]').set_input_files(chosen)
    sent(page, shown)
    assert re.search(form.result, page.url), page.url
    assert page.locator('[role="alert"]').all_inner_texts() == []
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.mistakes])
def test_a_mistake_is_named_and_kept(page: Page, address: str, name: str) -> None:
    """The page is the form again, the field is marked or named, and has what was typed; so have the others."""
    form = FORMS[name]
    for mistaken, value in form.mistakes.items():
        shown = opened(page, address, form)
        filled_in(shown, {**form.typed, mistaken: value})
        sent(page, shown)
        alert = " ".join(page.locator('[role="alert"]').all_inner_texts())
        assert alert, (mistaken, page.url)
        again = shown_on(page, form)
        control = again.locator(f'[name="{mistaken}"]:not([type="checkbox"])').first
        assert control.input_value() == value, mistaken
        is_marked = control.get_attribute("aria-invalid") == "true"
        assert is_marked or value in alert or mistaken in alert, (mistaken, alert)
        for other, kept in form.typed.items():
            if other != mistaken:
                assert again.locator(f'[name="{other}"]').first.input_value() == kept, (mistaken, other)


def test_a_topic_of_many_is_opened_by_its_name(page: Page, address: str, database: Database) -> None:
    keep(database, large(6, 40_000))
    page.goto(f"{address}/clusters/large/topics")
    page.locator("#topic").fill("topic-399")
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url(f"{address}/clusters/large/topics?topic=topic-399")
    assert page.title().startswith("Topic topic-399")


def test_a_file_that_is_no_text_is_named(page: Page, address: str) -> None:
    """Beside its field, and the other fields keep what was typed."""
    form = FORMS["consumers"]
    shown = opened(page, address, form)
    filled_in(shown, {"spare": "7"})
    shown.locator('[type="file"][name="series"]').set_input_files(
        {"name": "series.xlsx", "mimeType": "application/octet-stream", "buffer": b"PK\x03\x04\xff\xfe\x00"}
    )
    sent(page, shown)
    assert "no text in UTF-8" in page.locator("#series-problem").inner_text()
    assert shown_on(page, form).locator('[name="spare"]').input_value() == "7"
