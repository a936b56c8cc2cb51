"""KafkaBench: its instances are the same everywhere, and its judge finds every planted mistake."""

import ast
import json
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.services import reassignment
from benchmarks import kafkabench, kafkabench_models
from rackplan import bench
from tests.conftest import ROOT

Document = dict[str, Any]
Plant = Callable[[Document], object]

SMALL = [name for name, entry in bench.entries().items() if name.endswith(("-1", "-2")) and entry.kind != "consumers"]
Solve = Callable[[Document], kafkabench_models.Solved]
EXACT: list[tuple[str, Solve]] = [
    *(
        (name, kafkabench_models.reassigned)
        for name in ("decommission-1", "add-1", "racks-1", "leaders-1", "per-topic-1")
    ),
    ("jbod-1", kafkabench_models.log_dirs),
    ("groups-1", kafkabench_models.assigned),
    ("groups-2", kafkabench_models.assigned),
    ("streams-1", kafkabench_models.standbys),
]


@cache
def _instance(name: str) -> Document:
    return bench.instance(name)


@cache
def _solved(name: str) -> str:
    instance = _instance(name)
    if bench.entries()[name].kind == "consumers":
        return json.dumps(kafkabench_models.consumers(instance, seconds=2)[0])
    return json.dumps(kafkabench.RACKPLAN[instance["rules"]["form"]](instance))


def _score(name: str, solution: Document) -> bench.Score:
    return bench.evaluate(_instance(name), solution)


def test_every_instance_is_that_of_the_index() -> None:
    """The random integers, the generators and the parameters have not changed, so that old scores still count."""
    entries = bench.entries()
    assert len(entries) == 50
    changed = [name for name, entry in entries.items() if bench.digest(bench.instance(name)) != entry.sha256]
    assert changed == []


def test_no_best_known_value_is_below_its_bound() -> None:
    entries = bench.entries().values()
    assert [entry.name for entry in entries if entry.best < entry.bound] == []
    assert 5 <= sum(entry.is_open for entry in entries) <= 20


def test_best_known_solutions_of_other_planners_are_there_and_as_good_as_the_index_says() -> None:
    others = {name for name, entry in bench.entries().items() if entry.planner != "Rackplan"}
    files = {path.stem: path for path in (ROOT / "benchmarks" / "solutions").iterdir()}
    assert files.keys() == others
    for name, path in files.items():
        text = path.read_text(encoding="utf-8")
        entry, score = bench.judge(text, name)
        assert score == bench.Score(entry.best, ())
        assert json.loads(text)["planner"] == entry.planner


@pytest.mark.parametrize("name", SMALL)
def test_our_answer_is_legal_and_at_most_as_good_as_the_best_known(name: str) -> None:
    entry, score = bench.judge(_solved(name), name)
    assert score.violations == ()
    assert score.values >= entry.best
    if entry.planner == "Rackplan":
        assert score.values == entry.best


@pytest.mark.parametrize("name", ["decommission-2", "add-1", "add-2", "racks-1", "racks-2", "bytes-1", "bytes-2"])
def test_a_certificate_is_a_bound_for_the_band_of_the_rules(name: str) -> None:
    answer = kafkabench.planned(reassignment.PLAN_KIND, _instance(name))[0].answer
    [band], reported = _instance(name)["rules"]["bands"], answer["balance"]["replicas"]
    assert (reported["low"], reported["high"]) == (band["low"], band["high"])
    assert answer["certificate"]["lower_bound_bytes"] <= bench.entries()[name].bound[0]


@pytest.mark.parametrize(("name", "solve"), EXACT)
def test_an_integer_model_of_the_rules_has_the_same_optimum(name: str, solve: Solve) -> None:
    solution, bounds = solve(_instance(name))
    assert _score(name, json.loads(json.dumps(solution))) == bench.Score(tuple(bounds), ())
    assert tuple(bounds) == bench.entries()[name].best == bench.entries()[name].bound


def test_a_model_of_consumers_needs_as_few() -> None:
    """Their least movement takes half a minute."""
    score = _score("consumers-1", json.loads(_solved("consumers-1")))
    assert score.is_feasible
    assert score.values[0] == bench.entries()["consumers-1"].bound[0]


def _row(solution: Document, **changed: Any) -> None:
    solution["partitions"][0].update(changed)


def _replicas(change: Callable[[list[int]], list[int]]) -> Plant:
    return lambda solution: _row(solution, replicas=change(solution["partitions"][0]["replicas"]))


def _first(solution: Document) -> Any:
    """The lists of the first member, client or consumer that has any."""
    assignment = solution.get("assignment") or solution["intervals"][0]["assignment"]
    return next(lists for lists in assignment.values() if any(lists.values()))


def _everything_to_one(solution: Document) -> None:
    partitions = [number for lists in solution["intervals"][0]["assignment"].values() for number in lists["events"]]
    solution["intervals"][0]["assignment"] = {"c-0": {"events": partitions}}


def _all_of_a_member_to_another(solution: Document) -> None:
    first, second, *_ = solution["assignment"].values()
    for topic, numbers in first.items():
        second.setdefault(topic, []).extend(numbers)
    first.clear()


MISTAKES: list[tuple[str, str, Plant]] = [
    ("decommission-2", "unknown_partition", lambda one: _row(one, topic="none")),
    ("decommission-2", "repeated_partition", lambda one: one["partitions"].append(one["partitions"][0])),
    ("decommission-2", "repeated_broker", _replicas(lambda now: [now[0], now[0], now[1]])),
    ("decommission-2", "replication_factor", _replicas(lambda now: now[:2])),
    ("decommission-2", "replication_factor", _replicas(lambda _: [])),
    ("decommission-2", "unknown_broker", _replicas(lambda now: [*now[:2], 99])),
    ("decommission-2", "broker_not_allowed", lambda one: one["partitions"].pop()),
    ("decommission-2", "outside_band", lambda one: one["partitions"].pop()),
    ("racks-1", "too_few_racks", lambda one: one["partitions"].clear()),
    ("bytes-1", "outside_band", lambda one: one["partitions"].clear()),
    ("per-topic-1", "outside_band", lambda one: one["partitions"].clear()),
    ("resources-1", "outside_band", lambda one: one["partitions"].clear()),
    ("leaders-1", "outside_band", lambda one: one["partitions"].clear()),
    (
        "leaders-1",
        "broker_not_allowed",
        _replicas(lambda now: [*now[:2], next(b for b in range(1, 7) if b not in now)]),
    ),
    ("jbod-1", "log_dir_not_empty", lambda one: one["partitions"].clear()),
    ("jbod-1", "unknown_log_dir", lambda one: _row(one, log_dirs=["/data/d9"] * 3)),
    ("jbod-1", "outside_band", lambda one: [row.update(log_dirs=["/data/d2"] * 3) for row in one["partitions"]]),
    ("groups-1", "unknown_member", lambda one: one["assignment"].update({"m-9": one["assignment"].pop("m-000")})),
    ("groups-1", "unassigned_partition", lambda one: next(iter(_first(one).values())).pop()),
    ("groups-1", "repeated_partition", lambda one: next(iter(_first(one).values())).append(_first(one)["t000"][0])),
    ("groups-1", "unknown_partition", lambda one: _first(one).update({"none": [0]})),
    ("groups-1", "outside_band", _all_of_a_member_to_another),
    ("streams-1", "unknown_client", lambda one: one["assignment"].update({"other": {}})),
    ("streams-1", "unknown_task", lambda one: _first(one)["standby"].append("9_9")),
    ("streams-1", "number_of_copies", lambda one: _first(one)["standby"].pop()),
    ("streams-1", "active_task_moved", lambda one: _first(one)["active"].pop()),
    ("streams-1", "zone_repeated", lambda one: _first(one)["standby"].append(_first(one)["active"][0])),
    ("consumers-1", "above_capacity", _everything_to_one),
    ("consumers-1", "unassigned_partition", lambda one: _first(one)["events"].pop()),
    ("consumers-1", "repeated_partition", lambda one: _first(one)["events"].extend(_first(one)["events"])),
    ("consumers-1", "unknown_partition", lambda one: _first(one)["events"].append(99)),
]


@pytest.mark.parametrize(("name", "code", "plant"), MISTAKES, ids=[f"{name} {code}" for name, code, _ in MISTAKES])
def test_a_planted_mistake_is_found(name: str, code: str, plant: Plant) -> None:
    solution = json.loads(_solved(name))
    assert _score(name, solution).is_feasible
    plant(solution)
    assert code in {each.code for each in _score(name, solution).violations}


@given(name=st.sampled_from(("decommission-1", "decommission-2", "add-1", "leaders-1", "resources-1")), data=st.data())
def test_no_changed_solution_is_legal_and_below_the_bound(name: str, data: st.DataObject) -> None:
    """Whatever lists are changed, they break a rule or cost at least the proven bound."""
    solution, brokers = json.loads(_solved(name)), st.integers(1, 9)
    for row in data.draw(st.lists(st.sampled_from(solution["partitions"]), max_size=6)):
        if data.draw(st.booleans()):
            row["replicas"] = data.draw(st.permutations(row["replicas"]))
        else:
            row["replicas"] = data.draw(st.lists(brokers, max_size=4))
    score = _score(name, solution)
    assert not score.is_feasible or score.values >= bench.entries()[name].bound


@given(st.permutations(range(1, 10)), st.sampled_from(("decommission-2", "add-1", "leaders-1")))
def test_brokers_have_no_meaning_beside_their_racks(ids: list[int], name: str) -> None:
    """A problem and its solution under other broker ids have the same values, legal or not."""
    instance, solution = deepcopy(_instance(name)), json.loads(_solved(name))
    new = dict(enumerate(ids, start=1))
    rules = instance["rules"]
    rules["racks"] = {str(new[int(broker)]): rack for broker, rack in rules["racks"].items()}
    rules["receivers"] = [new[broker] for broker in rules["receivers"]]
    rows = [row for topic in instance["snapshot"]["topics"] for row in topic["partitions"]]
    solution["partitions"].pop()
    before = _score(name, solution)
    for row in [*rows, *solution["partitions"]]:
        row["replicas"] = [new[broker] for broker in row["replicas"]]
    after = bench.evaluate(instance, solution)
    assert (after.values, len(after.violations)) == (before.values, len(before.violations))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        ('{"partitions": []}', "names no instance"),
        ('{"instance": 3, "partitions": []}', "names no instance"),
        ('{"instance": "roadef-1", "partitions": []}', "there is no instance 'roadef-1'"),
        ('{"instance": "add-1", "sha256": "00", "partitions": []}', "another version of add-1"),
        ('{"instance": "add-1", "assignment": {}}', "`partitions` has to be a list"),
        ('{"instance": "add-1", "partitions": [7]}', "partitions[0] is not an object"),
        (
            '{"instance": "add-1", "partitions": [{"topic": "t000", "partition": true, "replicas": [1]}]}',
            "the number of",
        ),
        ('{"instance": "add-1", "partitions": [{"topic": "t000", "partition": 0, "replicas": ["1"]}]}', "broker ids"),
        (
            '{"instance": "jbod-1", "partitions": [{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": []}]}',
            "a log directory for each replica",
        ),
        ('{"instance": "groups-1", "partitions": []}', "`assignment` has to be an object"),
        ('{"instance": "groups-1", "assignment": {"m-000": {"t000": 1}}}', "an object of lists"),
        ('{"instance": "groups-1", "assignment": {"m-000": {"t000": [[1]]}}}', "an object of lists"),
        ('{"instance": "streams-1", "assignment": {"client-000": {"active": [1]}}}', "not a list of ids"),
        ('{"instance": "consumers-1", "intervals": []}', "a list of 4 assignments"),
        ('{"instance": "consumers-1", "intervals": [1, 2, 3, 4]}', "`assignment` has to be an object"),
    ],
)
def test_a_file_that_is_no_solution_says_why(text: str, reason: str) -> None:
    with pytest.raises(bench.MalformedSolution) as malformed:
        bench.judge(text)
    assert reason in str(malformed.value)


WORDS = st.sampled_from(
    ["partitions", "topic", "partition", "replicas", "log_dirs", "assignment", "active", "t000", "m-000", "0_0", "any"]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
)


@given(st.sampled_from(SMALL), st.dictionaries(WORDS, ANYTHING, max_size=4))
def test_any_document_is_scored_or_malformed(name: str, solution: Document) -> None:
    """A submission cannot make the judge fail in another way."""
    try:
        score = _score(name, json.loads(json.dumps(solution)))
    except bench.MalformedSolution:
        return
    assert len(score.values) == len(bench.entries()[name].objectives)


def test_the_judge_imports_nothing_but_the_standard_library() -> None:
    sources = Path(bench.__file__).parent.glob("*.py")
    nodes = [node for source in sources for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))]
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    others = {module for module in modules if module.partition(".")[0] not in sys.stdlib_module_names}
    assert "json" in modules
    assert others <= {f"rackplan.bench.{name}" for name in ("draws", "evaluator", "instances", "solutions")}


def test_a_solution_of_another_instance_is_not_scored() -> None:
    with pytest.raises(bench.MalformedSolution, match="one of add-1, not of add-2"):
        bench.judge('{"instance": "add-1", "partitions": []}', "add-2")
