"""The Lagrangian dual of several resources: at any prices it is the least cost of every placement."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from app.core.reassignment.bounds.movement_bound import Dual, moved_lower_bound
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.resource_problem import RESOURCES, Bounds, Goal, Limits, ResourceProblem
from app.core.reassignment.solvers.search.search import rules_of, search, start_of
from benchmarks.resource_clusters import Shape, problem_of
from tests import draws as st
from tests.core.reassignment.small_resources import answers, resource_problems

CEILING = 20


@settings(max_examples=40)
@given(resource_problems(), st.randoms(), st.sampled_from([0.0, 0.1]))
def test_the_dual_is_the_least_cost_of_all_placements_at_its_prices(
    problem: ResourceProblem, random: Random, spread: float
) -> None:
    """If any broker may lead, and leaders serve all consumers, nothing is relaxed but the ceilings and floors.

    How much choices are smoothed for the slope does not change the bound.
    """
    loads = replace(problem.loads, reads=None)
    brokers = len(problem.may_lead)
    problem = replace(
        problem, loads=loads, limits=Limits.none(brokers), may_lead=np.ones(brokers, np.bool_), topic_of=None
    )
    rules = rules_of(problem)
    start = start_of(problem, rules)
    free = Bounds.none(problem)
    found = search(problem, rules, start, free, lambda: False)
    ceiling = np.maximum(found.loads, CEILING)
    bounds = replace(free, ceiling=ceiling, floor=found.loads // 2, unit=np.ones(found.loads.shape))
    dual = Dual(problem, rules, bounds, found)
    prices = np.array([[round(random.uniform(-3, 3), 2) for _ in row] for row in ceiling])
    prices = dual.allowed(np.zeros_like(prices), prices)
    bound = np.where(prices > 0, ceiling, bounds.floor)
    least = min(moved + float((prices * (loads - bound)).sum()) for moved, loads, _ in answers(problem))
    assert dual.value(prices, spread)[0] == pytest.approx(least, rel=1e-6, abs=1e-6)
    assert dual.value(prices, spread)[0] <= least + 1e-9


@settings(max_examples=60)
@given(resource_problems(), st.integers(0, 30), st.integers(0, 12))
def test_no_placement_within_the_bounds_moves_less(problem: ResourceProblem, high: int, low: int) -> None:
    """No legal placement within ceilings and floors is below the bound, which is that of the prices at least."""
    problem = replace(problem, loads=replace(problem.loads, reads=None), limits=Limits.none(len(problem.may_lead)))
    rules = rules_of(problem)
    start = start_of(problem, rules)
    found = search(problem, rules, start, Bounds.none(problem), lambda: False)
    bounds = Bounds.none(problem)
    bounds.ceiling[:, :2], bounds.floor[:, :2], bounds.unit[:, :2] = high, low, 1.0
    dual = Dual(problem, rules, bounds, found)
    most = int(rules.cost.sum() * rules.factor.max(initial=1)) + 1
    bound, prices = moved_lower_bound(dual, start, most, lambda: False)
    ceilings, floors = np.maximum(found.loads, bounds.ceiling), np.minimum(found.loads, bounds.floor)
    within = [
        moved
        for moved, loads, _ in answers(problem)
        if (loads[:, :2] <= ceilings[:, :2]).all() and (loads[:, :2] >= floors[:, :2]).all()
    ]
    assert bound <= min(within, default=most)
    assert bound == most or dual.value(prices)[0] <= bound + 0.5


@pytest.mark.parametrize("dead", [0, 2])
def test_prices_of_all_brokers_are_shifted_together(dead: int) -> None:
    """Givers and takers may divide the price of a move in any way: hardly a choice depends on it, but the bound does.

    The ascent of each price alone left a gap of 8 %; with steps of all together, that of dead brokers was 12 %.
    """
    problem = problem_of(Shape(distribution="linear", brokers=10, topics=100, replicas=3_000, dead=dead))
    goals = [Goal(name, Fraction(1, 10)) for name in RESOURCES[:4]]
    movement = reach_goals(problem, [goals], lambda: False).movement
    assert movement.lower_bound >= 0.99 * movement.value
