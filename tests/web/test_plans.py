"""The page of a plan: it agrees with the plan, and the command it shows makes exactly this plan."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4
from xml.etree import ElementTree as ET

import httpx
import pytest
from fastapi import Depends, FastAPI, HTTPException

from app.api.forms import FormRequests
from app.core.model import Broker, Cluster, NewTopic
from app.core.replicas.options import RackMode
from app.services import plans as services
from app.services import snapshots
from app.services.fields import Defaults
from app.services.limits import Limits
from app.services.plans import Plan, make_plan
from app.services.replicas import PLANNER, ReplicasRequest
from app.store.database import Database
from app.web import console
from app.web.access import Access
from app.web.plans import page as plans
from app.web.plans import replicas as replica_plans
from tests.formats.readers import replica_assignment
from tests.services.reassignments import topic
from tests.web.browser import Browser, Page
from tests.web.test_clusters import TEXT

BROKERS = [Broker(100 + i, f"az-{'abc'[i % 3]}") for i in range(6)]


def keep(database: Database, request: ReplicasRequest) -> Plan:
    with database.begin() as uow:
        return make_plan(uow, PLANNER, request, Limits())


def ordered(topics: Sequence[NewTopic], *, seed: int | None = None, start: int | None = None) -> ReplicasRequest:
    return ReplicasRequest(topics, brokers=BROKERS, seed=seed, fixed_start_index=start)


def page_of(browser: Browser, plan: Plan, tab: str = "") -> Page:
    page = browser.get(f"/plans/{plan.head.id}{tab}")
    assert page.status == 200
    return page


def commands(page: Page) -> list[list[str]]:
    """The commands as a shell would take them apart."""
    return [shlex.split(block.text.replace("\\\n", "")) for block in page.all("pre")]


@pytest.mark.parametrize(
    ("seed", "start", "prediction"),
    [(7, None, "replay"), (None, None, "envelope"), (None, 2, "pinned")],
)
def test_it_says_which_kind_of_prediction_it_is(
    browser: Browser, database: Database, seed: int | None, start: int | None, prediction: str
) -> None:
    plan = keep(database, ordered([NewTopic("orders", 12, 3)], seed=seed, start=start))
    page, page_address = page_of(browser, plan), f"/plans/{plan.head.id}"
    [tag] = [element.text for element in page.elements if element.attributes.get("class") == "tag"]
    assert tag == prediction
    assert ("All draws of the controller" in page_of(browser, plan, "/measures").text) == (prediction == "envelope")
    if seed is not None:
        assert f"Seed {seed} " in browser.get(f"{page_address}/about").text


def test_the_command_makes_exactly_this_plan(browser: Browser, database: Database) -> None:
    """The argument, read as Kafka reads it, is the assignment."""
    plan = keep(database, ordered([NewTopic("orders", 12, 3)], seed=1))
    create, script = commands(page_of(browser, plan))
    assert create[:6] == ["kafka-topics.sh", "--bootstrap-server", "localhost:9092", "--create", "--topic", "orders"]
    assert create[6] == "--replica-assignment"
    assert replica_assignment.read(create[7]).tolist() == plan.placements[0].replicas.tolist()
    assert script == ["BOOTSTRAP_SERVER=localhost:9092", "bash", f"plan-{plan.head.id}.sh"]


def test_only_topics_that_exist_are_moved(browser: Browser, database: Database) -> None:
    """A topic that is yet to be created cannot be reassigned."""
    with database.begin() as uow:
        snapshot = snapshots.store(uow, Cluster("c", tuple(BROKERS), (topic("orders", [[100, 101]], [1]),)), Limits())
    for name, tools in (("orders", ["bash", "kafka-reassign-partitions.sh"]), ("new", ["bash"])):
        request = replace(ordered([NewTopic(name, 20_000, 2)]), brokers=None, snapshot_id=snapshot.id)
        shown = commands(page_of(browser, keep(database, request)))
        assert [next(word for word in words if "=" not in word) for words in shown] == tools


@pytest.mark.parametrize(
    "topics",
    [
        [NewTopic("a", 3, 2), NewTopic("b", 3, 3)],
        [NewTopic("a", 20_000, 3)],
        [NewTopic("a", 3, 2, start_partition_id=5)],
    ],
    ids=["two topics", "too long to copy", "more partitions of a topic"],
)
def test_no_command_is_offered_that_would_not_make_this_plan(
    browser: Browser, database: Database, topics: Sequence[NewTopic]
) -> None:
    page = page_of(browser, keep(database, ordered(topics, seed=1)))
    assert [command[1] for command in commands(page)] == ["bash"]


def test_the_exports_are_linked(browser: Browser, database: Database) -> None:
    plan = keep(database, ordered([NewTopic("orders", 12, 3)]))
    here = f"/v1/plans/{plan.head.id}"
    links = {link.attributes["href"] for link in page_of(browser, plan).all("a")}
    formats = {
        f"{here}/export?format={name}" for name in ("script", "reassignment", "replica_assignment", "csv", "markdown")
    }
    assert formats | {here, f"{here}/picture.svg"} <= links
    two = keep(database, ordered([NewTopic("a", 3, 2), NewTopic("b", 3, 3)]))
    links = {link.attributes["href"] for link in page_of(browser, two).all("a")}
    assert f"/v1/plans/{two.head.id}/export?format=replica_assignment" not in links


def test_the_first_partitions_are_listed_as_they_are_planned(browser: Browser, database: Database) -> None:
    plan = keep(database, ordered([NewTopic("a", 40, 2), NewTopic("b", 40, 3)], seed=3))
    page = page_of(browser, plan, "/partitions")
    rows = [" ".join(row.text.split()) for row in page.all("tr")]
    expected = [
        f"{placement.topic} {partition} {replicas[0]} {', '.join(map(str, replicas))}"
        for placement in plan.placements
        for partition, replicas in enumerate(placement.replicas.tolist())
    ]
    assert [row for row in rows if re.fullmatch(r"[ab] \d+ \d+ [\d, ]+", row)] == expected[
        : replica_plans.SHOWN_PARTITIONS
    ]
    assert f"These are the first {replica_plans.SHOWN_PARTITIONS} of 80." in page.text


def test_measures_and_losses_are_those_of_the_plan(browser: Browser, database: Database) -> None:
    plan = keep(database, ordered([NewTopic("orders", 12, 3)], seed=1))
    text = page_of(browser, plan, "/measures").text
    assert "Leaders 2 2 0 Replicas 6 6 0" in text
    assert "3 racks 12 Rack-safe 100 %" in text
    assert "az-a 4 12 0 – az-b 4 12 0 – az-c 4 12 0 –" in text
    stated = replace(ordered([NewTopic("orders", 12, 3)], seed=1), defaults=Defaults(3))
    text = page_of(browser, keep(database, stated), "/measures").text
    assert "Partitions offline Not writable az-a 4 12 0 12 az-b 4 12 0 12 az-c 4 12 0 12" in text


def test_violations_of_a_plan_are_on_its_page(browser: Browser, database: Database) -> None:
    brokers = [Broker(1, "a"), Broker(2, "a"), Broker(3, "a"), Broker(4, "b"), Broker(5, None)]
    request = ReplicasRequest([NewTopic("orders", 20, 2)], brokers=brokers, rack_mode=RackMode.SAFE, seed=1)
    plan = keep(database, request)
    answer: Any = services.as_json(plan.head.answer)
    assert answer["violations"]
    assert answer["warnings"]
    text = page_of(browser, plan).text
    for found in (*answer["violations"], *answer["warnings"]):
        assert found["detail"] in text


def test_a_plan_that_is_not_there_is_a_friendly_404(browser: Browser) -> None:
    for wanted in (str(uuid4()), "no-id", "%3Cscript%3E"):
        page = browser.get(f"/plans/{wanted}")
        assert page.status == 404
        assert "Plan not found" in page.text
        assert not page.inline_scripts


def test_the_picture_is_a_document_of_its_own_and_the_same_one_each_time(database: Database) -> None:
    plan = keep(database, ordered([NewTopic("orders", 12, 3)], seed=1))
    with database.begin() as uow:
        again = services.load(uow, plan.head.id)
        cluster = services.made_on(uow, again.head)
    picture = plans.plan_picture(again, cluster)
    assert picture == plans.plan_picture(plan, Cluster("", tuple(BROKERS)))
    root = ET.fromstring(picture)  # noqa: S314 — it was drawn just now
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "orders: 12 partitions × 3 replicas on 6 brokers"
    assert root.find("{http://www.w3.org/2000/svg}style") is not None


def test_dependencies_are_checked_first(database: Database) -> None:
    def refuse() -> None:
        raise HTTPException(403)

    app = FastAPI()
    access = Access(*(Depends(refuse) for _ in range(4)))
    app.include_router(console.router(database, Limits(), FormRequests(Limits()), access=access))
    addresses = (
        "/",
        "/keys",
        "/webhooks",
        "/plans",
        f"/plans/{uuid4()}",
        "/clusters/c",
        "/sweeps",
        "/jobs",
        "/plan",
        "/guide",
    )
    for address in (*addresses, "/pictures/plan.svg?plan=p", "/pictures/cluster-map.svg?cluster=c"):
        assert Browser(app).get(address).status == 403


def test_the_differences_from_a_snapshot_and_the_files_of_one_topic(client: httpx.Client) -> None:
    """The API's; an invalid snapshot is named, and a plan of one topic has no files of one topic."""
    client.post("/clusters", data={"cluster": "nine", "text": TEXT})
    topics = [{"name": name, "partitions": 3, "replication_factor": 2} for name in ("orders", "new")]
    made = client.post("/v1/plans/replicas", json={"cluster": "nine", "seed": 1, "topics": topics[:1]}).json()["id"]
    [snapshot] = [each["id"] for each in client.get("/v1/snapshots?cluster=nine").json()["items"]]
    page = client.get(f"/plans/{made}/partitions")
    assert (f'value="{snapshot}"' in page.text, "to copy" in page.text) == (True, False)
    assert "Files of one topic" not in client.get(f"/plans/{made}/about").text
    own = client.get(f"/v1/plans/{made}/diff?against={snapshot}").json()
    shown = client.get(f"/plans/{made}/partitions?against={snapshot}").text
    assert f"{own['summary']['partitions_changed']} changed; " in shown
    assert f"{own['summary']['replicas_added']} replicas to copy" in shown
    assert all(f"{row['topic']}-{row['partition']}</th>" in shown for row in own["items"])
    assert "is not the id of a snapshot" in client.get(f"/plans/{made}/partitions?against=x").text
    assert "alert" in client.get(f"/plans/{made}/partitions?against={uuid4()}").text
    both = client.post("/v1/plans/replicas", json={"cluster": "nine", "seed": 1, "topics": topics}).json()["id"]
    form = client.get(f"/plans/{both}/about").text
    [listed] = re.findall(r'<select id="of-format".*?</select>', form)
    for name in re.findall(r'value="(\w+)"', listed):
        file = client.get(f"/v1/plans/{both}/export?topic=new&format={name}")
        assert file.is_success, file.text
        assert "attachment" in file.headers["content-disposition"]
