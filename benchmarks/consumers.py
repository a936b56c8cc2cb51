"""Consumers of random walks in the manner of Landau et al. (2025), beside best fit decreasing and modified worst fit.

`moved_with_as_many` is the point of the front with at most as many consumers as modified worst fit has in all.
Rates begin uniformly between 0 and the capacity of a consumer, or 87 % of it as in a sequence that its authors publish,
and change in each step by at most a share of it. The sequences are drawn here; what moves is counted in capacities of a
consumer (their R-score).
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

from app.core.consumers import ConsumersProblem, consumer_violations, front, scale
from app.core.model import Int32s, Int64s
from benchmarks.measure import Result, Times

CAPACITY = 100
CASES = (
    (32, 100, 5, 100), (32, 100, 5, 87), (32, 100, 15, 100), (32, 100, 25, 100), (100, 50, 5, 100), (1_000, 24, 5, 100)
)  # fmt: skip
"""Partitions, intervals, and the largest step and the largest rate at the beginning, in percent of a consumer."""
SEEDS = 3
Step = Callable[[Int64s, Int32s], Int32s]


def run() -> Iterator[Result]:
    """Measure every case: the mean of consumers and of what moves in a step, and the share that is proven."""
    for partitions, intervals, delta, most in CASES:
        for seed in range(SEEDS):
            rates = random_walk(np.random.default_rng(seed), partitions, intervals, delta, most)
            problem = ConsumersProblem(rates, CAPACITY)
            started, of_processor = time.perf_counter(), time.process_time()
            solved = scale(problem)
            seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - of_processor
            if any(consumer_violations(problem, solved)):
                raise RuntimeError("a plan is wrong")
            worst_fit = _of(rates, modified_worst_fit)
            within = [each.moved for each in front(problem, solved) if each.consumers <= sum(worst_fit[0])]
            yield Result(
                "consumers",
                {"partitions": partitions, "intervals": intervals, "delta": delta, "most": most, "seed": seed},
                Times((seconds * 1e3,), (cpu_seconds * 1e3,)),
                facts={
                    **_facts("", [each.consumers for each in solved], [each.moved for each in solved]),
                    "proven_consumers": float(np.mean([each.consumers == each.lower_bound for each in solved])),
                    "proven_moves": float(np.mean([each.moved == each.moved_lower_bound for each in solved])),
                    **_facts("best_fit_decreasing_", *_of(rates, best_fit_decreasing)),
                    **_facts("modified_worst_fit_", *worst_fit),
                    "moved_with_as_many": round(min(within) * intervals / (intervals - 1) / CAPACITY, 2),
                },
            )


def random_walk(generator: np.random.Generator, partitions: int, intervals: int, delta: int, most: int) -> Int64s:
    """(intervals, partitions) int64 rates between 0 and 100, at the beginning between 0 and `most`."""
    rates = [generator.integers(0, most + 1, partitions)]
    for _ in range(intervals - 1):
        rates.append(np.clip(rates[-1] + generator.integers(-delta, delta + 1, partitions), 0, CAPACITY))
    return np.array(rates, np.int64)


def _facts(prefix: str, consumers: list[int], moved: list[int]) -> dict[str, float]:
    return {
        f"{prefix}consumers": round(float(np.mean(consumers)), 2),
        f"{prefix}moved": round(float(np.mean(moved[1:])) / CAPACITY, 2),
    }


def _of(rates: Int64s, step: Step) -> tuple[list[int], list[int]]:
    """Consumers of each interval, and what moves, if each is assigned by `step` from the one before."""
    owners = np.full(rates.shape[1], -1, np.int32)
    consumers, moved = [], []
    for row in rates:
        before, owners = owners, step(row, owners)
        consumers.append(len(np.unique(owners)))
        moved.append(int(row[(owners != before) & (before >= 0)].sum()))
    return consumers, moved


def best_fit_decreasing(rates: Int64s, before: Int32s) -> Int32s:
    """Each partition, heaviest first, to the fullest consumer with room; a new one keeps the number of its owner."""
    loads: dict[int, int] = {}
    owners = before.copy()
    for row in np.argsort(-rates, kind="stable").tolist():
        rate = int(rates[row])
        room = [name for name, load in loads.items() if load + rate <= CAPACITY]
        name = max(room, key=lambda one: loads[one]) if room else _new(int(before[row]), loads)
        loads[name] = loads.get(name, 0) + rate
        owners[row] = name
    return owners


def modified_worst_fit(rates: Int64s, before: Int32s) -> Int32s:
    """Consumers, fullest first, pass their light partitions to those that are done, and keep heavy ones that fit.

    What fits nowhere is assigned at the end, heaviest first, to the least loaded consumer with room.
    """
    loads: dict[int, int] = {}
    owners = before.copy()

    def assign(row: int, name: int) -> None:
        loads[name] = loads.get(name, 0) + int(rates[row])
        owners[row] = name

    def with_room(row: int) -> list[int]:
        return [name for name, load in loads.items() if load + rates[row] <= CAPACITY]

    left = np.flatnonzero(before < 0).tolist()
    of_consumer = {name: np.flatnonzero(before == name) for name in np.unique(before[before >= 0]).tolist()}
    for name, rows in sorted(of_consumer.items(), key=lambda each: -int(rates[each[1]].sum())):
        stay = rows[np.argsort(-rates[rows], kind="stable")].tolist()
        while stay and (room := with_room(stay[-1])):
            assign(stay.pop(), max(room, key=lambda one: loads[one]))
        while stay and loads.get(name, 0) + rates[stay[0]] <= CAPACITY:
            assign(stay.pop(0), name)
        left += stay
    for row in sorted(left, key=lambda one: -int(rates[one])):
        room = with_room(row)
        assign(row, min(room, key=lambda one: loads[one]) if room else _new(int(before[row]), loads))
    return owners


def _new(owner: int, loads: dict[int, int]) -> int:
    """The number of a new consumer: that of the partition's owner if it is free, else the smallest that is."""
    return owner if owner >= 0 and owner not in loads else next(at for at in range(len(loads) + 1) if at not in loads)
