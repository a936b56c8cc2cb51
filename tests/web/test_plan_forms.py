"""The forms of plans and sweeps: the request that fields make, its result, and errors beside their fields."""

import ast
import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.api.examples import CONSUMERS_REQUEST, SWEEP_REQUEST
from app.services import snapshots
from app.services.limits import Limits
from app.store.database import Database
from app.store.records import PlanFilter
from app.web.forms import short
from app.web.forms.codecs import CODECS
from app.web.forms.requests import FIELDS_OF, KINDS
from tests.web.browser import Browser
from tests.web.test_clusters import SAMPLES, TEXT, keep, small
from tests.web.test_console_in_chromium import large

EMPTY = dict.fromkeys(FIELDS_OF["reassignment"], "")


@pytest.mark.parametrize(
    ("typed", "body"),
    [
        ({}, {}),
        ({"remove_brokers": "105, 106"}, {"remove_brokers": [105, 106]}),
        ({"add_brokers": "107 az a\n108"}, {"add_brokers": [{"id": 107, "rack": "az a"}, {"id": 108}]}),
        ({"remove_racks": "az-a\n\naz b"}, {"remove_racks": ["az-a", "az b"]}),
        ({"replication_factor": "orders=3\nx = 2"}, {"replication_factor": {"orders": 3, "x": 2}}),
        (
            {"replicas": "10%", "replicas_by": "bytes"},
            {"balance": {"replicas": {"tolerance": 0.1}, "replicas_by": "bytes"}},
        ),
        (
            {"leaders": "preferred", "objective": "relieve"},
            {"balance": {"leaders": "preferred"}, "objective": "relieve"},
        ),
        ({"disk": "80", "throttle": "50"}, {"limits": {"disk": 0.8}, "batches": {"throttle_bytes_per_s": 50_000_000}}),
        (
            {"throttle": "1", "more": '{"batches": {"max_partitions": 9}, "topics": ["t"]}'},
            {"batches": {"throttle_bytes_per_s": 1_000_000, "max_partitions": 9}, "topics": ["t"]},
        ),
        (
            {"per_topic": "tight", "resources": "disk, cpu"},
            {"balance": {"per_topic": {"replicas": "tight"}, "resources": ["disk", "cpu"]}},
        ),
        (
            {"replicas": "tight", "per_topic": "10%"},
            {"balance": {"replicas": "tight", "per_topic": {"replicas": {"tolerance": 0.1}}}},
        ),
        (
            {"goals": "disk 10\nreplicas"},
            {"objective": {"goals": [{"goal": "disk", "tolerance": 0.1}, {"goal": "replicas"}]}},
        ),
        (
            {"disk": "80", "nic_in": "70", "leader_limit": "9"},
            {"limits": {"disk": 0.8, "nic_in": 0.7, "leaders": {"absolute": 9}}},
        ),
        (
            {"broker_sets": "blue=1, 2\nred=3", "topic_sets": "orders=blue"},
            {"broker_sets": {"blue": [1, 2], "red": [3]}, "topic_sets": {"orders": "blue"}},
        ),
        ({"topic_sets": "topic_name_hash"}, {"topic_sets": "topic_name_hash"}),
        (
            {"log_dirs": "tight", "drain": "1 /data/a\n1 /data/b"},
            {"log_dirs": {"balance": "tight", "drain": {"1": ["/data/a", "/data/b"]}}},
        ),
    ],
)
def test_fields_make_a_request(typed: dict[str, str], body: dict[str, Any]) -> None:
    """And the request makes fields that make it again."""
    made = {"cluster": "c", **body}
    assert short.request("reassignment", {**EMPTY, "cluster": "c", **typed}, {}) == made
    assert short.request("reassignment", short.typed_of("reassignment", made), {}) == made


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"remove_brokers": "x"}, "remove_brokers"),
        ({"add_brokers": "²"}, "add_brokers"),
        ({"replication_factor": "orders"}, "replication_factor"),
        ({"replication_factor": "orders=three"}, "replication_factor"),
        ({"disk": "much"}, "disk"),
        ({"disk": "nan"}, "disk"),
        ({"nic_in": "inf"}, "nic_in"),
        ({"goals": "disk much"}, "goals"),
        ({"replica_limit": "-1"}, "replica_limit"),
        ({"broker_sets": "blue"}, "broker_sets"),
        ({"broker_sets": "blue=x"}, "broker_sets"),
        ({"topic_sets": "orders"}, "topic_sets"),
        ({"drain": "1"}, "drain"),
        ({"capacities": "* 4/5 625"}, "capacities"),
        ({"capacities": "* 4 1/2/3"}, "capacities"),
        ({"more": "{"}, "more"),
        ({"more": "[1]"}, "more"),
    ],
)
def test_what_cannot_be_read_is_said_at_its_field(browser: Browser, typed: dict[str, str], field: str) -> None:
    problems: dict[str, str] = {}
    short.request("reassignment", {**EMPTY, "cluster": "c", **typed}, problems)
    assert list(problems) == [field]
    page = browser.post("/plan/reassignment", {**EMPTY, "cluster": "c", **typed})
    assert page.status == 422
    assert page.by_id(field).attributes["aria-invalid"] == "true"


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*CODECS]), st.from_regex(r"-?[0-9]{1,25}([.][0-9]{1,3})?( ?(TB|PB|w|%))?", fullmatch=True))
def test_a_number_of_any_size_is_json_or_is_rejected(codec: str, text: str) -> None:
    """JSON is written with integers of at most 64 bits; a larger one was a failure of the service."""
    try:
        value = CODECS[codec].read(text)
    except ValueError:
        return
    assert orjson.loads(orjson.dumps(value)) == value


def test_every_kind_has_a_form_and_its_examples(browser: Browser) -> None:
    assert all(f"/plan/{kind}" in browser.get("/plan").source for kind in KINDS)
    for kind in KINDS:
        page = browser.get(f"/plan/{kind}")
        assert page.status == 200
        examples = [link.attributes["href"] for link in page.all("a") if "?example=" in link.attributes["href"]]
        assert examples or kind == "sweep-key_skew"  # no dataset is in every service
        for address in examples if kind != "replicas" else []:
            shown = browser.get(address)
            assert json.loads(shown.by_id("as-json").text)
    assert browser.get("/plan/nonsense").status == 404


def test_a_change_of_a_cluster_becomes_a_plan(browser: Browser) -> None:
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    form = browser.get("/plan/reassignment?cluster=nine")
    assert form.by_id("cluster").attributes["value"] == "nine"
    typed = {**EMPTY, "cluster": "nine", "remove_brokers": "105"}
    shown = browser.post("/plan/reassignment", {**typed, "preview": "1"})
    assert json.loads(shown.by_id("as-json").text) == {"cluster": "nine", "remove_brokers": [105]}
    assert "/v1/plans/reassignment" in shown.by_id("as-curl").text
    answer = browser.ask("POST", "/plan/reassignment", data=typed)
    assert answer.status_code == 303
    assert "Remove broker 105" in browser.get("/plans").text
    assert browser.get(answer.headers["location"]).status == 200


def test_fields_come_from_the_address_and_from_pickers(browser: Browser, database: Database) -> None:
    """A link fills fields in; brokers and racks of the newest snapshot are boxes, which are lines of the same field."""
    keep(database, small())
    page = browser.get("/plan/reassignment?cluster=small&remove_brokers=3&replicas=tight")
    assert json.loads(page.by_id("as-json").text) == {
        "cluster": "small",
        "remove_brokers": [3],
        "balance": {"replicas": "tight"},
    }
    boxes = [each.attributes["value"] for each in page.all("input") if each.attributes.get("name", "")[:7] == "remove_"]
    assert boxes == ["1", "2", "3", "a", "b"]
    body = "cluster=small&remove_brokers=3&remove_brokers=1&preview=1"
    headers = {"content-type": "application/x-www-form-urlencoded"}
    shown = browser.ask("POST", "/plan/reassignment", content=body, headers=headers).text
    assert "3,\n    1" in shown


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "cluster" in FIELDS_OF[kind]])
def test_a_form_is_fields_or_json_both_ways(browser: Browser, database: Database, kind: str) -> None:
    keep(database, small())
    fields = {"cluster": "small", "more": '{"labels": {"team": "x"}}'}
    as_json = browser.post(f"/plan/{kind}", {**fields, "json": "1"})
    body = as_json.by_id("body").text.strip()
    assert json.loads(body)["labels"]["team"] == "x"
    assert as_json.form()["cluster"] == "small"
    assert "Update snapshot" in as_json.text
    as_fields = browser.post(f"/plan/{kind}", {"body": body, "fields": "1"})
    assert as_fields.by_id("cluster").attributes["value"] == "small"
    assert as_fields.by_id("labels").text.strip() == "team=x"
    assert browser.post(f"/plan/{kind}", {"body": "{", "fields": "1"}).status == 422


CAPACITY = [
    example["value"] for example in SWEEP_REQUEST.values() if example["value"].get("kind") in (None, "capacity")
]


@pytest.mark.parametrize("body", CAPACITY)
def test_the_fields_of_a_study_are_its_request(body: dict[str, Any]) -> None:
    """Values without a field are JSON; numbers are exact in the units of the fields."""
    typed = short.typed_of("sweep", body)
    assert (typed["racks"], typed["disk_bytes"], typed["nic_in_bytes_per_s"]) == (
        "use1-az1, use1-az2, use1-az4",
        "4",
        "625",
    )
    assert short.request("sweep", typed, {}) == body


def test_a_network_differs_by_direction() -> None:
    """In the capacities of brokers and in a study of capacity, both ways."""
    read = short.request("check", {"capacities": "* 4 625/1250"}, {})["capacity"]["*"]
    assert (read["nic_in_bytes_per_s"], read["nic_out_bytes_per_s"]) == (625_000_000, 1_250_000_000)
    profile = {"disk_bytes": 4 * 10**12, "nic_in_bytes_per_s": 625 * 10**6, "nic_out_bytes_per_s": 1250 * 10**6}
    body = {"base": {"broker_profile": profile}}
    typed = short.typed_of("sweep", body)
    assert (typed["nic_out_bytes_per_s"], typed["more"]) == ("1250", "")
    assert short.request("sweep", typed, {}) == body


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("restart", {"per": "rack", "max_brokers_per_wave": 3, "restart_seconds": 90, "order": "controllers_last"}),
        ("restart", {"catch_up_bytes_per_s": 50_000_000, "controllers": [1, 2]}),
        ("group", {"group": "g", "rebalance_seconds": 3, "events": [{"leave": "m 1"}, {"rolling_restart": True}]}),
        ("group", {"group": "g", "events": [{"join": {"member_id": "m", "topics": ["t"]}}, {"lose_rack": "a"}]}),
        ("streams", {"group": "g", "assignor": "sticky", "num_standby_replicas": 1, "max_warmup_replicas": 4}),
        ("streams", {"group": "g", "rack_aware_assignment_tags": ["zone"], "events": [{"scale_in": ["a", "b"]}]}),
        ("reassignment", {"replace_brokers": {"1": 4}, "partitions": {"orders": 48}, "topics": ["a", "b"]}),
        ("reassignment", {"max_moved_bytes": 1_500_000_000_000, "deadline_s": 20, "rack_mode": "safe"}),
        ("reassignment", {"batches": {"max_moves_in_per_broker": 2}}),
    ],
)
def test_the_fields_of_a_kind_are_its_request(kind: str, body: dict[str, object]) -> None:
    """No part of it is left for JSON; the form shows each field."""
    typed = short.typed_of(kind, {"cluster": "c", **body})
    assert typed["more"] == ""
    assert short.request(kind, typed, {}) == {"cluster": "c", **body}


@pytest.mark.parametrize("address", ["/plan/reassignment", "/plan/group", "/plan/sweep-reassignment", "/plan/check"])
def test_a_cluster_that_is_not_stored_is_named(browser: Browser, address: str) -> None:
    """Beside the field, when the form is opened: of a misspelt name there are no choices."""
    page = browser.get(f"{address}?cluster=none")
    assert page.status == 200
    assert page.by_id("cluster-problem").text == "No snapshot of a cluster none is stored."


def test_an_empty_range_is_named() -> None:
    problems: dict[str, str] = {}
    short.request("sweep-reassignment", {"added": "1 to 0"}, problems)
    assert problems == {"added": "No number is from 1 to 0."}


def test_an_event_with_an_unreadable_value_is_named() -> None:
    problems: dict[str, str] = {}
    short.request("group", {**EMPTY, "cluster": "c", "events": "leave a\njoin {x"}, problems)
    assert problems == {"events": "The value of join is no JSON: '{x'."}


def test_parts_without_a_field_stay_as_they_are() -> None:
    """Also those that are empty: a member that subscribes to nothing is another one than a member without the field."""
    body = {"group": "g", "members": [{"member_id": "m", "topics": [], "rack_id": None}], "labels": {}}
    assert short.request("group", short.typed_of("group", body), {}) == body


@pytest.mark.parametrize("name", CONSUMERS_REQUEST)
def test_the_fields_of_consumers_are_their_request(name: str) -> None:
    """Its series is a table."""
    body = CONSUMERS_REQUEST[name]["value"]
    typed = short.typed_of("consumers", body)
    assert typed["more"] == ""
    assert typed["series"].splitlines()[1].startswith("2026-11-27T")
    assert short.request("consumers", typed, {}) == body


STUDIES = {
    f"sweep-{kind}": example["value"]
    for example in SWEEP_REQUEST.values()
    if (kind := example["value"].get("kind", "capacity")) != "capacity"
}


@pytest.mark.parametrize("form", STUDIES)
def test_the_fields_of_other_studies_are_their_requests(form: str) -> None:
    """But for the snapshot, in whose place the form names a cluster."""
    body = {name: value for name, value in STUDIES[form].items() if name != "snapshot_id"}
    typed = short.typed_of(form, body)
    assert typed["more"] == ""
    assert short.request(form, typed, {}) == body


@pytest.mark.parametrize(
    "series",
    [
        "",
        "time,orders-0",
        "time,orders-0\n2026-11-27T06:00:00Z,1",
        "time,orders\n2026-11-27T06:00:00Z,1\n2026-11-27T07:00:00Z,2",
        "time,orders-0,orders-0\n2026-11-27T06:00:00Z,1,1\n2026-11-27T07:00:00Z,2,2",
        "time,orders-1\n2026-11-27T06:00:00Z,1\n2026-11-27T07:00:00Z,2",
        "time,orders-0\n2026-11-27T06:00:00Z,1\n2026-11-27T07:00:00Z,2\n2026-11-27T09:00:00Z,2",
        "time,orders-0\n2026-11-27T06:00:00Z,1\n2026-11-27T07:00:00Z",
        "time,orders-0\n2026-11-27T06:00:00Z,1\n2026-11-27T07:00:00Z,much",
        "time,orders-0\n6 in the morning,1\n2026-11-27T07:00:00Z,2",
        "time,orders-0\n2026-11-27T06:00:00Z,1\n2026-11-27T07:00:00,-2",
        "{",
        '{"data": []}',
    ],
)
def test_a_series_that_is_none_is_said_at_its_field(browser: Browser, series: str) -> None:
    page = browser.post("/plan/consumers", {"series": series, "capacity_bytes_per_s": "2"})
    assert page.status == 422
    assert page.by_id("series").attributes.get("aria-invalid") == "true", page.text
    assert page.by_id("series").text.strip() == series


def test_consumers_are_planned_from_a_file(browser: Browser) -> None:
    """Without JSON; a preview shows the rates as a picture, and the file becomes the text of the form."""
    table = "time\torders-0\torders-1\n2026-11-27 06:00\t3e6\t1e6\n2026-11-27 07:00\t1e6\t1e6\n"
    typed, files = {"capacity_bytes_per_s": "4", "series": ""}, {"series": ("rates.tsv", table.encode())}
    shown = browser.ask("POST", "/plan/consumers", data={**typed, "preview": "1"}, files=files).text
    assert "2 intervals of 3,600 s" in shown
    assert "2026-11-27 06:00\t3e6" in shown
    made = browser.ask("POST", "/plan/consumers", data=typed, files=files)
    assert made.status_code == 303, made.text
    assert "2026-11-27 06:00 3.8 MiB/s 1" in browser.get(made.headers["location"]).text


@pytest.mark.parametrize(
    "fields",
    [
        {"capacities": "* 4 625 16\n105 2", "topic_rates": "orders=12.5", "readers": "2", "rack_price": "0.02"},
        {"capacities": "* 4"},
        {"capacities": "* 4 625/1250 16"},
    ],
)
def test_capacities_are_fields_of_changes_and_checks(fields: dict[str, str]) -> None:
    body = short.request("check", fields, {})
    assert body["capacity"]["*"]["disk_bytes"] == 4_000_000_000_000
    assert {name: text for name, text in short.typed_of("check", body).items() if text} == fields
    problems: dict[str, str] = {}
    short.request("check", {"capacities": "*"}, problems)
    assert list(problems) == ["capacities"]


def test_a_study_of_a_cluster_is_filled_in_and_submitted(browser: Browser) -> None:
    """The capacity of a cluster without a study is its form; racks, brokers and rates come from the newest snapshot."""
    browser.ask("POST", "/clusters/example")
    page = browser.get(browser.ask("GET", "/clusters/example-shop/capacity").headers["location"])
    assert page.by_id("racks").attributes["value"] == "az-a, az-b, az-c"
    assert (page.by_id("brokers_per_rack").attributes["value"], page.by_id("compared").attributes["value"]) == (
        "5",
        "2 to 10",
    )
    assert "orders=" in page.by_id("rates").text
    typed = {name: value for name, value in page.form().items() if name in FIELDS_OF["sweep"]}
    for wrong, field in (
        ({"growth_per_month": "much"}, "growth_per_month"),
        ({"compared": "2 to many"}, "compared"),
        ({"cluster": "none"}, "cluster"),
        ({"rates": "orders=1"}, "rates"),
    ):
        refused = browser.post("/plan/sweep", typed | wrong)
        assert refused.status == 422
        assert refused.by_id(field).attributes.get("aria-invalid") == "true", (field, refused.text)
    made = browser.ask("POST", "/plan/sweep", data=typed)
    assert made.status_code == 303
    assert "Size for next year" in browser.get("/clusters/example-shop/capacity").text
    again = browser.get("/plan/sweep?again=" + made.headers["location"].rpartition("/")[2])
    assert again.by_id("racks").attributes["value"] == "az-a, az-b, az-c"


def test_a_study_of_another_kind_has_another_form(browser: Browser) -> None:
    page = browser.post("/plan/sweep", {"body": '{"kind": "key_skew"}', "fields": "1"})
    assert page.status == 422
    assert "The kind of this form is capacity, and that of the request key_skew." in page.text


def test_a_study_of_groups_is_submitted_and_planned_again_as_fields(browser: Browser, client: httpx.Client) -> None:
    assert client.get("/").status_code == 200  # stores the examples
    form = browser.get("/plan/sweep-consumer_groups?cluster=example-groups")
    typed = {name: text for name, text in form.form().items() if name in FIELDS_OF["sweep-consumer_groups"]}
    made = browser.ask("POST", "/plan/sweep-consumer_groups", data=typed)
    assert made.status_code == 303, made.text
    [again] = [each for each in browser.get(made.headers["location"]).all("a") if each.text == "Change the study"]
    fields = browser.get(again.attributes["href"])
    assert fields.by_id("assignors").attributes["value"] == "range cooperative-sticky uniform"
    assert fields.by_id("cluster").attributes["value"] == "example-groups"


def test_a_study_is_repeated_on_the_snapshot_that_it_has_read(
    browser: Browser, client: httpx.Client, database: Database
) -> None:
    """A newer snapshot is not read; a field that the data depends on is rejected beside the field."""
    assert client.get("/").status_code == 200  # stores the examples
    form = browser.get("/plan/sweep-consumer_groups?cluster=example-groups")
    typed = {name: text for name, text in form.form().items() if name in FIELDS_OF["sweep-consumer_groups"]}
    first = browser.ask("POST", "/plan/sweep-consumer_groups", data=typed).headers["location"]
    study = first.rpartition("/")[2]
    with database.begin() as uow:
        newest = uow.snapshots.newest("example-groups")
        assert newest is not None
        _, cluster = snapshots.load(uow, newest.id)
        snapshots.store(uow, replace(cluster, groups=()), Limits())
    again = browser.get(f"/plan/sweep-consumer_groups?again={study}").form()
    fields = {name: text for name, text in again.items() if name in (*typed, "again")} | {"like": study}
    assert fields["again"] == study
    repeated = browser.ask("POST", "/plan/sweep-consumer_groups", data=fields | {"members_lost": "0, 1, 2"})
    assert repeated.status_code == 303, repeated.text
    with database.begin() as uow:
        before, after = (
            uow.sweeps.get(UUID(each.rpartition("/")[2])) for each in (first, repeated.headers["location"])
        )
    assert after.definition["members_lost"] == [0, 1, 2]
    assert {**after.definition, "members_lost": [0, 1]} == dict(before.definition)
    for groups in ("", "other"):
        refused = browser.post("/plan/sweep-consumer_groups", fields | {"groups": groups})
        assert refused.status == 422
        assert refused.by_id("groups").attributes.get("aria-invalid") == "true"
        assert any(
            "checked" in each.attributes for each in refused.all("input") if each.attributes.get("name") == "like"
        )


def test_a_topic_is_placed_on_a_stored_cluster(browser: Browser, database: Database) -> None:
    """By its name, partitions and factor alone, of which the name has the focus; errors are beside their fields."""
    keep(database, small())
    page = browser.get("/plan/replicas?cluster=small")
    assert [each.attributes["name"] for each in page.all("input") if "autofocus" in each.attributes] == ["topics_name"]
    assert page.by_id("topics_replication_factor-hint").text == "3 brokers in 2 racks"
    optional = next(each for each in page.all("details") if each.text.startswith("Algorithm, racks, seed"))
    assert "open" not in optional.attributes
    form = page.form()
    typed = {name: form[name] for name in ("cluster", "topics_partitions", "topics_replication_factor")}
    made = browser.ask("POST", "/plan/replicas", data=typed | {"topics_name": "new"})
    assert made.status_code == 303
    assert "new" in browser.get(made.headers["location"]).text
    for wrong, field in (
        ({"topics_name": "new", "topics_replication_factor": "9"}, "topics_replication_factor"),
        ({"topics_name": "new", "topics_partitions": "many"}, "topics_partitions"),
        ({"topics_name": "a b"}, "topics_name"),
        ({"topics_name": "new", "seed": "²"}, "seed"),
        ({"topics_name": "new", "cluster": "none"}, "cluster"),
    ):
        page = browser.post("/plan/replicas", typed | wrong)
        assert page.status == 422
        assert page.by_id(field).attributes.get("aria-invalid") == "true", (field, page.text)
        optional = next(each for each in page.all("details") if each.text.startswith("Algorithm, racks, seed"))
        assert ("open" in optional.attributes) == (field == "seed")


def test_errors_of_the_service_name_the_field(browser: Browser, database: Database) -> None:
    keep(database, small())
    unknown = browser.post("/plan/reassignment", {**EMPTY, "cluster": "small", "remove_brokers": "9"})
    assert unknown.status == 422
    assert "/remove_brokers/0" in unknown.text
    typed = {**EMPTY, "cluster": "small", "more": '{"nonsense": 1, "add_brokers": [{"id": -1}]}'}
    text = browser.post("/plan/reassignment", typed).text
    assert "/nonsense" in text
    assert "/add_brokers/0/id" in text
    for body in ("", "{", "[]", '{"kind": "nonsense"}', '"\\ud800"'):
        assert browser.post("/plan/sweep", {"body": body}).status == 422
    assert browser.post("/plan/reassignment", {**EMPTY, "cluster": "none"}).status == 422


def test_a_sweep_is_submitted(browser: Browser) -> None:
    [address] = [
        link.attributes["href"]
        for link in browser.get("/plan/sweep").all("a")
        if link.attributes["href"].endswith("=grid")
    ]
    body = browser.get(address).by_id("as-json").text
    answer = browser.ask("POST", "/plan/sweep", data={"body": body})
    assert answer.status_code == 303
    assert "queued" in browser.get(answer.headers["location"]).text
    cancelled = browser.ask("POST", f"{answer.headers['location']}/cancel")
    assert "cancelled" in browser.get(cancelled.headers["location"]).text


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"cluster": "nin"}, "cluster", "no snapshot of a cluster nin"),
        ({"remove_brokers": "999"}, "remove_brokers", "999"),
        ({"replication_factor": "clicks=99"}, "replication_factor", "99"),
    ],
)
def test_what_planning_rejects_is_beside_its_field(
    browser: Browser, typed: dict[str, str], field: str, words: str
) -> None:
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    page = browser.post("/plan/reassignment", EMPTY | {"cluster": "nine"} | typed)
    assert page.status == 422
    assert words in page.by_id(f"{field}-problem").text
    assert page.by_id(field).attributes["aria-invalid"] == "true"
    assert page.by_id(field).attributes["aria-describedby"].startswith(f"{field}-problem")


@pytest.mark.parametrize(
    "kind", [kind for kind, fields in short.SHORT.items() if any(field.rows > 3 for field in fields)]
)
def test_a_form_takes_the_files_of_all_its_fields(browser: Browser, kind: str) -> None:
    """A browser sends one for each field that takes a file, without a name if none is chosen."""
    form = browser.get(f"/plan/{kind}")
    fields = [each.attributes["name"] for each in form.all("input") if each.attributes.get("type") == "file"]
    chosen = [(name, ("", b"", "application/octet-stream")) for name in fields]
    assert browser.ask("POST", f"/plan/{kind}", data={"preview": "1"}, files=chosen).status_code in (200, 422)


def test_a_link_cannot_end_the_text_of_a_snippet(browser: Browser) -> None:
    """A name that a link fills in stays inside the here-document and inside the raw string of Python."""
    name = '"""\nJSON\nrm -rf ~\n"""); import os'
    page = browser.get("/plan/reassignment?cluster=" + quote(name))
    shell = page.by_id("as-curl").text
    assert [line for line in shell.splitlines() if line == "JSON"] == ["JSON"]
    python = page.by_id("as-python").text
    written = ast.parse(python)
    calls = [node.func for node in ast.walk(written) if isinstance(node, ast.Call)]
    assert len(calls) == 4  # loads, post, json and print, and nothing that the name has
    texts = [str(node.value) for node in ast.walk(written) if isinstance(node, ast.Constant)]
    [body] = [text for text in texts if "cluster" in text]
    assert json.loads(body) == {"cluster": name}


@pytest.mark.parametrize(
    ("kind", "file", "group"),
    [
        ("group", "kafka-consumer-groups-members-verbose.txt", "billing"),
        ("streams", "kafka-streams-groups-members-verbose.txt", "enrichment"),
    ],
)
def test_members_are_read_from_what_the_tools_print(
    browser: Browser, database: Database, kind: str, file: str, group: str
) -> None:
    """They are stored with the cluster, whose other parts stay, and the form asks for a plan of the group."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    text = (SAMPLES / file).read_text()
    answer = browser.ask("POST", f"/plan/{kind}/members", data={"cluster": "nine", "text": text})
    assert answer.status_code == 303
    shown = browser.get(answer.headers["location"])
    assert json.loads(shown.by_id("as-json").text) == {"cluster": "nine", "group": group}
    with database.begin() as uow:
        stored = uow.snapshots.newest("nine")
    assert stored is not None
    assert (stored.summary["brokers"], stored.summary["topics"]) == (9, 6)
    assert stored.summary["groups"] in (1, 2)
    if kind == "group":
        made = browser.ask("POST", "/plan/group", data={"body": shown.by_id("as-json").text})
        assert made.status_code == 303


@pytest.mark.parametrize(
    ("cluster", "text", "words"),
    [
        ("nine", "", "at least one Kafka tool"),
        ("nine", "kubectl", "expected what"),
        ("nine", TEXT, "no member of a group"),
        ("none", (SAMPLES / "kafka-consumer-groups-members-verbose.txt").read_text(), "no snapshot of a cluster none"),
    ],
)
def test_what_has_no_members_is_said_and_stays(browser: Browser, cluster: str, text: str, words: str) -> None:
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    page = browser.post("/plan/group/members", {"cluster": cluster, "text": text})
    assert page.status == 422
    assert words in page.text
    assert page.by_id("members-text").text.strip() == text.strip()
    assert browser.ask("POST", "/plan/sweep/members", data={"cluster": cluster, "text": text}).status_code == 404


def test_the_plan_of_a_form_is_estimated_and_not_stored(browser: Browser, database: Database) -> None:
    """It is the summary of the plan, or the reason why none is possible; empty while the form cannot be read."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})

    def estimate(kind: str, query: str) -> str:
        answer = browser.ask("GET", f"/plan/{kind}/estimate?cluster=nine&{query}")
        assert answer.status_code == 200
        return answer.text

    moved = estimate("reassignment", "remove_brokers=105")
    assert moved.startswith("moves ")
    assert "minutes" in estimate("restart", "per=rack")
    assert estimate("reassignment", "remove_brokers=9999").startswith("Not possible: there is no broker 9999")
    assert estimate("reassignment", "remove_brokers=none") == estimate("restart", "per=nothing") == ""
    with database.begin() as uow:
        assert not uow.plans.selected(PlanFilter(), before=None, size=9).items
    browser.ask("POST", "/plan/reassignment", data={**EMPTY, "cluster": "nine", "remove_brokers": "105"})
    assert moved in browser.get("/plans").text
    keep(database, large(30, 6_000))
    assert browser.ask("GET", "/plan/reassignment/estimate?cluster=large").text == ""
    for kind in ("none", "sweep", "sweep-consumers"):
        assert browser.ask("GET", f"/plan/{kind}/estimate").status_code == 404
