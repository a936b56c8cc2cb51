"""The progress of a plan on its page, at a state that is chosen or pasted."""

import re
from typing import Any
from uuid import UUID

import pytest

from app.store.database import Database
from tests.web.browser import Browser
from tests.web.test_clusters import SAMPLES, TEXT
from tests.web.test_plan_forms import EMPTY

TOPICS = (SAMPLES / "kafka-topics-describe.txt").read_text()


@pytest.fixture
def plan(browser: Browser) -> str:
    """The address of a reassignment that removes a broker of nine."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    typed = {**EMPTY, "cluster": "nine", "remove_brokers": "105"}
    return str(browser.ask("POST", "/plan/reassignment", data=typed).headers["location"])


def after(text: str, lists: dict[tuple[str, int], list[int]]) -> str:
    """Output of `kafka-topics --describe` once these partitions have these replicas."""

    def line(each: re.Match[str]) -> str:
        replicas = lists.get((each[1], int(each[2])))
        if replicas is None:
            return each[0]
        written = ",".join(map(str, replicas))
        changed = re.sub(r"(Replicas|Isr): [0-9,]+", rf"\1: {written}", each[0])
        return re.sub(r"Leader: [0-9]+", f"Leader: {replicas[0]}", changed)

    return re.sub(r"Topic: (\S+)\tPartition: ([0-9]+)\t.*", line, text)


def planned(database: Database, plan: str) -> dict[tuple[str, int], list[int]]:
    """Where the plan has every partition."""
    with database.begin() as uow:
        placements = uow.plans.placements(UUID(plan.rpartition("/")[2]))
    return {
        (each.topic, partition): [broker for broker in row if broker >= 0]
        for each in placements
        for partition, row in zip(
            each.assignment.partition_ids.tolist(), each.assignment.replicas.tolist(), strict=True
        )
    }


def test_a_pasted_state_is_compared_with_the_plan(browser: Browser, database: Database, plan: str) -> None:
    """The same state as before: nothing is started; the plan's state: all is done; another one: it is named."""
    goal = planned(database, plan)
    for text, words in (
        (TOPICS, "not started 0 of"),
        (after(TOPICS, goal), "done 4 of 4 batches done"),
        (after(TOPICS, {**goal, ("clicks", 0): [101, 108]}), "Changed by something else"),
    ):
        answer = browser.ask("POST", f"{plan}/progress", data={"text": text})
        assert answer.status_code == 303
        page = browser.get(answer.headers["location"])
        assert words in page.text
    assert "Roll back from here" in page.text
    chosen = [option for option in page.all("option") if "that of the plan" in option.text]
    assert "not started" in browser.get(f"{plan}/execute?progress={chosen[0].attributes['value']}").text


@pytest.mark.long
def test_a_plan_of_which_a_part_is_executed_is_marked_as_executing(
    browser: Browser, database: Database, plan: str
) -> None:
    """By the next button, whatever its status was before; the step has the number of batches that are done."""
    goal = list(planned(database, plan).items())
    for moved in range(len(goal)):
        state = after(TOPICS, dict(goal[:moved]))
        page = browser.get(browser.ask("POST", f"{plan}/progress", data={"text": state}).headers["location"])
        if started := re.search(r"Executing ([123])/4", page.text):
            break
    assert started is not None
    assert "Mark as executing" in [button.text for button in page.all("button")]
    assert "Approve" not in [button.text for button in page.all("button")]


def test_what_the_text_lacks_is_of_the_state_before(browser: Browser, database: Database, plan: str) -> None:
    with database.begin() as uow:
        before = uow.snapshots.newest("nine")
    browser.ask(
        "POST", f"{plan}/progress", files=[("files", ("now.txt", after(TOPICS, planned(database, plan)).encode()))]
    )
    with database.begin() as uow:
        now = uow.snapshots.newest("nine")
    assert before is not None
    assert now is not None
    assert now.id != before.id
    for name in ("brokers", "racks", "topics", "partitions"):
        assert now.summary[name] == before.summary[name]
    health: list[Any] = [snapshot.summary["health"] for snapshot in (before, now)]
    assert health[0]["unknown_sizes"] == health[1]["unknown_sizes"] == 0


@pytest.mark.parametrize("text", ["", "kubectl get pods\n", "\x00"])
def test_a_text_that_is_no_state_is_said_and_stays(browser: Browser, plan: str, text: str) -> None:
    page = browser.post(f"{plan}/progress", {"text": text})
    assert page.status == 422
    assert page.by_id("state-text").text.strip() == text.strip()


def test_snapshots_that_are_none_of_the_plan(browser: Browser, database: Database, plan: str) -> None:
    browser.ask("POST", "/clusters", data={"cluster": "other", "text": TEXT})
    with database.begin() as uow:
        other = uow.snapshots.newest("other")
    assert other is not None
    for chosen in ("nonsense", "01890a5d-ac96-7e08-b3a1-7c2d5f4e9b19", str(other.id)):
        assert browser.get(f"{plan}/execute?progress={chosen}").status == 422
    assert browser.get(f"{plan}/execute?progress=newest").status == 200
    assert browser.post("/plans/none/progress", {"text": TOPICS}).status == 404


def test_the_log_of_an_execution_is_recorded_once_the_plan_is_done(
    browser: Browser, database: Database, plan: str
) -> None:
    """Alone, at the newest snapshot, or beside the state; before the plan is done nothing is stored, and it says so."""
    with database.begin() as uow:
        head = uow.plans.get(UUID(plan.rpartition("/")[2]))
    at, files = "2026-11-26T10:00:0{}Z", [f"{number + 1:02d}-execute.json" for number in range(4)]
    lines = [
        line
        for file in files
        for line in (f"{at.format(1)} begun {file}", f"{at.format(1)} complete {file} 9 bytes 0 s")
    ]
    log = "\n".join([f"{at.format(0)} plan {head.hash}", *lines])
    for text in (log.replace(head.hash, "0" * 64), log):
        page = browser.post(f"{plan}/progress", {"text": text})
        assert page.status == 422
        assert page.by_id("state-text").text.strip() == text
    assert "the log is not recorded in the ledger: the plan is not_started" in page.text
    state = after(TOPICS, planned(database, plan))
    sent = [("files", (name, text.encode())) for name, text in (("now.txt", state), ("run.log", log))]
    answer = browser.ask("POST", f"{plan}/progress", files=sent)
    assert answer.status_code == 303
    assert "Predicted and actual" in browser.get(answer.headers["location"]).text
    assert (
        browser.ask("POST", f"{plan}/progress", data={"text": log.replace(" 9 bytes", " 7 bytes")}).status_code == 303
    )
    assert "7 B" in browser.get(f"{plan}/execute").by_id("ledger").text


def test_what_an_execution_took_is_on_the_pages_of_the_plan_and_of_the_cluster(
    browser: Browser, database: Database, plan: str
) -> None:
    cluster, execute = "/clusters/nine/plans", f"{plan}/execute"
    for page in (execute, cluster):
        assert "Predicted and actual" not in browser.get(page).text
        assert "Ledger" not in browser.get(page).text
    batches = [
        {"index": 1, "predicted_bytes": 2048, "actual_bytes": 1024, "predicted_seconds": None, "actual_seconds": 7.5}
    ]
    entry = {"bytes_error": 0.5, "seconds_error": None, "ended_at": "2026-11-26T10:00:00Z", "batches": batches}
    with database.begin() as uow:
        uow.plans.record(UUID(plan.rpartition("/")[2]), entry)
    shown = browser.get(execute).text
    assert "Error of bytes 50.0 %; error of seconds not known." in shown
    assert "1 2.0 KiB 1.0 KiB – 7.5" in shown
    shown = browser.get(cluster).text
    assert "1 executed plan: bytes 50.0 % in the median, 50.0 % in the 90th percentile." in shown
