"""Leaders at dual prices of loads: a lower bound on the leader changes below a maximum, and choices near it.

A change costs 1, and the load that a partition adds to a broker has the price of the broker. If every partition is led
by its cheapest candidate, no choice whose loads are at most the maximum has fewer changes than these candidates cost,
less the value of the maximum at these prices (Lagrangian relaxation). An ascent raises the prices of brokers that lead
too much, with lengths of steps by Adam.

The relaxation may split partitions between brokers. If the heaviest one loads more than half of the maximum, what else
its leader may lead depends on that: it is led by each of its candidates in turn, and the smallest bound holds.

Source: Held, Wolfe and Crowder, "Validation of subgradient optimization" (1974); Kingma and Ba, "Adam" (2015).
"""

from math import ceil

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment.solvers.leaders import prices_kernel as kernel
from app.core.reassignment.solvers.leaders.problem import NOT_A_CANDIDATE, LeaderProblem

MAX_STEPS = 300
WORK = 2e8
"""Candidates times steps at most, of each ascent."""


def priced_choices(part: LeaderProblem, changes: Int32s, most: int) -> tuple[int, list[Int64s]]:
    """Bound the leader changes of choices in which no target broker leads more than `most`, `base` included.

    Complexity: O(rows · width) for each of at most `MAX_STEPS` steps.

    Parameters
    ----------
    part : partitions by descending weight, each with a candidate.
    changes : (rows, width) int32: 1 for a change, 0 for none or a forced one, `NOT_A_CANDIDATE`.

    Returns
    -------
    The lower bound; and the choices at the best prices, (rows,) int64 replicas that lead, for each candidate of a heavy
    partition, or one without any. No choice if nothing can change.
    """
    if not (changes > 0).any():
        return 0, []
    ascents = [_ascended(part, each, most) for each in _by_place_of_heaviest(part, changes, most)]
    return max(0, min(bound for bound, _ in ascents)), [columns for _, columns in ascents]


def _by_place_of_heaviest(part: LeaderProblem, changes: Int32s, most: int) -> list[Int32s]:
    """The changes if the heaviest partition is led by each candidate that may lead it; as they are if it is light."""
    heaviest, brokers = int(part.weight[0]), part.replicas[0]
    fits = (changes[0] >= 0) & (~part.target[brokers] | (part.base[brokers] + heaviest <= most))
    if 2 * heaviest <= most or not fits.any():
        return [changes]
    alone = np.repeat(changes[None], len(brokers), axis=0)
    alone[:, 0] = np.where(np.eye(len(brokers), dtype=np.bool_), changes[0], NOT_A_CANDIDATE)
    return list(alone[fits])


def _ascended(part: LeaderProblem, changes: Int32s, most: int) -> tuple[int, Int64s]:
    """The best bound that an ascent of prices reaches, and (rows,) int64 the cheapest replicas at its prices."""
    table, unit = np.ascontiguousarray(part.replicas), float(max(most, 1))
    weight, room = part.weight / unit, (most - part.base) / unit
    steps = max(1, min(MAX_STEPS, int(WORK / changes.size)))
    bound, prices = kernel.ascend(table, changes, weight, room, part.target, steps)
    priced = np.where(changes >= 0, changes + prices[table] * weight[:, None], np.inf)
    return ceil(bound), np.argmin(priced, axis=1)
