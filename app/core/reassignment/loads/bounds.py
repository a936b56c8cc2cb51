"""Lower bounds: the lowest ceiling and the highest floor of loads, and the least movement within a band.

The lowest ceiling and the highest floor of the brokers' loads, if replicas could be cut to pieces.

All partitions of a domain may then be spread alike, so that a flow from domains over their racks to brokers, in units
of load, says whether a band can be kept: a broker takes at most one whole replica of each partition, a rack between its
`least` and `most`. A broker that may only keep what it has takes no more than that. Whatever whole replicas can do,
pieces can; so no placement has a lower ceiling, nor, below that ceiling, a higher floor.

The ceiling is raised to what whole replicas need of their own: of the heaviest k · n + 1 replicas that n brokers must
take, some broker has k + 1.

Bounds by duality: a price for each broker's load, at which every partition chooses its cheapest legal set alone.

Whatever the prices, a placement within the band costs no less than those choices do, less what the band lets through at
these prices: Lagrange's bound. The best prices give the relaxation's optimum, in which replicas may be cut to pieces.
Prices are whole numbers over one denominator, and the sums exact, so that the bound is one.

Prices begin as what the last replica costs that a broker has to give for the ceiling, or to take for the floor, and are
improved by steps along the subgradient, of Polyak's length. Source: Held, Wolfe and Crowder (1974); Polyak (1969).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.flow import InfeasibleFlow, Network, is_feasible
from app.core.model import Int32s, Int64s
from app.core.reassignment.loads.legal_sets_kernel import (
    LIMB,
    cheapest_places,
    settled_rows,
)
from app.core.reassignment.loads.rules import Rules
from app.core.reassignment.model import NO_HOME, Band


def lowest_ceiling(rules: Rules, base_load: Int64s) -> int:
    """No placement's largest load of a target broker is smaller.

    Raises
    ------
    InfeasibleFlow : if some partition cannot be placed at all.
    """
    shares = _shares(rules)
    total = int(shares.whole.sum())
    beyond = total + int(base_load.max(initial=0))
    if not _can_be_kept(rules, shares, base_load, 0, beyond):
        raise InfeasibleFlow
    bases = base_load[rules.target]
    below = int(bases.max(initial=0)) - 1
    if rules.target.all():
        below = max(below, -(-(total + int(base_load.sum())) // max(1, len(base_load))) - 1)
    above, step = below + 1, 1
    while above < beyond and not _can_be_kept(rules, shares, base_load, 0, above):
        below, above, step = above, min(beyond, above + step), 2 * step
    while above - below > 1:
        middle = (above + below) // 2
        if _can_be_kept(rules, shares, base_load, 0, middle):
            above = middle
        else:
            below = middle
    return max(above, _heaviest_together(rules, shares, base_load))


def highest_floor(rules: Rules, base_load: Int64s, ceiling: int) -> int:
    """No placement below the ceiling has a larger smallest load of a target broker; 0 where there is none below it."""
    shares = _shares(rules)
    if not rules.target.any():
        return 0
    below, above = 0, ceiling + 1
    while above - below > 1:
        middle = (above + below) // 2
        if _can_be_kept(rules, shares, base_load, middle, ceiling):
            below = middle
        else:
            above = middle
    return below


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """What each domain has to spread. whole : (domains,) load of all its replicas; partitions : of one of each.

    must, may : (domains, brokers) int64, the least and the most of it that a broker takes.
    """

    whole: Int64s
    partitions: Int64s
    must: Int64s
    may: Int64s


def _shares(rules: Rules) -> _Shares:
    domains, brokers = rules.may_receive.shape
    partitions = np.zeros(domains, np.int64)
    np.add.at(partitions, rules.domain_of, rules.load)
    must, may = np.zeros((domains, brokers), np.int64), np.zeros((domains, brokers), np.int64)
    for home in rules.homes.T:
        held = home != NO_HOME
        np.add.at(may, (rules.domain_of[held], home[held]), rules.load[held])
    may = np.where(rules.may_receive, partitions[:, None], may)
    kept = rules.must_keep != NO_HOME
    np.add.at(must, (rules.domain_of[kept], rules.must_keep[kept]), rules.load[kept])
    return _Shares(partitions * rules.factor, partitions, must, may)


def _can_be_kept(rules: Rules, shares: _Shares, base_load: Int64s, low: int, high: int) -> bool:
    """Whether pieces can be spread so that every target broker's load is within low … high."""
    domains, brokers = shares.may.shape
    racks = rules.least.shape[1]
    total = int(shares.whole.sum())
    least = np.where(rules.target, np.maximum(0, low - base_load), 0)
    most = np.where(rules.target, high - base_load, total)
    domain, broker = np.nonzero(shares.may)
    rack_nodes = domains + np.arange(domains * racks)
    first_broker = domains + domains * racks
    sink = first_broker + brokers
    tails = [np.repeat(np.arange(domains), racks), domains + domain * racks + rules.rack_of[broker]]
    heads = [rack_nodes, first_broker + broker]
    lower = [(rules.least * shares.partitions[:, None]).ravel(), shares.must[domain, broker]]
    upper = [
        np.minimum(rules.most * shares.partitions[:, None], shares.whole[:, None]).ravel(),
        shares.may[domain, broker],
    ]
    return _has_flow(
        np.concatenate([shares.whole, np.zeros(domains * racks + brokers, np.int64), [-total]]),
        np.concatenate([*tails, first_broker + np.arange(brokers)]),
        np.concatenate([*heads, np.full(brokers, sink)]),
        np.concatenate([*lower, least]),
        np.concatenate([*upper, most]),
    )


def _has_flow(supplies: Int64s, tails: Int64s, heads: Int64s, lower: Int64s, upper: Int64s) -> bool:
    if (lower > upper).any():
        return False
    supplies = supplies.copy()
    np.subtract.at(supplies, tails, lower)
    np.add.at(supplies, heads, lower)
    return is_feasible(Network(supplies, tails.astype(np.int32), heads.astype(np.int32), upper - lower))


def _heaviest_together(rules: Rules, shares: _Shares, base_load: Int64s) -> int:
    """What the heaviest replicas put on one broker at least, over all target brokers and over those of each rack."""
    may: NDArray[np.bool_] = np.asarray(shares.may.any(axis=0))
    bounds = [0]
    regions: list[tuple[NDArray[np.bool_], Int64s]] = [(np.full(len(may), True), rules.factor)]
    regions += [(np.asarray(rules.rack_of == rack), least) for rack, least in enumerate(rules.least.T)]
    for inside, of_domain in regions:
        takers = may & inside & rules.target
        copies = np.where(_may_escape(rules, inside & ~rules.target), 0, of_domain[rules.domain_of])
        heaviest = -np.sort(-np.repeat(rules.load, copies))
        if takers.any() and len(heaviest):
            bounds.append(_crowded(heaviest, int(np.count_nonzero(takers))) + int(base_load[takers].min()))
    return max(bounds)


def _may_escape(rules: Rules, beside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(rows,) bool, whether a replica may be on one of these brokers, whose loads do not count."""
    escapes: NDArray[np.bool_] = np.asarray((rules.may_receive & beside).any(axis=1))[rules.domain_of]
    for home in rules.homes.T:
        escapes |= (home != NO_HOME) & beside[home]
    return escapes


def _crowded(heaviest: Int64s, brokers: int) -> int:
    """The largest sum of k + 1 replicas that have to be together: the lightest of the first k · brokers + 1."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(heaviest)])
    k = np.arange((len(heaviest) - 1) // brokers + 1)
    ends = k * brokers + 1
    return int((sums[ends] - sums[ends - k - 1]).max())


ROOM = 1 << 59
"""What the cost of a single row may come to."""
MOST_STEPS = 80
PATIENCE = 10
"""Steps without a better bound, after which steps become half as long; after three times as many, they end."""
GOOD_ENOUGH = 1e-4
"""A gap that is not worth another step."""


@dataclass(frozen=True, slots=True, eq=False)
class _Dual:
    """The bound's problem. scale : the prices' denominator; largest : what a price times it may come to."""

    rules: Rules = field(repr=False)
    base_load: Int64s = field(repr=False)
    band: Band
    scale: int
    largest: int

    def value(self, prices: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
        """The bound at these prices, and the direction in which it grows."""
        rules, whole = self.rules, np.rint(np.clip(prices * self.scale, -self.largest, self.largest)).astype(np.int64)
        whole[~rules.target] = 0
        cost, used = least_cost(rules, whole, rules.cost * self.scale)
        loads = _evened(used, rules.rack_of, whole) + self.base_load
        for price, base in zip(whole.tolist(), self.base_load.tolist(), strict=True):
            cost -= price * ((self.band.high if price > 0 else self.band.low) - base)
        above, below = loads - self.band.high, loads - self.band.low
        still = np.maximum(above, 0) + np.minimum(below, 0)
        slope = np.where(whole > 0, above, np.where(whole < 0, below, still))
        return -(-cost // self.scale), np.where(rules.target, slope, 0).astype(np.float64)


def least_movement(rules: Rules, base_load: Int64s, band: Band, moved: int, is_over: Callable[[], bool]) -> int:
    """No placement whose target brokers' loads are within the band moves less.

    Parameters
    ----------
    moved : what some placement in the band moves; the search ends when its bound comes near.
    is_over : asked between steps.
    """
    factor = max(1, int(rules.factor.max(initial=1)))
    dearest, heaviest = int(rules.cost.max(initial=0)), int(rules.load.max(initial=0))
    if moved == 0 or dearest == 0:
        return 0
    dual = _Dual(
        rules,
        base_load,
        band,
        scale=max(1, ROOM // (2 * factor * dearest)),
        largest=ROOM // (2 * factor * max(1, heaviest)),
    )
    best, _ = dual.value(np.zeros(len(base_load)))
    prices = first_prices(rules, base_load, band)
    centre, length, waited = prices, 1.0, 0
    for _ in range(MOST_STEPS):
        if is_over() or moved - best <= GOOD_ENOUGH * moved:
            break
        found, slope = dual.value(prices)
        waited += 1
        if found > best:
            best, centre, waited = found, prices, 0
        elif waited == 3 * PATIENCE:
            break
        elif waited % PATIENCE == 0:
            prices, length = centre, length / 2
            continue
        steep = float((slope**2).sum())
        if steep == 0:
            break
        stepped = prices + length * max(1.0, moved - found) / steep * slope
        prices = np.where(prices * stepped < 0, 0.0, stepped)
    return best


def least_cost(rules: Rules, prices: Int64s, move_cost: Int64s) -> tuple[int, Int64s]:
    """What all rows cost at least at whole prices, exactly, and the (brokers,) int64 loads of their choices."""
    racks, used = rules.least.shape[1], np.zeros(len(prices), np.int64)
    order = np.lexsort((prices, rules.rack_of))
    by_price = order[np.argsort(~rules.may_receive[:, order], axis=1, kind="stable")]
    per_rack = np.zeros((len(rules.may_receive), racks), np.int64)
    domain, broker = np.nonzero(rules.may_receive)
    np.add.at(per_rack, (domain, rules.rack_of[broker]), 1)
    starts = np.concatenate([np.zeros((len(per_rack), 1), np.int64), np.cumsum(per_rack, axis=1)], axis=1)
    high, low = cheapest_places(rules, settled_rows(rules), prices, move_cost, by_price, starts, used)
    return (int(high) << LIMB) + int(low), used


def _evened(used: Int64s, rack_of: Int32s, prices: Int64s) -> NDArray[np.float64]:
    """The loads, where brokers of a rack have one price (but 0) their mean: partitions that move choose the first."""
    _, group = np.unique(np.stack([rack_of, prices]), axis=1, return_inverse=True)
    group = group.ravel()
    means = np.bincount(group, weights=used) / np.bincount(group)
    return np.where(prices == 0, used, means[group])


def first_prices(rules: Rules, base_load: Int64s, band: Band) -> NDArray[np.float64]:
    """(brokers,) what the last replica costs, for its load, that a broker gives to come below the ceiling; below 0 for
    those that have to take, by rack: what the last one costs that all of them take together."""
    brokers, racks = len(base_load), rules.least.shape[1]
    rows, columns = np.nonzero(rules.stays_free & (rules.load > 0)[:, None] & (rules.homes != rules.must_keep[:, None]))
    at, load = rules.homes[rows, columns], rules.load[rows]
    at_home = base_load.astype(np.int64).copy()
    for home in rules.homes.T:
        held = home != NO_HOME
        np.add.at(at_home, home[held], rules.load[held])
    ratio = rules.cost[rows] / load
    surplus = np.where(rules.target, np.maximum(at_home - band.high, 0), 0)
    giving = _marginal(at, ratio, load, surplus, brokers)
    needed = np.zeros(racks, np.int64)
    np.add.at(needed, rules.rack_of, np.where(rules.target, np.maximum(band.low - at_home, 0), 0))
    taking = _marginal(rules.rack_of[at], ratio, load, needed, racks)
    is_taking = rules.target & (at_home < band.low)
    # What goes to those that take does not have to be given for the ceiling.
    return np.where(is_taking, -taking[rules.rack_of], np.maximum(giving - taking[rules.rack_of], 0))


def _marginal(
    group: NDArray[np.int32], ratio: NDArray[np.float64], load: Int64s, amounts: Int64s, groups: int
) -> NDArray[np.float64]:
    """(groups,) the ratio at which the cheapest loads of each group come to its amount; 0 where that is nothing."""
    order = np.lexsort((ratio, group))
    group, ratio, load = group[order], ratio[order], load[order]
    counts = np.bincount(group, minlength=groups)
    starts = np.cumsum(counts) - counts
    sums = np.cumsum(load)
    before = np.concatenate([np.zeros(1, np.int64), sums])[starts]
    last = np.searchsorted(sums, before + amounts)
    last = np.minimum(last, starts + counts - 1)
    some = (amounts > 0) & (counts > 0)
    marginal = np.zeros(groups)
    marginal[some] = ratio[last[some]]
    return marginal
