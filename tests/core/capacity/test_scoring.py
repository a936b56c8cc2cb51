"""A range of scenarios: the same rows however it is cut, and one that fails does so alone."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from app.core import sweeps
from app.core.capacity import sweep as capacity_sweep
from app.core.capacity.ranking import neighbours, why_not_cheaper
from app.core.capacity.score import document
from app.core.capacity.sweep import CapacitySweep, SweepDefinition, read_definition
from app.core.sweeps.scoring import ScenarioRow
from app.errors import Json
from tests import draws as st
from tests.core.capacity.small_scenarios import PROFILE, base, score
from tests.profiles import costly

AXES: dict[str, Any] = {
    "topology.brokers_per_rack": [1, 2, 3],
    "topics.*.replication_factor": [2, 3, 7],
    "clients.follower_fetching": [False, True],
    "broker_profile": [{**PROFILE, "price_per_month": 10, "nic_out_bytes_per_s": 2e5}, PROFILE],
    "traffic.growth_per_month": [0, 0.05],
}


def sweep(**more: Any) -> SweepDefinition:
    """72 scenarios; seven replicas need three brokers a rack, so that 16 cannot be."""
    return read_definition({"base": base(), "axes": AXES, **more})


def rows_of(definition: SweepDefinition, start: int, stop: int) -> list[ScenarioRow]:
    """The rows of a range, by a sweep that has cached nothing yet."""
    return sweeps.score(CapacitySweep(definition), start, stop)


def documents_of(definition: SweepDefinition, start: int, stop: int) -> list[dict[str, Json]]:
    """The same as JSON."""
    return [row.document for row in rows_of(definition, start, stop)]


def test_cached_results_change_no_figure() -> None:
    """Each row equals its scenario's own score."""
    definition = sweep()
    by_itself = CapacitySweep(definition)
    scored = [row for row in rows_of(definition, 0, definition.count) if row.document["error"] is None]
    assert len(scored) == 56
    for row in scored:
        figures = document(score(by_itself.scenario(row.index)))
        assert {name: row.document[name] for name in figures} == figures
        assert set(row.document) == {"index", "grid_index", "axes", "error", *figures}


@costly(20)
@given(st.lists(st.integers(0, 40), max_size=5), st.booleans())
def test_rows_are_equal_however_a_range_is_divided(cuts: list[int], seeded: bool) -> None:
    placement = {"algorithm": "striped", "seed": 3} if seeded else {"algorithm": "striped"}
    definition = read_definition(
        {"base": base(placement=placement), "axes": AXES, "sample": {"count": 40, "seed": 2}, "seed": 11}
    )
    borders = [0, *sorted(cuts), 40]
    pieces = [row for start, stop in pairwise(borders) for row in documents_of(definition, start, stop)]
    whole = documents_of(definition, 0, 40)
    assert json.dumps(pieces, allow_nan=False) == json.dumps(whole, allow_nan=False)


def test_an_impossible_scenario_fails_alone_with_its_reason() -> None:
    rows = documents_of(sweep(), 0, 72)
    assert [row["index"] for row in rows] == list(range(72))
    failed = [row for row in rows if row["error"] is not None]
    assert len(failed) == 16
    assert {row["axes"]["topics.*.replication_factor"] for row in failed} == {7}  # type: ignore[index,call-overload]
    assert failed[0]["error"] == {
        "code": "conflicting_fields",
        "detail": "replication factor 7 of topic orders needs as many brokers; 3 given",
        "path": ["topics", 0, "replication_factor"],
    }
    assert failed[0]["feasible"] is None


def test_an_unexpected_exception_is_the_error_of_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect must not stop a sweep of a million scenarios, nor pass for a score."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(capacity_sweep, "judge", broken)
    [row] = rows_of(sweep(), 0, 1)
    assert row.document["feasible"] is None
    error = {"code": "unexpected_error", "detail": "ZeroDivisionError: float division by zero", "path": []}
    assert row.document["error"] == error
    assert row.trace is not None
    assert row.trace.rstrip().endswith("ZeroDivisionError: float division by zero")
    assert "in broken" in row.trace


def test_a_range_beyond_the_sweep_raises_index_error() -> None:
    with pytest.raises(IndexError):
        rows_of(sweep(), 71, 73)


def test_every_cheaper_neighbour_has_its_reason() -> None:
    """The cheap profile sends 200 kB/s: too little, and with one broker less a rack neither profile is enough."""
    definition = read_definition(
        {
            "base": base(),
            "axes": {
                "topology.brokers_per_rack": [1, 2, 3],
                "broker_profile": [
                    {**PROFILE, "price_per_month": 10, "nic_out_bytes_per_s": 5e4},
                    {**PROFILE, "nic_out_bytes_per_s": 2e5},
                ],
                "topics.*.replication_factor": [3, 7],
            },
            "constraints": {"min_headroom": 1.5},
        }
    )
    rows: list[Any] = documents_of(definition, 0, definition.count)
    documents = {row["grid_index"]: row for row in rows}
    chosen = 6  # two brokers a rack, the better profile, three replicas
    assert documents[chosen]["feasible"] is True
    steps = {(neighbour.axis, neighbour.grid_index) for neighbour in neighbours(definition.grid, chosen)}
    assert steps == {
        ("topology.brokers_per_rack", 2),
        ("topology.brokers_per_rack", 10),
        ("broker_profile", 4),
        ("topics.*.replication_factor", 7),
    }
    why = why_not_cheaper(definition.grid, chosen, documents, constraints=definition.constraints)
    reasons = {reason.neighbour.grid_index: reason for reason in why}
    assert set(reasons) == {2, 4, 7}
    assert reasons[4].binding == documents[4]["binding"]
    assert reasons[4].binding is not None
    assert reasons[2].broken_constraints == (("min_headroom", documents[2]["headroom"], 1.5),)
    assert reasons[7].monthly_cost is None
    assert reasons[7].error == documents[7]["error"]
