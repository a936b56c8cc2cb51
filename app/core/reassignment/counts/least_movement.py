"""The least movement there is: exact, with its proof.

Hard constraints: every partition has a legal place in its domain, what must be kept is kept, and the target brokers'
counts are within the band. Goals, each exactly reached among the placements that are best in all before it:

1. the smallest weight moved (`Problem.weight`: bytes, or 1);
2. the fewest replicas moved; a replaced broker's replicas go to its successor where that costs nothing else.

With `keep` there is no band, and every partition moves as little as it must whatever the others do; `receivers` says
who takes what moves.
"""

from collections.abc import Callable

from app.core.certificate import Certificate
from app.core.model import Int32s
from app.core.reassignment.answer import ReplicaPlacement
from app.core.reassignment.balance import Balance, Band
from app.core.reassignment.counts.narrowest import narrowest_band
from app.core.reassignment.counts.places import in_order, moved_weight
from app.core.reassignment.counts.receivers import fairest_receivers
from app.core.reassignment.counts.within_band import least_within
from app.core.reassignment.problem import Problem

SOLVER = "ortools min-cost flow"


def never() -> bool:
    """There is no deadline."""
    return False


def least_movement(problem: Problem, balance: Balance, *, is_over: Callable[[], bool] = never) -> ReplicaPlacement:
    """Move as little as can be, so that the target brokers' counts are as even as asked for.

    Parameters
    ----------
    is_over : whether the deadline has passed; then the best placement found so far is answered, with its gap.
    """
    if balance.tolerance is None:
        replicas, bound = fairest_receivers(problem)
        return _placed(problem, replicas, bound, None)
    return movement_within(problem, balance.widened(narrowest_band(problem)), is_over=is_over)


def movement_within(problem: Problem, band: Band, *, is_over: Callable[[], bool] = never) -> ReplicaPlacement:
    """Move as little as can be, so that each target broker's count is within the band.

    Raises
    ------
    InfeasibleFlow : no legal placement is within the band.
    """
    replicas, bound = least_within(problem, band, is_over=is_over)
    return _placed(problem, replicas, bound, band)


def _placed(problem: Problem, replicas: Int32s, bound: int, band: Band | None) -> ReplicaPlacement:
    constraints = ["distinct brokers that each partition may be on", "replicas of a partition spread over racks"]
    if band is not None:
        constraints.append(f"{band.low} to {band.high} replicas on every target broker")
    moved = moved_weight(problem, replicas)
    certificate = Certificate("moved weight", moved, min(bound, moved), SOLVER, tuple(constraints))
    return ReplicaPlacement(in_order(problem, replicas), band, certificate)
