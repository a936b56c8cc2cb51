"""Bounds by duality: a price for each broker's load, at which every partition chooses its cheapest legal set alone.

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

from app.core.model import Int32s, Int64s
from app.core.reassignment.balance import Band
from app.core.reassignment.loads.rules import Rules
from app.core.reassignment.problem import NO_HOME

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
    from app.core.reassignment.loads.prices_kernel import (  # noqa: PLC0415 — numba takes most of a second to import
        LIMB,
        cheapest_places,
        settled_rows,
    )

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
