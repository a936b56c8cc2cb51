"""Actions on the page of a plan: its status and notes, the slider through its batches, its picture as a file."""

import re

import pytest

from tests.web.browser import Browser
from tests.web.test_clusters import TEXT
from tests.web.test_plan_forms import EMPTY


@pytest.fixture
def plan(browser: Browser) -> str:
    """The address of a reassignment that removes a broker of nine."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    typed = {**EMPTY, "cluster": "nine", "remove_brokers": "105"}
    return str(browser.ask("POST", "/plan/reassignment", data=typed).headers["location"])


def test_status_and_notes_change_and_have_a_history(browser: Browser, plan: str) -> None:
    form = browser.get(plan).form()
    changed = browser.ask(
        "POST", f"{plan}/status", data={"status": "approved", "notes": "by <b>two</b>", "revision": form["revision"]}
    )
    assert (changed.status_code, changed.headers["location"]) == (303, f"{plan}/execute#status")
    assert "by <b>two</b>" in browser.get(plan).text
    page = browser.get(f"{plan}/about")
    assert "approved, notes by <b>two</b>" in page.text
    assert "1 change" in page.text
    assert "approved" in browser.get("/plans?status=approved").text


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"status": "executed", "revision": "0"}, "cannot become executed"),
        ({"status": "nonsense", "revision": "0"}, "cannot become nonsense"),
        ({"status": "approved", "revision": "7"}, "has been changed since"),
    ],
)
def test_a_change_that_is_not_possible_says_why(browser: Browser, plan: str, sent: dict[str, str], words: str) -> None:
    page = browser.post(f"{plan}/status", sent)
    assert page.status == 422
    assert words in page.text
    assert browser.post("/plans/none/status", sent).status == 404


def test_brokers_are_shown_after_each_batch(browser: Browser, plan: str) -> None:
    """Before the first batch a broker has current replicas, after the last final ones; the removed one has none."""
    first, last = browser.get(f"{plan}/brokers"), browser.get(f"{plan}/brokers?batch=999")
    assert "0 partitions changed, 0 replicas copied." in first.text
    replicas = re.search(r"Replicas moved (\d+)", browser.get(plan).text)
    assert replicas is not None
    assert f"{replicas[1]} replicas copied." in last.text
    rows = [row.text.split() for row in last.all("tr") if row.text.split()[0] == "105"]
    assert rows[0][3:5] == ["0", "0"]
    assert browser.ask("GET", f"{plan}?batch=-1").status_code == 422


def test_the_picture_is_a_file_of_both_types(browser: Browser, plan: str) -> None:
    plan_id = plan.rpartition("/")[2]
    assert browser.ask("GET", f"/pictures/plan.svg?plan={plan_id}&theme=dark&width=600").text.startswith("<svg")
    assert browser.ask("GET", f"/pictures/plan.png?plan={plan_id}").content.startswith(b"\x89PNG")
    assert browser.ask("GET", "/pictures/plan.svg?plan=none").status_code == 404


def test_the_next_status_is_a_button_at_the_top(browser: Browser, plan: str) -> None:
    """Proposed, approved, executing, done: each tab has the steps and one button, and labels stay."""
    for next_one, label in (("approved", "Approve"), ("executing", "Mark as executing"), ("executed", "Mark as done")):
        page = browser.get(f"{plan}/changes")
        assert [button.text for button in page.all("button")].count(label) == 1
        fields = page.form()
        assert fields["status"] == next_one
        sent = {name: fields[name] for name in ("status", "revision", "notes", "labels")}
        assert browser.ask("POST", f"{plan}/status", data=sent).status_code == 303
    page = browser.get(plan)
    [current] = [item.text for item in page.all("li") if item.attributes.get("aria-current") == "step"]
    assert current == "Done"
