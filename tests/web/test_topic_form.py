"""The form of a new topic: from pasted texts to a first plan, and back if something is wrong with them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import Depends, FastAPI, HTTPException
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.services.limits import Limits
from app.store.database import Database
from app.store.records import PlanFilter
from app.web.access import OPEN
from app.web.forms import topic as topic_form
from app.web.forms.first_plan import EMPTY, EXAMPLE, LABELS
from app.web.forms.topic import ADDRESS
from tests.web.browser import CONTROLS, Browser, Page

SAMPLES = Path(__file__).parents[1] / "samples"
CAPTURE = {
    "cluster": "nine",
    "brokers_text": (SAMPLES / "kafka-broker-api-versions.txt").read_text(),
    "topics_text": (SAMPLES / "kafka-topics-describe.txt").read_text(),
    "log_dirs_text": (SAMPLES / "kafka-log-dirs-describe.txt").read_text(),
    "topic": "orders-v2",
    "partitions": "48",
    "replication_factor": "3",
    "algorithm": "admin_utils",
    "rack_mode": "",
    "seed": "42",
}


def is_repeated(page: Page, typed: Mapping[str, str]) -> bool:
    return page.form() == dict(typed)


def nothing_is_stored(database: Database) -> bool:
    with database.begin() as uow:
        plans = uow.plans.page(PlanFilter(), before=None, size=1).items
        return not plans and not uow.snapshots.page(cluster=None, before=None, size=1).items


def test_the_example_is_one_click_from_a_plan(browser: Browser) -> None:
    [way] = {link.attributes["href"] for link in browser.get(ADDRESS).all("a") if "example" in link.text}
    page = browser.get(ADDRESS + way)
    assert is_repeated(page, EXAMPLE)
    answer = browser.ask("POST", ADDRESS, data=page.form())
    assert answer.status_code == 303
    plan = browser.get(answer.headers["location"])
    assert plan.status == 200
    assert "every partition spans as many racks as it can: 3." in plan.text


@pytest.mark.parametrize("as_files", [False, True], ids=["urlencoded", "multipart"])
def test_a_real_capture_becomes_a_snapshot_and_a_plan(browser: Browser, database: Database, as_files: bool) -> None:
    if as_files:
        files = {name: (f"{name}.txt", CAPTURE[name].encode()) for name in CAPTURE if name.endswith("_text")}
        fields = {name: value for name, value in CAPTURE.items() if name not in files}
        answer = browser.ask("POST", ADDRESS, data=fields, files=files)
    else:
        answer = browser.ask("POST", ADDRESS, data=CAPTURE)
    assert answer.status_code == 303
    with database.begin() as uow:
        [head] = uow.plans.page(PlanFilter(), before=None, size=10).items
        [snapshot] = uow.snapshots.page(cluster=None, before=None, size=10).items
        [topic] = uow.plans.topics(head.id)
    assert answer.headers["location"] == f"/plans/{head.id}"
    assert (topic.name, topic.partitions, topic.replication_factor) == ("orders-v2", 48, 3)
    assert (head.cluster, head.snapshot_id, head.prediction) == ("nine", snapshot.id, "replay")
    assert {**snapshot.summary, "warnings": [], "health": {}} == {
        "brokers": 9,
        "racks": 3,
        "topics": 6,
        "partitions": 117,
        "groups": 0,
        "kafka_version": None,
        "controller": "kraft",
        "health": {},
        "warnings": [],
    }


def test_topics_and_sizes_may_be_left_out(browser: Browser) -> None:
    assert browser.ask("POST", ADDRESS, data={**EXAMPLE, "topics_text": " \n"}).status_code == 303


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"partitions": "twelve"}, "partitions", "a whole number"),
        ({"partitions": "0"}, "partitions", "0"),
        ({"partitions": "-3"}, "partitions", "a whole number"),
        ({"partitions": "2147483648"}, "partitions", "a whole number"),
        ({"partitions": "2147483647"}, "partitions", "limit"),
        ({"partitions": ""}, "partitions", "a whole number"),
        ({"replication_factor": "0"}, "replication_factor", "0"),
        ({"replication_factor": "7"}, "replication_factor", "7"),
        ({"replication_factor": "2³"}, "replication_factor", "a whole number"),
        ({"topic": "a topic"}, "topic", "1 to 249"),
        ({"topic": ""}, "topic", "1 to 249"),
        ({"cluster": " "}, "cluster", "1 to 249"),
        ({"cluster": "a\x00b"}, "cluster", "printable"),
        ({"seed": "1.5"}, "seed", "whole number"),
        ({"seed": str(2**63)}, "seed", "64 bits"),
        ({"algorithm": "alphabetical"}, "algorithm", "admin_utils"),
        ({"rack_mode": "perhaps"}, "rack_mode", "enforced"),
        ({"brokers_text": ""}, "brokers_text", "kafka-broker-api-versions"),
        ({"brokers_text": EXAMPLE["brokers_text"][:-20]}, "brokers_text", "Line 6"),
        ({"brokers_text": EXAMPLE["brokers_text"] * 2}, "brokers_text", "101"),
        ({"topics_text": EXAMPLE["topics_text"][:-90]}, "topics_text", "the text is cut off"),
        ({"log_dirs_text": "nothing"}, "log_dirs_text", "Line 1"),
        (
            {"algorithm": "admin_utils", "brokers_text": EXAMPLE["brokers_text"].replace("az-a", "null", 1)},
            "rack_mode",
            "101",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_typed_is_lost(
    browser: Browser, database: Database, changed: Mapping[str, str], field: str, words: str
) -> None:
    typed = {**EXAMPLE, **changed}
    page = browser.post(ADDRESS, typed)
    assert page.status == 422
    control = page.by_id(field)
    assert control.attributes["aria-invalid"] == "true"
    assert f"{field}-problem" in control.attributes["aria-describedby"].split()
    assert words in page.by_id(f"{field}-problem").text
    assert [element.attributes["id"] for element in page.elements if element.attributes.get("aria-invalid")] == [field]
    assert f"#{field}" in [link.attributes["href"] for link in page.all("a")]
    unchoosable = {"algorithm", "rack_mode"} & set(changed)
    assert {name: value for name, value in page.form().items() if name not in unchoosable} == {
        name: value for name, value in typed.items() if name not in unchoosable
    }
    assert nothing_is_stored(database)


def test_everything_that_is_wrong_is_said_at_once_in_the_order_of_the_form(browser: Browser) -> None:
    page = browser.post(ADDRESS, {**EXAMPLE, "seed": "?", "partitions": "?", "cluster": "", "brokers_text": ""})
    [notice] = [element for element in page.elements if element.attributes.get("role") == "alert"]
    links = [link.attributes["href"] for link in page.all("a") if link.text and link.text in notice.text]
    assert links == ["#cluster", "#brokers_text", "#partitions", "#seed"]


# What one example leaves in the database does not matter to the next.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.fixed_dictionaries({name: st.text(max_size=60) | st.just(value) for name, value in EXAMPLE.items()}))
def test_whatever_is_typed_the_answer_is_a_plan_or_the_same_form(browser: Browser, typed: Mapping[str, str]) -> None:
    """Nothing that can be typed makes the service fail, become markup, or disappear."""
    page = browser.post(ADDRESS, typed)
    assert page.status in (303, 422)
    if page.status == 422:
        form = page.form()
        assert {name: form[name] for name in form if name not in ("algorithm", "rack_mode")} == {
            name: value for name, value in typed.items() if name not in ("algorithm", "rack_mode")
        }
        assert not page.inline_scripts


@pytest.mark.slow
@pytest.mark.parametrize("is_file", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_long_text_is_no_longer_than_a_body_may_be(browser: Browser, is_file: bool) -> None:
    """Form parsers stop at a megabyte a field by default; kafka-log-dirs of a large cluster prints more."""
    long = CAPTURE["log_dirs_text"] + "\n" * 1_100_000
    data, files = (CAPTURE, {"log_dirs_text": long.encode()}) if is_file else ({**CAPTURE, "log_dirs_text": long}, None)
    assert browser.ask("POST", ADDRESS, data=data, files=files).status_code == 303


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (b"--b\r\nnonsense", {"Content-Type": "multipart/form-data; boundary=b"}),
        (b"partitions=%ff%00", {"Content-Type": "application/x-www-form-urlencoded"}),
        (b"{}", {"Content-Type": "application/json"}),
        (b"", {}),
    ],
    ids=["cut multipart", "not UTF-8", "JSON", "nothing"],
)
def test_a_body_that_is_no_form_is_rejected_and_never_a_failure(
    browser: Browser, content: bytes, headers: dict[str, str]
) -> None:
    assert browser.ask("POST", ADDRESS, content=content, headers=headers).status_code in (400, 422)


def test_a_rack_may_be_called_what_it_likes(browser: Browser) -> None:
    text = EXAMPLE["brokers_text"].replace("az-a", "<script>alert(1)</script>")
    answer = browser.ask("POST", ADDRESS, data={**EXAMPLE, "brokers_text": text})
    page = browser.get(answer.headers["location"])
    assert not page.inline_scripts
    assert "<script>alert(1)</script>" in page.text


def test_every_control_has_a_label_and_every_description_is_there(browser: Browser) -> None:
    for page in (browser.get(ADDRESS), browser.post(ADDRESS, dict.fromkeys(EMPTY, ""))):
        labelled = {label.attributes["for"] for label in page.all("label")}
        controls = [element for element in page.elements if element.tag in CONTROLS]
        assert {control.attributes["name"] for control in controls} == set(EMPTY) == set(LABELS)
        for control in controls:
            assert control.attributes["id"] in labelled
            for described in control.attributes.get("aria-describedby", "").split():
                assert page.by_id(described).text.strip()


def test_making_a_plan_needs_the_right_to_plan(database: Database) -> None:
    def refuse() -> None:
        raise HTTPException(403)

    app = FastAPI()
    app.include_router(topic_form.router(database, Limits(), replace(OPEN, plan=Depends(refuse))))
    assert Browser(app).get(ADDRESS).status == 200
    assert Browser(app).post(ADDRESS, EXAMPLE).status == 403
    assert nothing_is_stored(database)
