"""Loads, topics and log directories of a plan, on its page and in its files."""

import csv
from io import BytesIO, StringIO
from typing import Any
from zipfile import ZipFile

from app.formats.tables.load_tables import cells, fullest
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import EXPORTS, PLANNER
from app.store.records import NewPlan
from app.web.plans import page as plans
from app.web.plans.reassignment import VIEW
from app.web.plans.view import ViewedPlan
from tests.jbod import jbod
from tests.services.reassignments import as_stored
from tests.services.test_health import CLUSTER, RATES
from tests.web.browser import Page

REQUEST: dict[str, Any] = {
    "ingress_bytes_per_s": RATES,
    "consumers": {"orders": 2},
    "capacity": {"*": {"disk_bytes": 1000, "nic_out_bytes_per_s": 500}},
    "prices": {"cross_rack_per_gib": 1000.0},
}


def made(**request: Any) -> NewPlan:
    return draft_plan(PLANNER, PLANNER.restored(REQUEST | request), CLUSTER, Limits())


def page_of(new: NewPlan, cluster: Any = CLUSTER, *, tab: str) -> list[str]:
    response = plans.shown(ViewedPlan(as_stored(new), cluster), VIEW, chosen=plans.Chosen(tab=tab))
    page = Page(response.status_code, response.headers, bytes(response.body).decode())
    return [" ".join(row.text.split()) for row in page.all("tr")]


def test_a_row_a_broker_and_resource_as_csv() -> None:
    """The answer's figures, each in a column of its own; unknown ones are empty."""
    new = made()
    written = EXPORTS["loads"](new, lambda: CLUSTER).decode()
    rows = list(csv.DictReader(StringIO(written)))
    answer: Any = new.answer["loads"]
    assert [(row["broker"], row["resource"]) for row in rows] == [(b, r) for b, by in answer.items() for r in by]
    for row in rows:
        load = answer[row["broker"]][row["resource"]]
        worst = load["after_worst_loss"]
        expected = {
            **{name: load[name] for name in ("before", "after", "capacity", "limit", "headroom")},
            "potential": load.get("potential"),
            "worst_broker_loss": worst["broker"],
            "lost_broker": worst["lost_broker"],
            "worst_rack_loss": worst["rack"],
            "lost_rack": worst["lost_rack"],
        }
        assert {name: row[name] for name in expected} == {
            name: "" if value is None else str(value) for name, value in expected.items()
        }


def test_tables_of_text_markdown_and_the_page_are_alike() -> None:
    """Broker 2 sends nothing, 200 bytes/s if broker 1 or rack a is lost, and 310 if it leads all that it has."""
    new = made()
    row = ["0 B/s", "200 B/s (of 1)", "200 B/s (of a)", "500 B/s", "500 B/s", "310 B/s"]
    [found] = [cells_of for broker, resource, cells_of in cells(_loads(new)) if (broker, resource) == ("2", "NIC out")]
    assert found[1:] == row
    assert f"| 2 | NIC out | {' | '.join(found)} |" in EXPORTS["markdown"](new, lambda: CLUSTER).decode()
    assert "NIC out" in EXPORTS["text"](new, lambda: CLUSTER).decode()
    assert f"2 NIC out {' '.join(found)}" in page_of(new, tab="brokers")


def test_without_limits_and_losses_tables_repeat_nothing() -> None:
    """Bytes are in the table of brokers already."""
    new = draft_plan(PLANNER, PLANNER.restored({"capacity": {}}), jbod(), Limits())
    assert new.answer["loads"]
    assert cells(_loads(new)) == []
    assert fullest(_loads(new)) == []


def test_the_archive_names_what_is_nearest_to_its_limit() -> None:
    new = made(limits={"disk": 0.5, "nic_out": 0.9}, objective="relieve", on_conflict="relax")
    with ZipFile(BytesIO(EXPORTS["batches"](new, lambda: CLUSTER))) as archive:
        readme = archive.read("README.txt").decode()
    loads = _loads(new)
    most = max(loads, key=lambda broker: loads[broker]["disk"]["after"])
    assert "After the plan, nearest to its limit or capacity:" in readme
    assert f"  disk: broker {most} has {loads[most]['disk']['after']} B of 500 B" in readme


def test_topics_on_the_page() -> None:
    new = made(balance={"per_topic": {"replicas": "tight"}})
    per_topic: Any = new.answer["balance"]["replicas"]["per_topic"]  # type: ignore[call-overload, index]
    [orders] = [topic for topic in per_topic["worst"] if topic["topic"] == "orders"]
    before = orders["before"]
    words = f"orders {orders['low']} to {orders['high']} {before['smallest']} to {before['largest']}"
    assert f"{words} {orders['smallest']} to {orders['largest']}" in page_of(new, tab="changes")


def test_log_directories_on_the_page() -> None:
    cluster = jbod()
    request = {"log_dirs": {"drain": {"101": ["/data/d1"]}}}
    new = draft_plan(PLANNER, PLANNER.restored(request), cluster, Limits())
    found = page_of(new, cluster, tab="changes")
    [drained] = [row for row in found if row.endswith("drained")]
    log_dirs: Any = new.answer["log_dirs"]
    assert drained.startswith("101 /data/d1")
    assert f"→ 0 B 19.1 MiB 0 % 0 {log_dirs['moved_replicas']} drained" in drained
    assert sum("/data/d" in row for row in found) == 3 * 9


def _loads(new: NewPlan) -> Any:
    return new.answer["loads"]
