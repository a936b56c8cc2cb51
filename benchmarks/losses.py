"""All losses of racks, brokers and pairs of brokers, and the copysets, of whole clusters."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from app.core.measures.copysets import copysets
from app.core.measures.losses import ReplicaStates
from app.core.measures.tally import BrokerArrays
from benchmarks.clusters import brokers
from benchmarks.measure import Result, interleaved

FACTOR = 3
MIN_ISR = 2
RUNS = 7
TARGETS_MS = {(300, 100_000): 1_000.0, (1_000, 1_000_000): 10_000.0}
"""By brokers and partitions; of all single losses and all pairs."""


def run() -> Iterator[Result]:
    """Replicas of each partition are on random brokers of three racks, and all are in sync."""
    for (on, partitions), target_ms in TARGETS_MS.items():
        table = BrokerArrays.of(brokers(on, racks="even"))
        random = np.random.default_rng(1)
        of_racks = [np.flatnonzero(table.rack_of == rack) for rack in range(FACTOR)]
        lists = np.stack([random.choice(listed, partitions) for listed in of_racks], axis=1).astype(np.int32)
        states = ReplicaStates.placed(lists, table.fenced, np.full(partitions, MIN_ISR, np.int32))
        measured: dict[str, Callable[[], object]] = {
            "losses of racks, brokers and pairs": partial(states.losses, table),
            "copysets and their odds": partial(copysets, lists, on),
        }
        times = interleaved(measured, runs=RUNS)
        parameters = {"brokers": on, "partitions": partitions, "replication_factor": FACTOR}
        for name, each in times.items():
            yield Result(name=name, parameters=parameters, times=each, target_ms=target_ms)
