"""The cheapest legal replicas and leader of each partition under dual prices of the brokers' loads."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolVector, FloatMatrix, FloatVector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.legal_sets_kernel import NO_BROKER, choose_cheapest
from app.core.reassignment.rules import LoadRules

LEADER_SPREAD = 0.05
"""Leaders change at no cost: the cost of the lead is raised by so much of what that of a move is."""
FULLEST = 2.0


class PricedLoads(NamedTuple):
    """What replicas load of the resources that have bounds, and its dual prices.

    Parameters
    ----------
    of_leader, of_follower : (rows, resources) int64. prices : (resources, brokers) float64.
    lowest, highest : (resources,) prices of any broker.
    unit : (brokers, resources) 1 over what a broker may have; 0 if it may have anything.
    used : (brokers, resources) loads of the choices so far. level : (brokers,) those over what the broker may have, of
        the fullest resource. more : (resources,) bool buffer, of which the row's leader loads more than a follower.
    """

    of_leader: Int64Matrix
    of_follower: Int64Matrix
    prices: FloatMatrix
    lowest: FloatVector
    highest: FloatVector
    unit: FloatMatrix
    used: FloatMatrix
    level: FloatVector
    more: BoolVector


class Candidates(NamedTuple):
    """What a row costs on each broker, and the cheapest legal set of brokers.

    Parameters
    ----------
    follows : (brokers,) the cost of a follower on each; infinite if it may not have one.
    extra : (brokers,) how much more the leader costs there. left : (brokers,) costs of those that may still be taken.
    members : (factor,) the chosen brokers. per_rack : (racks,) how many of them are in each rack.
    """

    follows: FloatVector
    extra: FloatVector
    left: FloatVector
    members: Int64Vector
    per_rack: Int64Vector


@compiled
def sum_of_cheapest_choices(rules: LoadRules, loads: PricedLoads, settled: BoolVector, spread: float) -> float:
    """A lower bound on the sum of the least costs of all rows; `loads.used` is what near-optimal choices load.

    A replica costs its load at the broker's prices, and `rules.cost` if it is moved. A row that is legal in place stays
    if a move costs more than a current broker can save. Else the followers' cheapest legal set is taken, and as leader
    the cheapest of its members, or a broker outside it that replaces the costliest member that it may replace: legal
    sets are the bases of a matroid, so that no legal choice costs less.

    All rows prefer the same cheapest broker, so that the loads of exact choices jump from broker to broker with each
    step. The loads in use are therefore those of choices under costs that are raised with the load that a broker has
    by then: they change smoothly with the prices.

    Parameters
    ----------
    settled : (rows,) bool of `rows_legal_in_place`.
    spread : how much the cost of a move is raised for `loads.used` if a broker has what it may have by then.
    """
    resources, brokers = loads.prices.shape
    of = no_candidates(rules)
    for broker in range(brokers):
        _refresh_level(loads, broker)
    total = 0.0
    for row in range(len(rules.cost)):
        moving, since = spread * rules.cost[row], len(rules.cost) / (row + 1.0)
        for resource in range(resources):
            loads.more[resource] = loads.of_leader[row, resource] > loads.of_follower[row, resource]
        if settled[row]:
            cost, stays = _cost_in_place(rules, loads, row, moving, since)
            if stays:
                total += cost
                continue
        list_costs(rules, loads, row, of)
        total += _least_cost(rules, row, of)
        if moving > 0:
            _raise_costs(rules, row, of, moving, since, loads.level)
            choose(rules, row, of)
        _use(rules, loads, row, of, moving, since)
    return total


@subroutine
def no_candidates(rules: LoadRules) -> Candidates:
    """Buffers for the candidates of a row."""
    brokers = len(rules.rack_of)
    return Candidates(
        np.empty(brokers),
        np.empty(brokers),
        np.empty(brokers),
        np.empty(max(np.int64(1), rules.factor.max()), np.int64),
        np.empty(rules.least.shape[1], np.int64),
    )


@subroutine
def list_costs(rules: LoadRules, loads: PricedLoads, row: int, of: Candidates) -> None:
    """What a replica of a row costs on each broker."""
    domain, cost = rules.domain_of[row], float(rules.cost[row])
    resources, brokers = loads.prices.shape
    of.follows[:] = 0.0
    of.extra[:] = 0.0
    for resource in range(resources):
        follower = float(loads.of_follower[row, resource])
        beside = loads.of_leader[row, resource] - follower
        for broker in range(brokers):
            of.follows[broker] += follower * loads.prices[resource, broker]
            of.extra[broker] += beside * loads.prices[resource, broker]
    for column in range(rules.current.shape[1]):
        broker = rules.current[row, column]
        if broker >= 0:
            of.left[column] = of.follows[broker] + (0.0 if rules.stays_free[row, column] else cost)
    for broker in range(brokers):
        is_eligible = rules.may_receive[domain, broker] and rules.most[domain, rules.rack_of[broker]] > 0
        of.follows[broker] = of.follows[broker] + cost if is_eligible else np.inf
    for column in range(rules.current.shape[1]):
        broker = rules.current[row, column]
        if broker >= 0 and (rules.most[domain, rules.rack_of[broker]] > 0 or broker == rules.must_keep[row]):
            of.follows[broker] = of.left[column]


@subroutine
def _raise_costs(rules: LoadRules, row: int, of: Candidates, moving: float, since: float, level: FloatVector) -> None:
    """Raise the costs of moves with the load that a broker has by now."""
    for column in range(rules.current.shape[1]):
        if rules.current[row, column] >= 0:
            of.left[column] = of.follows[rules.current[row, column]]
    for broker in range(len(level)):
        of.follows[broker] += moving * min(level[broker] * since, FULLEST)
    for column in range(rules.current.shape[1]):
        if rules.current[row, column] >= 0 and rules.stays_free[row, column]:
            of.follows[rules.current[row, column]] = of.left[column]


@subroutine
def choose(rules: LoadRules, row: int, of: Candidates) -> None:
    """Take the cheapest legal set of followers."""
    domain = rules.domain_of[row]
    choose_cheapest(
        of.follows,
        np.inf,
        rules.rack_of,
        rules.least[domain],
        rules.most[domain],
        rules.factor[domain],
        rules.must_keep[row],
        of.left,
        of.members,
        of.per_rack,
    )


@subroutine
def _least_cost(rules: LoadRules, row: int, of: Candidates) -> float:
    """A lower bound on the cost of legal replicas and a leader among them, as exact as floating sums are."""
    choose(rules, row, of)
    total, least_extra, costliest = 0.0, np.inf, -np.inf
    for i in range(rules.factor[rules.domain_of[row]]):
        member = of.members[i]
        if member >= 0:
            total += of.follows[member]
            costliest = max(costliest, of.follows[member])
            least_extra = min(least_extra, of.extra[member])
    for broker in range(len(of.follows)):
        if of.follows[broker] + of.extra[broker] - costliest < least_extra:
            replaced = _costliest_for(rules, row, of, broker)
            least_extra = min(least_extra, of.follows[broker] + of.extra[broker] - replaced)
    return float(total + least_extra) if np.isfinite(least_extra) else float(total)


@subroutine
def _costliest_for(rules: LoadRules, row: int, of: Candidates, candidate: int) -> float:
    """The cost of the costliest member that a candidate may replace in the cheapest legal set; -inf if there is none,
    or if it is a member itself.
    """
    costliest = -np.inf
    for i in range(rules.factor[rules.domain_of[row]]):
        member = of.members[i]
        if member == candidate or member < 0:
            return -np.inf
        if may_replace(rules, row, of, member, candidate):
            costliest = max(costliest, of.follows[member])
    return float(costliest)


@subroutine
def may_replace(rules: LoadRules, row: int, of: Candidates, member: int, other: int) -> bool:
    """Whether another broker may replace a member of the cheapest legal set, which is no member itself."""
    domain, rack, left = rules.domain_of[row], rules.rack_of[other], rules.rack_of[member]
    has_room = of.per_rack[rack] < rules.most[domain, rack] and of.per_rack[left] > rules.least[domain, left]
    return bool(member != rules.must_keep[row] and (left == rack or has_room))


@subroutine
def _use(rules: LoadRules, loads: PricedLoads, row: int, of: Candidates, moving: float, since: float) -> None:
    """Add the loads of the chosen replicas, led by the cheapest of them."""
    factor = rules.factor[rules.domain_of[row]]
    leader, least = NO_BROKER, np.inf
    for i in range(factor):
        broker = of.members[i]
        if broker >= 0:
            lead = of.extra[broker] + LEADER_SPREAD * moving * _fullness(loads, broker, since)
            if lead < least:
                leader, least = broker, lead
    for i in range(factor):
        if of.members[i] >= 0:
            _add(loads, row, of.members[i], of.members[i] == leader)


@subroutine
def _add(loads: PricedLoads, row: int, broker: int, leads: bool) -> None:
    """Add the load of a replica."""
    for resource in range(len(loads.prices)):
        loads.used[broker, resource] += loads.of_leader[row, resource] if leads else loads.of_follower[row, resource]
    _refresh_level(loads, broker)


@subroutine
def _cost_in_place(rules: LoadRules, loads: PricedLoads, row: int, moving: float, since: float) -> tuple[float, bool]:
    """The cost of a row in place, and whether no move can cost less: then its loads are added to `used`.

    Moving k replicas costs at least k times a move to a broker with the lowest price of each resource, and may change
    the leader's extra once.
    """
    cost, costliest, least_extra, least_raised, leader = 0.0, -np.inf, np.inf, np.inf, np.int32(NO_BROKER)
    for broker in rules.current[row]:
        if broker < 0:
            continue
        follow, lead = 0.0, 0.0
        for resource in range(len(loads.prices)):
            price = loads.prices[resource, broker]
            follow += price * loads.of_follower[row, resource]
            lead += price * (loads.of_leader[row, resource] - loads.of_follower[row, resource])
        cost += follow
        costliest = max(costliest, follow)
        least_extra = min(least_extra, lead)
        lead += LEADER_SPREAD * moving * _fullness(loads, broker, since)
        if lead < least_raised:
            least_raised, leader = lead, broker
    received, led = 0.0, 0.0
    for resource in range(len(loads.prices)):
        beside = loads.of_leader[row, resource] - loads.of_follower[row, resource]
        received += loads.lowest[resource] * loads.of_follower[row, resource]
        led += (loads.lowest[resource] if beside > 0 else loads.highest[resource]) * beside
    if costliest - received + max(0.0, least_extra - led) > rules.cost[row]:
        return 0.0, False
    for broker in rules.current[row]:
        if broker >= 0:
            _add(loads, row, broker, broker == leader)
    return float(cost + least_extra), True


@subroutine
def _fullness(loads: PricedLoads, broker: int, since: float) -> float:
    """The load of a broker by now over what it may have by now, of the fullest resource of `more`; at most `FULLEST`.

    Parameters
    ----------
    since : all rows over those that are placed by now.
    """
    level = 0.0
    for resource in range(len(loads.more)):
        if loads.more[resource]:
            level = max(level, loads.used[broker, resource] * loads.unit[broker, resource])
    return min(level * since, FULLEST)


@subroutine
def _refresh_level(loads: PricedLoads, broker: int) -> None:
    """Compute the load of a broker over what it may have anew, of the fullest resource."""
    fullest = 0.0
    for resource in range(len(loads.prices)):
        fullest = max(fullest, loads.used[broker, resource] * loads.unit[broker, resource])
    loads.level[broker] = fullest
