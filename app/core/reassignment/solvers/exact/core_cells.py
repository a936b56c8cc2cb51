"""Which cells of a problem an optimal placement may use, by reduced costs under dual prices.

A cell is a replica of a partition on a broker. With a dual price on each broker's load every partition has a cheapest
legal set; the *regret* of a cell is how much more its partition costs at least if it uses that cell. A placement that
uses a cell with regret θ costs at least the Lagrangian bound plus θ. So a model of the cells with regret below θ alone
bounds all placements by the smaller of its own bound and of the Lagrangian bound plus θ.

If the number of replicas of each partition in a rack is fixed, racks share nothing: each is a region of its own, with a
bound of its own, and the bounds add up.

Source: Balas and Zemel, "An algorithm for large zero-one knapsack problems" (1980).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import Float64s, Int64s
from app.core.reassignment.legal_sets_kernel import NEVER, cheapest_legal_set
from app.core.reassignment.model import BrokerBounds
from app.core.reassignment.rules import LoadRules, Region, regions_of
from app.core.reassignment.solvers.exact.cell_model import FreeCells
from app.core.reassignment.solvers.search.heaviest_first import CandidatePlacement

LARGEST_COST = 1 << 59
"""Limit of the cost of a single row."""
LIMB = 30
"""Bits of the lower of two limbs in which costs are added, since their sum may exceed 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class PricedRegion:
    """A region under dual prices.

    Parameters
    ----------
    value : the Lagrangian bound on the movement within the region, times `scale`.
    regret : (rows, inside) int64, times `scale`; 0 in the cheapest set.
    """

    region: Region
    scale: int
    value: int
    regret: Int64s = field(repr=False)

    def core(self, start: CandidatePlacement, load: Int64s, most: int) -> tuple[FreeCells, int]:
        """The cells with the smallest regrets and those of the start, and the smallest regret of the others, times
        `scale`.

        Of equal regrets, those of the heaviest partitions are first: if bytes are in proportion to load, most are.

        Parameters
        ----------
        load : (rows,) int64. most : about how many cells may be free.
        """
        inside = self.region.brokers
        at_start = np.zeros(self.regret.shape, np.bool_)
        for column in start.at.T:
            at_start |= column[:, None] == inside
        # A row is free if it has a choice: another cell than those where it is.
        other = np.sort(self.regret[~at_start & (self.regret < NEVER)])
        threshold = int(NEVER) if len(other) <= most else int(other[most])
        is_free = at_start | (self.regret < threshold)
        if threshold < NEVER:
            tied = ~at_start & (self.regret == threshold)
            heaviest_first = np.argsort(-load, kind="stable")
            left = most - int(np.searchsorted(other, threshold))
            fits = np.cumsum(np.count_nonzero(tied[heaviest_first], axis=1)) <= left
            is_free[heaviest_first[fits]] |= tied[heaviest_first[fits]]
        has_choice = (is_free & ~at_start).any(axis=1)
        rows = np.flatnonzero(has_choice)
        return FreeCells(rows, inside, is_free[rows]), threshold

    def bound(self, of_core: int, threshold: int) -> int:
        """A lower bound on the movement of every placement, by that of the core and the smallest regret outside it."""
        return max(0, -(-self.value // self.scale), min(of_core, -(-(self.value + threshold) // self.scale)))


def priced_regions(rules: LoadRules, base_load: Int64s, within: BrokerBounds, prices: Float64s) -> list[PricedRegion]:
    """All regions under prices, which are rounded to integers over one denominator, so that sums are exact.

    Complexity: O(rows · brokers) memory.

    Parameters
    ----------
    within : of the loads. prices : (brokers,) float64 of a unit of load; none above 0 without a ceiling.
    """
    factor = max(1, int(rules.factor.max(initial=1)))
    scale, largest = (
        LARGEST_COST // (2 * factor * max(1, int(most.max(initial=0)))) for most in (rules.cost, rules.load)
    )
    scale = max(1, scale)
    whole = np.rint(np.clip(prices * scale, -largest, largest)).astype(np.int64)
    return [_priced(rules, base_load, within, whole, scale, region) for region in regions_of(rules)]


def _priced(
    rules: LoadRules, base_load: Int64s, within: BrokerBounds, prices: Int64s, scale: int, region: Region
) -> PricedRegion:
    costs = _costs(rules, prices, scale, region)
    count = region.count[rules.domain_of]
    is_one_rack = len(np.unique(rules.rack_of[region.brokers])) == 1
    chosen, limit = _cheapest_in_rack(rules, region, costs, count) if is_one_rack else _cheapest(rules, costs)
    regret = np.where(costs >= NEVER, NEVER, np.maximum(costs - limit, 0))
    regret[np.broadcast_to(limit, costs.shape) >= NEVER] = NEVER
    regret[chosen] = 0
    value = _exact_sum(costs[chosen])
    for broker in region.brokers.tolist():
        price = int(prices[broker])
        value -= price * (int(within.high[broker] if price > 0 else within.low[broker]) - int(base_load[broker]))
    return PricedRegion(region, scale, value, regret)


def _costs(rules: LoadRules, prices: Int64s, scale: int, region: Region) -> Int64s:
    """(rows, inside) int64 of a replica on each broker, times `scale`."""
    inside = region.brokers
    costs = prices[inside] * rules.load[:, None] + (rules.cost * scale)[:, None]
    costs[~rules.may_receive[rules.domain_of][:, inside]] = NEVER
    for current, free in zip(rules.current.T, rules.stays_free.T, strict=True):
        row, place = np.nonzero(current[:, None] == inside)
        moved = np.where(free[row], 0, rules.cost[row] * scale)
        costs[row, place] = prices[current[row]] * rules.load[row] + moved
    return costs


def _cheapest_in_rack(
    rules: LoadRules, region: Region, costs: Int64s, count: Int64s
) -> tuple[NDArray[np.bool_], Int64s]:
    """The cheapest brokers of each row, so many, and (rows, 1) the cost of the one that another would replace."""
    ordered = costs.copy()
    is_pinned = rules.must_keep[:, None] == region.brokers
    ordered[is_pinned] = -NEVER
    order = np.argsort(ordered, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
    chosen = rank < count[:, None]
    last = np.take_along_axis(ordered, np.take_along_axis(order, np.maximum(count - 1, 0)[:, None], axis=1), axis=1)
    # Nothing can replace what has to stay, and a partition without replicas here has none.
    return chosen, np.where((last == -NEVER) | (count[:, None] == 0), NEVER, last)


def _cheapest(rules: LoadRules, costs: Int64s) -> tuple[NDArray[np.bool_], Int64s]:
    """The cheapest legal set of each row, and (rows, inside) the costliest cost that each broker may replace."""
    chosen = np.zeros(costs.shape, np.bool_)
    limit = np.zeros_like(costs)
    chosen_members = np.zeros(max(1, int(rules.factor.max(initial=1))), np.int64)
    for row, of_row in enumerate(costs):
        domain = int(rules.domain_of[row])
        factor, least, most = int(rules.factor[domain]), rules.least[domain], rules.most[domain]
        cheapest_legal_set(of_row, rules.rack_of, least, most, factor, int(rules.must_keep[row]), chosen_members)
        members = chosen_members[:factor]
        chosen[row, members] = True
        limit[row] = of_row[members].max(initial=0)
        racks = rules.rack_of[members]
        for rack in np.flatnonzero(np.bincount(racks, minlength=len(most)) >= most).tolist():
            inside = of_row[members[racks == rack]]
            if len(inside):
                limit[row, rules.rack_of == rack] = inside.max()
    return chosen, limit


def _exact_sum(costs: Int64s) -> int:
    """The sum, which may exceed 64 bits."""
    return (int((costs >> LIMB).sum()) << LIMB) + int((costs & ((np.int64(1) << LIMB) - 1)).sum())
