"""Documents as objects, and as HTML."""

import json
import pickle
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackplan import Client, Plan, Problem, Sweep, Unprocessable, models, notebook
from rackplan.flows import Request, Session
from rackplan.records import Record
from tests.client.wires import response, wire

DOCUMENTS = [each for each in vars(models).values() if isinstance(each, type) and issubclass(each, Record)]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.data())
def test_no_document_breaks_a_record(data: st.DataObject) -> None:
    """A newer service may answer anything: every field can be read, and `raw` has it all."""
    kind = data.draw(st.sampled_from(DOCUMENTS))
    fields = data.draw(st.lists(st.sampled_from([*sorted(kind.__annotations__), "a_field_of_tomorrow"])))
    raw = {name: data.draw(JSON) for name in fields}
    record = kind(raw)
    for name in kind.__annotations__:
        getattr(record, name)
    assert record.raw is raw
    assert record == kind(dict(raw))
    repr(record)


def test_fields_are_converted() -> None:
    measures = {"partitions": 3, "leaders": {"min": 1}, "exposure": None}
    plan = models.PlanDocument(
        {
            "created_at": "2026-01-02T03:04:05.5Z",
            "topics": [{"name": "orders", "replicas": [[1, 2]]}],
            "measures": measures,
            "labels": {"a": "b"},
            "new": 1,
        }
    )
    assert plan.created_at == datetime(2026, 1, 2, 3, 4, 5, 500_000, UTC)
    assert plan.topics[0].name == "orders"
    assert plan.topics[0].replicas == [[1, 2]]
    assert isinstance(plan.measures, models.PlacementMeasures)
    assert plan.labels == {"a": "b"}
    assert plan.seed is None
    assert plan["new"] == 1
    assert models.KafkaReleases({"from": "4.0", "to": "4.4"}).from_ == "4.0"


def test_of_several_documents_it_is_the_one_with_these_fields() -> None:
    aware = {"partitions": 1, "attributes": {"zone": {"spanning_share": 1.0}}}
    plan = models.PlanDocument({"measures": aware})
    assert isinstance(plan.measures, models.AwareMeasures)
    assert plan.measures.attributes["zone"].spanning_share == 1.0


def test_a_record_is_immutable_and_names_what_it_lacks() -> None:
    record = models.Alive({"status": "ok"})
    with pytest.raises(AttributeError, match="immutable"):
        record.status = "other"
    with pytest.raises(AttributeError, match="Alive has no field 'stats'"):
        record.stats  # type: ignore[attr-defined] # noqa: B018 -- misspelt
    assert "status" in dir(record)


def test_a_problem_has_every_member_and_prints_what_resolves_it() -> None:
    document = {
        "code": "not_feasible",
        "title": "No such plan",
        "detail": "3 racks are needed",
        "errors": [{"pointer": "/topics/0", "detail": "needs 3"}],
        "conflict": ["rack_mode"],
        "lifted_by": ["one more rack"],
        "limit": 3,
    }
    with wire([response(422, document)]) as server, Client(server.url) as client, pytest.raises(Problem) as raised:
        client.healthz()
    problem = raised.value
    assert isinstance(problem, Unprocessable)
    assert (problem.status, problem.code, problem.conflict) == (422, "not_feasible", ["rack_mode"])
    assert problem.document["limit"] == 3
    assert str(problem).splitlines() == [
        "3 racks are needed",
        "  /topics/0: needs 3",
        "  conflict: ['rack_mode']",
        "  lifted_by: ['one more rack']",
    ]
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)  # noqa: S301 -- as a pool of processes does


class Texts(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 -- as inherited
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(min_size=1, max_size=50) | st.just("<script>alert(1)</script>"))
def test_no_text_becomes_html(text: str) -> None:
    plan: dict[str, Any] = {"kind": text, "id": text, "cluster": text, "labels": {text: text}}
    plan["violations"] = [{"detail": text}]
    plan["certificate"] = {"solver": text}
    for html in (notebook.of_plan(plan), notebook.of_sweep({**plan, "done": 1, "scenarios": 2, "error": {"a": text}})):
        assert Texts(html).tags <= {"table", "caption", "tr", "th", "td", "progress"}


def test_a_notebook_shows_plans_and_sweeps() -> None:
    session: Session = Client("http://127.0.0.1:1")
    plan: Plan = Plan({"kind": "replicas", "id": "1", "cluster": "prod", "topics": [{}, {}]}, session)
    assert "replicas plan 1" in Texts(plan._repr_html_()).text
    sweep: Sweep = Sweep({"kind": "capacity", "id": "1", "state": "running", "scenarios": 10, "done": 5}, session)
    assert 'value="5" max="10"' in sweep._repr_html_()
    assert json.dumps(plan.raw)
    assert Request("GET", "/").query == {}
