"""A lower bound on the movement if some replicas load more than half of the ceiling.

Two such replicas are on different brokers, and what is left below the ceiling beside one of them is known exactly. The
dual of split replicas does not see that: it spreads the heaviest partition over many brokers. Each heavy partition has
a cheapest legal set of brokers, where a broker costs what its other replicas weigh that have to leave, the cheapest for
their load first and the last one in part. Sets of different partitions have no broker in common, so that their costs
add up. Heavy replicas that leave a broker are counted with their own partition alone.
"""

from itertools import pairwise

import numpy as np

from app.core.model import NO_REPLICA, Int64s
from app.core.reassignment.loads.legal_sets_kernel import cheapest_legal_set
from app.core.reassignment.loads.rules import LoadRules

ROUNDING_BITS = 48
"""Costs of brokers, which are whole, are lowered by 2^-48 before they are rounded up. Sums are exact, but the ratios of
costs to loads by which replicas are ordered are floating: with costs that are at most 2^-51 off, the order is exact."""
NOT_POSSIBLE = -1
"""The cost of a broker that is above the ceiling whatever leaves it."""


def heavy_movement_bound(rules: LoadRules, base_load: Int64s, ceiling: int) -> int:
    """A lower bound on the movement of placements whose target brokers are below a ceiling; 0 without heavy replicas.

    Complexity: O(rows · widest · log) for the order of the replicas, and O(heavy rows · brokers · factor).
    """
    factor = rules.factor[rules.domain_of]
    heavy = np.flatnonzero((2 * rules.load > ceiling) & (factor > 0))
    if not len(heavy):
        return 0
    shed = _Shedding(rules, base_load, heavy)
    current = np.count_nonzero(rules.current != NO_REPLICA, axis=1)
    forced = np.maximum(factor - current, 0) * rules.cost
    forced[heavy] = 0
    return int(forced.sum()) + sum(_cost_of(rules, shed, int(row), ceiling) for row in heavy)


def _cost_of(rules: LoadRules, shed: "_Shedding", row: int, ceiling: int) -> int:
    """The cost of the cheapest legal set of a heavy row; 0 if there is none."""
    domain = int(rules.domain_of[row])
    left = ceiling - int(rules.load[row])
    costs = np.array([shed.cost(broker, left) for broker in range(len(rules.rack_of))], np.int64)
    moves = np.full(len(costs), rules.cost[row])
    there = rules.current[row] != NO_REPLICA
    moves[rules.current[row][there & rules.stays_free[row]]] = 0
    eligible = rules.may_receive[domain].copy()
    eligible[rules.current[row][there]] = True
    whole = costs + moves
    brokers = np.flatnonzero(eligible & (costs != NOT_POSSIBLE)).astype(np.int32)
    taken = np.zeros(int(rules.factor[domain]), np.int64)
    has_set = cheapest_legal_set(
        brokers,
        whole[brokers],
        len(brokers),
        rules.rack_of,
        rules.least[domain],
        rules.most[domain],
        int(rules.factor[domain]),
        int(rules.must_keep[row]),
        taken,
        np.zeros(rules.least.shape[1], np.int64),
    )
    return int(whole[brokers[taken]].sum()) if has_set else 0


class _Shedding:
    """What brokers have beside heavy replicas, by ascending cost for the load."""

    def __init__(self, rules: LoadRules, base_load: Int64s, heavy: Int64s) -> None:
        others = (rules.current != NO_REPLICA) & (rules.load > 0)[:, None]
        others[heavy] = False
        rows, columns = np.nonzero(others)
        # A partition with more current replicas than it needs drops one at no cost, as does one that is copied anyway.
        is_spare = np.count_nonzero(rules.current != NO_REPLICA, axis=1) > rules.factor[rules.domain_of]
        free = is_spare[rows] | ~rules.stays_free[rows, columns]
        load, cost = rules.load[rows], np.where(free, 0, rules.cost[rows])
        broker = rules.current[rows, columns]
        order = np.lexsort((cost / load, broker))
        ends = np.searchsorted(broker[order], np.arange(len(base_load) + 1))
        parts = [order[first:last] for first, last in pairwise(ends)]
        self._load, self._cost = [np.cumsum(load[part]) for part in parts], [np.cumsum(cost[part]) for part in parts]
        self._base, self._target = base_load, rules.target

    def cost(self, broker: int, left: int) -> int:
        """The least cost at which the other replicas of a broker load no more than is left, or `NOT_POSSIBLE`."""
        left -= int(self._base[broker])
        if not self._target[broker]:
            return 0
        if left < 0:
            return NOT_POSSIBLE
        load, cost = self._load[broker], self._cost[broker]
        excess = (int(load[-1]) if len(load) else 0) - left
        if excess <= 0:
            return 0
        last = int(np.searchsorted(load, excess))
        before, paid = (int(load[last - 1]), int(cost[last - 1])) if last else (0, 0)
        of_last = int(load[last]) - before
        in_all = paid * of_last + (int(cost[last]) - paid) * (excess - before)
        return -(-(in_all - (in_all >> ROUNDING_BITS)) // of_last)
