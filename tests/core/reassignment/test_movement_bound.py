"""The Lagrangian dual of several resources: at any prices it is the least cost of every placement."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from app.core.reassignment.bounds.movement_bound import Dual
from app.core.reassignment.resource_problem import Bounds, Limits, ResourceProblem
from app.core.reassignment.solvers.search.search import rules_of, search, start_of
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
