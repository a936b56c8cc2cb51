"""Replicas that load more than half of the ceiling: lower bounds on the movement, and where they may be.

Two such replicas are on different brokers, and what is left below the ceiling beside one of them is known exactly. The
dual of split replicas does not see that: it spreads the heaviest partition over many brokers. A broker sheds what is
above the ceiling, the cheapest replicas for their load first and the last one in part; beside a heavy replica it sheds
more. Each heavy partition has a cheapest legal set of brokers by what they shed more. Sets of different partitions have
no broker in common, so that their costs add up, to each other and to what every broker sheds in any case. Heavy
replicas that leave a broker are counted with their own partition alone.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int64s
from app.core.reassignment.legal_sets_kernel import NEVER, cheapest_legal_set
from app.core.reassignment.model import NO_LIMIT
from app.core.reassignment.rules import LoadRules, Region, regions_of

ROUNDING_BITS = 48
"""Costs of brokers, which are whole, are lowered by 2^-48 before they are rounded up. Sums are exact, but the ratios of
costs to loads by which replicas are ordered are floating: with costs that are at most 2^-51 off, the order is exact."""
NOT_POSSIBLE = -1
"""The cost of a broker that is above the ceiling whatever leaves it."""


def heavy_movement_bound(rules: LoadRules, base_load: Int64s, ceiling: Int64s) -> int:
    """A lower bound on the movement of placements below (brokers,) int64 ceilings; 0 without heavy replicas."""
    of_regions = (heavy_places(rules, base_load, ceiling, region) for region in regions_of(rules))
    return sum(heavy.bound for heavy in of_regions if heavy is not None)


@dataclass(frozen=True, slots=True, eq=False)
class HeavyPlaces:
    """What replicas that load more than half of the ceiling cost on each broker of a region.

    Parameters
    ----------
    heavy : (heavy,) int64 rows, the heaviest first.
    costs : (heavy, brokers) int64 of a replica: if it is moved, and what the broker sheds more; or `NOT_POSSIBLE`.
    least : (heavy,) int64 of the cheapest legal set. bound : on the movement within the region.
    """

    heavy: Int64s
    costs: Int64s = field(repr=False)
    least: Int64s
    bound: int


def heavy_places(rules: LoadRules, base_load: Int64s, ceiling: Int64s, region: Region) -> HeavyPlaces | None:
    """The heavy replicas of a region; None if there are none.

    Complexity: O(rows · widest · log) for the order of the replicas, and O(heavy rows · brokers · factor).

    Parameters
    ----------
    ceiling : (brokers,) int64, or `NO_LIMIT`. A replica is heavy if it loads more than half of the highest ceiling.
    """
    bounded = ceiling < NO_LIMIT
    highest = int(ceiling[region.brokers][bounded[region.brokers]].max(initial=0))
    heavy = np.flatnonzero((2 * rules.load > highest) & (region.count[rules.domain_of] > 0))
    if not len(heavy):
        return None
    heavy = heavy[np.argsort(-rules.load[heavy], kind="stable")]
    inside = np.zeros(len(base_load), np.bool_)
    inside[region.brokers] = True
    is_here = (rules.current != NO_REPLICA) & inside[rules.current]
    count = region.count[rules.domain_of] - np.count_nonzero(is_here, axis=1)
    shedding = _Shedding(rules, base_load, is_here, heavy, count < 0, bounded)
    shed = np.maximum([shedding.cost(broker, int(ceiling[broker])) for broker in range(len(base_load))], 0)
    costs = np.full((len(heavy), len(base_load)), NOT_POSSIBLE)
    least = np.zeros(len(heavy), np.int64)
    for place, row in enumerate(heavy.tolist()):
        moved = _moved(rules, row, is_here[row], inside)
        for broker in np.flatnonzero(moved != NOT_POSSIBLE).tolist():
            beside = shedding.cost(broker, int(ceiling[broker] - rules.load[row]))
            if beside != NOT_POSSIBLE:
                costs[place, broker] = max(0, beside - int(shed[broker])) + int(moved[broker])
        least[place] = _least(rules, row, costs[place], region)
    forced = np.maximum(count, 0) * rules.cost
    forced[heavy] = 0
    return HeavyPlaces(heavy, costs, least, int(forced.sum()) + int(shed[inside].sum()) + int(least.sum()))


def _moved(rules: LoadRules, row: int, is_here: Bools, inside: Bools) -> Int64s:
    """(brokers,) int64: the cost of a replica of the row if it is moved to a broker of the region."""
    moved = np.where(rules.may_receive[rules.domain_of[row]] & inside, rules.cost[row], NOT_POSSIBLE)
    moved[rules.current[row][is_here]] = rules.cost[row]
    moved[rules.current[row][is_here & rules.stays_free[row]]] = 0
    return moved


def _least(rules: LoadRules, row: int, costs: Int64s, region: Region) -> int:
    """The cost of the cheapest legal set of a heavy row in a region; 0 if there is none."""
    domain = int(rules.domain_of[row])
    count = int(region.count[domain])
    racks, members = np.unique(rules.rack_of[region.brokers]), np.zeros(count, np.int64)
    least = np.zeros(rules.least.shape[1], np.int64)
    least[racks] = np.minimum(rules.least[domain, racks], count)
    possible = np.where(costs == NOT_POSSIBLE, NEVER, costs)
    pinned = int(rules.must_keep[row])
    has_set = cheapest_legal_set(possible, rules.rack_of, least, rules.most[domain], count, pinned, members)
    return int(costs[members].sum()) if has_set else 0


class _Shedding:
    """What brokers have beside heavy replicas, by ascending cost for the load."""

    def __init__(
        self, rules: LoadRules, base_load: Int64s, is_here: Bools, heavy: Int64s, is_spare: Bools, bounded: Bools
    ) -> None:
        others = is_here & (rules.load > 0)[:, None]
        others[heavy] = False
        rows, columns = np.nonzero(others)
        # A partition with more current replicas than it needs drops one at no cost, as does one that is copied anyway.
        free = is_spare[rows] | ~rules.stays_free[rows, columns]
        load, cost = rules.load[rows], np.where(free, 0, rules.cost[rows])
        broker = rules.current[rows, columns]
        order = np.lexsort((cost / load, broker))
        ends = np.searchsorted(broker[order], np.arange(len(base_load) + 1))
        parts = [order[first:last] for first, last in pairwise(ends)]
        self._load, self._cost = [np.cumsum(load[part]) for part in parts], [np.cumsum(cost[part]) for part in parts]
        self._base, self._bounded = base_load, bounded

    def cost(self, broker: int, left: int) -> int:
        """The least cost at which the other replicas of a broker load no more than is left, or `NOT_POSSIBLE`."""
        left -= int(self._base[broker])
        if not self._bounded[broker]:
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
