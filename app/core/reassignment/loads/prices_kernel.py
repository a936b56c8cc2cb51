"""For one price of each broker's load: what all partitions cost at least, each on its cheapest legal set."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.reassignment.loads.first_places_kernel import stays_as_is
from app.core.reassignment.loads.rules import Rules
from app.core.reassignment.loads.sets_kernel import take_cheapest

LIMB = 30
"""Costs of rows are added in two parts, of so many bits and the rest: their sum may leave 64 bits."""


@njit(cache=True, nogil=True)
def cheapest_places(
    rules: Rules,
    settled: NDArray[np.bool_],
    prices: Int64s,
    move_cost: Int64s,
    receivers: Int64s,
    starts: Int64s,
    used: Int64s,
) -> tuple[int, int]:
    """The sum of the rows' least costs as (high, low) limbs; what the sets put on the brokers is added to `used`.

    A replica costs prices[broker] · load, and move_cost[row] more where it is moved.

    Parameters
    ----------
    settled : (rows,) bool, whose homes and they alone are a legal set that costs nothing, as `settled_rows` says.
    prices : (brokers,) int64. move_cost : (rows,) int64. No row's cost leaves 60 bits.
    receivers : (domains, brokers) the brokers that may receive, by rack, then by price; starts : (domains, racks + 1)
        where each rack's begin. used : (brokers,) int64.
    """
    racks = rules.least.shape[1]
    widest = rules.homes.shape[1] + int(rules.factor.max()) * racks
    brokers, costs = np.empty(widest, np.int32), np.empty(widest, np.int64)
    taken, per_rack = np.empty(int(rules.factor.max()), np.int64), np.empty(racks, np.int64)
    cheapest = np.full(len(starts), np.iinfo(np.int64).max >> 4, np.int64)
    for domain in range(len(starts)):
        for rack in range(racks):
            if starts[domain, rack] < starts[domain, rack + 1]:
                cheapest[domain] = min(cheapest[domain], prices[receivers[domain, starts[domain, rack]]])
    high = low = np.int64(0)
    for row in range(len(rules.load)):
        domain, load = rules.domain_of[row], rules.load[row]
        factor = rules.factor[domain]
        if settled[row]:
            # Where no home costs more than any other broker would, no other set costs less than the homes.
            dearest, cost = prices[rules.homes[row, 0]], np.int64(0)
            for column in range(rules.homes.shape[1]):
                home = rules.homes[row, column]
                if home >= 0:
                    dearest = max(dearest, prices[home])
                    cost += prices[home] * load
            if dearest <= cheapest[domain] or (dearest - cheapest[domain]) * load <= move_cost[row]:
                for column in range(rules.homes.shape[1]):
                    if rules.homes[row, column] >= 0:
                        used[rules.homes[row, column]] += load
                high += cost >> LIMB
                low += cost & ((np.int64(1) << LIMB) - 1)
                continue
        count = 0
        for column in range(rules.homes.shape[1]):
            home = rules.homes[row, column]
            if home >= 0:
                brokers[count] = home
                costs[count] = prices[home] * load + (0 if rules.stays_free[row, column] else move_cost[row])
                count += 1
        homes = count
        for rack in range(racks):
            room = min(factor, rules.most[domain, rack])
            for at in range(starts[domain, rack], starts[domain, rack + 1]):
                if room == 0:
                    break
                broker = np.int32(receivers[domain, at])
                known = False
                for i in range(homes):
                    known |= brokers[i] == broker
                if not known:
                    brokers[count] = broker
                    costs[count] = prices[broker] * load + move_cost[row]
                    count += 1
                    room -= 1
        take_cheapest(
            brokers,
            costs,
            count,
            rules.rack_of,
            rules.least[domain],
            rules.most[domain],
            factor,
            rules.must_keep[row],
            taken,
            per_rack,
        )
        cost = np.int64(0)
        for i in range(factor):
            cost += costs[taken[i]]
            used[brokers[taken[i]]] += load
        high += cost >> LIMB
        low += cost & ((np.int64(1) << LIMB) - 1)
    return int(high), int(low)


@njit(cache=True, nogil=True)
def settled_rows(rules: Rules) -> NDArray[np.bool_]:
    """(rows,) bool, whose homes and they alone are a legal set that costs nothing."""
    settled = np.empty(len(rules.load), np.bool_)
    per_rack = np.empty(rules.least.shape[1], np.int64)
    for row in range(len(rules.load)):
        settled[row] = stays_as_is(rules, row, per_rack)
    return settled
