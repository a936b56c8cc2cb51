"""The cheapest legal set of brokers for one partition, for the first placement and under prices.

The cheapest legal set of brokers for one partition.

Sets with between `least` and `most` members of each rack, `factor` in all, are the bases of a laminar matroid: the
cheapest of every rack up to its least, then the cheapest of what is left wherever its rack is not full, is optimal.

What stays where it is, and a first place for what cannot: the least loaded legal broker, heaviest replicas first.

For one price of each broker's load: what all partitions cost at least, each on its cheapest legal set.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.loads.rules import Rules

ALLOWED_NONE = -1


@njit(cache=True, nogil=True)
def take_cheapest(
    brokers: Int32s,
    costs: Int64s,
    candidates: int,
    rack_of: Int32s,
    least: Int64s,
    most: Int64s,
    factor: int,
    must_keep: int,
    taken: Int64s,
    per_rack: Int64s,
) -> bool:
    """Write the indices of the candidates taken to `taken[:factor]`; whether there is a legal set at all.

    Of equally cheap ones the first candidate is taken. `must_keep` is taken whatever it costs.

    Parameters
    ----------
    brokers, costs : the candidates, distinct brokers; only the first `candidates` count.
    taken : room for `factor` indices. per_rack : (racks,) room for the counts of each rack.
    """
    per_rack[:] = 0
    free = np.ones(candidates, np.bool_)
    count = 0
    for i in range(candidates):
        if brokers[i] == must_keep:
            taken[0] = i
            free[i] = False
            per_rack[rack_of[must_keep]] += 1
            count = 1
            break
    for rack in range(len(least)):
        while per_rack[rack] < least[rack]:
            best = ALLOWED_NONE
            for i in range(candidates):
                if free[i] and rack_of[brokers[i]] == rack and (best < 0 or costs[i] < costs[best]):
                    best = i
            if best < 0 or count == factor:
                return False
            free[best] = False
            taken[count] = best
            per_rack[rack] += 1
            count += 1
    while count < factor:
        best = ALLOWED_NONE
        for i in range(candidates):
            rack = rack_of[brokers[i]]
            if free[i] and per_rack[rack] < most[rack] and (best < 0 or costs[i] < costs[best]):
                best = i
        if best < 0:
            return False
        free[best] = False
        taken[count] = best
        per_rack[rack_of[brokers[best]]] += 1
        count += 1
    return True


HOME = np.int64(0)
COPIED_HOME = np.int64(1) << 61
ELSEWHERE = np.int64(1) << 62
"""Classes of cost, above any load: the fewest moves first, then homes that are copied to, then the least loaded."""


@njit(cache=True, nogil=True)
def first_places(rules: Rules, heaviest_first: Int64s, loads: Int64s, at: Int32s) -> int:
    """Write a legal place with the fewest moves for each row to `at`, and add the loads; the row that has none, or -1.

    Parameters
    ----------
    heaviest_first : the rows, in the order in which they choose where there is a choice.
    loads : (brokers,) int64, of other partitions. at : (rows, widest) int32, all -1.
    """
    undecided = np.zeros(len(at), np.bool_)
    racks = rules.least.shape[1]
    brokers = np.empty(len(rules.rack_of), np.int32)
    costs = np.empty(len(rules.rack_of), np.int64)
    taken = np.empty(max(1, at.shape[1]), np.int64)
    per_rack = np.empty(racks, np.int64)
    nothing = np.zeros(len(loads), np.int64)
    for row in range(len(at)):
        if stays_as_is(rules, row, per_rack):
            column = 0
            for broker in rules.homes[row]:
                if broker >= 0:
                    at[row, column] = broker
                    loads[broker] += rules.load[row]
                    column += 1
            continue
        undecided[row] = True
        if not _choose(rules, row, nothing, brokers, costs, taken, per_rack):
            return row
        for i in range(rules.factor[rules.domain_of[row]]):
            if costs[taken[i]] < COPIED_HOME:
                loads[brokers[taken[i]]] += rules.load[row]
                at[row, i] = brokers[taken[i]]
    for row in heaviest_first:
        if not undecided[row]:
            continue
        for broker in at[row]:
            if broker >= 0:
                loads[broker] -= rules.load[row]
        _choose(rules, row, loads, brokers, costs, taken, per_rack)
        for i in range(rules.factor[rules.domain_of[row]]):
            at[row, i] = brokers[taken[i]]
            loads[brokers[taken[i]]] += rules.load[row]
    return -1


@njit(cache=True, nogil=True)
def stays_as_is(rules: Rules, row: int, per_rack: Int64s) -> bool:
    """Whether the homes, and they alone, are a legal set that costs nothing."""
    domain = rules.domain_of[row]
    per_rack[:] = 0
    count = 0
    for column in range(rules.homes.shape[1]):
        broker = rules.homes[row, column]
        if broker >= 0:
            if not rules.stays_free[row, column]:
                return False
            per_rack[rules.rack_of[broker]] += 1
            count += 1
    if count != rules.factor[domain]:
        return False
    for rack in range(len(per_rack)):
        if per_rack[rack] < rules.least[domain, rack] or per_rack[rack] > rules.most[domain, rack]:
            return False
    return True


@njit(cache=True, nogil=True)
def _choose(
    rules: Rules, row: int, loads: Int64s, brokers: Int32s, costs: Int64s, taken: Int64s, per_rack: Int64s
) -> bool:
    domain = rules.domain_of[row]
    candidates = 0
    for broker in range(len(rules.rack_of)):
        cost = ELSEWHERE if rules.may_receive[domain, broker] else np.int64(-1)
        for column in range(rules.homes.shape[1]):
            if rules.homes[row, column] == broker:
                cost = HOME if rules.stays_free[row, column] else COPIED_HOME
        if cost >= 0:
            brokers[candidates] = broker
            costs[candidates] = cost + loads[broker]
            candidates += 1
    return take_cheapest(
        brokers,
        costs,
        candidates,
        rules.rack_of,
        rules.least[domain],
        rules.most[domain],
        rules.factor[domain],
        rules.must_keep[row],
        taken,
        per_rack,
    )


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
