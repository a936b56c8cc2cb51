"""Reads across racks, and that KIP-925 counts the same."""

from dataclasses import replace

import numpy as np
from hypothesis import given

from app.core.streams.assignors import high_availability
from app.core.streams.model import Application, PartialAssignment, RackAwareStrategy, StreamsOptions, TaskPartitions
from app.core.streams.rack_aware.optimum import rack_aware
from app.core.streams.traffic import ClientTraffic, RackReads, client_traffic
from tests.core.streams.small_applications import Given, applications, client, tasks

PARTITIONS = TaskPartitions(
    sources={(0, 0): [("in", 0), ("in", 0)], (0, 1): [("in", 1)]},
    changelogs={(0, 0): [("log", 0)]},
    replicas={"in": [[1, 2], [2]], "log": [[0]]},
    rack_of={0: "a", 1: "b", 2: None},
)
"""`in-0` is in rack b and on a broker without a rack, `in-1` on that one alone, `log-0` in rack a."""


def test_partitions_are_counted_once_a_task() -> None:
    clients = [client(1, rack_id="a", default_lag=0), client(2, rack_id="a", default_lag=0)]
    answer = high_availability.assign(clients, tasks("0_0 0_1"), StreamsOptions(1))
    nothing = RackReads(0, 0, 0)
    assert client_traffic(answer, clients, PARTITIONS) == [
        ClientTraffic(RackReads(1, 1, 0), nothing),
        ClientTraffic(RackReads(1, 0, 1), RackReads(1, 0, 0)),
    ]
    without_rack = [replace(one, rack_id=None) for one in clients]
    assert client_traffic(answer, without_rack, PARTITIONS)[0].sources == RackReads(1, 0, 1)


@given(applications(racks=True))
def test_kip_925_pays_for_what_is_counted(application: Given) -> None:
    """At a cost of one for each partition that crosses racks."""
    clients, given_tasks, options, partitions = application
    options = replace(options, rack_aware_assignment_strategy=RackAwareStrategy.MIN_TRAFFIC, num_standby_replicas=1)
    app = Application(clients, given_tasks)
    racks = rack_aware(app, options, partitions)
    assert racks is not None
    partial = PartialAssignment.empty(app)
    rows = app.rows(given_tasks.ids)
    partial.active[rows % len(clients), rows] = True
    partial.standby[(app.stateful + 1) % len(clients), app.stateful] = True
    counted = client_traffic(app.answer(partial, probing_rebalance=False), clients, partitions)
    assert racks.active_cost(partial, rows, 1) == sum(one.sources.crossing for one in counted)
    assert racks.standby_cost(partial, 1) == sum(one.changelogs.crossing for one in counted)
    assert np.array_equal(partial.active.sum(axis=0), np.ones(len(rows)))
