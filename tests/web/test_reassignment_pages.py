"""The page of a reassignment: it agrees with the plan's moves, and its links lead to the same."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.model import Cluster, Placement
from app.errors import Json
from app.formats.syntax.quantities import byte_size
from app.services.limits import Limits
from app.services.plans import FORMATS, draft_plan
from app.services.reassignment import PLANNER
from app.store.records import NewPlan
from app.web.plans import page as plans
from app.web.plans.reassignment import VIEW
from app.web.plans.view import ViewedPlan
from tests.jbod import jbod
from tests.services.reassignments import CERTIFICATE, CLUSTER, as_stored, captured, kafkas_own, plan
from tests.web.browser import Page, words_of
from tests.web.test_console_in_chromium import large


def page_of(new: NewPlan, cluster: Cluster = CLUSTER, *, tab: str = "") -> Page:
    response = plans.shown(ViewedPlan(as_stored(new), cluster), VIEW, chosen=plans.Chosen(tab=tab))
    return Page(response.status_code, response.headers, bytes(response.body).decode())


def rows(page: Page) -> list[str]:
    return [" ".join(row.text.split()) for row in page.all("tr")]


def plan_of_request(**request: Any) -> NewPlan:
    return replace(plan(), request={"batches": {"throttle_bytes_per_s": None}, "add_brokers": [], **request})


def test_it_says_what_moves_and_that_less_would_not_do() -> None:
    page = page_of(plan())
    assert "3 replicas, ≥ 13.0 MiB, move; no plan that satisfies these constraints moves less." in page.text
    assert "nothing stays on brokers 105" in page.text
    assert "Solver flow, 0.0 s" in page_of(plan(), tab="about").text


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"moved_replicas": 0}, "No replica moves: the current placement satisfies all constraints."),
        (
            {"moved_replicas": 1, "moved_bytes": 5, "unknown_size_replicas": 0, "minimised": "replicas"},
            "1 replica, 5 B, moves; no plan that satisfies these constraints moves fewer.",
        ),
        (
            {"optimal": False, "gap": 0.04, "lower_bound_bytes": 12 << 20, "unknown_size_replicas": 0},
            "3 replicas, 13.0 MiB, move; the lower bound is 12.0 MiB, an optimality gap of 4.0 %.",
        ),
        (
            {
                "optimal": False,
                "gap": 0.3,
                "lower_bound_replicas": 2,
                "minimised": "replicas",
                "unknown_size_replicas": 0,
            },
            "3 replicas, 13.0 MiB, move; the lower bound is 2 replicas, an optimality gap of 30.0 %.",
        ),
    ],
)
def test_a_certificate_in_words(changed: dict[str, Any], words: str) -> None:
    assert words_of("movement", {**CERTIFICATE, **changed}) == words


def test_the_cost_of_a_lost_rack_after_the_plan_and_before_it() -> None:
    """With all replicas required; a plan of an earlier release has no such table."""
    body = {"cluster": "c", "remove_brokers": [105], "defaults": {"min_insync_replicas": 3}}
    new = draft_plan(PLANNER, PLANNER.restored(body), captured(), Limits())
    answer: Any = new.answer
    page = page_of(new, captured())
    for name, loss in answer["measures"]["losses"]["racks"].items():
        before = answer["measures_before"]["losses"]["racks"][name]
        cells = [
            f"{loss[field]}" if loss[field] == before[field] else f"{loss[field]} ({before[field]})"
            for field in ("offline", "unwritable", "leaders_moved")
        ]
        assert " ".join([name, *cells]) in rows(page)
    assert "Cost of a lost rack" not in page_of(plan()).text


def test_batches_brokers_and_partitions_are_those_of_the_plan() -> None:
    found = [row for tab in ("execute", "brokers", "changes") for row in rows(page_of(plan(), tab=tab))]
    for row in (
        "1 copies 2 2 ≥ 12.0 MiB 0.2 execute roll back",
        "2 copies 1 1 1.0 MiB – execute roll back",
        "3 reorders 1 0 0 B – execute roll back",
        "105 az-b 3 0 2 → 0 ≥ 13.0 MiB → 0 B 0 B ≥ 13.0 MiB",
        "clicks-0 105, 101 106, 101 size unknown 2 105 → 106",
        "clicks-1 101, 106 106, 101 2 101 → 106",
        "orders-2 new 106, 107 1 106",
    ):
        assert row in found


@pytest.mark.long
def test_a_plan_of_log_directories_has_their_moves() -> None:
    """No list changes, and replicas move between the directories of their brokers all the same."""
    cluster = jbod()
    made = draft_plan(PLANNER, PLANNER.restored({"log_dirs": {"balance": "tight"}}), cluster, Limits())
    moved: Any = made.answer["log_dirs"]
    replicas, size = f"{moved['moved_replicas']} replicas", byte_size(moved["moved_bytes"])
    page = page_of(made, cluster)
    assert next(iter(page.all("h1"))).text == "Reassignment: log directories"
    assert f"No replica moves to another broker; {replicas}, {size}, between log directories" in page.text
    assert f"Between log directories {replicas}, {size}" in " ".join(page.text.split())
    execute = page_of(made, cluster, tab="execute")
    assert "There is nothing to execute." not in execute.text
    batches: Any = made.answer["batches"]
    for number, batch in enumerate(batches, start=1):
        within = f"{batch['log_dir_moves']} {byte_size(batch['log_dir_moved_bytes'])}"
        assert f"{number} copies {batch['count']} 0 0 B {within} execute roll back" in rows(execute)


@pytest.mark.parametrize(("brokers", "maps"), [(42, 2), (30, 0)])
def test_a_large_cluster_has_a_map_of_its_brokers_before_and_after(brokers: int, maps: int) -> None:
    """Shades of replicas around the mean, with one scale: a removed broker is struck out, the others become grey."""
    cluster = large(brokers, 2_000)
    body = {"cluster": "large", "remove_brokers": [0], "balance": {"replicas": "tight"}}
    page = page_of(draft_plan(PLANNER, PLANNER.restored(body), cluster, Limits()), cluster)
    cells = [link for link in page.all("a") if link.attributes.get("title", "").startswith("broker ")]
    assert len(cells) == maps * brokers
    assert all(link.attributes["href"].endswith(f"/changes?select=broker:{link.text}") for link in cells)
    looks = [[link.attributes["class"] for link in cells if (link.text == "0") == is_removed] for is_removed in (0, 1)]
    assert looks[1][1:] == ["lost"] * (maps // 2)
    before, after = looks[0][: brokers - 1], looks[0][brokers - 1 :]
    assert not maps or len({*before}) > len({*after})


def test_its_links_name_formats_that_there_are_and_every_batch() -> None:
    links = [
        link.attributes["href"]
        for link in page_of(plan(), tab="execute").all("a")
        if "export" in link.attributes["href"]
    ]
    for link in links:
        assert link.split("format=")[1].split("&")[0] in FORMATS
    for number in (1, 2, 3):
        one = f"/v1/plans/00000000-0000-0000-0000-000000000007/export?format=batch&batch={number}"
        assert one in links
        assert f"{one}&inverse=true" in links


def test_a_plan_that_moves_nothing_has_nothing_to_execute() -> None:
    still = plan([Placement("orders", 0, CLUSTER.topics[1].replicas)], [])
    page = page_of(
        replace(still, answer={**still.answer, "certificate": {**CERTIFICATE, "moved_replicas": 0}}), tab="execute"
    )
    assert "There is nothing to execute." in page.text
    assert "What changes" not in page.text


def test_a_long_plan_shows_its_beginning_and_says_how_much_there_is() -> None:
    page = page_of(kafkas_own(), captured(), tab="changes")
    assert "These are the first 100 of 116." in page.text


@pytest.mark.parametrize(
    ("request_", "title"),
    [
        ({}, "Reassignment"),
        ({"remove_brokers": [105]}, "Reassignment: remove broker 105"),
        (
            {"remove_brokers": [1, 2], "replace_brokers": {"103": 111}, "replication_factor": {"orders": 4}},
            "Reassignment: remove 2 brokers, 111 for 103, orders × 4",
        ),
        ({"partitions": {"orders": 24}, "leaders_only": True}, "Reassignment: orders to 24 partitions, leaders only"),
        (
            {"replication_factor": {f"t{i}": 2 for i in range(9)}},
            "Reassignment: t0 × 2, t1 × 2, t2 × 2 and 6 more changes",
        ),
    ],
)
def test_its_title_lists_the_changes(request_: dict[str, Any], title: str) -> None:
    assert next(page_of(plan_of_request(**request_)).all("h1")).text == title


def test_the_steps_that_change_cordons_are_listed_in_their_order() -> None:
    """Where batches alone are executed, there is no list."""
    steps: list[Json] = [
        {"action": "cordon", "batch": None, "brokers": [105, 106]},
        {"action": "execute", "batch": 1, "brokers": []},
        {"action": "uncordon", "batch": None, "brokers": [106]},
    ]
    page = page_of(plan(execution={"batches": steps}), tab="execute")
    assert "Cordon 2 brokers: 105, 106" in page.text
    assert page.text.index("Execute batch 1") < page.text.index("Uncordon 1 broker: 106")
    assert "Execute batch" not in page_of(plan(execution={"batches": steps[1:2]}), tab="execute").text


def test_what_kafkas_own_tool_would_move_is_beside_it() -> None:
    moved = {"min": 150, "median": 195, "max": 201}
    sizes = {"min": 1 << 20, "median": 2 << 20, "max": 3 << 20}
    tool: Json = {"seeds": 20, "moved_replicas": moved, "moved_bytes": sizes}
    words = words_of("of_tool", tool)
    assert "would move 150 to 201 replicas (median 195), 1.0 MiB to 3.0 MiB, in 20 runs" in words
    compared = replace(plan(), answer={**plan().answer, "kafka_generate": tool})
    assert words in page_of(compared).text
    for without in (None, {"moved_replicas": None}):
        page = page_of(replace(compared, answer={**compared.answer, "kafka_generate": without}))
        assert "--generate would move" not in page.text


def test_loads_with_a_limit_are_a_table() -> None:
    worst: dict[str, Json] = {"broker": 3 << 20, "lost_broker": 105, "rack": 4 << 20, "lost_rack": "az-b"}
    load: dict[str, Json] = {
        "before": 1 << 20,
        "after": 2 << 20,
        "after_worst_loss": worst,
        "capacity": None,
        "limit": 3 << 20,
    }
    new = plan()
    loads: Json = {"101": {"nic_out": {**load, "headroom": 1 << 20, "potential": 5 << 20}}}
    crossing: Json = {"before_bytes_per_s": 1024, "after_bytes_per_s": 2048}
    page = page_of(
        replace(new, answer={**new.answer, "loads": loads, "cross_rack": crossing, "excess": None}), tab="brokers"
    )
    assert (
        "101 NIC out 1.0 MiB/s 2.0 MiB/s 3.0 MiB/s (of 105) 4.0 MiB/s (of az-b) 3.0 MiB/s 1.0 MiB/s 5.0 MiB/s"
        in rows(page)
    )
    assert "From rack to rack: 1.0 KiB/s → 2.0 KiB/s." in page.text
    group: Json = {
        "group_id": "billing",
        "before_bytes_per_s": 3072,
        "after_bytes_per_s": 0,
        "unknown_bytes_per_s": 1024,
    }
    with_groups: Json = {"before_bytes_per_s": 1024, "after_bytes_per_s": 2048, "groups": [group]}
    answer = {**new.answer, "loads": loads, "cross_rack": with_groups, "excess": None}
    shown = page_of(replace(new, answer=answer), tab="brokers").text
    assert "billing reads from rack to rack: 3.0 KiB/s → 0 B/s, and 1.0 KiB/s of unknown racks." in shown


def test_loads_that_say_no_more_than_the_table_of_brokers_are_left_out() -> None:
    worst: dict[str, Json] = {"broker": 5, "lost_broker": None, "rack": None, "lost_rack": None}
    load: dict[str, Json] = {
        "before": 5,
        "after": 5,
        "after_worst_loss": worst,
        "capacity": None,
        "limit": None,
        "headroom": None,
    }
    new = plan()
    shown = page_of(replace(new, answer={**new.answer, "loads": {"101": {"disk": load}}}), tab="brokers")
    assert "Loads of brokers" not in shown.text
