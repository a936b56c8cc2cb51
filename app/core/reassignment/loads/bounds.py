"""Lower bounds: the lowest ceiling and the highest floor of loads, and the least movement within a band.

The ceiling and the floor are those of the relaxation in which replicas may be split (`bands`), with the partitions of a
domain as a group: a broker has at most one whole replica of each partition, a rack between its `least` and `most`, and
a broker that may only keep replicas no more than it has. The ceiling is raised to what whole replicas require: of the
heaviest k · n + 1 replicas that n brokers must have, some broker has k + 1.

The movement is bounded by Lagrangian duality: with a dual price on each broker's load, every partition chooses its
cheapest legal set alone, and no placement within the band costs less than those choices less the value of the band at
these prices. Prices are integers over one denominator and sums are exact, so that the bound is valid as computed.
Prices start as the marginal cost of the last replica that a broker has to shed for the ceiling, or to receive for the
floor, and are improved by subgradient steps of Polyak's length.

Source: Held, Wolfe and Crowder, "Validation of subgradient optimization" (1974); Polyak, "Minimization of unsmooth
functionals" (1969).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.bands import GroupedLoads
from app.core.reassignment.loads.heavy_bound import heavy_movement_bound
from app.core.reassignment.loads.legal_sets_kernel import LIMB, rows_legal_in_place, sum_of_cheapest_sets
from app.core.reassignment.loads.rules import LoadRules
from app.core.reassignment.model import Band
from app.core.replica_lists import per_broker, sums_by


def lowest_ceiling(rules: LoadRules, base_load: Int64s) -> int:
    """A lower bound on the largest load of a target broker.

    Complexity: O(log(total load)) maximum flows over domains, racks and brokers.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    """
    groups = _grouped_loads(rules, base_load)
    return max(groups.lowest_ceiling(), _whole_replica_bound(rules, groups))


def highest_floor(rules: LoadRules, base_load: Int64s, ceiling: int) -> int:
    """An upper bound on the smallest load of a target broker, among placements below the ceiling; 0 if there are
    none.
    """
    return _grouped_loads(rules, base_load).highest_floor(ceiling)


def _grouped_loads(rules: LoadRules, base_load: Int64s) -> GroupedLoads:
    """The load that each domain spreads."""
    domains, brokers = rules.may_receive.shape
    partitions = sums_by(rules.domain_of, rules.load, domains)
    must, may = (_in_domains(rules, replicas, brokers) for replicas in (rules.must_keep[:, None], rules.current))
    may = np.where(rules.may_receive, partitions[:, None], may)
    total = partitions * rules.factor
    domain, broker = np.nonzero(may)
    return GroupedLoads(
        total=total,
        least=rules.least * partitions[:, None],
        most=np.minimum(rules.most * partitions[:, None], total[:, None]),
        group=domain,
        broker=broker,
        must=must[domain, broker],
        may=may[domain, broker],
        rack_of=rules.rack_of,
        target=rules.target,
        base=base_load,
        floor_cap=rules.floor_cap,
    )


def _in_domains(rules: LoadRules, replicas: Int32s, brokers: int) -> Int64s:
    """(domains, brokers) int64: the load of these replicas, (rows, …) int32, by domain."""
    row, column = np.nonzero(replicas != NO_REPLICA)
    cells = rules.domain_of[row].astype(np.int64) * brokers + replicas[row, column]
    return sums_by(cells, rules.load[row], len(rules.factor) * brokers).reshape(-1, brokers)


def _whole_replica_bound(rules: LoadRules, groups: GroupedLoads) -> int:
    """The least load that the heaviest whole replicas put on one broker, over all targets and over those of each
    rack.
    """
    may = np.isin(np.arange(len(groups.base)), groups.broker)
    bounds = [0]
    regions: list[tuple[NDArray[np.bool_], Int64s]] = [(np.full(len(may), True), rules.factor)]
    regions += [(np.asarray(rules.rack_of == rack), least) for rack, least in enumerate(rules.least.T)]
    for inside, of_domain in regions:
        receivers = may & inside & rules.target
        copies = np.where(_may_leave_targets(rules, inside & ~rules.target), 0, of_domain[rules.domain_of])
        heaviest = -np.sort(-np.repeat(rules.load, copies))
        if receivers.any() and len(heaviest):
            bounds.append(
                _heaviest_share(heaviest, int(np.count_nonzero(receivers))) + int(groups.base[receivers].min())
            )
    return max(bounds)


def _may_leave_targets(rules: LoadRules, beside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(rows,) bool: whether a replica may be on one of these brokers, whose loads do not count."""
    leaves: NDArray[np.bool_] = np.asarray((rules.may_receive & beside).any(axis=1))[rules.domain_of]
    for current_broker in rules.current.T:
        leaves |= (current_broker != NO_REPLICA) & beside[current_broker]
    return leaves


def _heaviest_share(heaviest: Int64s, brokers: int) -> int:
    """The largest sum of k + 1 replicas that have to share a broker: the lightest of the first k · brokers + 1."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(heaviest)])
    k = np.arange((len(heaviest) - 1) // brokers + 1)
    ends = k * brokers + 1
    return int((sums[ends] - sums[ends - k - 1]).max())


LARGEST_COST = 1 << 59
"""Limit of the cost of a single row."""
MAX_STEPS = 80
PATIENCE = 10
"""Steps without a better bound until the step length is halved; after three times as many the search ends."""
GOOD_ENOUGH = 1e-4
"""Relative gap at which the search ends."""


@dataclass(frozen=True, slots=True, eq=False)
class _Dual:
    """The Lagrangian dual of a band. scale : denominator of the prices. largest : limit of a price times it."""

    rules: LoadRules = field(repr=False)
    base_load: Int64s = field(repr=False)
    band: Band
    scale: int
    largest: int

    def whole(self, prices: NDArray[np.float64]) -> Int64s:
        """(brokers,) int64 prices times the scale; 0 of brokers that are no targets."""
        whole = np.rint(np.clip(prices * self.scale, -self.largest, self.largest)).astype(np.int64)
        return np.where(self.rules.target, whole, 0)

    def value(self, prices: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
        """The bound at these prices, and a subgradient."""
        rules, whole = self.rules, self.whole(prices)
        cost, used = least_cost(rules, whole, rules.cost * self.scale)
        loads = _evened(used, rules.rack_of, whole) + self.base_load
        for price, base in zip(whole.tolist(), self.base_load.tolist(), strict=True):
            cost -= price * ((self.band.high if price > 0 else self.band.low) - base)
        above, below = loads - self.band.high, loads - self.band.low
        still = np.maximum(above, 0) + np.minimum(below, 0)
        slope = np.where(whole > 0, above, np.where(whole < 0, below, still))
        return -(-cost // self.scale), np.where(rules.target, slope, 0).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class MovementBound:
    """A lower bound on the movement, and the dual prices that it was proven with.

    Parameters
    ----------
    prices : (brokers,) int64 of a unit of load, times `scale`; 0 if the broker is no target.
    """

    value: int
    prices: Int64s = field(repr=False)
    scale: int


def movement_lower_bound(
    rules: LoadRules, base_load: Int64s, band: Band, moved: int, is_over: Callable[[], bool]
) -> MovementBound:
    """A lower bound on the movement of placements whose target brokers' loads are within a band.

    Complexity: up to `MAX_STEPS` passes over the partitions, each O(rows · (widest + racks · factor)), compiled.

    Parameters
    ----------
    base_load : (brokers,) int64 of partitions outside the problem.
    band : of the loads of target brokers.
    moved : the movement of some placement within the band; the search ends when the bound is close to it.
    is_over : whether the deadline has passed, checked between steps.
    """
    factor = max(1, int(rules.factor.max(initial=1)))
    costliest, heaviest = int(rules.cost.max(initial=0)), int(rules.load.max(initial=0))
    if moved == 0 or costliest == 0:
        return MovementBound(0, np.zeros(len(base_load), np.int64), 1)
    dual = _Dual(
        rules,
        base_load,
        band,
        scale=max(1, LARGEST_COST // (2 * factor * costliest)),
        largest=LARGEST_COST // (2 * factor * max(1, heaviest)),
    )
    best, _ = dual.value(np.zeros(len(base_load)))
    of_heavy = min(moved, heavy_movement_bound(rules, base_load, band.high))
    prices = first_prices(rules, base_load, band)
    highest, centre, length, waited = np.zeros_like(prices), prices, 1.0, 0
    for _ in range(MAX_STEPS):
        if is_over() or moved - max(best, of_heavy) <= GOOD_ENOUGH * moved:
            break
        placement, slope = dual.value(prices)
        waited += 1
        if placement > best:
            best, highest, centre, waited = placement, prices, prices, 0
        elif waited == 3 * PATIENCE:
            break
        elif waited % PATIENCE == 0:
            prices, length = centre, length / 2
            continue
        steep = float((slope**2).sum())
        if steep == 0:
            break
        stepped = prices + length * max(1.0, moved - placement) / steep * slope
        prices = np.where(prices * stepped < 0, 0.0, stepped)
    return MovementBound(max(best, of_heavy), dual.whole(highest), dual.scale)


def least_cost(rules: LoadRules, prices: Int64s, move_cost: Int64s) -> tuple[int, Int64s]:
    """The least cost of all rows at integral prices, exactly, and the (brokers,) int64 loads of their choices."""
    racks, used = rules.least.shape[1], np.zeros(len(prices), np.int64)
    order = np.lexsort((prices, rules.rack_of))
    by_price = order[np.argsort(~rules.may_receive[:, order], axis=1, kind="stable")]
    domain, broker = np.nonzero(rules.may_receive)
    cells = domain * racks + rules.rack_of[broker]
    per_rack = np.bincount(cells, minlength=len(rules.may_receive) * racks).reshape(-1, racks)
    starts = np.concatenate([np.zeros((len(per_rack), 1), np.int64), np.cumsum(per_rack, axis=1)], axis=1)
    high, low = sum_of_cheapest_sets(rules, rows_legal_in_place(rules), prices, move_cost, by_price, starts, used)
    return (int(high) << LIMB) + int(low), used


def _evened(used: Int64s, rack_of: Int32s, prices: Int64s) -> NDArray[np.float64]:
    """The loads, averaged over brokers of a rack with the same price (other than 0): moved partitions choose the
    first.
    """
    _, group = np.unique(np.stack([rack_of, prices]), axis=1, return_inverse=True)
    group = group.ravel()
    means = np.bincount(group, weights=used) / np.bincount(group)
    return np.where(prices == 0, used, means[group])


def first_prices(rules: LoadRules, base_load: Int64s, band: Band) -> NDArray[np.float64]:
    """(brokers,) float64 initial prices: the cost for its load of the last replica that a broker sheds to reach the
    ceiling; negative for brokers below the floor, by rack: that of the last one that all of them receive.
    """
    brokers, racks = len(base_load), rules.least.shape[1]
    rows, columns = np.nonzero(
        rules.stays_free & (rules.load > 0)[:, None] & (rules.current != rules.must_keep[:, None])
    )
    at, load = rules.current[rows, columns], rules.load[rows]
    in_place = base_load + per_broker(rules.current, brokers, rules.load)
    ratio = rules.cost[rows] / load
    surplus = np.where(rules.target, np.maximum(in_place - band.high, 0), 0)
    giving = _marginal(at, ratio, load, surplus, brokers)
    needed = sums_by(rules.rack_of, np.where(rules.target, np.maximum(band.low - in_place, 0), 0), racks)
    taking = _marginal(rules.rack_of[at], ratio, load, needed, racks)
    is_taking = rules.target & (in_place < band.low)
    # What brokers below the floor receive does not have to be shed for the ceiling.
    return np.where(is_taking, -taking[rules.rack_of], np.maximum(giving - taking[rules.rack_of], 0))


def _marginal(
    group: NDArray[np.int32], ratio: NDArray[np.float64], load: Int64s, amounts: Int64s, groups: int
) -> NDArray[np.float64]:
    """(groups,) the ratio at which the cheapest loads of each group reach its amount; 0 if that is nothing."""
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
