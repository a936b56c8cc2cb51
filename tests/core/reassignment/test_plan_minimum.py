"""The least cost of a change, beside changes of known least cost."""

import numpy as np
from hypothesis import given

from app.core.model import padded
from app.core.reassignment.plan_minimum import PlanMinimum, ProposedPlan, least_movement_for
from tests import draws as st


def measured(before: list[list[int]], after: list[list[int]], racks: list[int]) -> PlanMinimum:
    """Against partitions of weight 1, all brokers listed and nothing else on them."""
    brokers = len(racks)
    return least_movement_for(
        ProposedPlan(
            broker_ids=np.arange(brokers, dtype=np.int32),
            rack_of=np.array(racks, np.int32),
            is_listed=np.ones(brokers, np.bool_),
            base=np.zeros(brokers, np.int64),
            before=padded(before),
            after=padded(after),
            weight=np.ones(len(before), np.int64),
        )
    )


def moved(before: list[list[int]], after: list[list[int]]) -> int:
    return sum(len(set(now) - set(was)) for was, now in zip(before, after, strict=True))


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]], list[int]]:
    brokers, partitions = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    racks = np.unique(draw(st.lists(st.integers(0, 2), min_size=brokers, max_size=brokers)), return_inverse=True)[1]
    rows = st.lists(st.integers(0, brokers - 1), min_size=1, max_size=min(3, brokers), unique=True)
    return (
        draw(st.lists(rows, min_size=partitions, max_size=partitions)),
        draw(st.lists(rows, min_size=partitions, max_size=partitions)),
        racks.tolist(),
    )


@given(changes())
def test_no_plan_moves_less_than_what_is_forced_nor_than_what_is_as_even(
    change: tuple[list[list[int]], list[list[int]], list[int]],
) -> None:
    """The plan is one of those that the minimum is of, so it cannot be better."""
    before, after, racks = change
    found = measured(before, after, racks)
    assert found.forced.moved <= found.as_balanced.moved <= moved(before, after)
    assert found.forced.certificate.optimal
    assert found.as_balanced.certificate.optimal


def test_where_nothing_had_to_change_nothing_had_to_move() -> None:
    """Kafka's own generator shuffles replicas that are already right."""
    found = measured([[0, 1], [1, 2], [2, 0]], [[1, 2], [2, 0], [0, 1]], [0, 1, 2])
    assert (found.forced.moved, found.as_balanced.moved) == (0, 0)
    assert found.spreads_racks


def test_a_broker_that_a_plan_empties_has_to_be_emptied() -> None:
    found = measured([[0, 1], [1, 2], [2, 0]], [[1, 2], [2, 1], [1, 2]], [0, 0, 1])
    assert found.emptied.tolist() == [True, False, False]
    assert found.forced.moved == 2
    assert found.forced.replicas.tolist() == [[2, 1], [1, 2], [2, 1]]


def test_a_plan_that_crowds_racks_is_measured_without_them() -> None:
    found = measured([[0], [0], [1]], [[0, 1], [0, 1], [1, 0]], [0, 0, 1])
    assert not found.spreads_racks
    assert found.forced.moved == 3
