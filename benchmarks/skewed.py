"""Replicas balanced by throughput that is very unequal: tight, with the fewest bytes moved.

Throughput of partitions is by Zipf's law, on brokers in three racks with factor 3. Bytes are independent of it, or in
proportion. Facts say what is moved beside its lower bound, and the largest load beside its own.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.goals.by_load import LoadPlacement, place_by_load
from app.core.reassignment.model import TIGHT, Domain, MovementProblem
from benchmarks.measure import Result, interleaved

RACKS = 3
BUSIEST = 10**9
"""Throughput of the first partition, bytes/s."""
SIZE_MEAN, SIZE_SPREAD = 20, 1.0
"""Of the logarithm of a partition's bytes, if they are independent of throughput."""
SECONDS = 600
"""Of throughput that is retained, if bytes are in proportion to it."""


@dataclass(frozen=True, slots=True)
class Skew:
    """A cluster, and Zipf's exponent of its throughput."""

    brokers: int
    partitions: int
    exponent: float
    in_proportion: bool
    seed: int = 1


CASES = tuple(
    Skew(brokers, partitions, exponent, in_proportion)
    for brokers, partitions, exponent in ((30, 3_000, 1.0), (12, 2_000, 1.3), (12, 2_000, 1.0), (12, 2_000, 0.7))
    for in_proportion in (False, True)
)


def problem_of(skew: Skew) -> tuple[MovementProblem, Int64s]:
    """The problem, and the throughput of each partition."""
    random = np.random.default_rng(skew.seed)
    rank = random.permutation(skew.partitions) + 1
    rate = np.ceil(BUSIEST / rank**skew.exponent).astype(np.int64)
    size = rate * SECONDS if skew.in_proportion else random.lognormal(SIZE_MEAN, SIZE_SPREAD, skew.partitions)
    per_rack = skew.brokers // RACKS
    current = random.integers(0, per_rack, (skew.partitions, RACKS)) * RACKS + np.arange(RACKS)
    every = np.ones(skew.brokers, np.bool_)
    once = np.ones(RACKS, np.int64)
    problem = MovementProblem(
        broker_ids=np.arange(skew.brokers, dtype=np.int32),
        rack_of=(np.arange(skew.brokers) % RACKS).astype(np.int32),
        target=every,
        base=np.zeros(skew.brokers, np.int64),
        domains=(Domain(RACKS, every, every, 0 * once, once),),
        domain_of=np.zeros(skew.partitions, np.int32),
        current=random.permuted(current, axis=1).astype(np.int32),
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(skew.partitions, -1, np.int32),
        weight=np.ceil(size).astype(np.int64),
    )
    return problem, rate


def run() -> Iterator[Result]:
    """Balance every cluster."""
    for skew in CASES:
        problem, rate = problem_of(skew)
        answers: list[LoadPlacement] = []

        def balance(
            problem: MovementProblem = problem, rate: Int64s = rate, answers: list[LoadPlacement] = answers
        ) -> None:
            answers.append(place_by_load(problem, rate, np.zeros_like(problem.base), TIGHT, lambda: False))

        times = interleaved({"balance": balance}, runs=1, warm_ups=0)
        placed = answers[-1]
        moved, largest = placed.placement.certificate, placed.largest
        facts = {
            "moved_bytes": int(moved.value),
            "moved_lower_bound": int(moved.lower_bound),
            "movement_gap": round(moved.gap, 4),
            "largest_load": int(largest.value),
            "largest_lower_bound": int(largest.lower_bound),
            "largest_gap": round(largest.gap, 5),
        }
        yield Result("skewed", asdict(skew), times["balance"], facts=facts)
