"""The sticky assignor and the fallback: kept tasks, decisions by hash order, and failures."""

import numpy as np
import pytest
from hypothesis import given

from app.core.streams.assignors.sticky import TaskPairs, assign, assign_prior
from app.core.streams.model import StreamsOptions
from app.errors.kafka import ClientWithoutThreads, TooManyTasks
from tests.core.streams.small_applications import Given, applications, client, ids, running, tasks, written
from tests.profiles import costly


class TestPromises:
    """Laws of every application."""

    @given(applications())
    def test_what_is_assigned_is_assigned_again_where_no_client_has_more_than_its_share(
        self, application: Given
    ) -> None:
        clients, given_tasks, _, _ = application
        answer = assign(clients, given_tasks, StreamsOptions())
        share = len(given_tasks.ids) // sum(one.capacity for one in clients)
        unmoved = assign(running(answer, clients), given_tasks, StreamsOptions()).active & answer.active
        for at, one in enumerate(clients):
            assert unmoved[at].sum() >= min(answer.active[at].sum(), one.capacity * share)

    @given(applications())
    def test_the_fallback_keeps_every_active_task_where_it_was(self, application: Given) -> None:
        clients, given_tasks, options, partitions = application
        answer = assign_prior(clients, given_tasks, options, partitions)
        for at, one in enumerate(clients):
            had = {task for task in one.previous_active if task in answer.task_ids}
            assert had <= set(answer.of_client(at).active)
        assert answer.probing_rebalance

    @costly()
    @given(applications())
    def test_the_fallback_looks_at_no_racks(self, application: Given) -> None:
        clients, given_tasks, options, partitions = application
        with_racks = assign_prior(clients, given_tasks, options, partitions)
        without = assign_prior(clients, given_tasks, options)
        assert np.array_equal(with_racks.active, without.active)
        assert np.array_equal(with_racks.standby, without.standby)


class TestExamples:
    """Applications that can be checked by eye."""

    def test_tasks_stay_while_the_share_is_not_exceeded(self) -> None:
        """Two tasks a thread: the first client keeps two of its three, and a HashMap has 0_1 and 0_2 before 0_0."""
        clients = [client(1, previous_active=ids("0_0 0_1 0_2")), client(2)]
        assert written(assign(clients, tasks("0_0 0_1 0_2 0_3"), StreamsOptions())) == [
            "0_1 0_2 |  | ",
            "0_0 0_3 |  | ",
        ]

    def test_a_client_that_had_a_standby_is_next(self) -> None:
        clients = [client(1), client(2, previous_standby=ids("0_0"))]
        assert written(assign(clients, tasks("0_0 0_1"), StreamsOptions())) == ["0_1 |  | ", "0_0 |  | "]

    def test_where_two_say_they_ran_a_task_the_last_in_hash_order_is_believed(self) -> None:
        """Small process ids hash to themselves, so that 2 comes after 1 and 17, which shares a bin with 1, before 2."""
        for numbers, winner in (((2, 1), 2), ((17, 2), 2), ((17, 1), 1), ((1, 17), 17)):
            clients = [client(number, previous_active=ids("0_0")) for number in numbers]
            answer = assign(clients, tasks("0_0 0_1"), StreamsOptions())
            runs_on = answer.process_ids[int(answer.active[:, 0].argmax())]
            assert runs_on.int == winner

    def test_a_client_without_threads_is_not_compared(self) -> None:
        clients = [client(1, 0), client(2, 1)]
        with pytest.raises(ClientWithoutThreads) as raised:
            assign(clients, tasks("0_0 0_1 0_2"), StreamsOptions())
        assert raised.value.kafka.exception == "IllegalStateException"

    def test_pairs_are_known_once(self) -> None:
        pairs = TaskPairs(3)
        pairs.add(0, {1})
        assert pairs.has_new(0, {1, 2})
        assert not pairs.has_new(1, {0})
        pairs.add(2, {0, 1})
        assert not pairs.has_new(5, {0}), "all three pairs of three tasks are known, so that none counts as new"

    def test_pairs_overflow(self) -> None:
        """46,342 · 46,341 is the first product beyond 2³¹ − 1."""
        TaskPairs(46_341)
        with pytest.raises(TooManyTasks):
            TaskPairs(46_342)
