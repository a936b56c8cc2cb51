"""The pages of sweeps, jobs and plans, and the guide."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from pydantic import TypeAdapter

from app.api.sweeps.capacity import CapacitySweepRequest
from app.api.sweeps.requests import SweepSubmission
from app.services import replicas, sweeps
from app.store.database import Database
from app.store.transaction import uuid7
from app.web import charts
from app.web.guide import guide_pages
from app.web.sweeps import plots
from app.web.sweeps.view import pair
from app.web.words import measured
from tests.web.browser import Browser
from tests.web.test_pages import NEW_TOPIC

DEFINITION: dict[str, Any] = {
    "base": {
        "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 2},
        "broker_profile": {"disk_bytes": 1e12, "nic_in_bytes_per_s": 1e9, "nic_out_bytes_per_s": 1e9},
        "topics": [
            {
                "name": "orders",
                "partitions": 12,
                "replication_factor": 3,
                "ingress_bytes_per_s": 1e6,
                "retention_s": 86400,
            }
        ],
    },
    "axes": {"topology.brokers_per_rack": [1, 2], "topics.*.replication_factor": [2, 3]},
}
NEW_TOPICS = {"name": "new", "partitions": 6, "replication_factor": 3}
CIRCUMSTANCES = ("group", "members_lost", "members_added", "seed")


@pytest.fixture
def sweep(database: Database) -> UUID:
    """A scored sweep of four scenarios over two axes."""
    request = CapacitySweepRequest.model_validate(DEFINITION).service()
    sweep_id = uuid7()
    with database.begin() as uow:
        sweeps.store_scored(uow, request, principal="test", sweep_id=sweep_id)
    return sweep_id


def test_studies_of_one_name_are_told_apart_by_their_definitions(database: Database, browser: Browser) -> None:
    for horizon in (12, 36):
        request = CapacitySweepRequest.model_validate(
            {**DEFINITION, "base": {**DEFINITION["base"], "traffic": {"horizon_months": horizon}},
             "labels": {"study": "next year", "cluster": "west"}}
        )  # fmt: skip
        with database.begin() as uow:
            sweeps.store_scored(uow, request.service(), principal="test", sweep_id=uuid7())
    named = [cell.text for cell in browser.get("/sweeps").all("td") if "next year" in cell.text]
    assert named == [f"next year · horizon months {horizon}" for horizon in (36, 12)]


def test_a_sweep_is_listed_and_has_a_page(browser: Browser, sweep: UUID) -> None:
    assert f"/sweeps/{sweep}" in browser.get("/sweeps").source
    assert f"/sweeps/{sweep}" not in browser.get("/sweeps?state=failed").source
    page = browser.get(f"/sweeps/{sweep}")
    assert "capacity study of 4 scenarios" in page.text
    assert "Capacity study, succeeded" in page.text
    for words in ("The best of 4 scored scenarios by cost a month (currency of the prices)", "within the limits"):
        assert words in page.text
    table = browser.get(f"/sweeps/{sweep}?tab=scenarios")
    assert len(list(table.all("tr"))) == 5
    assert "4 of 4 scenarios." in table.text


def test_a_study_answers_in_words_how_long_each_size_lasts(browser: Browser, database: Database) -> None:
    """Sizes are compared with the other axes as in the best scenario. The cluster of the study has the answer, too."""
    browser.ask("POST", "/clusters/example")
    definition = DEFINITION | {"labels": {"study": "Next year", "cluster": "example-shop"}}
    definition["base"] = definition["base"] | {"traffic": {"growth_per_month": 0.2, "horizon_months": 12}}
    definition["base"]["broker_profile"] = {"disk_bytes": 2e11, "nic_in_bytes_per_s": 1e9, "price_per_month": 400}
    definition["axes"] = {"topology.brokers_per_rack": [1, 2, 4], "topics.*.replication_factor": [2, 3]}
    request = CapacitySweepRequest.model_validate(definition).service()
    with database.begin() as uow:
        sweeps.store_scored(uow, request, principal="test", sweep_id=(sweep_id := uuid7()))
    for address in (f"/sweeps/{sweep_id}", "/clusters/example-shop/capacity"):
        answer = next(each.text for each in browser.get(address).all("p") if "months at" in each.text)
        assert " ".join(answer.split()) == (
            "12 brokers last the 12 months at 20 % growth a month, for 4,800 a month (currency of the prices). "
            "3 reach a limit in month 7; 6 reach a limit in month 11."
        )


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("reassignment", {"axes": {"remove_broker": [101, 104], "add_brokers": [0, 1]}}),
        (
            "consumer_groups",
            {"assignors": ["range", "cooperative-sticky"], "members_lost": [0, 1], "members_added": [0]},
        ),
        ("placement_draws", {"topics": [NEW_TOPICS], "seeds": {"count": 20}}),
    ],
)
def test_a_study_without_objective_names_the_choice_with_the_least_of_each_figure(
    browser: Browser, database: Database, kind: str, fields: dict[str, Any]
) -> None:
    """The mean over circumstances, such as lost members and seeds; a single scenario is planned from there."""
    browser.ask("POST", "/clusters/example")
    with database.begin() as uow:
        snapshot = uow.snapshots.newest("example-shop")
        assert snapshot is not None
        given = {"kind": kind, "snapshot_id": str(snapshot.id), **fields}
        request = TypeAdapter(SweepSubmission).validate_python(given).service()
        sweeps.store_scored(uow, request, principal="test", sweep_id=(sweep_id := uuid7()))
        study = uow.sweeps.get(sweep_id)
        rows = [row for _, row in uow.sweeps.chosen(sweep_id, range(study.scenarios))]
    page = browser.get(f"/sweeps/{sweep_id}")
    [answer] = [" ".join(each.text.split()) for each in page.all("p") if each.attributes.get("class") == "answer"]
    means: dict[str, list[Any]] = {}
    for row in rows:
        decided = {name: value for name, value in row["axes"].items() if name not in CIRCUMSTANCES}
        means.setdefault(", ".join(f"{plots.words(name)} {value}" for name, value in decided.items()), []).append(row)
    joint = " " if kind == "placement_draws" else ", "
    for figure in pair(kind, None, None):
        of_choices = {name: sum(row[figure] for row in of) / len(of) for name, of in means.items()}
        least = min(of_choices, key=of_choices.__getitem__)
        assert f"{plots.words(figure)}{joint}{measured(figure, of_choices[least])}" in answer
        named = [name.split(", ") for name, value in of_choices.items() if value == of_choices[least]]
        assert any(all(part in answer for part in parts) for parts in named)
    [*plans] = [each.text for each in page.all("button") if each.text.startswith("Plan:")]
    assert bool(plans) == (kind == "reassignment")
    shown = browser.get(f"/sweeps/{sweep_id}/scenarios/0")
    terms = [term.text.lower() for term in shown.all("dt")]
    main = [plots.words(figure).lower() for figure in pair(kind, None, None)]
    assert [term for term in terms if term in main] == main  # each once, before the other figures
    assert set(terms[: len(main) + 2]) >= set(main)
    assert "seed" not in terms


def test_scenarios_are_sorted_filtered_and_opened(browser: Browser, sweep: UUID) -> None:
    address = f"/sweeps/{sweep}?tab=scenarios&sort=headroom&descending=1"
    roomiest = [row.text.split()[0] for row in browser.get(address).all("tr")][1:]
    assert sorted(roomiest) == ["0", "1", "2", "3"]
    assert roomiest != ["0", "1", "2", "3"]
    assert len(list(browser.get(f"/sweeps/{sweep}?tab=scenarios&feasible=false").all("tr"))) < 5
    assert browser.get(f"/sweeps/{sweep}?tab=scenarios&sort=nonsense&x=nonsense&after=nonsense&after=1,x").status == 200
    assert "brokers per rack" in browser.get(f"/sweeps/{sweep}/scenarios/1").text
    opened = browser.ask("POST", f"/sweeps/{sweep}/scenarios/1/plan")
    assert opened.status_code == 303
    assert browser.get(opened.headers["location"]).status == 200


@pytest.mark.parametrize("plot", ["compared", "axes", "distribution", "breaking"])
def test_every_chart_is_a_specification_and_a_picture(browser: Browser, sweep: UUID, plot: str) -> None:
    query = f"sweep={sweep}&x=monthly_cost&y=headroom"
    spec = browser.ask("GET", f"/pictures/sweep-{plot}.json?{query}").json()
    assert spec["data"]["values"]
    assert browser.ask("GET", f"/pictures/sweep-{plot}.svg?{query}&theme=dark").text.startswith("<svg")
    assert browser.ask("GET", f"/pictures/sweep-{plot}.json?sweep=none").status_code == 404


def test_texts_of_strangers_are_values_of_charts() -> None:
    """No column, filter or title of a specification is an expression that a stranger wrote."""
    hostile = "datum.x; alert(1)//"
    rows = [{"x": hostile, "y": 1.0, "value": 1.0, "series": hostile, "front": None, "href": "/", "axis0": hostile}]
    specs = [
        charts.points(rows, x=hostile, y=hostile, tooltips={"axis0": hostile}),
        charts.heat_map(rows, x=hostile, y=hostile, value=hostile, order=[]),
        charts.bars(rows, x=hostile, y=hostile),
        charts.steps(rows, y=hostile),
        charts.histogram([0, 1], [1], x=hostile, y=hostile),
    ]

    def keys_of(value: object, key: str = "") -> Iterator[str]:
        """The names of fields under which the hostile text is, outside of rows."""
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from keys_of(inner, name) if name != "values" else ()
        elif isinstance(value, list):
            for inner in value:
                yield from keys_of(inner, key)
        elif value == hostile:
            yield key

    assert {key for spec in specs for key in keys_of(spec)} == {"title"}
    assert charts.response(specs[1], "svg").status_code == 200


def test_missing_sweeps_scenarios_and_jobs_are_friendly_404s(browser: Browser, sweep: UUID) -> None:
    for address in (
        "/sweeps/none",
        f"/sweeps/{uuid7()}",
        f"/sweeps/{sweep}/scenarios/99",
        "/jobs/none",
        f"/jobs/{uuid7()}",
    ):
        page = browser.get(address)
        assert (page.status, "not found" in page.text) == (404, True), address
    assert browser.ask("GET", f"/pictures/sweep-nonsense.svg?sweep={sweep}").status_code == 404


def test_plans_are_found_by_what_they_are(browser: Browser) -> None:
    browser.ask("POST", "/clusters/example")
    for name in ("orders-2", "payments-2"):
        browser.ask("POST", "/plan/replicas", data={**NEW_TOPIC, "topics_name": name})
    assert "Place payments-2" in browser.get("/plans").text
    found = browser.get("/plans?topic=orders-2&kind=replicas&status=proposed&cluster=example-shop").text
    assert "Place orders-2" in found
    assert "Place payments-2" not in found
    for nothing in ("topic=none", "kind=streams", "label=team=x", "before=00000000-0000-7000-8000-000000000000"):
        assert "No plan matches." in browser.get(f"/plans?{nothing}").text


def test_a_job_has_a_page_with_its_progress(browser: Browser, database: Database) -> None:
    with database.begin() as uow:
        job = uow.jobs.enqueue(replicas.KIND, {})
    assert f"/jobs/{job.id}" in browser.get("/jobs?state=queued").source
    page = browser.get(f"/jobs/{job.id}")
    [place] = [element for element in page.elements if "data-events" in element.attributes]
    assert place.attributes["data-events"] == f"/v1/jobs/{job.id}/events"
    assert "Queued" in page.text


def test_the_guide_has_every_page_and_finds_words(browser: Browser) -> None:
    for name in guide_pages():
        page = browser.get("/guide" if name == "README" else f"/guide/{name}")
        assert page.status == 200
        assert [heading.tag for heading in page.all("h1")] == ["h1"]
        assert not page.inline_scripts
    assert browser.get("/guide/none").status == 404
    assert "Glossary" in browser.get("/guide?q=preferred+leader").text
    assert "No section has all of these words." in browser.get("/guide?q=xyzzy").text


@pytest.mark.long
def test_links_of_the_guide_lead_to_its_pages(browser: Browser) -> None:
    """Also those with an anchor: the heading is there."""
    for name in guide_pages():
        page = browser.get("/guide" if name == "README" else f"/guide/{name}")
        for link in page.all("a"):
            path, _, anchor = link.attributes.get("href", "").partition("#")
            if path.startswith("/guide/"):
                assert path.removeprefix("/guide/") in guide_pages(), (name, path)
                if anchor:
                    target = browser.get(path)
                    assert anchor in [element.attributes.get("id") for element in target.elements], (name, path, anchor)
