"""The exact flow against KIP-925's replay: the same cost, within the same counts and shares."""

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.typing import NDArray

from app.core.streams.model import Application, PartialAssignment, RackAwareStrategy, StreamsOptions
from app.core.streams.rack_aware import optimum
from app.core.streams.rack_aware.optimum import rack_aware
from app.errors.kafka import InconsistentTasks
from tests import draws as st
from tests.core.streams.small_applications import Given, applications, tasks
from tests.core.streams.test_rack_aware import IN_RACKS, MIN_TRAFFIC, TWO_RACKS, flows, started


def shares(owners: list[int], group: list[int], clients: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each client's count, and of each subtopology its share as Kafka rounds it up."""
    counts = np.bincount(owners, minlength=clients).astype(np.int64)
    return counts, np.ceil(counts[None, :] * 1.0 / len(owners) * np.bincount(group)[:, None]).astype(np.int64)


class TestItCostsTheSame:
    """Both are optima: they differ in the owners of several tasks."""

    @given(flows())
    def test_min_traffic(self, given_flow: tuple[NDArray[np.int64], list[int], list[int]]) -> None:
        from app.core.streams.rack_aware import graphs_kernel as kernel  # noqa: PLC0415 — numba takes long to import

        cost, owners, _ = given_flow
        replayed = kernel.min_traffic(cost, np.array(owners, np.int64))
        found = optimum.min_traffic(cost, np.array(owners, np.int64))
        assert found.cost == cost[np.arange(len(cost)), replayed].sum()
        assert found.cost == cost[np.arange(len(cost)), found.chosen].sum()
        clients = cost.shape[1]
        assert np.array_equal(np.bincount(found.chosen, minlength=clients), np.bincount(owners, minlength=clients))

    @given(flows())
    def test_balance_subtopology(self, given_flow: tuple[NDArray[np.int64], list[int], list[int]]) -> None:
        from app.core.streams.rack_aware import graphs_kernel as kernel  # noqa: PLC0415 — numba takes long to import

        cost, owners, group = given_flow
        counts, share = shares(owners, group, cost.shape[1])
        replayed = kernel.balance_subtopology(cost, np.array(group, np.int64), counts, share)
        found = optimum.balance_subtopology(cost, np.array(group, np.int64), counts, share)
        assert (replayed >= 0).all()
        assert found.cost == cost[np.arange(len(cost)), replayed].sum()
        assert np.array_equal(np.bincount(found.chosen, minlength=cost.shape[1]), counts)
        for number in range(len(share)):
            of_group = np.bincount(found.chosen[np.array(group) == number], minlength=cost.shape[1])
            assert (of_group <= share[number]).all()

    @given(applications(min_clients=2, racks=True), st.tuples(st.integers(0, 20), st.integers(0, 20)))
    def test_of_an_application(self, application: Given, costs: tuple[int, int]) -> None:
        racks, partial, options = started(application)
        assert (racks is None) == (options.rack_aware_assignment_strategy is RackAwareStrategy.NONE)
        assume(racks is not None)
        assert racks is not None
        partial.standby[:] = False
        rows = racks.application.rows(application[1].ids)
        before = partial.active.copy()
        found = racks.cheapest_active(partial, rows, costs)
        assert np.array_equal(partial.active, before)
        assert found.cost == racks.optimise_active(partial, rows, costs)


class TestExamples:
    """Examples that can be checked by eye."""

    def test_each_task_goes_to_its_rack(self) -> None:
        """Partition 0 is in rack b and partition 1 in rack a; both moves cost one, and no partition crosses."""
        application = Application(TWO_RACKS, tasks("0_0 0_1"))
        racks = rack_aware(application, MIN_TRAFFIC, IN_RACKS)
        assert racks is not None
        partial = PartialAssignment.empty(application)
        with pytest.raises(InconsistentTasks, match="on no client"):
            racks.cheapest_active(partial, application.stateful, (10, 1))
        partial.active[[0, 1], [0, 1]] = True
        found = racks.cheapest_active(partial, application.stateful, (10, 1))
        assert (found.chosen.tolist(), found.cost) == ([1, 0], 2)

    def test_shares_that_cannot_be(self) -> None:
        nothing = np.zeros((1, 2), np.int64)
        with pytest.raises(ValueError, match="within the shares"):
            optimum.balance_subtopology(nothing, np.zeros(1, np.int64), np.array([1, 0]), nothing)

    def test_no_tasks(self) -> None:
        assert optimum.min_traffic(np.zeros((0, 2), np.int64), np.zeros(0, np.int64)).cost == 0
        racks = rack_aware(Application(TWO_RACKS, tasks("")), MIN_TRAFFIC, IN_RACKS)
        assert racks is not None
        assert (
            racks.cheapest_active(PartialAssignment.empty(racks.application), np.zeros(0, np.int64), (1, 0)).cost == 0
        )

    def test_it_is_for_the_strategy_that_is_set(self) -> None:
        assert rack_aware(Application(TWO_RACKS, tasks("0_0")), StreamsOptions(), IN_RACKS) is None
