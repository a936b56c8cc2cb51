"""A lower bound on the moved weight of all placements within ceilings, floors and limits, by Lagrangian duality.

With dual prices on loads above a ceiling and below a floor, every partition chooses its cheapest legal replicas and
leader alone. No placement within the bounds costs less than those choices less the value of the bounds at these prices.
The first prices are the marginal weight of the last replica that a broker has to shed, or to receive, or both. From the
best of these an ascent begins, whose steps follow the slopes of a smoothed dual with lengths by Adam, ever shorter. The
bound is that of the dual itself. Without smoothing an ascent ends where it begins: all partitions prefer the same
broker, and at the prices that make a move free every direction but a few leads down. A shift of all prices of a
resource hardly changes the choices, so that the slopes of single prices do not lead to the best one: it is searched at
the end.

Sums are floating: the bound is lowered by more than what they are rounded by, `ROUNDING` for each addition of all that
is added at most, whatever its sign.

Source: Held, Wolfe and Crowder, "Validation of subgradient optimization" (1974); Kingma and Ba, "Adam" (2015).
"""

from math import ceil
from operator import itemgetter

import numpy as np

from app.core.model import NO_REPLICA, Bools, Float64s, Int32s, Int64s
from app.core.reassignment.bounds.prices_kernel import PricedLoads, sum_of_cheapest_choices
from app.core.reassignment.legal_sets_kernel import rows_legal_in_place
from app.core.reassignment.model import Deadline
from app.core.reassignment.resource_problem import MILLION, NO_LIMIT, Bounds, ResourceProblem, SearchedPlacement
from app.core.reassignment.rules import LoadRules, moved_weight

ROUNDING = 2.0**-52
MIN_STEPS, MAX_STEPS = 8, 300
WORK = 2e9
"""Products of rows, brokers, resources and steps at most."""
SPREAD = (0.3, 3e-4)
"""First and last: how much the loads of choices are smoothed (`prices_kernel`)."""
LENGTH = (0.05, 3e-5)
"""First and last length of a step, in shares of the weight of a broker."""
STEADY, STEADY_SQUARES = 0.7, 0.95
"""How much of earlier slopes, and of their squares, counts in a step."""
LEAST_PRICE = 1e-3
"""Least share of the highest price of a resource that is no 0."""
WIDE = 5e-3
"""Relative gap above which better prices are searched for."""
CLOSE = 1e-3
"""Relative gap at which that ends."""


def moved_lower_bound(
    dual: "Dual", start: Int32s, moved: int, is_over: Deadline, *, known: int = 0
) -> tuple[int, Float64s]:
    """A lower bound on the moved weight of placements within the bounds of the dual, and (brokers, resources) float64
    prices of its largest value that was found.

    Parameters
    ----------
    start : the fewest moves: what they weigh is a bound in any case. moved : what some placement moves, the target of
        the steps. known : a bound that is proven already.
    """
    rules = dual.rules
    least = max(known, moved_weight(rules, start))
    if least >= moved or not dual.unit.size or is_over():
        return min(least, moved), np.zeros_like(dual.unit)
    best, prices = max(((dual.value(each)[0], each) for each in dual.first_prices(start)), key=itemgetter(0))
    steps = min(MAX_STEPS, int(WORK / max(1, len(rules.cost) * dual.unit.size)))
    if moved - max(best, least) > WIDE * moved and steps >= MIN_STEPS:
        best, prices = max((best, prices), _ascended(dual, prices, steps, moved, is_over), key=itemgetter(0))
    return min(moved, max(least, whole(best))), prices


def whole(bound: float) -> int:
    """The least whole movement that a value of the dual leaves."""
    return ceil(bound - 0.5)


def _ascended(dual: "Dual", prices: Float64s, steps: int, moved: int, is_over: Deadline) -> tuple[float, Float64s]:
    """The best bound on the way from some prices, and its prices; ends near `moved`, and at the deadline.

    Steps are as long for each price as its slopes were steady, and become shorter; so does the spread.
    """
    unit, largest = dual.unit, dual.weight_of_broker()
    best, best_prices = -np.inf, prices
    first, second = np.zeros_like(prices), np.zeros_like(prices)
    for step in range(steps):
        done = step / steps
        value, slope = dual.value(prices, SPREAD[0] * (SPREAD[1] / SPREAD[0]) ** done)
        if value > best:
            best, best_prices = value, prices
        if is_over() or moved - best <= CLOSE * moved:
            break
        scaled = slope * unit
        first = STEADY * first + (1 - STEADY) * scaled
        second = STEADY_SQUARES * second + (1 - STEADY_SQUARES) * scaled * scaled
        deviation = np.sqrt(second / (1 - STEADY_SQUARES ** (step + 1))) + 1e-3
        length = largest * LENGTH[0] * (LENGTH[1] / LENGTH[0]) ** done
        prices = dual.allowed(prices, prices + length * first / (1 - STEADY ** (step + 1)) / deviation * unit)
    # A shift takes some ten values a resource, which may not cost more than what it adds to.
    return _shifted(dual, best, best_prices, is_over) if steps >= MAX_STEPS // 2 else (best, best_prices)


def _shifted(dual: "Dual", value: float, prices: Float64s, is_over: Deadline) -> tuple[float, Float64s]:
    """A bound and its prices after the best shift of those of each resource that are not 0, all by the same.

    The bound is concave in the shift, with kinks where a price changes its sign: a bisection finds the best of these.
    """
    for resource in range(prices.shape[1]):
        column, together = prices[:, resource], np.zeros_like(prices)
        together[:, resource] = np.abs(column) > LEAST_PRICE * np.abs(column).max()
        kinks = np.unique(-column[together[:, resource] > 0])
        low, high = 0, len(kinks) - 1
        while low < high and not is_over():
            middle = (low + high) // 2
            between = (kinks[middle] + kinks[middle + 1]) / 2
            _, slope = dual.value(dual.with_bounds(prices + between * together))
            low, high = (middle + 1, high) if (slope * together).sum() > 0 else (low, middle)
        if low == high:
            shifted = dual.with_bounds(prices + kinks[low] * together)
            value, prices = max((value, prices), (dual.value(shifted)[0], shifted), key=itemgetter(0))
    return value, prices


class Dual:
    """The bounds as arrays, widened to a placement that is outside, and the loads that every placement has at least, of
    the resources that have bounds.

    Attributes
    ----------
    resources : (those with bounds,) int64.
    ceiling, floor : (brokers, resources) float64; infinite and 0 if there is none. unit : 1 over the ceiling, or 0.
    base : (brokers, resources) float64.
    settled : (rows,) bool, legal in place.
    added : (resources,) float64 load that the choices of all rows add at most.
    """

    def __init__(
        self, problem: ResourceProblem, rules: LoadRules, bounds: Bounds, placement: SearchedPlacement
    ) -> None:
        high = np.where(bounds.unit > 0, bounds.ceiling, NO_LIMIT)
        high = np.minimum(high, problem.limits.upper)
        unbounded, high = high >= NO_LIMIT, np.maximum(high, placement.loads)
        low = np.where(bounds.unit > 0, np.minimum(bounds.floor, placement.loads), 0)
        of_leader, of_follower = problem.loads.of_leader, problem.loads.of_follower
        reads = problem.loads.reads
        if reads is not None:  # Of the consumers, a leader serves at least those that no follower can.
            widest = int(rules.factor.max(initial=1))
            others = int(np.sort(reads.client_share)[::-1][: max(0, widest - 1)].sum())
            of_leader = of_leader + reads.load * max(0, MILLION - others) // MILLION
            low = np.zeros_like(low)
        bounded = ~unbounded.all(axis=0) | (low > 0).any(axis=0)
        self.resources = np.flatnonzero(bounded)
        self.rules, self.settled = rules, rows_legal_in_place(rules)
        self.base = problem.loads.base[:, bounded].astype(np.float64)
        self.ceiling = np.where(unbounded, np.inf, high.astype(np.float64))[:, bounded]
        self.floor = low[:, bounded].astype(np.float64)
        self.of_leader = np.ascontiguousarray(of_leader[:, bounded])
        self.of_follower = np.ascontiguousarray(of_follower[:, bounded])
        self.unit = np.ascontiguousarray(np.where(unbounded, 0.0, 1.0 / np.maximum(high, 1))[:, bounded])
        self.added = _added(rules, self.of_leader, self.of_follower)

    def value(self, prices: Float64s, spread: float = 0.0) -> tuple[float, Float64s]:
        """The bound at some prices, and its slope: (brokers, resources) load beyond the bound that the price is for."""
        loads = self.priced(prices)
        used = loads.used
        cost = sum_of_cheapest_choices(self.rules, loads, self.settled, spread)
        bound = np.where(prices > 0, np.where(np.isinf(self.ceiling), 0, self.ceiling), self.floor)
        priced = prices * (self.base - bound)
        value = cost + float(priced.sum())
        magnitude = self.weight() + float((np.abs(prices) * (self.base + bound)).sum())
        magnitude += float((np.abs(prices).max(axis=0) * self.added).sum())
        above = np.where(np.isinf(self.ceiling), 0.0, used - self.ceiling)
        below = used - self.floor
        slope = np.where(prices > 0, above, np.where(prices < 0, below, np.maximum(above, 0) + np.minimum(below, 0)))
        return value - ROUNDING * self.additions() * magnitude, slope

    def priced(self, prices: Float64s) -> PricedLoads:
        """The loads under some prices; `used` has the base."""
        return _priced(self.of_leader, self.of_follower, prices, self.unit, self.base.copy())

    def allowed(self, before: Float64s, after: Float64s) -> Float64s:
        """Prices after a step that have a bound to be of; one that changes its sign is 0 first."""
        after[before * after < 0] = 0
        return self.with_bounds(after)

    def with_bounds(self, prices: Float64s) -> Float64s:
        """Prices that have a bound to be of."""
        prices[np.isinf(self.ceiling) & (prices > 0)] = 0
        prices[(self.floor <= 0) & (prices < 0)] = 0
        return prices

    def additions(self) -> int:
        """More than the additions and products that any one term of the bound passes through."""
        resources = self.base.shape[1]
        return int(len(self.rules.cost) + self.base.size + 4 * (resources + self.rules.factor.max(initial=1)) + 16)

    def weight(self) -> float:
        """The weight of all replicas."""
        return float((self.rules.cost * self.rules.factor[self.rules.domain_of]).sum())

    def weight_of_broker(self) -> float:
        """The mean weight of the replicas of a broker: what its whole load is worth at most."""
        return self.weight() / len(self.ceiling)

    def _beside_bounds(self, start: Int32s) -> tuple[Float64s, Float64s]:
        """(brokers, resources) float64: load above ceilings, and missing to floors, with forced moves alone."""
        in_place = self.base.copy()
        rows, columns = np.nonzero(start != NO_REPLICA)
        of_slot = np.where((columns == 0)[:, None], self.of_leader[rows], self.of_follower[rows])
        np.add.at(in_place, start[rows, columns], of_slot)
        above = np.where(np.isinf(self.ceiling), 0, np.maximum(in_place - self.ceiling, 0))
        return above, np.maximum(self.floor - in_place, 0)

    def first_prices(self, start: Int32s) -> list[Float64s]:
        """Prices to start from: of what brokers shed, of what they receive, and of both.

        A broker has a price for one resource, the one that costs most: the weight for the load of the last replica that
        it has to shed for its ceiling, or that all brokers together have to receive for their floors.
        """
        rules = self.rules
        rows, columns = np.nonzero(start != NO_REPLICA)
        broker = start[rows, columns]
        excess, lacking = self._beside_bounds(start)
        giving, taking = np.zeros_like(excess), np.zeros_like(excess)
        # Of a leader that gives up the lead, a broker sheds at no weight what leading adds: followers' loads count.
        load, cost = self.of_follower[rows], rules.cost[rows]
        for at, resource in zip(*np.nonzero(excess), strict=True):
            mine = np.flatnonzero(broker == at)
            giving[at, resource] = _marginal(load[mine, resource], cost[mine], excess[at, resource])
        for resource in np.flatnonzero(lacking.any(axis=0)):
            marginal = _marginal(load[:, resource], cost, float(lacking[:, resource].sum()))
            taking[lacking[:, resource] > 0, resource] = marginal
        shed, received = _dearest(giving, excess), _dearest(taking, lacking)
        both = np.maximum(shed - received.max(axis=0), 0) - received
        return [shed, -received, both]


def least_load(rules: LoadRules, group: Bools) -> float:
    """A lower bound on what all replicas load on some brokers and cost, added; brokers of `rules.load`."""
    load, nothing = rules.load[:, None], np.zeros((len(group), 1))
    priced = _priced(load, load, group.astype(np.float64)[:, None], nothing, nothing.copy())
    total = sum_of_cheapest_choices(rules, priced, rows_legal_in_place(rules), 0.0)
    return total * (1 - ROUNDING * (len(rules.load) + 4 * len(group)))


def _priced(of_leader: Int64s, of_follower: Int64s, prices: Float64s, unit: Float64s, used: Float64s) -> PricedLoads:
    """Loads under (brokers, resources) prices; those of choices are added to `used`."""
    brokers, resources = prices.shape
    by_resource, lowest, highest = np.ascontiguousarray(prices.T), prices.min(axis=0), prices.max(axis=0)
    level, more = np.zeros(brokers), np.zeros(resources, np.bool_)
    return PricedLoads(of_leader, of_follower, by_resource, lowest, highest, unit, used, level, more)


def _added(rules: LoadRules, of_leader: Int64s, of_follower: Int64s) -> Float64s:
    """(resources,) float64: the load of all replicas, and that of the leaders and of as many followers once more."""
    replicas = rules.factor[rules.domain_of][:, None] + 1
    return np.asarray((of_follower * replicas.astype(np.float64) + of_leader).sum(axis=0), np.float64)


def _marginal(load: Int64s, cost: Int64s, amount: float) -> float:
    """The weight for the load at which the cheapest replicas reach an amount; 0 if all of them do not."""
    some = load > 0
    load, cost = load[some], cost[some]
    order = np.argsort(cost / load, kind="stable")
    last = int(np.searchsorted(np.cumsum(load[order]), amount))
    return float(cost[order[last]] / load[order[last]]) if last < len(order) else 0.0


def _dearest(prices: Float64s, amounts: Float64s) -> Float64s:
    """Each broker's price of the resource that costs most; 0 for the others."""
    chosen = np.zeros_like(prices)
    brokers = np.arange(len(prices))
    worst = (prices * amounts).argmax(axis=1)
    chosen[brokers, worst] = prices[brokers, worst]
    return chosen
