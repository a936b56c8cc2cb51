"""What a plan over resources says: what each goal reached, and what is above limits."""

from fractions import Fraction

import numpy as np

from app.core.certificate import Certificate
from app.core.reassignment.resources import RESOURCES, BalancedGoal, ResourcePlacement
from app.errors import Json
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.problem.units import in_unit

_DIGITS = 6


def goals_json(placement: ResourcePlacement) -> list[Json]:
    """What each goal reached, in the order of the request, as shares of the brokers' ideal loads."""
    return [_goal(reached) for reached in placement.goals]


def excess_json(problem: ReassignmentProblem, placement: ResourcePlacement) -> Json:
    """The loads above limits by broker and resource, with the least excess in all; None if every limit holds."""
    excess, limits = placement.excess, problem.limits
    if excess is None:
        return None
    places, columns = np.nonzero(excess.above)
    return {
        "brokers": [
            {
                "broker": int(problem.brokers.ids[place]),
                "resource": RESOURCES[column],
                "value": in_unit(int(placement.loads[place, column]), column),
                "limit": in_unit(int(limits.upper[place, column]), column),
                "soft": bool(limits.is_soft[column]),
            }
            for place, column in zip(places.tolist(), columns.tolist(), strict=True)
        ],
        "hard": _total(excess.hard),
        "soft": _total(excess.soft),
    }


def _goal(reached: BalancedGoal) -> dict[str, Json]:
    largest = reached.largest
    return {
        "goal": reached.goal.name,
        "tolerance": float(reached.goal.tolerance),
        "smallest": round(float(reached.smallest), _DIGITS),
        "largest": round(float(largest.value), _DIGITS),
        "largest_bound": round(float(largest.lower_bound), _DIGITS),
        "gap": largest.gap,
    }


def _total(certificate: Certificate[Fraction]) -> dict[str, Json]:
    return {
        "total": round(float(certificate.value), _DIGITS),
        "lower_bound": round(float(certificate.lower_bound), _DIGITS),
        "optimal": certificate.is_reached,
    }
