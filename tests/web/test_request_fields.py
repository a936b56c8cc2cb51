"""Every field of a request has a field of its form, and every request is a form and back."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.web.forms import short
from tests.web.browser import Browser
from tests.web.test_clusters import TEXT

SCHEMAS = orjson.loads((Path(__file__).parents[2] / "openapi" / "openapi.json").read_bytes())["components"]["schemas"]
REQUESTS = {
    "reassignment": "PlanReassignmentRequest",
    "replicas": "PlaceRequest",
    "group": "PlanGroupRequest",
    "streams": "PlanStreamsRequest",
    "restart": "PlanRestartRequest",
    "consumers": "PlanConsumersRequest",
    "check": "CheckRequest",
    "keys": "PlaceKeysRequest",
    "sweep": "CapacitySweepRequest",
    "sweep-reassignment": "ReassignmentSweepRequest",
    "sweep-consumer_groups": "GroupsSweepRequest",
    "sweep-consumers": "ConsumersSweepRequest",
    "sweep-placement_draws": "DrawsSweepRequest",
    "sweep-key_skew": "KeySkewSweepRequest",
}
WITHOUT_FIELD = {
    "snapshot_id": "the form names the cluster, whose newest snapshot is planned",
    "brokers": "the snapshot has them",
    "topics": "the snapshot has them; of other forms it is a field",
    "members": "Members from Kafka’s tools, on the same page, stores them as a group",
    "clients": "Members from Kafka’s tools, on the same page, stores them as a group",
    "kind": "each kind has its form",
    "bytes_per_s": "the former name of ingress_bytes_per_s",
    "reassignment": "`output` takes the file, too",
    "cluster": "of checks: a field of the page itself",
    "output": "a field of the page itself",
    "keys": "a field of the page itself",
    "partitioner": "a table of boxes on the page itself",
}


def parts(schema: dict[str, Any], path: str) -> Iterator[str]:
    """The paths of the fields in a schema; lists and objects by name are one field."""
    if reference := schema.get("$ref"):
        for name, part in SCHEMAS[reference.rpartition("/")[2]].get("properties", {}).items():
            yield from parts(part, f"{path}/{name}" if path else name)
        return
    yield path
    for choice in (each for key in ("oneOf", "anyOf") for each in schema.get(key, ())):
        if "$ref" in choice or "oneOf" in choice or "anyOf" in choice:
            yield from parts(choice, path)


@pytest.mark.parametrize(("form", "schema"), REQUESTS.items())
def test_every_field_of_a_request_is_in_its_form(form: str, schema: str) -> None:
    """Those that are not have a reason; the form has no field of which the API knows nothing."""
    assert REQUESTS.keys() == short.SHORT.keys()
    shown = [path for field in short.SHORT[form] for path in (field.path, *field.also)]
    known = dict.fromkeys(part for part in parts({"$ref": f"/{schema}"}, "") if part)
    absent = [part for part in known if not any(f"{path}/".startswith(f"{part}/") for path in shown)]
    absent = [part for part in absent if not any(part.startswith(f"{path}/") for path in shown)]
    assert {
        part for part in absent if not {part.split("/")[0], part.rpartition("/")[2]} & WITHOUT_FIELD.keys()
    } == set()
    wider = [path for path in shown if any(part.startswith(f"{path}/") for part in known)]
    unknown = [path for path in shown if not any(f"{path}/".startswith(f"{part}/") for part in known)]
    assert [path for path in unknown if path not in (*wider, "without_key")] == []


names = st.sampled_from(
    ["tight", "az-a", "105", "10%", "added", "a b", "a,b", "x=y", " s ", "two\nlines", "yes", "*", ""]
)
numbers = st.integers(-3, 2**40) | st.floats(0, 1, allow_nan=False) | st.sampled_from([1e-8, 4 * 10**12, 12.5e6])
values = st.recursive(
    st.none() | st.booleans() | numbers | names,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(names, each, max_size=3),
    max_leaves=6,
)
usual: st.SearchStrategy[Any] = st.sampled_from(
    [
        *({"tolerance": 0.1}, {"tolerance": 0.1, "below": 0.3}, {"absolute": 900}, {"share": 0.8, "soft": True}),
        *([{"id": 7, "rack": "a"}], [{"topic": "a-b", "partition": 0, "replicas": [1, 2]}], {"*": ["a", "b"]}),
        *({"*": 1.5}, {"a": 2}, {"101": {"/d 1": 0.5}}, {"a": [1.5e6, 2e6]}, ["a", "b"], [1, 2]),
        *([{"topics": ["a"], "brokers": [1], "exclusive": True}], [{"member_id": "a b", "rack_id": ""}]),
    ]
)


def without_null(value: Any) -> Any:
    """A list of records without what is null in them: a selection without fields selects nothing."""
    is_records = isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    return [{n: part for n, part in each.items() if part is not None} for each in value] if is_records else value


def stated(body: dict[str, Any], *, is_sparse: bool) -> dict[str, Any]:
    """A request without what is null or, at any depth of a sparse one, empty."""
    body = {name: without_null(value) for name, value in body.items()}
    if not is_sparse:
        return {name: value for name, value in body.items() if value is not None}
    parts = {n: stated(value, is_sparse=True) if isinstance(value, dict) else value for n, value in body.items()}
    return {
        name: value
        for name, value in parts.items()
        if value not in (None, {}, []) or (name, value) == ("cordoned_brokers", [])
    }


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_request_is_a_form_and_back(data: st.DataObject) -> None:
    """Of any values, those that the API rejects included: nothing is lost, and nothing becomes another value."""
    kind = data.draw(st.sampled_from([*short.SHORT]))
    body: dict[str, Any] = {}
    for field in data.draw(st.lists(st.sampled_from(short.SHORT[kind]), max_size=5)):
        *parents, last = field.path.replace("topics/0/", "").split("/")
        part: Any = body
        for parent in parents:
            part = part.setdefault(parent, {}) if isinstance(part, dict) else part
        if isinstance(part, dict):
            part[last] = copy.deepcopy(data.draw(usual | values))
    problems: dict[str, str] = {}
    made = short.request(kind, short.typed_of(kind, body), problems)
    assert problems == {}
    is_sparse = kind in ("reassignment", "restart")
    assert stated(made, is_sparse=is_sparse) == stated(body, is_sparse=is_sparse)


@pytest.mark.parametrize(
    ("kind", "typed", "body"),
    [
        ("reassignment", {"growth": "1.5"}, {"growth": {"*": 1.5}}),
        ("reassignment", {"growth": "orders=2\n*=1.2"}, {"growth": {"orders": 2, "*": 1.2}}),
        (
            "reassignment",
            {"pins": "orders-v2-0=101 104"},
            {"pins": [{"topic": "orders-v2", "partition": 0, "replicas": [101, 104]}]},
        ),
        ("reassignment", {"preferred_racks": "az-a az-b"}, {"preferred_racks": {"*": ["az-a", "az-b"]}}),
        ("reassignment", {"trade_off": "yes"}, {"trade_off": True}),
        ("reassignment", {"disk": "80 soft"}, {"limits": {"disk": {"share": 0.8, "soft": True}}}),
        ("reassignment", {"disk": "3.4 TB"}, {"limits": {"disk": {"absolute": 3_400_000_000_000}}}),
        ("reassignment", {"cpu": "12 vCPU"}, {"limits": {"cpu": {"absolute": 12}}}),
        ("reassignment", {"log_dir_limit": "* /d1=80"}, {"limits": {"log_dirs": {"*": {"/d1": 0.8}}}}),
        (
            "reassignment",
            {"leaders": "10%", "leaders_below": "30"},
            {"balance": {"leaders": {"tolerance": 0.1, "below": 0.3}}},
        ),
        (
            "reassignment",
            {"isolate": "topics=a,b brokers=1,2 exclusive=yes"},
            {"isolate": [{"topics": ["a", "b"], "brokers": [1, 2], "exclusive": True}]},
        ),
        (
            "group",
            {"member_overrides": "client_id=billing-* rack_id='zone a' topics=orders"},
            {"member_overrides": [{"client_id": "billing-*", "rack_id": "zone a", "topics": ["orders"]}]},
        ),
        ("group", {"assignor": "range"}, {"assignor": ["range"]}),
        ("group", {"assignor": "range uniform"}, {"assignor": ["range", "uniform"]}),
        ("streams", {"topology": "Topologies:\r\n   Sub-topology: 0"}, {"topology": "Topologies:\n   Sub-topology: 0"}),
        ("restart", {"min_insync_replicas": "2"}, {"defaults": {"min_insync_replicas": 2}}),
        ("sweep", {"labels": "team=x", "study": "s"}, {"labels": {"team": "x", "study": "s"}}),
    ],
)
def test_options_have_fields(kind: str, typed: dict[str, str], body: dict[str, Any]) -> None:
    """None of them is left for JSON, and lines of a browser end as those of Kafka's tools."""
    assert short.request(kind, typed, {}) == body
    assert short.typed_of(kind, body)["more"] == ""
    assert short.request(kind, short.typed_of(kind, body), {}) == body


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"pins": "orders=101"}, "pins"),
        ({"pins": "orders-0"}, "pins"),
        ({"isolate": "topics"}, "isolate"),
        ({"isolate": "brokers='1"}, "isolate"),
        ({"isolate": "topics=a brokers=x"}, "isolate"),
        ({"trade_off": "maybe"}, "trade_off"),
        ({"cpu": "much vCPU"}, "cpu"),
        ({"growth": "orders=much"}, "growth"),
        ({"total_bytes": "101 /d1"}, "total_bytes"),
    ],
)
def test_an_unreadable_option_is_named(typed: dict[str, str], field: str) -> None:
    problems: dict[str, str] = {}
    short.request("reassignment", typed, problems)
    assert list(problems) == [field]


def test_a_tolerance_that_is_no_choice_is_kept(browser: Browser) -> None:
    """A stored request may have any; the field then has it as a further choice, and so it is sent again."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT})
    body = {"cluster": "nine", "balance": {"replicas": {"tolerance": 0.15}}, "pins": PIN, "growth": {"*": 1.5}}
    made = browser.ask("POST", "/plan/reassignment", data={"body": orjson.dumps(body).decode()})
    again = browser.get("/plan/reassignment?again=" + made.headers["location"].rpartition("/")[2])
    form = again.form()
    assert (form["replicas"], form["pins"], form["growth"], form["more"]) == (
        "15%",
        "clicks-0=107, 101, 104",
        "1.5",
        "",
    )
    assert browser.ask("POST", "/plan/reassignment", data=form).headers["location"] == made.headers["location"]


@pytest.mark.parametrize(
    ("kind", "typed"),
    [
        ("group", {"group": "g", "assignor": "range", "member_overrides": "client_id=c-0 rack_id=use1-az1"}),
        ("group", {"group": "g", "previous_snapshot_id": "{snapshot}"}),
        ("restart", {"per": "rack", "leader_limit": "900", "min_insync_replicas": "1"}),
        ("reassignment", {"disk": "90 soft", "replica_limit": "900", "capacities": "* 4 625 16"}),
    ],
)
def test_a_plan_with_options_is_made_again_from_its_fields(browser: Browser, kind: str, typed: dict[str, str]) -> None:
    """The stored request, which has every default, fills in the fields that made it."""
    browser.ask("POST", "/clusters", data={"cluster": "nine", "text": TEXT + MEMBERS})
    snapshot = re.search(r"snapshots/([0-9a-f-]{36})", browser.get("/clusters/nine/history").source)
    assert snapshot is not None
    sent = {"cluster": "nine", **{name: text.format(snapshot=snapshot[1]) for name, text in typed.items()}}
    made = browser.ask("POST", f"/plan/{kind}", data=sent)
    assert made.status_code == 303, made.text
    again = browser.get(f"/plan/{kind}?again=" + made.headers["location"].rpartition("/")[2]).form()
    assert {name: again[name] for name in sent} == sent
    assert browser.ask("POST", f"/plan/{kind}", data=again).headers["location"] == made.headers["location"]


MEMBERS = """
GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
g orders 0 1 2 1 c-0-0d1c7a5e-5b1f-4e2a-9a30-1100 /10.0.0.1 c-0
g orders 1 1 2 1 c-1-0d1c7a5e-5b1f-4e2a-9a30-1101 /10.0.0.2 c-1
"""
PIN = [{"topic": "clicks", "partition": 0, "replicas": [107, 101, 104]}]
