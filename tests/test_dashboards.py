"""The dashboard and the alert rules ask for metrics of `/metrics`: names, labels and values of labels that exist.

No PromQL parser is among the libraries. Read here is its grammar as far as the files use it: every token is
known, brackets match, functions and modifiers are Prometheus' own, ranges stand where a function needs them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app.api.http.metrics import exposition
from app.store.activity import Activity, Due
from tests.conftest import ROOT
from tests.documents import Document

FOLDER = ROOT / "docs" / "monitoring"
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))
RANGED = {"rate", "increase", "predict_linear"}
FUNCTIONS = RANGED | {"histogram_quantile"}
AGGREGATIONS = {"sum", "max", "min", "avg", "count"}
WORDS = {"by", "without", "and", "or", "unless", "on", "ignoring"}
TOKEN = re.compile(
    r"\s*(?:(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)|(?P<number>\d+(?:\.\d+)?(?:e\d+)?)|(?P<text>\"[^\"]*\")"
    r"|(?P<range>\[(?:\d+[smhd]|\$__rate_interval)\])|(?P<sign>==|!=|>=|<=|=~|!~|[=><(){},/*+-]))"
)
OF_PROMETHEUS = {"up": {"job"}}
SCRAPED = {"job", "instance"}
"""Labels that Prometheus adds to every series."""
PROCESS = {"process_resident_memory_bytes", "process_cpu_seconds_total"}


def queries() -> Iterator[tuple[str, str]]:
    """Each query with the name of its rule or panel."""
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def tokens(query: str) -> list[tuple[str, str]]:
    """Kind and text of each token; fails at anything else."""
    found, at = [], 0
    while query[at:].strip():
        token = TOKEN.match(query, at)
        assert token, f"{query[at:]!r} is no PromQL"
        assert token.lastgroup is not None
        found.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return found


def selectors(query: str) -> Iterator[tuple[str, dict[str, tuple[str, str]], bool, str]]:
    """Each selector: the metric, its matchers by label, whether it has a range, and the function around it."""
    read = [*tokens(query), ("end", "")]
    around: list[str] = []
    index, grouping = 0, False
    while read[index][0] != "end":
        kind, text = read[index]
        following = read[index + 1][1]
        if text == "(":
            around.append(read[index - 1][1] if index and read[index - 1][0] == "name" else "")
            grouping = around[-1] in WORDS
        elif text == ")":
            assert around, "a bracket is closed that was not opened"
            around.pop()
            grouping = False
        elif kind == "name" and text in WORDS | AGGREGATIONS | FUNCTIONS:
            assert (
                text in WORDS - {"by", "without", "on", "ignoring"}
                or following == "("
                or following in {"by", "without"}
            )
        elif kind == "name" and not grouping:
            matchers = {}
            if following == "{":
                index += 2
                while read[index][1] != "}":
                    (_, label), (_, sign), (of, value) = read[index : index + 3]
                    assert of == "text"
                    assert sign in {"=", "!=", "=~", "!~"}
                    matchers[label] = (sign, value.strip('"'))
                    index += 3 + (read[index + 3][1] == ",")
            has_range = read[index + 1][0] == "range"
            index += has_range
            yield text, matchers, has_range, next((name for name in reversed(around) if name in FUNCTIONS), "")
        index += 1
    assert not around, "a bracket is open"


@pytest.fixture(scope="module")
def series() -> dict[str, dict[str, set[str]]]:
    """The values of labels by label, of every sample that a service may have."""
    states = {
        ("replicas", "failed", "internal_error"): 1,
        ("capacity", "running", ""): 1,
        ("key_skew", "queued", ""): 1,
    }
    activity = Activity(
        states, states, {"capacity": 1.0}, dict.fromkeys(("pending", "succeeded", "failed"), 0), {"run_job": Due()}
    )
    from app.api.http import metrics  # noqa: PLC0415 -- its counters are of the process
    from app.slots.admission import Occupancy  # noqa: PLC0415

    metrics.count_request("GET", "/v1/plans", 200, 0.1)
    metrics.count_request("GET", "/v1/jobs/{job_id}/events", 503, 0.1)
    metrics._PLANS.labels("replicas", "ok")
    metrics._SOLVER_SECONDS.labels("replicas")
    lanes = dict.fromkeys(("solvers", "readers", "threads"), Occupancy(2, 0, 0, 0.0))
    found: dict[str, dict[str, set[str]]] = {}
    for family in text_string_to_metric_families(exposition(activity, lanes, dropped_log_lines=0).decode()):
        for sample in family.samples:
            labels = found.setdefault(sample.name, {})
            for label, value in sample.labels.items():
                labels.setdefault(label, set()).add(value)
    return found


@pytest.mark.parametrize(("title", "query"), list(queries()))
def test_a_query_names_series_that_exist(title: str, query: str, series: dict[str, dict[str, set[str]]]) -> None:
    found = list(selectors(query))
    assert found, title
    for metric, matchers, has_range, function in found:
        if metric in OF_PROMETHEUS:
            assert matchers.keys() <= OF_PROMETHEUS[metric]
            continue
        assert metric in series, f"{title}: there is no metric {metric}"
        for label, (sign, value) in matchers.items():
            assert label in series[metric] or label in SCRAPED, f"{title}: {metric} has no label {label}"
            if label in series[metric] and label != "status":
                matching = [v for v in series[metric][label] if (re.fullmatch(value, v) if "~" in sign else v == value)]
                assert matching, f"{title}: no {label} of {metric} is {value}"
        assert has_range == (function in RANGED), f"{title}: {metric} in {function or 'no function'}"
        if function == "histogram_quantile":
            assert metric.endswith("_bucket")
            assert "le" in query.split("by", 1)[1].split(")", maxsplit=1)[0]
    for labels in re.findall(r"by \(([^)]*)\)", query):
        known = set().union(*(series.get(metric, {}) for metric, *_ in found))
        assert {label.strip() for label in labels.split(",")} <= known


def test_every_metric_of_the_service_is_on_the_dashboard(series: dict[str, dict[str, set[str]]]) -> None:
    shown = {
        metric
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
        for metric, *_ in selectors(target["expr"])
    }
    own = {name for name in series if name.startswith("rackplan_") and not name.endswith(("_created", "_sum"))}
    families = {name.removesuffix("_bucket").removesuffix("_count") for name in own}
    assert families <= {name.removesuffix("_bucket").removesuffix("_count") for name in shown}


def test_a_served_scrape_has_the_metrics(client: httpx.Client, series: dict[str, dict[str, set[str]]]) -> None:
    """So that the metrics above, which are made here, are a service's."""
    client.get("/v1/plans")
    scraped = {f.name for f in text_string_to_metric_families(client.get("/metrics").text)}
    names = {name.removesuffix("_total").removesuffix("_bucket").removesuffix("_count") for name in series}
    assert {n for n in names if n.startswith("rackplan_") and not n.endswith(("_created", "_sum"))} <= scraped
    assert {name.removesuffix("_total") for name in PROCESS} <= scraped


def test_rules_say_what_to_do() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[mh]", rule.get("for", "1m"))
        assert rule["labels"]["severity"] in {"warning", "critical"}
        page, _, heading = rule["annotations"]["runbook"].partition("#")
        assert (ROOT / page).is_file()
        assert not heading or heading in Document(ROOT / page).anchors(), rule["annotations"]["runbook"]
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert label in rule["expr"]


def test_panels_are_beside_each_other() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)


@pytest.mark.parametrize("wrong", ["sum(rate(x[5m])", "rate(x[5y])", "x{a=b}", "a ! b", "x)"])
def test_what_is_no_promql_is_noticed(wrong: str) -> None:
    with pytest.raises(AssertionError):
        list(selectors(wrong))
