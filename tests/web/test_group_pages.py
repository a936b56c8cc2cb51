"""The page of a group plan, and its row in a list: both agree with the plan's answer."""

import re
from html import unescape
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app.api.examples import GROUP, GROUP_REQUEST, SNAPSHOT_WITH_GROUP
from app.api.groups import PlanGroupRequest
from app.api.models.clusters import SnapshotRequest
from app.core.groups.registry import ASSIGNORS
from app.services import plans as services
from app.services import snapshots
from app.services.groups import PLANNER
from app.services.limits import Limits
from app.services.plans import Plan, make_plan
from app.services.plans.kinds import KINDS
from app.store.database import Database
from app.web.plans import groups as group_plans
from app.web.plans import page as plans
from app.web.plans.groups import facts, reads
from app.web.words import byte_size, runs
from tests.web.browser import Browser, Page, words_of

Json = dict[str, Any]
CHANGES = {
    "assignor": "Under",
    "follower_fetching": "Fetching from",
    "one_more_replica": "With one more replica",
    "optimum": "In the optimum",
    "preferred_leaders": "With leaders in the racks of readers",
}
"""The beginning of the row of each change of traffic."""


def keep(database: Database, **changed: Any) -> Plan:
    """The example's group, planned."""
    request = TypeAdapter(PlanGroupRequest).validate_python(GROUP | changed).service()
    with database.begin() as uow:
        return make_plan(uow, PLANNER, request, Limits())


def keep_recorded(database: Database, **fields: Any) -> Plan:
    """The group of the example's snapshot, planned; `previous` compares with the same snapshot."""
    with database.begin() as uow:
        cluster = SnapshotRequest.model_validate(SNAPSHOT_WITH_GROUP).core()
        snapshot = snapshots.store(uow, cluster, Limits())
        body: Json = {"snapshot_id": str(snapshot.id), "group": "billing", **fields}
        if body.pop("previous", False):
            body["previous_snapshot_id"] = str(snapshot.id)
        return make_plan(uow, PLANNER, TypeAdapter(PlanGroupRequest).validate_python(body).service(), Limits())


def answer_of(plan: Plan) -> Json:
    answer: Json = services.as_json(plan.head.answer)
    return answer


def page_of(browser: Browser, plan: Plan, tab: str = "") -> Page:
    page = browser.get(f"/plans/{plan.head.id}{tab}")
    assert page.status == 200
    return page


def rows(page: Page) -> list[str]:
    return [" ".join(row.text.split()) for row in page.all("tr")]


def member(number: int, **fields: Any) -> Json:
    return {"member_id": f"m-{number}", "rack_id": "use1-az1", "topics": ["orders"], **fields}


def test_every_kind_of_plan_can_be_looked_at() -> None:
    assert list(plans.VIEWS) == list(KINDS)


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_it_says_whose_prediction_it_is_and_what_it_comes_to(
    browser: Browser, database: Database, assignor: str
) -> None:
    plan = keep(database, assignor=assignor)
    answer, page = answer_of(plan), page_of(browser, plan)
    assert next(page.all("h1")).text == f"orders under {assignor}"
    [tag] = [element.text for element in page.elements if element.attributes.get("class") == "tag"]
    assert tag == answer["prediction"]
    for fact in facts(answer):
        assert fact in page.text
    assignors = page_of(browser, plan, "/assignors")
    [tabled] = [row for row in rows(assignors) if row.startswith(f"{assignor} ")]
    row = answer["comparison"][0]
    counts = [row[name] for name in ("in_rack", "cross_rack", "unknown", "moved", "revoked", "phases")]
    assert tabled.split()[1:7] == ["–" if count is None else str(count) for count in counts]
    assert ("The optimum" in assignors.text) == (answer["optimum"] is not None)


def test_all_of_a_comparison_is_tabled_a_failure_with_its_reason(browser: Browser, database: Database) -> None:
    """The uniform assignor rejects members that own a partition twice; the others answer."""
    members = [member(0, owned_partitions={"orders": [0, 1]}), member(1, owned_partitions={"orders": [1, 2]})]
    plan = keep(database, members=members, assignor=["range", "uniform", "optimal"])
    answer, page = answer_of(plan), page_of(browser, plan, "/assignors")
    failed = answer["comparison"][1]
    assert failed["error"]
    assert f"uniform {failed['error']['detail']}" in rows(page)
    assert {row.split()[0] for row in rows(page)} >= {"range", "uniform", "optimal"}


def test_members_stand_with_what_they_read(browser: Browser, database: Database) -> None:
    lag = {"orders": [10, 20, 30, 40, 50, 60]}
    plan = keep(database, lag=lag, members=[member(0, group_instance_id="static-0"), member(1, rack_id=None)])
    answer, page = answer_of(plan), page_of(browser, plan, "/members")
    for each, shown in zip(answer["loads"]["per_member"], rows(page)[-2:], strict=True):
        name = each["member_id"] + (" static-0" if each["group_instance_id"] else "")
        counts = [each[column] for column in ("partitions", "in_rack", "cross_rack", "unknown", "lag")]
        read = reads(answer["assignment"][each["member_id"]])
        assert shown == f"{name} {each['rack_id'] or 'none'} {' '.join(map(str, counts))} {read}"


def test_of_many_members_the_first_are_listed_and_the_rest_is_a_file(browser: Browser, database: Database) -> None:
    plan = keep(database, members=[member(i) for i in range(group_plans.SHOWN_MEMBERS + 5)])
    page = page_of(browser, plan, "/members")
    assert sum(bool(re.match(r"m-\d+ ", row)) for row in rows(page)) == group_plans.SHOWN_MEMBERS
    assert f"These are the first {group_plans.SHOWN_MEMBERS} of {group_plans.SHOWN_MEMBERS + 5} members." in page.text


def test_each_step_is_shown_with_its_movement_and_locality(browser: Browser, database: Database) -> None:
    events = [*GROUP_REQUEST["events"]["value"]["events"], {"rolling_restart": True}]
    plan = keep(database, assignor="cooperative-sticky", events=events)
    answer, page = answer_of(plan), page_of(browser, plan, "/events")
    assert len(answer["steps"]) > len(events)
    restarts = len(answer["steps"]) - len(events) + 1
    for place, step in enumerate(answer["steps"], start=1):
        name = words_of("event", step["event"])
        name += f" ({place - len(events) + 1} of {restarts})" if place >= len(events) else ""
        [row] = [row for row in rows(page) if row.startswith(f"{place} {name} ")]
        assert row.startswith(f"{place} {name} {step['moved']} {step['revoked']} ")
        assert row.count("%") == 3
    triggered = [step for step in answer["steps"] if step["trigger"] and step["trigger"]["because"]]
    assert triggered
    for step in triggered:
        for change in step["trigger"]["because"]:
            assert words_of("change", change) in page.text


def test_traffic_is_tabled_with_each_change(browser: Browser, database: Database) -> None:
    rates: Json = {"orders": [1000 * 4**place for place in range(6)]}
    members = [member(0, owned_partitions={"orders": [0, 1]}, generation_id=1), member(1), member(2, rack_id=None)]
    plan = keep(database, members=members, bytes_per_s=rates, events=[{"leave": "m-0"}])
    answer, page = answer_of(plan), page_of(browser, plan, "/traffic")
    traffic = answer["traffic"]
    named = [
        ("Before", traffic["before"]),
        ("After", traffic),
        *((CHANGES[row["change"]], row) for row in traffic["if"]),
    ]
    assert len(named) >= 7
    for words, row in named:
        crossing, cost = byte_size(round(row["cross_rack_bytes_per_s"])), f"{row['cost_per_month']:,.2f}"
        found = [shown for shown in rows(page) if shown.startswith(f"{words} ")]
        assert any(f" {crossing}/s {cost} " in shown for shown in found), words
    links = {link.attributes["href"] for link in page.all("a") if link.text == "Plan it"}
    assignors = {"optimal", *(row["value"] for row in traffic["if"] if row["change"] == "assignor")}
    assert {f"/plan/group?again={plan.head.id}&assignor={name}" for name in assignors} <= links
    for link in links:  # the form has the change
        [name, value] = link.rpartition("&")[2].split("=")
        assert browser.get(link).form()[name] == value
    for pair in traffic["per_rack_pair"]:
        racks = " ".join(pair[end] or "an unknown rack" for end in ("from", "to"))
        assert f"{racks} {byte_size(round(pair['bytes_per_s']))}/s" in rows(page)
    assert all(f": {change['reason']}." in page.text for change in traffic["left_out"])
    pause = answer["steps"][0]["pause"]
    [step] = [row for row in rows(page_of(browser, plan, "/events")) if row.startswith("1 m-0 leaves ")]
    assert f" {pause['partitions']} {pause['seconds']:g} {byte_size(pause['lag_bytes'])} " in step
    assert "Bytes from rack to rack" not in page_of(browser, keep(database), "/traffic").text


def test_phases_are_shown_where_there_are_several(browser: Browser, database: Database) -> None:
    members = [member(0, owned_partitions={"orders": [0, 1, 2, 3, 4, 5]}, generation_id=1), member(1)]
    page = page_of(browser, keep(database, assignor="cooperative-sticky", members=members), "/events")
    assert "Phases of the rebalance" in page.text
    settled = page_of(browser, keep(database, assignor="range", members=members), "/events")
    assert "Phases of the rebalance" not in settled.text
    assert "The request has no events" in settled.text
    assert "Add events" in settled.text


def test_a_recorded_group_has_its_name_and_the_verdict_of_its_leader(browser: Browser, database: Database) -> None:
    plan = keep_recorded(database, previous=True)
    page = page_of(browser, plan)
    assert next(page.all("h1")).text == "billing under range"
    events = page_of(browser, plan, "/events").text
    assert "billing-0-35ee leads the group" in events
    assert "It does not rebalance." in events
    assert "Group billing" in browser.get(f"/plans/{plan.head.id}/about").text


def test_violations_of_a_plan_are_on_its_page(browser: Browser, database: Database) -> None:
    plan = keep(database, members=[member(0), member(1, rack_id=None)], assignor="range")
    answer, page = answer_of(plan), page_of(browser, plan)
    assert answer["warnings"]
    for found in (*answer["violations"], *answer["warnings"]):
        assert found["detail"] in page.text


def test_only_what_a_group_plan_can_be_is_linked(browser: Browser, database: Database) -> None:
    plan = keep(database)
    page = page_of(browser, plan)
    here = f"/v1/plans/{plan.head.id}"
    links = {link.attributes["href"] for link in page.all("a")}
    assert {f"{here}/export?format=csv", f"{here}/export?format=markdown", f"{here}/picture.svg", here} <= links
    assert not [link for link in links if "assignment" in link]
    assert not list(page.all("pre"))


@pytest.mark.parametrize("members", [[], [member(0, topics=[])]], ids=["no members", "nothing subscribed"])
def test_a_group_that_reads_nothing_has_a_page(browser: Browser, database: Database, members: list[Json]) -> None:
    plan = keep(database, members=members)
    page = page_of(browser, plan)
    assert next(page.all("h1")).text == "no topic under range"
    assert "The rack in which partitions are read is unknown." in page.text


def test_it_loads_and_runs_nothing_but_what_is_ours(browser: Browser, database: Database) -> None:
    """Whatever members are called: names are text and never markup."""
    bad = "<script>alert(1)</script>"
    page = page_of(browser, keep(database, members=[member(0, member_id=bad, rack_id=bad)], labels={bad: bad}))
    assert bad in page.text
    for element in page.elements:
        assert element.tag not in ("style", "iframe", "object", "embed", "base")
        assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    tables = list(page.all("table"))
    regions = [element for element in page.all("div") if element.attributes.get("role") == "region"]
    assert len(tables) == len(regions)
    assert all(region.attributes["aria-label"] and region.attributes["tabindex"] == "0" for region in regions)
    levels = [int(element.tag[1]) for element in page.elements if re.fullmatch("h[1-6]", element.tag)]
    assert all(deeper <= level + 1 for level, deeper in pairwise(levels))


def test_the_picture_is_a_document_of_its_own(database: Database) -> None:
    plan = keep(database)
    with database.begin() as uow:
        again = services.load(uow, plan.head.id)
        cluster = services.made_on(uow, again.head)
    picture = plans.plan_picture(again, cluster)
    root = ET.fromstring(picture)  # noqa: S314 — it was drawn just now
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "orders under range: 6 partitions read by 2 members"
    assert "No member is in rack use1-az4." in picture.decode()


class TestWords:
    """A plan's answer as people read it."""

    @pytest.mark.parametrize(
        ("event", "words"),
        [
            ({"join": {"member_id": "m", "rack_id": "a"}}, "m joins in rack a"),
            ({"join": {"member_id": "m", "rack_id": None}}, "m joins"),
            ({"leave": "m"}, "m leaves"),
            ({"replace": {"member_id": "m", "by": {"member_id": "n", "rack_id": "b"}}}, "m rejoins as n in rack b"),
            ({"rolling_restart": True}, "A member is restarted"),
            ({"lose_rack": "a"}, "Rack a is lost"),
            ({"topic_grown": {"topic": "t", "partitions": 9}}, "t grows to 9 partitions"),
            (
                {"replica_racks_changed": {"brokers": [{"id": 1}, {"id": 2}], "replicas": {"t": []}}},
                "The racks of 2 brokers and 1 topic change",
            ),
            ({"replica_racks_changed": {"brokers": [], "replicas": {"t": []}}}, "The racks of 1 topic change"),
            ({"replica_racks_changed": {}}, "The racks of nothing change"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
    )
    def test_of_events(self, event: Json, words: str) -> None:
        assert words_of("event", event) == words

    @given(st.sets(st.integers(0, 60)), st.randoms(use_true_random=False))
    def test_ranges_are_the_partitions_and_no_two_of_them_touch(self, partitions: set[int], random: Any) -> None:
        listed = sorted(partitions)
        random.shuffle(listed)
        ends = [tuple(map(int, run.split("–"))) for run in runs(listed)]
        assert [p for end in ends for p in range(end[0], end[-1] + 1)] == sorted(partitions)
        assert all(later[0] > earlier[-1] + 1 for earlier, later in pairwise(ends))

    def test_of_what_a_member_reads(self) -> None:
        assert reads({"a": [2, 0, 1, 5], "b": [7]}) == "a 0–2, 5; b 7"
        assert reads({}) == ""
        assert reads({"a": list(range(0, 60, 2)), "b": [1]}).endswith("20, 22 …")

    def test_of_what_the_leader_sees(self) -> None:
        change = {"topic": "t", "what": "racks", "partitions": [0, 1, 2], "count": 5}
        assert words_of("change", change) == "t: replicas are in other racks (partitions 0–2 and 2 more)"
        vanished = {"topic": "t", "what": "vanished", "partitions": [], "count": 0}
        assert words_of("change", vanished) == "t: the topic was deleted"

    def test_of_a_group_that_is_not_all_known(self) -> None:
        answer = {
            "locality": {"in_rack": 5, "cross_rack": 1, "unknown": 2, "in_rack_share": 5 / 6},
            "optimum": {"in_rack": 6, "moved": 1},
            "loads": {"partitions": {"min": 4, "max": 4, "spread": 0}},
            "moved": 2,
        }
        assert facts(answer) == [
            "In rack: 5 of 6 partitions (83.3 %); the optimum 6; 2 more unknown.",
            "2 partitions moved, 1 in the optimum; a member reads 4 partitions (spread 0).",
        ]


def test_a_leader_that_the_recorded_group_does_not_have_is_named(client: httpx.Client) -> None:
    """Beside its field: the first member would lead, in a plan that is listed as one of that leader."""
    typed = {"cluster": "example-groups", "group": "billing", "leader": "no-such-member"}
    answer = client.post("/plan/group", data=typed)
    assert answer.status_code == 422
    assert 'id="leader-problem">the leader no-such-member is not among the members' in answer.text


def test_events_have_pickers_of_the_members_of_the_group(client: httpx.Client) -> None:
    """Names, or JSON to begin with; each of them is an event that can be planned."""
    typed = {"cluster": "example-groups", "group": "billing"}
    shown = client.get("/plan/group", params=typed).text
    listed = dict(re.findall(r'<datalist id="known-events-(\w+)"[^>]*>(.*?)</datalist>', shown))
    assert "billing-0-35ee" in listed["leave"]
    assert "data-alone" in re.findall(r'<datalist id="known-events-rolling_restart"([^>]*)>', shown)[0]
    for verb, options in listed.items():
        for about in map(unescape, re.findall('<option value="([^"]*)">', options)[:1]):
            answer = client.post("/plan/group", data={**typed, "events": f"{verb} {about}"})
            assert answer.status_code == 303, (verb, about, answer.text)
