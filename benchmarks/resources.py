"""Several resources at once, on clusters of the shapes of Cruise Control's RandomCluster tests.

Every cluster is made rack-safe, its dead brokers are emptied, and disk, NIC in, NIC out and CPU are balanced jointly
within limits of 80 % of the capacities: tight, and within 10 % of the mean. Each has a deadline of 60 s. Facts say how
near each resource is to its lower bound, what is moved beside its lower bound, and what is above limits. The floor is
the evaluation of the loads.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction

import numpy as np

from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.resource_problem import RESOURCES, Goal, ResourcePlacement, ResourceProblem, loads_of
from app.core.reassignment.verifier import resource_violations
from app.errors import Json
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.resource_clusters import Shape, problem_of

SHAPES = (
    *(Shape(distribution=distribution) for distribution in ("uniform", "linear", "exponential")),
    *(Shape(brokers=brokers) for brokers in (80, 140)),
    *(Shape(replicas=replicas) for replicas in (65_004, 75_006)),
    *(Shape(topics=topics, replicas=75_006) for topics in (7_000, 8_000)),
    *(Shape(factor=factor, replicas=50_000) for factor in (4, 5)),
    Shape(new=2),
    *(Shape(dead=dead) for dead in (1, 5)),
)
LARGE = (
    Shape(brokers=300, topics=2_000, replicas=300_000, distribution="uniform"),
    Shape(brokers=215, topics=10_000, replicas=2_800_000, distribution="uniform"),
)
TARGET_MS = 60_000
SEARCH_SHARE = 0.7
"""Of the time until the deadline, the search; the rest is for the bound on the movement."""
BALANCED = RESOURCES[:4]


def run() -> Iterator[Result]:
    """Balance every cluster, tight and within a tolerance; the large ones within the tolerance, until a deadline."""
    for shape in SHAPES:
        for tolerance in (Fraction(0), Fraction(1, 10)):
            yield _measured(shape, tolerance, problem_of(shape))
    for shape in LARGE:
        yield _measured(shape, Fraction(1, 10), problem_of(shape, limited=False))


def _measured(shape: Shape, tolerance: Fraction, problem: ResourceProblem) -> Result:
    goals = [Goal(name, tolerance) for name in BALANCED]
    answers: list[ResourcePlacement] = []

    def balance() -> None:
        started = time.monotonic()
        deadline, search_deadline = (started + share * TARGET_MS / 1_000 for share in (1, SEARCH_SHARE))
        answers.append(
            reach_goals(
                problem, [goals], lambda: time.monotonic() >= deadline, lambda: time.monotonic() >= search_deadline
            )
        )

    def loads() -> None:
        loads_of(problem.loads, problem.movement.rack_of, answers[-1].replicas, answers[-1].leaders)

    times = interleaved({"balance": balance, "loads": loads}, runs=1, warm_ups=0)
    answer = answers[-1]
    assert resource_violations(problem, answer) == []
    return Result(
        "resources",
        {**asdict(shape), "tolerance": float(tolerance)},
        times["balance"],
        Floor("evaluating the loads", times["loads"]),
        target_ms=TARGET_MS,
        facts=_facts(problem, answer),
    )


def _facts(problem: ResourceProblem, answer: ResourcePlacement) -> dict[str, Json]:
    shares: dict[str, Json] = {
        name: [round(float(of), 4) for of in (reached.smallest, reached.largest.value, reached.largest.lower_bound)]
        for name, reached in answer.goal.items()
    }
    changes = answer.movement.then
    return {
        "smallest_largest_and_bound_over_ideal": shares,
        "moved": int(answer.moved),
        "moved_lower_bound": int(answer.movement.lower_bound),
        "movement_gap": round(1 - int(answer.movement.lower_bound) / max(1, int(answer.moved)), 4),
        "leader_changes": 0 if changes is None else int(changes.value),
        "limits_broken": int(np.count_nonzero(answer.loads > problem.limits.upper)),
    }
