"""A few brokers at a time exchange replicas and leaders: no load gets farther from its bounds, and less is moved."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from app.core.reassignment.goals.answers import answer
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.model import Domain, MovementProblem
from app.core.reassignment.resource_problem import (
    RESOURCES,
    Bounds,
    Goal,
    Limits,
    ResourceLoads,
    ResourceProblem,
    loads_of,
)
from app.core.reassignment.rules import moved_weight
from app.core.reassignment.solvers.exact import few_brokers
from app.core.reassignment.solvers.exact.few_brokers import exchanged
from app.core.reassignment.solvers.exact.limit_model import ExcessProof
from app.core.reassignment.solvers.search.search import rules_of, search, start_of
from app.core.reassignment.verifier import resource_violations
from tests import draws as st
from tests.core.reassignment.small_resources import resource_problems
from tests.profiles import costly


def never() -> bool:
    """There is no deadline."""
    return False


@costly(60)
@given(resource_problems(), st.integers(0, 30), st.integers(0, 10))
def test_no_load_gets_farther_from_its_bounds(problem: ResourceProblem, high: int, low: int) -> None:
    problem = replace(problem, loads=replace(problem.loads, reads=None))
    rules, bounds = rules_of(problem), Bounds.none(problem)
    bounds.ceiling[:, :2], bounds.floor[:, :2], bounds.unit[:, :2] = high, low, 1.0
    best = search(problem, rules, start_of(problem, rules), bounds, never)
    at = exchanged(problem, rules, bounds, best, 0, never)
    loads = loads_of(problem.loads, problem.movement.rack_of, at, at[:, 0])
    assert (loads <= np.maximum(best.loads, np.minimum(bounds.ceiling, problem.limits.upper))).all()
    assert (loads >= np.minimum(best.loads, bounds.floor)).all()
    assert moved_weight(rules, at) <= best.moved
    found = answer(problem, rules, at, ranges=(), moved_bound=0, proof=ExcessProof())
    assert resource_violations(problem, found) == []


def of_two_loads(seed: int) -> ResourceProblem:
    """40 partitions of two replicas on eight brokers in four racks; three of them have most."""
    random, rows, brokers = np.random.default_rng(seed), 40, 8
    racks = np.arange(brokers, dtype=np.int32) % 4
    likely = np.where(np.arange(brokers) % 3, 1.0, 3.0)
    current = np.zeros((rows, 2), np.int32)
    for row in current:
        row[0] = random.choice(brokers, p=likely / likely.sum())
        others = np.where(racks == racks[row[0]], 0, likely)
        row[1] = random.choice(brokers, p=others / others.sum())
    size = (1e7 * (1 + random.pareto(1.2, rows))).astype(np.int64)
    every, once = np.ones(brokers, np.bool_), np.ones(4, np.int64)
    movement = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=racks,
        target=every,
        base=np.zeros(brokers, np.int64),
        domains=(Domain(2, every, every, 0 * once, once),),
        domain_of=np.zeros(rows, np.int32),
        current=current,
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(rows, -1, np.int32),
        weight=size,
    )
    leader, follower = (np.zeros((rows, len(RESOURCES)), np.int64) for _ in range(2))
    leader[:, RESOURCES.index("disk")] = follower[:, RESOURCES.index("disk")] = size
    leader[:, RESOURCES.index("nic_out")] = random.integers(1, 100_000, rows)
    nothing = np.zeros((brokers, len(RESOURCES)), np.int64)
    loads = ResourceLoads(leader, follower, nothing, nothing)
    return ResourceProblem(movement, loads, Limits.none(brokers), current[:, 0].copy(), every)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 5])
def test_exchanges_move_less_than_the_search_alone(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By 6 and 7.4 %, within the same ceilings."""
    goals = [[Goal("disk"), Goal("nic_out")]]
    found = reach_goals(of_two_loads(seed), goals, never)
    monkeypatch.setattr(few_brokers, "PATIENCE", 0)
    alone = reach_goals(of_two_loads(seed), goals, never)
    pairs = zip(found.goals, alone.goals, strict=True)
    assert all(1000 * each.largest.value <= 1001 * other.largest.value for each, other in pairs)
    assert 100 * found.moved <= 95 * alone.moved
