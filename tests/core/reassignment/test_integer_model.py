"""The integer model: legal placements that move no more, and bounds that hold whichever partitions are selected."""

import numpy as np
from hypothesis import assume, event, given
from hypothesis import strategies as st

from app.core.model import NO_REPLICA
from app.core.reassignment.loads.integer_model import integer_model
from app.core.reassignment.loads.local_search import initial_placement
from app.core.reassignment.loads.rules import load_rules
from app.core.reassignment.model import Band
from tests.core.reassignment.small_problems import moved_weight, placements, problems, target_loads
from tests.core.reassignment.test_by_load import Case
from tests.profiles import costly, examples


@costly(100)
@given(problems(), st.integers(0, 4), st.integers(0, 6), st.integers(0, 6))
def test_bounds_hold_and_placements_move_no_more(case: Case, selected: int, below: int, above: int) -> None:
    """Every placement is tried: none within the band moves less than the bound, whichever partitions are relaxed."""
    problem, load, base_load = case
    rules = load_rules(problem, load)
    start = initial_placement(rules, base_load)
    model = integer_model(rules, start, base_load, lambda: False, max_cells=selected * len(base_load))
    assume(model is not None)
    assert model is not None
    event(f"{len(model.selected)} of {len(load)} partitions selected")
    band = Band(max(0, start.smallest - below), start.largest + above)
    within = [
        moved_weight(problem, placement)
        for placement in placements(problem)
        if all(band.low <= amount <= band.high for amount in target_loads(problem, load, base_load, placement))
    ]
    assert model.movement_lower_bound(band, start.moved) <= min(within)
    improved = model.less_movement(band)
    rows = tuple(tuple(sorted(broker for broker in row if broker != NO_REPLICA)) for row in improved.at.tolist())
    assert rows in set(placements(problem))
    assert improved.moved == moved_weight(problem, rows) <= start.moved
    loads = target_loads(problem, load, base_load, rows)
    assert all(band.low <= amount <= band.high for amount in loads)
    if len(model.selected) == len(load):
        assert improved.moved == min(within)


@examples(50)
@given(problems(), st.integers(1, 4))
def test_a_lower_ceiling_costs_no_more_movement(case: Case, selected: int) -> None:
    problem, load, base_load = case
    rules = load_rules(problem, load)
    start = initial_placement(rules, base_load)
    model = integer_model(rules, start, base_load, lambda: False, max_cells=selected * len(base_load))
    assume(model is not None)
    assert model is not None
    lower = model.lower_ceiling(0, start.smallest)
    assert start.smallest <= lower.smallest <= lower.largest <= start.largest
    assert lower.moved <= start.moved
    np.testing.assert_array_equal(np.sort(lower.at >= 0, axis=1), np.sort(start.at >= 0, axis=1))
