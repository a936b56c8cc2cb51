"""What evenness costs: movement by balance, and the best balance that a budget of movement pays for.

Between the narrowest band and none at all lie the bands that are wider by one replica at either end, by two, and so
on. A wider one never moves more, so that the widest that is worth asking for is the one in which only what has to move
moves, and the narrowest that a budget pays for is found by halving.
"""

from collections.abc import Callable

import numpy as np

from app.core.reassignment.answer import ReplicaPlacement
from app.core.reassignment.balance import KEEP, Band
from app.core.reassignment.counts.least_movement import least_movement, movement_within, never
from app.core.reassignment.counts.narrowest import narrowest_band
from app.core.reassignment.counts.places import counts
from app.core.reassignment.problem import Problem


class BudgetTooSmall(Exception):
    """More has to move whatever the balance: `minimum` in the weight of the problem."""

    def __init__(self, minimum: int) -> None:
        super().__init__(f"at least {minimum} has to move")
        self.minimum = minimum


def trade_off(problem: Problem, *, points: int, is_over: Callable[[], bool] = never) -> list[ReplicaPlacement]:
    """Movement by balance: from the narrowest band to the one in which only what has to move moves.

    Parameters
    ----------
    points : how many bands at most, the ends among them; they lie closer where bands are narrow.
    is_over : whether the deadline has passed; the points found by then are answered, the narrowest band first.

    Returns
    -------
    The least movement within each band, the narrowest first.
    """
    narrowest, widest = narrowest_band(problem), _width_of_keeping(problem)
    found: list[ReplicaPlacement] = []
    for width in _spread_out(widest, points):
        found.append(movement_within(problem, _wider(narrowest, width), is_over=is_over))
        if is_over():
            break
    return found


def within_budget(problem: Problem, budget: int, *, is_over: Callable[[], bool] = never) -> ReplicaPlacement:
    """The placement in the narrowest band that moves no more than the budget.

    Raises
    ------
    BudgetTooSmall : what has to move whatever the balance is more.
    """
    kept = least_movement(problem, KEEP)
    if kept.certificate.lower_bound > budget:
        raise BudgetTooSmall(kept.certificate.lower_bound)
    narrowest = narrowest_band(problem)
    best, low, high = kept, 0, _width(problem, kept, narrowest)
    while low <= high:
        middle = (low + high) // 2
        placed = movement_within(problem, _wider(narrowest, middle), is_over=is_over)
        if placed.moved <= budget:
            best, high = placed, middle - 1
        elif is_over():
            break
        else:
            low = middle + 1
    return best


def _width_of_keeping(problem: Problem) -> int:
    return _width(problem, least_movement(problem, KEEP), narrowest_band(problem))


def _width(problem: Problem, placed: ReplicaPlacement, narrowest: Band) -> int:
    """By how much the narrowest band has to be widened until the placement is within."""
    on_targets = counts(problem, placed.replicas)[problem.target]
    if not len(on_targets):
        return 0
    return max(int(on_targets.max()) - narrowest.high, narrowest.low - int(on_targets.min()), 0)


def _wider(band: Band, width: int) -> Band:
    return Band(max(band.low - width, 0), band.high + width)


def _spread_out(widest: int, points: int) -> list[int]:
    """At most so many whole numbers from 0 to `widest`, in steps that grow."""
    steps = np.linspace(0, np.sqrt(widest), max(points, 2)) ** 2
    return sorted({round(step) for step in steps.tolist()})
