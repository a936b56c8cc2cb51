"""KIP-925: when it is on, its permitted changes, that it is an optimum, and that it is Kafka's own."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.typing import NDArray
from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment

from app.core.streams.assignors import high_availability, sticky
from app.core.streams.model import (
    Application,
    PartialAssignment,
    RackAwareStrategy,
    StreamsClient,
    StreamsOptions,
    TaskPartitions,
)
from app.core.streams.rack_aware.optimum import RackAware, rack_aware
from app.core.streams.rack_aware.racks import RacksOff, why_off
from app.errors.kafka import InconsistentTasks, RackCostsOverflow, TaskPartitionsUnknown
from tests import draws as st
from tests.core.streams import flow_by_hand as by_hand
from tests.core.streams.small_applications import Given, applications, client, tasks, written

MIN_TRAFFIC = StreamsOptions(rack_aware_assignment_strategy=RackAwareStrategy.MIN_TRAFFIC)
BALANCED = StreamsOptions(rack_aware_assignment_strategy=RackAwareStrategy.BALANCE_SUBTOPOLOGY)
IN_RACKS = TaskPartitions(
    sources={(0, 0): [("in", 0)], (0, 1): [("in", 1)]},
    changelogs={(0, 0): [("log", 0)], (0, 1): [("log", 1)]},
    replicas={"in": [[1], [0]], "log": [[1], [0]]},
    rack_of={0: "a", 1: "b"},
)
"""Partition 0 is in rack b and partition 1 in rack a."""
TWO_RACKS = [client(1, rack_id="a", default_lag=0), client(2, rack_id="b", default_lag=0)]


def solved(strategy: str, cost: NDArray[np.int64], owners: list[int], group: list[int]) -> list[int]:
    """The result of the compiled flow."""
    from app.core.streams.rack_aware import graphs_kernel as kernel  # noqa: PLC0415 — numba takes long to import

    owned = np.array(owners, np.int64)
    if strategy == "min_traffic":
        return list(kernel.min_traffic(cost, owned).tolist())
    counts = np.bincount(owned, minlength=cost.shape[1])
    share = np.ceil(counts[None, :] * 1.0 / len(cost) * np.bincount(group)[:, None]).astype(np.int64)
    return list(kernel.balance_subtopology(cost, np.array(group, np.int64), counts, share).tolist())


@st.composite
def flows(draw: st.DrawFn) -> tuple[NDArray[np.int64], list[int], list[int]]:
    """Costs of tasks on clients, and each one's owner and subtopology."""
    n_tasks, n_clients = draw(st.integers(1, 14)), draw(st.integers(1, 5))
    row = st.lists(st.sampled_from([0, 1, 2, 10, 11, 20]), min_size=n_clients, max_size=n_clients)
    cost = draw(st.lists(row, min_size=n_tasks, max_size=n_tasks))
    owners = draw(st.lists(st.integers(0, n_clients - 1), min_size=n_tasks, max_size=n_tasks))
    group = np.unique(
        sorted(draw(st.lists(st.integers(0, 3), min_size=n_tasks, max_size=n_tasks))), return_inverse=True
    )
    return np.array(cost, np.int64), owners, group[1].tolist()


class TestTheFlow:
    """The compiled flow, which leaves out arcs without effect, against one that leaves out nothing."""

    @given(flows())
    def test_min_traffic_is_the_plain_readings_own(
        self, given_flow: tuple[NDArray[np.int64], list[int], list[int]]
    ) -> None:
        cost, owners, group = given_flow
        answer = solved("min_traffic", cost, owners, group)
        assert answer == by_hand.min_traffic(cost.tolist(), owners)
        assert np.array_equal(
            np.bincount(answer, minlength=cost.shape[1]), np.bincount(owners, minlength=cost.shape[1])
        )

    @given(flows())
    def test_min_traffic_costs_as_little_as_can_be(
        self, given_flow: tuple[NDArray[np.int64], list[int], list[int]]
    ) -> None:
        """An assignment of tasks to seats, of which each client has as many as it has tasks."""
        cost, owners, group = given_flow
        seats = np.repeat(np.arange(cost.shape[1]), np.bincount(owners, minlength=cost.shape[1]))
        solver = SimpleLinearSumAssignment()
        rows, columns = np.indices((len(cost), len(seats)), np.int32)
        solver.add_arcs_with_cost(rows.ravel(), columns.ravel(), cost[:, seats].ravel())
        assert solver.solve() == solver.OPTIMAL
        answer = solved("min_traffic", cost, owners, group)
        assert cost[np.arange(len(cost)), answer].sum() == solver.optimal_cost()

    @given(flows())
    def test_balance_subtopology_is_the_plain_readings_own(
        self, given_flow: tuple[NDArray[np.int64], list[int], list[int]]
    ) -> None:
        cost, owners, group = given_flow
        answer = solved("balance_subtopology", cost, owners, group)
        assert answer == by_hand.balance_subtopology(cost.tolist(), owners, group)

    @pytest.mark.long
    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(6))
    def test_larger_ones_too(self, seed: int) -> None:
        """Long enough for whole periods of sweeps to be left out many times over."""
        draw = np.random.default_rng(seed)
        n_tasks, n_clients = 40, 4 + seed
        cost = draw.choice([0, 1, 10, 11], (n_tasks, n_clients)).astype(np.int64)
        owners = draw.integers(0, n_clients, n_tasks).tolist()
        group = np.sort(draw.integers(0, 3, n_tasks)).tolist()
        assert solved("min_traffic", cost, owners, group) == by_hand.min_traffic(cost.tolist(), owners)
        expected = by_hand.balance_subtopology(cost.tolist(), owners, group)
        assert solved("balance_subtopology", cost, owners, group) == expected


def started(application: Given) -> tuple[RackAware | None, PartialAssignment, StreamsOptions]:
    """Every task active somewhere, stateful ones with a standby elsewhere."""
    clients, given_tasks, options, partitions = application
    app = Application(clients, given_tasks)
    partial = PartialAssignment.empty(app)
    for row in range(len(app.task_ids)):
        partial.active[row % len(clients), row] = True
        if row in app.stateful and len(clients) > 1:
            partial.standby[(row + 1 + row % (len(clients) - 1)) % len(clients), row] = True
    partial.standby &= ~partial.active
    return rack_aware(app, options, partitions), partial, options


class TestPromises:
    """Laws of every application with racks."""

    @given(applications(min_clients=2, racks=True), st.tuples(st.integers(0, 20), st.integers(0, 20)))
    def test_costs_never_rise_and_counts_stay(self, application: Given, costs: tuple[int, int]) -> None:
        racks, partial, options = started(
            (*application[:2], replace(application[2], num_standby_replicas=1), application[3])
        )
        assert (racks is None) == (options.rack_aware_assignment_strategy is RackAwareStrategy.NONE)
        assume(racks is not None)
        assert racks is not None
        rows = racks.application.rows(application[1].ids)
        counts, n_standbys = partial.active.sum(axis=1), partial.standby.sum(axis=1)
        standbys_of = partial.standby.sum(axis=0)
        before = racks.standby_cost(partial, costs[0])
        assert racks.optimise_standbys(partial, costs, None) <= before
        assert np.array_equal(n_standbys, partial.standby.sum(axis=1))
        assert np.array_equal(standbys_of, partial.standby.sum(axis=0))
        assert not (partial.active & partial.standby).any()
        partial.standby[:] = False
        before = racks.active_cost(partial, rows, costs[0])
        after = racks.optimise_active(partial, rows, costs)
        assert np.array_equal(counts, partial.active.sum(axis=1))
        assert (partial.active.sum(axis=0) == 1).all()
        assert racks.active_cost(partial, rows, costs[0]) <= after
        if options.rack_aware_assignment_strategy is RackAwareStrategy.MIN_TRAFFIC:
            assert after <= before


class TestExamples:
    """Applications that can be checked by eye."""

    @pytest.mark.parametrize("options", [MIN_TRAFFIC, BALANCED])
    def test_tasks_go_to_the_rack_of_their_partitions(self, options: StreamsOptions) -> None:
        answer = high_availability.assign(TWO_RACKS, tasks("0_0 0_1"), options, IN_RACKS)
        assert written(answer) == ["0_1 |  | ", "0_0 |  | "]
        without = high_availability.assign(TWO_RACKS, tasks("0_0 0_1"), options)
        assert written(without) == ["0_0 |  | ", "0_1 |  | "]

    def test_the_sticky_assignor_weighs_moves_above_traffic(self) -> None:
        """A move costs 10 and a partition that crosses racks 1, unless they are set."""
        answer = sticky.assign(TWO_RACKS, tasks("0_0 0_1"), MIN_TRAFFIC, IN_RACKS)
        assert written(answer) == ["0_0 |  | ", "0_1 |  | "]
        cheap = StreamsOptions(rack_aware_assignment_strategy=RackAwareStrategy.MIN_TRAFFIC, non_overlap_cost=0)
        assert written(sticky.assign(TWO_RACKS, tasks("0_0 0_1"), cheap, IN_RACKS)) == ["0_1 |  | ", "0_0 |  | "]

    def test_a_client_keeps_its_count_even_where_another_has_all_racks(self) -> None:
        partitions = TaskPartitions(IN_RACKS.sources, {}, {"in": [[1], [1]]}, IN_RACKS.rack_of)
        answer = high_availability.assign(TWO_RACKS, tasks("0_0 0_1"), MIN_TRAFFIC, partitions)
        assert written(answer) == ["0_0 |  | ", "0_1 |  | "]

    def test_a_task_without_partitions_fails_where_racks_decide(self) -> None:
        with pytest.raises(TaskPartitionsUnknown, match="0_2"):
            high_availability.assign(TWO_RACKS, tasks("0_0 0_1 0_2"), MIN_TRAFFIC, IN_RACKS)

    def test_changelogs_are_not_required_if_no_standbys_are_requested(self) -> None:
        """Whatever standbys there are then, Kafka has no racks for them, unless a changelog is a source as well."""
        application = Application(TWO_RACKS, tasks("0_0 0_1"))
        partial = PartialAssignment.empty(application)
        partial.standby[:] = np.eye(2, dtype=np.bool_)
        racks = rack_aware(application, MIN_TRAFFIC, IN_RACKS)
        assert racks is not None
        with pytest.raises(TaskPartitionsUnknown, match="0_0"):
            racks.optimise_standbys(partial, (1, 0), None)
        own = TaskPartitions(IN_RACKS.sources, IN_RACKS.sources, IN_RACKS.replicas, IN_RACKS.rack_of)
        racks = rack_aware(application, MIN_TRAFFIC, own)
        assert racks is not None
        assert racks.optimise_standbys(partial, (1, 0), None) == 0
        assert partial.standby.tolist() == [[False, True], [True, False]]

    def test_costs_that_are_their_own_negatives_never_end(self) -> None:
        """2³¹ − 1 and one more wrap to −2³¹: dearer by one for Java than anything is cheap."""
        options = replace(MIN_TRAFFIC, traffic_cost=2**31 - 1, non_overlap_cost=1)
        apart = TaskPartitions(IN_RACKS.sources, {}, {"in": [[0], [1]]}, IN_RACKS.rack_of)
        with pytest.raises(RackCostsOverflow):
            high_availability.assign(TWO_RACKS, tasks("0_0 0_1"), options, apart)
        one_less = replace(options, traffic_cost=2**31 - 2)
        assert written(high_availability.assign(TWO_RACKS, tasks("0_0 0_1"), one_less, apart)) == [
            "0_0 |  | ",
            "0_1 |  | ",
        ]

    def test_a_task_must_be_active_once(self) -> None:
        application = Application(TWO_RACKS, tasks("0_0 0_1"))
        racks = rack_aware(application, MIN_TRAFFIC, IN_RACKS)
        assert racks is not None
        partial = PartialAssignment.empty(application)
        with pytest.raises(InconsistentTasks, match="on no client"):
            racks.optimise_active(partial, application.stateful, (1, 0))
        partial.active[:] = True
        with pytest.raises(InconsistentTasks, match="several clients"):
            racks.optimise_active(partial, application.stateful, (1, 0))


class TestWhyItIsOff:
    """Racks go off without a word in Kafka, and not here."""

    def off(self, options: StreamsOptions = MIN_TRAFFIC, **changed: object) -> RacksOff | None:
        known = {name: changed.get(name, getattr(IN_RACKS, name)) for name in IN_RACKS.__slots__}
        why = why_off(TWO_RACKS, options, TaskPartitions(**known))  # type: ignore[arg-type] # whatever a test changes
        return None if why is None else why.reason

    def test_it_is_on_where_all_is_known(self) -> None:
        assert self.off() is None

    def test_without_a_strategy_or_partitions(self) -> None:
        assert self.off(StreamsOptions()) is RacksOff.NO_STRATEGY
        why = why_off(TWO_RACKS, MIN_TRAFFIC, None)
        assert why is not None
        assert why.reason is RacksOff.NO_PARTITIONS

    def test_one_client_without_a_rack_suffices(self) -> None:
        why = why_off([*TWO_RACKS, StreamsClient(TWO_RACKS[0].process_id)], MIN_TRAFFIC, IN_RACKS)
        assert why is not None
        assert why.reason is RacksOff.CLIENT_WITHOUT_RACK
        assert str(TWO_RACKS[0].process_id) in why.detail

    def test_one_partition_suffices(self) -> None:
        assert self.off(replicas={"in": [[1]]}) is RacksOff.PARTITION_MISSING
        assert self.off(replicas={"in": [[1], []]}) is RacksOff.PARTITION_WITHOUT_REPLICAS
        assert self.off(replicas={"in": [[1], [7, 0]]}) is RacksOff.BROKER_WITHOUT_RACK

    def test_changelogs_count_where_there_are_standbys(self) -> None:
        """A described topic counts as a whole, partitions that no task has included."""
        standbys = StreamsOptions(1, rack_aware_assignment_strategy=RackAwareStrategy.MIN_TRAFFIC)
        sources = IN_RACKS.replicas["in"]
        assert self.off(replicas={"in": sources}) is None
        assert self.off(standbys, replicas={"in": sources}) is RacksOff.PARTITION_MISSING
        assert self.off(standbys, replicas={"in": sources, "log": [[0], [0], [9]]}) is RacksOff.BROKER_WITHOUT_RACK
