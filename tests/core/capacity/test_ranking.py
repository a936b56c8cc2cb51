"""Which scenarios are acceptable, the best first, and the front that nothing beats."""

from typing import Any

import numpy as np
from hypothesis import given

from app.core import sweeps
from app.core.capacity.ranking import NUMBERS, OBJECTIVES, acceptable, columns, front, rank
from app.core.capacity.sweep import CapacitySweep
from tests import draws as st
from tests.core.capacity.test_scoring import sweep


def row(**figures: Any) -> dict[str, Any]:
    """A scored scenario's document, as far as ranking reads it."""
    return {**dict.fromkeys(NUMBERS, 0), "feasible": True, "error": None, **figures}


small = st.integers(0, 3)
rows = st.lists(
    st.builds(
        lambda cost, room, crossed, feasible, failed: (
            {"error": {"code": "x"}, "feasible": None}
            if failed
            else row(monthly_cost=cost, headroom=room, cross_rack_bytes_per_s=crossed, feasible=feasible)
        ),
        small,
        st.one_of(st.none(), small),
        small,
        st.sampled_from([True, True, False]),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=25,
)


@given(rows, st.sampled_from([{}, {"min_headroom": 1.0}, {"max_monthly_cost": 2.0, "max_partitions_offline": 0.0}]))
def test_the_front_is_what_no_acceptable_scenario_dominates(
    documents: list[Any], constraints: dict[str, float]
) -> None:
    scored = columns(documents)
    among = np.flatnonzero(acceptable(scored, constraints)).tolist()
    merits = {
        at: (scored["monthly_cost"][at], -scored["headroom"][at], scored["cross_rack_bytes_per_s"][at]) for at in among
    }
    unbeaten = [
        at
        for at in among
        if not any(
            merits[other] != merits[at] and all(a <= b for a, b in zip(merits[other], merits[at], strict=True))
            for other in among
        )
    ]
    assert front(scored, constraints=constraints).tolist() == unbeaten


@given(rows, st.sampled_from(sorted(OBJECTIVES)))
def test_ranks_are_the_acceptable_scenarios_by_the_objective(documents: list[Any], objective: str) -> None:
    scored = columns(documents)
    ranked = rank(scored, objective=objective, constraints={"min_headroom": 1.0}).tolist()
    assert sorted(ranked) == np.flatnonzero(acceptable(scored, {"min_headroom": 1.0})).tolist()
    keys = [(OBJECTIVES[objective] * scored[objective][at], scored["monthly_cost"][at], at) for at in ranked]
    assert keys == sorted(keys)


def test_unlimited_headroom_exceeds_every_bound() -> None:
    scored = columns([row(headroom=None, first_breaking_month=None), row(headroom=2), row(headroom=1, feasible=False)])
    assert acceptable(scored, {"min_headroom": 1e9}).tolist() == [True, False, False]
    assert rank(scored, objective="headroom", constraints={}).tolist() == [0, 1]
    assert rank(scored, objective="first_breaking_month", constraints={"min_first_breaking_month": 1}).tolist() == [0]


def test_a_scenario_with_an_error_is_never_acceptable() -> None:
    documents = [scored.document for scored in sweeps.score(CapacitySweep(sweep()), 0, 72)]
    scored = columns(documents)
    ranked = rank(scored, objective="monthly_cost", constraints={"max_partitions_offline": 0})
    assert len(ranked)
    assert all(documents[at]["feasible"] and documents[at]["partitions_offline"] == 0 for at in ranked)
    costs = scored["monthly_cost"][ranked].tolist()
    assert costs == sorted(costs)
    assert set(front(scored, constraints={}).tolist()) <= {
        at for at, actual in enumerate(documents) if actual["feasible"]
    }
