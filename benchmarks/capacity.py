"""Capacity scenarios scored on one core, without Spark: ten thousand partitions over sixty brokers, placed anew."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any

from app.core import sweeps
from app.core.capacity.loads import positions
from app.core.capacity.score import place
from app.core.capacity.sweep import CapacitySweep, SweepDefinition, read_definition
from benchmarks.measure import Floor, Result, interleaved

PARTITIONS = 10_000
FACTOR = 3
BROKERS_PER_RACK = 20
RACKS = ("a", "b", "c")
AT_ONCE = 20
"""Scenarios in one timed call; no two calls score the same ones."""
RUNS = 15
FAILURES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "racks": ("none", "rack"),
        "racks and brokers": ("none", "broker", "rack"),
        "racks with a broker more": ("none", "broker", "rack", "rack_and_broker"),
    }
)
MOST_MS = 5.0
"""A scenario with rack failures: 100,000 of them take five minutes on two cores then with room to spare."""


def run() -> Iterator[Result]:
    """Each algorithm, with rack failures and with those of single brokers as well; then a sweep over prices alone."""
    for algorithm in ("admin_utils", "striped"):
        calls: dict[str, Callable[[], object]] = {}
        for failures, classes in FAILURES.items():
            sweep = definition(algorithm, classes, axis="placement.seed")
            calls[failures] = partial(_score, sweep, count())
        placed = definition(algorithm, ("none",), axis="placement.seed")
        calls["floor"] = partial(_place, placed, count())
        times = interleaved(calls, runs=RUNS)
        for failures in FAILURES:
            yield Result(
                name="score capacity scenarios",
                parameters=_parameters(algorithm, failures, placed_anew=True),
                times=times[failures],
                floor=Floor("placing the same and copying the placement", times["floor"]),
                target_ms=MOST_MS * AT_ONCE if failures == "racks" else None,
                facts={"threads": 1, "scenarios_per_s": round(AT_ONCE / times[failures].median_ms * 1000)},
            )
    unchanged = definition("admin_utils", FAILURES["racks"], axis="prices.cross_rack_per_gib")
    times = interleaved({"score": partial(_score, unchanged, count())}, runs=RUNS)
    yield Result(
        name="score capacity scenarios",
        parameters=_parameters("admin_utils", "racks", placed_anew=False),
        times=times["score"],
        facts={"threads": 1, "scenarios_per_s": round(AT_ONCE / times["score"].median_ms * 1000)},
    )


def definition(algorithm: str, failures: Sequence[str], *, axis: str) -> SweepDefinition:
    """A sweep over a million values of one axis."""
    return read_definition({"base": base(algorithm, failures), "axes": {axis: {"from": 0, "to": 999_999}}})


def base(algorithm: str, failures: Sequence[str]) -> dict[str, Any]:
    """A scenario's JSON."""
    return {
        "topology": {"racks": RACKS, "brokers_per_rack": BROKERS_PER_RACK},
        "broker_profile": {
            "disk_bytes": 4e12,
            "disk_bytes_per_s": 5e8,
            "nic_in_bytes_per_s": 1.25e9,
            "nic_out_bytes_per_s": 1.25e9,
            "vcpu": 8,
            "max_partitions": 4000,
            "price_per_month": 700,
        },
        "topics": [
            {
                "name": "events",
                "partitions": PARTITIONS,
                "replication_factor": FACTOR,
                "min_insync_replicas": 2,
                "ingress_bytes_per_s": 300 * 2**20,
                "retention_s": 86_400,
                "consumer_groups": 2,
                "partition_weights": {"zipf": 0.3},
            }
        ],
        "placement": {"algorithm": algorithm, "seed": 7},
        "clients": {"follower_fetching": True},
        "traffic": {"growth_per_month": 0.05, "horizon_months": 24},
        "failures": failures,
        "targets": {"disk": 0.8, "nic_in": 0.7, "nic_out": 0.7},
        "prices": {"cross_rack_per_gib": 0.02, "storage_per_gib_month": 0.1},
    }


def _score(definition: SweepDefinition, calls: Iterator[int]) -> list[sweeps.ScenarioRow]:
    first = next(calls) * AT_ONCE
    rows = sweeps.score(CapacitySweep(definition), first, first + AT_ONCE)
    assert all(row.document["error"] is None for row in rows)
    return rows


def _place(definition: SweepDefinition, calls: Iterator[int]) -> list[object]:
    first, sweep = next(calls) * AT_ONCE, CapacitySweep(definition)
    return [
        positions(place(scenario.topology, scenario.topics, scenario.placement, seed=scenario.seed))
        for scenario in map(sweep.scenario, range(first, first + AT_ONCE))
    ]


def _parameters(algorithm: str, failures: str, *, placed_anew: bool) -> dict[str, Any]:
    return {
        "algorithm": algorithm,
        "failures": failures,
        "placed_anew": placed_anew,
        "scenarios": AT_ONCE,
        "partitions": PARTITIONS,
        "replication_factor": FACTOR,
        "brokers": BROKERS_PER_RACK * len(RACKS),
    }
