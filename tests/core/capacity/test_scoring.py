"""A range of scenarios: the same rows however it is cut, and one that fails does so alone."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.capacity import scoring
from app.core.capacity.definition import SweepDefinition, count, read_definition
from app.core.capacity.neighbours import neighbours, why_not_cheaper
from app.core.capacity.scenarios import scenario
from app.core.capacity.score import document, score
from app.core.capacity.scoring import score_range
from tests.core.capacity.small_scenarios import PROFILE, base

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


def test_what_scenarios_have_in_common_changes_no_figure() -> None:
    """Each row is what its scenario scores by itself."""
    definition = sweep()
    rows = score_range(definition, 0, count(definition))
    scored = [row for row in rows if row.score is not None]
    assert len(scored) == 56
    for row in scored:
        assert row.score is not None
        assert document(row.score) == document(score(scenario(definition, row.index)))


@settings(max_examples=20)
@given(st.lists(st.integers(0, 40), max_size=5), st.booleans())
def test_rows_are_the_same_however_a_range_is_cut(cuts: list[int], seeded: bool) -> None:
    placement = {"algorithm": "striped", "seed": 3} if seeded else {"algorithm": "striped"}
    definition = read_definition(
        {"base": base(placement=placement), "axes": AXES, "sample": {"count": 40, "seed": 2}, "seed": 11}
    )
    borders = [0, *sorted(cuts), 40]
    pieces = [row.document() for start, stop in pairwise(borders) for row in score_range(definition, start, stop)]
    whole = [row.document() for row in score_range(definition, 0, 40)]
    assert json.dumps(pieces, allow_nan=False) == json.dumps(whole, allow_nan=False)


def test_a_poison_scenario_fails_alone_and_says_why() -> None:
    rows = [row.document() for row in score_range(sweep(), 0, 72)]
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


def test_what_no_failure_foresees_is_kept_as_the_rows_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect must not stop a sweep of a million scenarios, nor pass for a score."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(scoring, "judge", broken)
    row = score_range(sweep(), 0, 1)[0]
    assert row.score is None
    assert row.error is not None
    assert (row.error.code, row.error.detail) == ("unexpected_error", "ZeroDivisionError: float division by zero")


def test_a_range_beyond_the_sweep_is_no_rows_error() -> None:
    with pytest.raises(IndexError):
        score_range(sweep(), 71, 73)


def test_every_cheaper_neighbour_of_the_cheapest_has_its_reason() -> None:
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
    documents = {row.grid_index: row.document() for row in score_range(definition, 0, count(definition))}
    chosen = 6  # two brokers a rack, the better profile, three replicas
    assert documents[chosen]["feasible"] is True
    steps = {(neighbour.axis, neighbour.grid_index) for neighbour in neighbours(definition, chosen)}
    assert steps == {
        ("topology.brokers_per_rack", 2),
        ("topology.brokers_per_rack", 10),
        ("broker_profile", 4),
        ("topics.*.replication_factor", 7),
    }
    reasons = {reason.neighbour.grid_index: reason for reason in why_not_cheaper(definition, chosen, documents)}
    assert set(reasons) == {2, 4, 7}
    assert reasons[4].binding == documents[4]["binding"]
    assert reasons[4].binding is not None
    assert reasons[2].broken_constraints == (("min_headroom", documents[2]["headroom"], 1.5),)
    assert reasons[7].monthly_cost is None
    assert reasons[7].error == documents[7]["error"]
