"""The high-availability assignor: laws of balance and of state, and small applications that can be checked by eye."""

import numpy as np
import pytest
from hypothesis import assume, given

from app.core.streams.assignors.high_availability import assign
from app.core.streams.model import RUNNING_ACTIVE, UNBOUNDED_LAG, UNKNOWN_LAG, StreamsClient, StreamsOptions
from tests import draws as st
from tests.core.streams.small_applications import Given, applications, client, ids, running, tasks, written

TWO_ZONES = [
    client(number, client_tags={"zone": zone}, default_lag=9) for number, zone in ((1, "a"), (2, "a"), (3, "b"))
]


class TestPromises:
    """Laws of every application."""

    @given(st.integers(1, 7), st.integers(1, 4), st.integers(0, 30))
    def test_clients_of_equal_size_that_start_afresh_differ_by_one_task(
        self, n_clients: int, capacity: int, n_tasks: int
    ) -> None:
        clients = [client(number, capacity, default_lag=5) for number in range(n_clients)]
        answer = assign(clients, tasks(" ".join(f"0_{p}" for p in range(n_tasks))), StreamsOptions())
        counts = answer.active.sum(axis=1)
        assert counts.max() - counts.min() <= 1
        assert not answer.probing_rebalance

    @given(applications())
    def test_a_task_runs_on_a_caught_up_client_where_there_is_one(self, application: Given) -> None:
        """KIP-441: whatever balance asks for, a task with caught-up clients runs on one of them.

        But for a client that is too old to say its lag: Kafka's mark for that is less than any lag, and so it keeps
        its planned tasks.
        """
        clients, given_tasks, options, _ = application
        answer = assign(clients, given_tasks, options)
        for task in given_tasks.stateful:
            lags = [lag_of(one, task) for one in clients]
            ready = [is_caught_up(lag, options.acceptable_recovery_lag) for lag in lags]
            runs_on = int(answer.active[:, answer.task_ids.index(task)].argmax())
            assert ready[runs_on] or not any(ready) or lags[runs_on] == UNKNOWN_LAG
            assert any(ready) or lags[runs_on] == min(lags)

    @given(applications())
    def test_warm_ups_are_followed_by_a_probing_rebalance(self, application: Given) -> None:
        clients, given_tasks, options, _ = application
        answer = assign(clients, given_tasks, options)
        assert answer.probing_rebalance or not answer.warmup.any()

    @given(applications())
    def test_probing_ends_when_warm_ups_catch_up(self, application: Given) -> None:
        """Each rebalance moves some tasks to where they are planned, as long as any may warm up."""
        clients, given_tasks, options, _ = application
        assume(options.max_warmup_replicas)
        fresh = [StreamsClient(one.process_id, one.capacity, one.client_tags, default_lag=10**9) for one in clients]
        for _ in range(60):
            answer = assign(fresh, given_tasks, options)
            if not answer.probing_rebalance:
                return
            fresh = running(answer, fresh)
        pytest.fail("it goes on")


def lag_of(one: StreamsClient, task: tuple[int, int]) -> int:
    """How far a client is behind."""
    assert one.default_lag is not None
    return one.lags.get(task, one.default_lag)


def is_caught_up(lag: int, acceptable: int) -> bool:
    """KIP-441's rule: it runs the task, or lags no more than is acceptable; unknown lags only if all are acceptable."""
    return acceptable == UNBOUNDED_LAG or lag == RUNNING_ACTIVE or 0 <= lag <= acceptable


class TestExamples:
    """Applications that can be checked by eye."""

    def test_stateful_tasks_are_dealt_in_turn_and_stateless_ones_fill_up(self) -> None:
        clients = [client(1, default_lag=0), client(2, default_lag=0)]
        answer = assign(clients, tasks("0_0 0_1 0_2 1_0 1_1", "0_0 0_1 0_2"), StreamsOptions())
        assert written(answer) == ["0_0 0_2 1_1 |  | ", "0_1 1_0 |  | "]

    def test_threads_count(self) -> None:
        """Dealt two and two, then 0_0 moves to the larger client; a second move would turn the difference around."""
        clients = [client(1, 1, default_lag=0), client(2, 3, default_lag=0)]
        assert written(assign(clients, tasks("0_0 0_1 0_2 0_3"), StreamsOptions())) == [
            "0_2 |  | ",
            "0_0 0_1 0_3 |  | ",
        ]

    def test_process_ids_are_compared_as_signed_numbers(self) -> None:
        clients = [client(1, default_lag=0), client(2**127, default_lag=0)]
        assert written(assign(clients, tasks("0_0"), StreamsOptions())) == [" |  | ", "0_0 |  | "]

    def test_a_new_client_warms_up_before_it_takes_over(self) -> None:
        """Two are planned on each; 0_1 and 0_3 belong to the new client, which may warm up one at a time."""
        every = ids("0_0 0_1 0_2 0_3")
        before = client(1, previous_active=every, lags=dict.fromkeys(every, -2), default_lag=50_000)
        clients = [before, client(2, default_lag=50_000)]
        given_tasks = tasks("0_0 0_1 0_2 0_3")
        first = assign(clients, given_tasks, StreamsOptions(max_warmup_replicas=1))
        assert written(first) == ["0_0 0_1 0_2 0_3 |  | ", " |  | 0_1"]
        assert first.probing_rebalance
        second = assign(running(first, clients, warmup=10), given_tasks, StreamsOptions(max_warmup_replicas=1))
        assert written(second) == ["0_0 0_2 0_3 |  | ", "0_1 |  | 0_3"]
        third = assign(running(second, running(first, clients)), given_tasks, StreamsOptions(max_warmup_replicas=1))
        assert written(third) == ["0_0 0_2 |  | ", "0_1 0_3 |  | "]
        assert not third.probing_rebalance

    def test_a_standby_that_is_caught_up_trades_places_and_nothing_warms_up(self) -> None:
        """0_0 is planned on the first client, and its standby on the second, which has the state."""
        clients = [client(1, default_lag=50_000), client(2, lags={(0, 0): UNKNOWN_LAG}, default_lag=0)]
        ready = [clients[0], client(2, lags={(0, 0): 10}, default_lag=0)]
        assert written(assign(ready, tasks("0_0"), StreamsOptions(1))) == [" | 0_0 | ", "0_0 |  | "]
        # An unknown lag is less than any number, so that it counts as closer, though not as caught up.
        assert written(assign(clients, tasks("0_0"), StreamsOptions(1))) == [" | 0_0 | ", "0_0 |  | "]

    def test_standbys_go_to_another_zone(self) -> None:
        answer = assign(TWO_ZONES, tasks("0_0 0_1 0_2"), StreamsOptions(1, rack_aware_assignment_tags=("zone",)))
        assert written(answer) == ["0_0 | 0_2 | ", "0_1 |  | ", "0_2 | 0_0 0_1 | "]

    def test_a_client_without_threads_gets_what_is_dealt_to_it(self) -> None:
        """Its load is infinite, and so is the difference that Kafka would have to make smaller."""
        clients = [client(1, 0, default_lag=0), client(2, 1, default_lag=0)]
        answer = assign(clients, tasks("0_0 0_1 0_2 0_3"), StreamsOptions())
        assert np.array_equal(answer.active.sum(axis=1), [2, 2])
