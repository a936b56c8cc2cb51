"""The cheapest legal replicas and leader of each partition under dual prices of the brokers' loads."""

import numpy as np

from app.core.compiled.arrays import BoolVector, FloatMatrix, Int64Matrix
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.loads.legal_sets_kernel import cheapest_legal_set
from app.core.reassignment.loads.rules import LoadRules

PRECISION = 1 << 50
"""Costs of a row are rounded down to one part in so many of the largest."""


@compiled
def sum_of_cheapest_choices(
    rules: LoadRules,
    of_leader: Int64Matrix,
    of_follower: Int64Matrix,
    settled: BoolVector,
    prices: FloatMatrix,
    has_negative: bool,
    used: FloatMatrix,
) -> float:
    """A lower bound on the sum of the least costs of all rows; the loads of the choices are added to `used`.

    A replica costs its load at the broker's prices, and `rules.cost` if it is moved. A row that is legal in place stays
    if a move costs more than a current broker can save. Else the followers' cheapest legal set is taken, and as leader
    the cheapest of its members, or a broker outside it that replaces the costliest member, whether or not that is
    legal: no legal choice costs less.

    Parameters
    ----------
    of_leader, of_follower : (rows, resources) int64. settled : (rows,) bool of `rows_legal_in_place`.
    prices : (brokers, resources) float64. has_negative : whether a price is negative. used : (brokers, resources).
    """
    brokers, resources = prices.shape
    ids, whole = np.empty(brokers, np.int32), np.empty(brokers, np.int64)
    follows, extra = np.empty(brokers), np.empty(brokers)
    factor_most = max(1, int(rules.factor.max()))
    taken, per_rack = np.empty(factor_most, np.int64), np.empty(rules.least.shape[1], np.int64)
    total = 0.0
    for row in range(len(rules.cost)):
        domain = rules.domain_of[row]
        factor, moving = rules.factor[domain], float(rules.cost[row])
        if settled[row] and not has_negative:
            cost = _cost_in_place(rules, of_leader, of_follower, row, prices, used)
            if cost >= 0.0:
                total += cost
                continue
        count = int(np.int64(0))
        largest = 0.0
        for broker in range(brokers):
            is_there, free = False, False
            for column in range(rules.current.shape[1]):
                if rules.current[row, column] == broker:
                    is_there, free = True, bool(rules.stays_free[row, column])
            if not is_there and not rules.may_receive[domain, broker]:
                continue
            follow, lead = 0.0 if free else moving, 0.0
            for resource in range(resources):
                price = prices[broker, resource]
                if price != 0.0:
                    follow += price * of_follower[row, resource]
                    lead += price * (of_leader[row, resource] - of_follower[row, resource])
            ids[count], follows[count], extra[count] = broker, follow, lead
            largest = max(largest, abs(follow))
            count += 1
        scale = PRECISION / largest if largest > 0 else 1.0
        for i in range(count):
            whole[i] = np.int64(np.floor(follows[i] * scale))
        cheapest_legal_set(
            ids,
            whole,
            count,
            rules.rack_of,
            rules.least[domain],
            rules.most[domain],
            factor,
            rules.must_keep[row],
            taken,
            per_rack,
        )
        costliest, least_extra, leads = -np.inf, np.inf, int(np.int64(-1))
        replaced = int(np.int64(-1))
        for i in range(factor):
            total += follows[taken[i]] - largest * 2e-15
            if follows[taken[i]] > costliest:
                costliest, replaced = follows[taken[i]], taken[i]
            if extra[taken[i]] < least_extra:
                least_extra, leads = extra[taken[i]], taken[i]
        outside = False
        for i in range(count):
            is_member = False
            for j in range(factor):
                is_member |= taken[j] == i
            if not is_member and follows[i] + extra[i] - costliest < least_extra:
                least_extra, leads, outside = follows[i] + extra[i] - costliest, i, True
        total += least_extra
        for i in range(factor):
            at = taken[i]
            if at == leads or (outside and at == replaced):
                continue
            for resource in range(resources):
                used[ids[at], resource] += of_follower[row, resource]
        for resource in range(resources):
            used[ids[leads], resource] += of_leader[row, resource]
    return total


@subroutine
def _cost_in_place(
    rules: LoadRules,
    of_leader: Int64Matrix,
    of_follower: Int64Matrix,
    row: int,
    prices: FloatMatrix,
    used: FloatMatrix,
) -> float:
    """The cost of a row in place, whose loads are added to `used`; -1 if a move may cost less."""
    cost, costliest, least_extra, leader = 0.0, 0.0, np.inf, np.int32(-1)
    for broker in rules.current[row]:
        if broker < 0:
            continue
        follow, lead = 0.0, 0.0
        for resource in range(prices.shape[1]):
            price = prices[broker, resource]
            follow += price * of_follower[row, resource]
            lead += price * (of_leader[row, resource] - of_follower[row, resource])
        cost += follow
        costliest = max(costliest, follow)
        if lead < least_extra:
            least_extra, leader = lead, broker
    if costliest + least_extra > rules.cost[row]:
        return -1.0
    for broker in rules.current[row]:
        if broker < 0:
            continue
        for resource in range(prices.shape[1]):
            used[broker, resource] += of_leader[row, resource] if broker == leader else of_follower[row, resource]
    return float(cost + least_extra)
