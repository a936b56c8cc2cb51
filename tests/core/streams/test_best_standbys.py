"""The best standbys against every distribution there is, against Kafka's own, and on examples the eye can check."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given

from app.core.streams.assignors import high_availability
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsOptions, StreamsTasks
from app.core.streams.optimum import tag_patterns
from app.core.streams.optimum.best_standbys import CP_SAT, FLOW, BestStandbys, best_standbys
from app.core.streams.optimum.quality import StandbyProblem, quality_of, standby_problem, standby_quality
from app.core.streams.verdicts import task_verdicts
from app.core.streams.violations import violations
from app.errors.requests import ConflictingFields, ImpossibleValue, LimitExceeded
from tests import draws as st
from tests.core.streams.small_applications import Given, applications, client, ids, tasks, written
from tests.profiles import costly, examples


@st.composite
def small(draw: st.DrawFn) -> tuple[StreamsAssignment, list[StreamsClient], StreamsTasks, StreamsOptions]:
    """Up to five clients with tags, up to four tasks, active anywhere, with state anywhere."""
    n_clients, n_tasks = draw(st.integers(1, 5)), draw(st.integers(0, 4))
    every = [(0, partition) for partition in range(n_tasks)]
    some = st.lists(st.sampled_from(every), max_size=3, unique=True) if every else st.just([])
    clients = [
        StreamsClient(
            client(number).process_id,
            draw(st.sampled_from([1, 1, 2, 3])),
            draw(st.dictionaries(st.sampled_from(["zone", "cluster"]), st.sampled_from(["a", "b", "c"]))),
            previous_active=draw(some),
            previous_standby=draw(some),
        )
        for number in range(n_clients)
    ]
    active = np.zeros((n_clients, n_tasks), np.bool_)
    for task in range(n_tasks):
        active[draw(st.integers(0, n_clients - 1)), task] = True
    nothing = np.zeros_like(active)
    assignment = StreamsAssignment(tuple(one.process_id for one in clients), tuple(every), active, nothing, nothing)
    tags = draw(st.sampled_from([(), ("zone",), ("zone", "cluster"), ("zone", "cluster", "host"), ("host",)]))
    if draw(st.booleans()):
        tagged = [
            {"zone": "a", "cluster": "a"} | dict(its.client_tags) | {"host": str(n)} for n, its in enumerate(clients)
        ]
        clients = [
            StreamsClient(its.process_id, its.capacity, own, None, its.previous_active, its.previous_standby)
            for its, own in zip(clients, tagged, strict=True)
        ]
    return assignment, clients, StreamsTasks(every, every), StreamsOptions(draw(st.integers(0, 3)), 0, 0, tags)


def every_distribution(problem: StandbyProblem) -> Iterator[Bools]:
    """All ways to give each task as many standbys as there can be."""
    clients = range(len(problem.capacities))
    choices = [
        list(combinations([client for client in clients if client != active], problem.standbys))
        for active in problem.active.tolist()
    ]
    for chosen in product(*choices):
        standby = np.zeros((len(clients), len(choices)), np.bool_)
        for task, places in enumerate(chosen):
            standby[list(places), task] = True
        yield standby


class TestAgainstEveryDistribution:
    """At most four tasks with six choices each, of which none is better."""

    @given(small())
    @costly(250)
    def test_none_is_better(
        self, given_small: tuple[StreamsAssignment, list[StreamsClient], StreamsTasks, StreamsOptions]
    ) -> None:
        assignment, clients, given_tasks, options = given_small
        found = best_standbys(assignment, clients, given_tasks.stateful, options)
        assert not violations(found.assignment, clients, given_tasks, options)
        problem = standby_problem(assignment, clients, given_tasks.stateful, options)
        best = min((quality_of(problem, its) for its in every_distribution(problem)), key=lambda its: its.rank)
        own = found.quality
        assert own == standby_quality(found.assignment, clients, given_tasks.stateful, options)
        assert (own.missing, own.ideal, own.distinct_values) == (best.missing, best.ideal, best.distinct_values)
        certificate = found.certificate
        assert certificate.lower_bound <= best.imbalance
        if certificate.optimal or certificate.solver == FLOW:
            assert own == best
            assert certificate.optimal
            assert certificate.gap == 0.0
        if best.imbalance == certificate.lower_bound:
            assert found.restored.lower_bound <= best.restored


class TestAgainstKafka:
    """By the order in which the optimum weighs, with Kafka's own active tasks."""

    @given(applications())
    @examples(100)
    def test_it_is_never_worse(self, application: Given) -> None:
        clients, given_tasks, options, _ = application
        kafka = high_availability.assign(clients, given_tasks, options)
        found = best_standbys(kafka, clients, given_tasks.stateful, options)
        own, kafkas = found.quality, standby_quality(kafka, clients, given_tasks.stateful, options)
        assert own.rank <= kafkas.rank
        verdicts = task_verdicts(found.assignment, clients, given_tasks.stateful, options)
        assert sum(its.is_ideal for its in verdicts) == own.ideal

    @given(applications())
    @examples(30)
    def test_the_same_input_gives_the_same_answer(self, application: Given) -> None:
        clients, given_tasks, options, _ = application
        kafka = high_availability.assign(clients, given_tasks, options)
        one, other = (best_standbys(kafka, clients, given_tasks.stateful, options) for _ in range(2))
        assert np.array_equal(one.assignment.standby, other.assignment.standby)
        assert one.certificate == other.certificate


def grid(clusters: int, zones: int) -> list[StreamsClient]:
    """A client in each zone of each cluster, that starts afresh."""
    return [
        client(1 + number, client_tags={"cluster": f"k{number // zones}", "zone": f"z{number % zones}"}, default_lag=9)
        for number in range(clusters * zones)
    ]


class TestExamples:
    """Applications that can be checked by eye."""

    def best(self, clients: list[StreamsClient], names: str, options: StreamsOptions) -> BestStandbys:
        kafka = high_availability.assign(clients, tasks(names), options)
        return best_standbys(kafka, clients, ids(names), options)

    def test_three_clusters_of_three_zones_hold_two_standbys_apart(self) -> None:
        """KIP-708's example: an active task and two standbys, each in a cluster and a zone of its own."""
        names = " ".join(f"0_{partition}" for partition in range(9))
        options = StreamsOptions(2, rack_aware_assignment_tags=("cluster", "zone"))
        found = self.best(grid(3, 3), names, options)
        assert (found.quality.ideal, found.quality.distinct_values) == (9, 9 * 2 * 3)
        assert (found.quality.imbalance, found.quality.spread) == (Fraction(9 * 2 * 2), Fraction(0))
        assert found.certificate.optimal
        assert found.certificate.solver == CP_SAT

    def test_two_clusters_cannot_hold_two_standbys_apart(self) -> None:
        """KIP-708's other example: both clusters and all three zones are used, which is the most there can be."""
        found = self.best(grid(2, 3), "0_0 0_1", StreamsOptions(2, rack_aware_assignment_tags=("cluster", "zone")))
        assert (found.quality.ideal, found.quality.distinct_values) == (0, 2 * (2 + 3))
        assert found.certificate.optimal

    def test_standbys_stay_where_state_is_and_go_to_another_zone(self) -> None:
        zones = {1: "a", 2: "b", 3: "b"}
        clients = [
            client(
                number, client_tags={"zone": zone}, default_lag=0, previous_standby=ids("0_0") if number == 3 else ()
            )
            for number, zone in zones.items()
        ]
        found = self.best(clients, "0_0", StreamsOptions(1, rack_aware_assignment_tags=("zone",)))
        assert written(found.assignment) == ["0_0 |  | ", " |  | ", " | 0_0 | "]
        assert found.quality.restored == 0

    def test_a_client_with_more_threads_takes_more(self) -> None:
        clients = [client(1, default_lag=0), client(2, 1, default_lag=0), client(3, 3, default_lag=0)]
        active = np.array([[True] * 4, [False] * 4, [False] * 4])
        nothing = np.zeros_like(active)
        before = StreamsAssignment(
            tuple(its.process_id for its in clients), ids("0_0 0_1 0_2 0_3"), active, nothing, nothing
        )
        found = best_standbys(before, clients, before.task_ids, StreamsOptions(1))
        assert found.assignment.standby.sum(axis=1).tolist() == [0, 1, 3]

    def test_hosts_within_zones_decide_nothing_more(self) -> None:
        """Where zones differ, hosts do; so that only zones are left, and a flow."""
        clients = [
            client(number, client_tags={"zone": f"z{number % 3}", "host": f"h{number % 6}"}, default_lag=0)
            for number in range(1, 13)
        ]
        found = self.best(clients, "0_0 0_1 0_2", StreamsOptions(2, rack_aware_assignment_tags=("zone", "host")))
        assert found.quality.ideal == 3
        assert found.certificate.solver == FLOW


class TestBadInput:
    """Invalid input."""

    def test_a_client_without_threads(self) -> None:
        clients = [client(1), client(2, 0)]
        active = np.array([[True], [False]])
        before = StreamsAssignment(
            tuple(its.process_id for its in clients), ids("0_0"), active, np.zeros_like(active), np.zeros_like(active)
        )
        with pytest.raises(ImpossibleValue, match="0 threads"):
            best_standbys(before, clients, before.task_ids, StreamsOptions(1))
        with pytest.raises(ConflictingFields, match="not those"):
            best_standbys(before, clients[:1], before.task_ids, StreamsOptions(1))
        with pytest.raises(ConflictingFields, match="0_7 is active on 0"):
            best_standbys(before, [client(1), client(2)], ids("0_7"), StreamsOptions(1))

    def test_threads_without_a_small_common_multiple(self) -> None:
        clients = [client(1, 9973), client(2, 9967)]
        active = np.array([[True], [False]])
        before = StreamsAssignment(
            tuple(its.process_id for its in clients), ids("0_0"), active, np.zeros_like(active), np.zeros_like(active)
        )
        with pytest.raises(ImpossibleValue, match="least common multiple"):
            best_standbys(before, clients, before.task_ids, StreamsOptions(1))

    def test_too_many_patterns(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tag_patterns, "MOST_PATTERNS", 10)
        with pytest.raises(LimitExceeded, match="45 patterns"):
            TestExamples().best(grid(3, 3), "0_0", StreamsOptions(2, rack_aware_assignment_tags=("cluster", "zone")))
