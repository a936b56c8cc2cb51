"""Several resources at once: laws of every answer, against every placement of small problems."""

from fractions import Fraction

import numpy as np
from hypothesis import given

from app.core.reassignment.resources import (
    GOALS,
    Goal,
    ResourceProblem,
    balance_resources,
    reach_goals,
    relieve,
    resource_violations,
)
from tests import draws as st
from tests.core.reassignment.small_resources import resource_problems


def never() -> bool:
    """No deadline."""
    return False


@given(resource_problems(), st.lists(st.sampled_from(GOALS), min_size=1, max_size=3), st.integers(0, 2))
def test_every_answer_is_legal_and_says_what_it_is(problem: ResourceProblem, names: list[str], tenths: int) -> None:
    goals = [Goal(name, Fraction(tenths, 10)) for name in dict.fromkeys(names)]
    for answer in (
        relieve(problem, never),
        balance_resources(problem, goals, never),
        reach_goals(problem, [(goal,) for goal in goals], never),
    ):
        assert resource_violations(problem, answer) == []
        assert np.count_nonzero(answer.leaders < 0) == 0
