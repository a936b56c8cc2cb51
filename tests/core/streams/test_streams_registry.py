"""The registry: guarantees of every assignor, whatever its rules."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from app.core.streams.model import UNBOUNDED_LAG, StreamsAssignment, StreamsOptions, StreamsTasks
from app.core.streams.registry import STREAMS_ASSIGNORS
from app.core.streams.violations import violations
from app.errors.kafka import KafkaRefuses, NoClients, UnknownTaskLag
from tests.core.streams.small_applications import Given, applications, client, tasks, written

NAMES = sorted(STREAMS_ASSIGNORS)


def same(one: StreamsAssignment, other: StreamsAssignment) -> bool:
    """Whether two assignments give the same tasks to the same clients."""
    order = [other.process_ids.index(process_id) for process_id in one.process_ids]
    return one.probing_rebalance == other.probing_rebalance and all(
        np.array_equal(mine, others[order])
        for mine, others in (
            (one.active, other.active),
            (one.standby, other.standby),
            (one.warmup, other.warmup),
        )
    )


@pytest.mark.parametrize("name", NAMES)
class TestPromises:
    """Laws of every application."""

    @given(application=applications())
    def test_every_task_runs_once_and_has_its_standbys_elsewhere(self, name: str, application: Given) -> None:
        """The verifier asks for as many standbys as there are clients for: Kafka places all of them."""
        clients, given_tasks, options, partitions = application
        answer = STREAMS_ASSIGNORS[name].assign(clients, given_tasks, options, partitions)
        assert violations(answer, clients, given_tasks, options) == []

    @given(application=applications(racks=True))
    def test_racks_change_nothing_of_that(self, name: str, application: Given) -> None:
        clients, given_tasks, options, partitions = application
        answer = STREAMS_ASSIGNORS[name].assign(clients, given_tasks, options, partitions)
        assert violations(answer, clients, given_tasks, options) == []
        assert same(answer, STREAMS_ASSIGNORS[name].assign(clients, given_tasks, options, partitions))

    @given(application=applications(racks=True))
    def test_racks_keep_how_many_tasks_run_on_each_client(self, name: str, application: Given) -> None:
        """KIP-925 lets tasks change places, and where everybody is caught up nothing moves after it."""
        clients, given_tasks, options, partitions = application
        options = replace(options, acceptable_recovery_lag=UNBOUNDED_LAG)
        answer = STREAMS_ASSIGNORS[name].assign(clients, given_tasks, options, partitions)
        without = STREAMS_ASSIGNORS[name].assign(clients, given_tasks, options)
        assert np.array_equal(answer.active.sum(axis=1), without.active.sum(axis=1))

    def test_without_tasks_there_is_nothing_to_do(self, name: str) -> None:
        assert written(STREAMS_ASSIGNORS[name].assign([client(1)], tasks(""), StreamsOptions(2))) == [" |  | "]

    def test_without_clients_kafka_fails(self, name: str) -> None:
        with pytest.raises(NoClients) as raised:
            STREAMS_ASSIGNORS[name].assign([], tasks("0_0"), StreamsOptions())
        assert isinstance(raised.value, KafkaRefuses)


@given(application=applications())
def test_the_order_of_clients_and_tasks_decides_nothing_for_high_availability(application: Given) -> None:
    """It sorts both before it starts."""
    clients, given_tasks, options, partitions = application
    assign = STREAMS_ASSIGNORS["high_availability"].assign
    turned = StreamsTasks(given_tasks.ids[::-1], given_tasks.stateful[::-1])
    assert same(assign(clients, given_tasks, options, partitions), assign(clients[::-1], turned, options, partitions))


def test_an_unknown_lag_fails_where_lags_decide() -> None:
    with pytest.raises(UnknownTaskLag, match="0_1") as raised:
        STREAMS_ASSIGNORS["high_availability"].assign([client(1, lags={(0, 0): 0})], tasks("0_0 0_1"), StreamsOptions())
    assert raised.value.kafka.exception == "IllegalStateException"
    answer = STREAMS_ASSIGNORS["sticky"].assign([client(1)], tasks("0_0 0_1"), StreamsOptions())
    assert written(answer) == ["0_0 0_1 |  | "]


def test_every_name_is_its_own_key() -> None:
    assert all(name == entry.name and entry.summary for name, entry in STREAMS_ASSIGNORS.items())
