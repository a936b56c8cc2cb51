"""Streams tasks assigned: 10⁴ tasks afresh and again, KIP-925's flow over 500, and the best standbys of 1,000."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

import numpy as np

from app.core.streams.assignors import high_availability
from app.core.streams.model import (
    Application,
    PartialAssignment,
    RackAwareStrategy,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
)
from app.core.streams.optimum.best_standbys import best_standbys
from app.core.streams.rack_aware.optimum import RackAware, rack_aware
from app.core.streams.violations import violations
from app.errors import Json
from benchmarks.measure import Result, interleaved

RUNS = 11
N_SUBTOPOLOGIES = 10
N_ZONES = 3
COSTS = (high_availability.TRAFFIC_COST, high_availability.NON_OVERLAP_COST)
BEHIND = 100_000
"""Offsets that a client lacks which never had a task."""
STANDBYS = StreamsOptions(num_standby_replicas=2, rack_aware_assignment_tags=("zone",))


@dataclass(frozen=True, slots=True)
class Case:
    """An application and what its clients had before: `nothing`, `the same` assignment, or `some lost` of the clients.

    Parameters
    ----------
    kafka_jvm_ms : what Kafka's own code needs in a warm JVM, where that was measured.
    """

    tasks: int
    clients: int
    options: StreamsOptions
    previous: str = "nothing"
    target_ms: float | None = None
    kafka_jvm_ms: float | None = None


CASES = (
    Case(10_000, 100, STANDBYS, target_ms=200, kafka_jvm_ms=3_800),
    Case(10_000, 100, STANDBYS, previous="the same", target_ms=400, kafka_jvm_ms=8_300),
    Case(10_000, 100, STANDBYS, previous="some lost"),
    Case(
        500,
        20,
        StreamsOptions(rack_aware_assignment_strategy=RackAwareStrategy.MIN_TRAFFIC),
        target_ms=500,
        kafka_jvm_ms=26_000,
    ),
    Case(
        500,
        20,
        StreamsOptions(rack_aware_assignment_strategy=RackAwareStrategy.BALANCE_SUBTOPOLOGY),
        target_ms=1_000,
        kafka_jvm_ms=59_000,
    ),
)


def run() -> Iterator[Result]:
    """Measure every case; each answer is checked once."""
    yield from _by_case()
    yield from _by_flow()
    yield from _best_standbys()


def _by_case() -> Iterator[Result]:
    for case in CASES:
        tasks, partitions = _tasks(case)
        clients = _clients(case, tasks, partitions)
        call = partial(high_availability.assign, clients, tasks, case.options, partitions)
        assert not violations(call(), clients, tasks, case.options)
        times = interleaved({"streams": call}, runs=RUNS)["streams"]
        parameters = {
            "tasks": case.tasks,
            "clients": len(clients),
            "standbys": case.options.num_standby_replicas,
            "strategy": case.options.rack_aware_assignment_strategy.value,
            "previous": case.previous,
        }
        facts = {} if case.kafka_jvm_ms is None else {"kafka_jvm_ms": case.kafka_jvm_ms}
        yield Result("streams_high_availability", parameters, times, target_ms=case.target_ms, facts=facts)


def _by_flow() -> Iterator[Result]:
    """KIP-925's flow alone: Kafka's own, replayed, beside the exact one, which costs the same."""
    for case in CASES:
        tasks, partitions = _tasks(case)
        application = Application(_clients(case, tasks, partitions), tasks)
        racks = rack_aware(application, case.options, partitions)
        if racks is None:
            continue
        dealt = PartialAssignment.empty(application)
        dealt.active[np.arange(case.tasks) % case.clients, np.arange(case.tasks)] = True

        def replay(racks: RackAware = racks, dealt: PartialAssignment = dealt) -> int:
            partial = PartialAssignment(dealt.active.copy(), dealt.standby.copy(), dealt.warmup.copy())
            return racks.optimise_active(partial, racks.application.stateful, COSTS)

        def flow(racks: RackAware = racks, dealt: PartialAssignment = dealt) -> int:
            return racks.cheapest_active(dealt, racks.application.stateful, COSTS).cost

        assert replay() == flow()
        times = interleaved({"replay": replay, "flow": flow}, runs=RUNS)
        strategy = case.options.rack_aware_assignment_strategy.value
        parameters: dict[str, Json] = {"tasks": case.tasks, "clients": case.clients, "strategy": strategy}
        yield Result("streams_rack_aware_replay", parameters, times["replay"])
        yield Result("streams_rack_aware_flow", parameters, times["flow"])


def _best_standbys() -> Iterator[Result]:
    """Two standbys over three zones, alone and with four clusters: after the loss of some clients."""
    for tags in (("zone",), ("zone", "cluster")):
        case = Case(1_000, 100, replace(STANDBYS, rack_aware_assignment_tags=tags), previous="some lost")
        tasks, partitions = _tasks(case)
        clients = [
            replace(client, client_tags={**client.client_tags, "cluster": f"c{number % 4}"})
            for number, client in enumerate(_clients(case, tasks, partitions))
        ]
        assignment = high_availability.assign(clients, tasks, case.options, partitions)
        call = partial(best_standbys, assignment, clients, tasks.ids, case.options)
        found = call()
        assert not violations(found.assignment, clients, tasks, case.options)
        parameters: dict[str, Json] = {"tasks": case.tasks, "clients": len(clients), "tags": list(tags)}
        facts: dict[str, Json] = {"optimal": found.certificate.optimal, "gap": found.certificate.gap}
        yield Result("streams_best_standbys", parameters, interleaved({"best": call}, runs=3)["best"], facts=facts)


def _tasks(case: Case) -> tuple[StreamsTasks, TaskPartitions]:
    """Stateful tasks over all subtopologies; each partition in one zone, at random, by a seed."""
    draw = random.Random(case.tasks)  # noqa: S311 — a benchmark's input
    ids = [(number % N_SUBTOPOLOGIES, number // N_SUBTOPOLOGIES) for number in range(case.tasks)]
    widest = -(-case.tasks // N_SUBTOPOLOGIES)
    replicas = {
        f"{kind}{number}": [[draw.randrange(N_ZONES)] for _ in range(widest)]
        for kind in ("in", "log")
        for number in range(N_SUBTOPOLOGIES)
    }
    sources = {task: [(f"in{task[0]}", task[1])] for task in ids}
    changelogs = {task: [(f"log{task[0]}", task[1])] for task in ids}
    return StreamsTasks(ids, ids), TaskPartitions(sources, changelogs, replicas, {n: f"z{n}" for n in range(N_ZONES)})


def _clients(case: Case, tasks: StreamsTasks, partitions: TaskPartitions) -> list[StreamsClient]:
    draw = random.Random(case.clients)  # noqa: S311 — a benchmark's input
    clients = [
        StreamsClient(
            UUID(int=draw.getrandbits(128)),
            4,
            {"zone": f"z{number % N_ZONES}"},
            f"z{number % N_ZONES}",
            default_lag=BEHIND,
        )
        for number in range(case.clients)
    ]
    if case.previous == "nothing":
        return clients
    before = high_availability.assign(clients, tasks, case.options, partitions)
    later = [_running(client, before, place) for place, client in enumerate(clients)]
    return later if case.previous == "the same" else later[: -(case.clients // 15)]


def _running(client: StreamsClient, before: StreamsAssignment, place: int) -> StreamsClient:
    own = before.of_client(place)
    lags = dict.fromkeys(own.active, -2) | dict.fromkeys(own.standby, 0)
    return replace(client, previous_active=own.active, previous_standby=own.standby, lags=lags)
