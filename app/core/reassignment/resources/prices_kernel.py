"""The cheapest legal replicas and leader of each partition under dual prices of the brokers' loads."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import (
    BoolVector,
    FloatMatrix,
    FloatVector,
    Int32Vector,
    Int64Matrix,
    Int64Vector,
)
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.loads.legal_sets_kernel import cheapest_legal_set
from app.core.reassignment.loads.rules import LoadRules

PRECISION = 1 << 50
"""Costs of a row are rounded down to one part in so many of the largest."""
LEADER_SPREAD = 0.05
"""Leaders change at no cost: the cost of the lead is raised by so much of what that of a move is."""
FULLEST = 2.0


class PricedLoads(NamedTuple):
    """What replicas load, and its dual prices.

    Parameters
    ----------
    of_leader, of_follower : (rows, resources) int64. prices : (brokers, resources) float64.
    lowest, highest : (resources,) prices of any broker.
    unit : (brokers, resources) 1 over what a broker may have; 0 if it may have anything.
    """

    of_leader: Int64Matrix
    of_follower: Int64Matrix
    prices: FloatMatrix
    lowest: FloatVector
    highest: FloatVector
    unit: FloatMatrix


class Candidates(NamedTuple):
    """Brokers that may have a replica of a row: buffers for all brokers.

    Parameters
    ----------
    ids : their positions. follows : the cost of a follower on each. extra : how much more the leader costs there.
    whole : costs as integers. taken : the chosen candidates. per_rack : how many of them are in each rack.
    """

    ids: Int32Vector
    follows: FloatVector
    extra: FloatVector
    whole: Int64Vector
    taken: Int64Vector
    per_rack: Int64Vector


@compiled
def sum_of_cheapest_choices(
    rules: LoadRules, loads: PricedLoads, settled: BoolVector, spread: float, used: FloatMatrix
) -> float:
    """A lower bound on the sum of the least costs of all rows; the loads of near-optimal choices are added to `used`.

    A replica costs its load at the broker's prices, and `rules.cost` if it is moved. A row that is legal in place stays
    if a move costs more than a current broker can save. Else the followers' cheapest legal set is taken, and as leader
    the cheapest of its members, or a broker outside it that replaces the costliest member that it may replace: legal
    sets are the bases of a matroid, so that no legal choice costs less.

    All rows prefer the same cheapest broker, so that the loads of exact choices jump from broker to broker with each
    step. The loads in `used` are therefore those of choices under costs that are raised with the load that a broker has
    by then: they change smoothly with the prices.

    Parameters
    ----------
    settled : (rows,) bool of `rows_legal_in_place`. used : (brokers, resources) float64.
    spread : how much the cost of a move is raised for `used` if a broker has what it may have by then.
    """
    brokers, resources = loads.prices.shape
    factor_most = max(1, int(rules.factor.max()))
    of = Candidates(
        np.empty(brokers, np.int32),
        np.empty(brokers),
        np.empty(brokers),
        np.empty(brokers, np.int64),
        np.empty(factor_most, np.int64),
        np.empty(rules.least.shape[1], np.int64),
    )
    always, more = np.ones(resources, np.bool_), np.empty(resources, np.bool_)
    total = 0.0
    for row in range(len(rules.cost)):
        moving, since = spread * rules.cost[row], len(rules.cost) / (row + 1.0)
        for resource in range(resources):
            more[resource] = loads.of_leader[row, resource] > loads.of_follower[row, resource]
        if settled[row]:
            cost, stays = _cost_in_place(rules, loads, row, moving, since, more, used)
            if stays:
                total += cost
                continue
        count = _list_candidates(rules, loads, row, of)
        total += _least_cost(rules, row, of, count)
        for i in range(count):
            if not _is_free(rules, row, of.ids[i]):
                of.follows[i] += moving * _fullness(loads, used, of.ids[i], since, always)
        _choose(rules, row, of, count)
        _use(rules, loads, row, of, moving, since, more, used)
    return total


@subroutine
def _list_candidates(rules: LoadRules, loads: PricedLoads, row: int, of: Candidates) -> int:
    """List the brokers that may have a replica, and what it costs there; how many there are."""
    domain = rules.domain_of[row]
    count = int(np.int64(0))
    for broker in range(len(loads.prices)):
        is_there = False
        for column in range(rules.current.shape[1]):
            is_there |= rules.current[row, column] == broker
        if not is_there and not rules.may_receive[domain, broker]:
            continue
        follow, lead = 0.0, 0.0
        for resource in range(loads.prices.shape[1]):
            price = loads.prices[broker, resource]
            if price != 0.0:
                follow += price * loads.of_follower[row, resource]
                lead += price * (loads.of_leader[row, resource] - loads.of_follower[row, resource])
        if not (is_there and _is_free(rules, row, broker)):
            follow += rules.cost[row]
        of.ids[count], of.follows[count], of.extra[count] = broker, follow, lead
        count += 1
    return count


@subroutine
def _is_free(rules: LoadRules, row: int, broker: int) -> bool:
    """Whether a replica of the row costs no copy on the broker."""
    for column in range(rules.current.shape[1]):
        if rules.current[row, column] == broker:
            return bool(rules.stays_free[row, column])
    return False


@subroutine
def _choose(rules: LoadRules, row: int, of: Candidates, count: int) -> float:
    """Take the cheapest legal set of followers; the largest magnitude of a cost."""
    domain = rules.domain_of[row]
    largest = 0.0
    for i in range(count):
        largest = max(largest, abs(of.follows[i]))
    scale = PRECISION / largest if largest > 0 else 1.0
    for i in range(count):
        of.whole[i] = np.int64(np.floor(of.follows[i] * scale))
    cheapest_legal_set(
        of.ids,
        of.whole,
        count,
        rules.rack_of,
        rules.least[domain],
        rules.most[domain],
        rules.factor[domain],
        rules.must_keep[row],
        of.taken,
        of.per_rack,
    )
    return float(largest)


@subroutine
def _least_cost(rules: LoadRules, row: int, of: Candidates, count: int) -> float:
    """A lower bound on the cost of legal replicas and a leader among them, as exact as floating sums are."""
    largest = _choose(rules, row, of, count)
    total, least_extra = 0.0, np.inf
    for i in range(rules.factor[rules.domain_of[row]]):
        total += of.follows[of.taken[i]] - largest * 2e-15
        least_extra = min(least_extra, of.extra[of.taken[i]])
    for i in range(count):
        if of.follows[i] + of.extra[i] < least_extra + largest:
            replaced = _costliest_for(rules, row, of, i)
            least_extra = min(least_extra, of.follows[i] + of.extra[i] - replaced)
    return float(total + least_extra) if np.isfinite(least_extra) else float(total)


@subroutine
def _costliest_for(rules: LoadRules, row: int, of: Candidates, candidate: int) -> float:
    """The cost of the costliest member that a candidate may replace in the cheapest legal set; -inf if there is none,
    or if it is a member itself.
    """
    domain = rules.domain_of[row]
    rack = rules.rack_of[of.ids[candidate]]
    costliest = -np.inf
    for i in range(rules.factor[domain]):
        member = of.taken[i]
        if member == candidate:
            return -np.inf
        other = rules.rack_of[of.ids[member]]
        is_legal = other == rack or (
            of.per_rack[rack] < rules.most[domain, rack] and of.per_rack[other] > rules.least[domain, other]
        )
        if is_legal and of.ids[member] != rules.must_keep[row]:
            costliest = max(costliest, of.follows[member])
    return float(costliest)


@subroutine
def _use(
    rules: LoadRules,
    loads: PricedLoads,
    row: int,
    of: Candidates,
    moving: float,
    since: float,
    more: BoolVector,
    used: FloatMatrix,
) -> None:
    """Add the loads of the chosen replicas, led by the cheapest of them."""
    factor = rules.factor[rules.domain_of[row]]
    leads, least = -1, np.inf
    for i in range(factor):
        at = of.taken[i]
        lead = of.extra[at] + LEADER_SPREAD * moving * _fullness(loads, used, of.ids[at], since, more)
        if lead < least:
            leads, least = at, lead
    for i in range(factor):
        at = of.taken[i]
        for resource in range(loads.prices.shape[1]):
            of_slot = loads.of_leader[row, resource] if at == leads else loads.of_follower[row, resource]
            used[of.ids[at], resource] += of_slot


@subroutine
def _cost_in_place(
    rules: LoadRules,
    loads: PricedLoads,
    row: int,
    moving: float,
    since: float,
    more: BoolVector,
    used: FloatMatrix,
) -> tuple[float, bool]:
    """The cost of a row in place, and whether no move can cost less: then its loads are added to `used`.

    Moving k replicas costs at least k times a move to a broker with the lowest price of each resource, and may change
    the leader's extra once.
    """
    cost, costliest, least_extra, least_raised, leader = 0.0, -np.inf, np.inf, np.inf, np.int32(-1)
    for broker in rules.current[row]:
        if broker < 0:
            continue
        follow, lead = 0.0, 0.0
        for resource in range(loads.prices.shape[1]):
            price = loads.prices[broker, resource]
            follow += price * loads.of_follower[row, resource]
            lead += price * (loads.of_leader[row, resource] - loads.of_follower[row, resource])
        cost += follow
        costliest = max(costliest, follow)
        least_extra = min(least_extra, lead)
        lead += LEADER_SPREAD * moving * _fullness(loads, used, broker, since, more)
        if lead < least_raised:
            least_raised, leader = lead, broker
    received, led = 0.0, 0.0
    for resource in range(loads.prices.shape[1]):
        beside = loads.of_leader[row, resource] - loads.of_follower[row, resource]
        received += loads.lowest[resource] * loads.of_follower[row, resource]
        led += (loads.lowest[resource] if beside > 0 else loads.highest[resource]) * beside
    if costliest - received + max(0.0, least_extra - led) > rules.cost[row]:
        return 0.0, False
    for broker in rules.current[row]:
        if broker < 0:
            continue
        for resource in range(loads.prices.shape[1]):
            is_leader = broker == leader
            used[broker, resource] += loads.of_leader[row, resource] if is_leader else loads.of_follower[row, resource]
    return float(cost + least_extra), True


@subroutine
def _fullness(loads: PricedLoads, used: FloatMatrix, broker: int, since: float, counted: BoolVector) -> float:
    """The load of a broker by now over what it may have by now, of the fullest resource; at most `FULLEST`.

    Parameters
    ----------
    since : all rows over those that are placed by now. counted : (resources,) bool.
    """
    level = 0.0
    for resource in range(len(counted)):
        if counted[resource]:
            level = max(level, used[broker, resource] * loads.unit[broker, resource])
    return min(level * since, FULLEST)
