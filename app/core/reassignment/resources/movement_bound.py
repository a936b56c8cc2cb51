"""A lower bound on the moved weight of all placements within ceilings, floors and limits, by Lagrangian duality.

With dual prices on loads above a ceiling and below a floor, every partition chooses its cheapest legal replicas and
leader alone. No placement within the bounds costs less than those choices less the value of the bounds at these prices.
Prices start as the marginal weight of the last replica that a broker has to shed, and are improved by subgradient steps
of Polyak's length, each resource scaled by its ceilings.

Sums are floating: the bound is lowered by `ROUNDING` of the magnitude of what is added, more than the rounding of 2^22
additions.

Source: Held, Wolfe and Crowder, "Validation of subgradient optimization" (1974).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from app.core.model import NO_REPLICA, Float64s, Int32s, Int64s
from app.core.reassignment.loads.legal_sets_kernel import rows_legal_in_place
from app.core.reassignment.loads.rules import LoadRules, moved_weight
from app.core.reassignment.resources.model import MILLION, NO_LIMIT, ResourceProblem
from app.core.reassignment.resources.prices_kernel import sum_of_cheapest_choices
from app.core.reassignment.resources.search import Bounds, SearchedPlacement

ROUNDING = 1e-9
MAX_STEPS = 60
WORK = 3e9
"""Products of rows, brokers, resources and steps at most."""
PATIENCE = 4
"""Steps without a better bound, after which steps are halved."""


def moved_lower_bound(
    problem: ResourceProblem,
    rules: LoadRules,
    start: Int32s,
    bounds: Bounds,
    found: SearchedPlacement,
    is_over: Callable[[], bool],
) -> int:
    """A lower bound on the moved weight of placements within the bounds, widened to what was found where it is outside.

    Parameters
    ----------
    start : the fewest moves: what they weigh is a bound in any case. found : a placement; its weight is the target of
        the steps.
    """
    least = moved_weight(rules, start)
    if least >= found.moved or not len(rules.cost) or is_over():
        return min(least, found.moved)
    dual = _Dual(problem, rules, bounds, found)
    best, prices, slope = _best_of(dual, dual.first_prices(start))
    top, top_slope, length, worse = prices, slope, 1.0, 0
    steps = min(MAX_STEPS, max(8, int(WORK / max(1, len(rules.cost) * found.loads.size))))
    for _ in range(steps):
        if is_over() or best >= found.moved:
            break
        prices = dual.step(prices, slope, length * max(found.moved - best, 1))
        value, slope = dual.value(prices)
        if value > best:
            best, top, top_slope, worse = value, prices, slope, 0
            continue
        worse += 1
        if worse >= PATIENCE:
            length, worse, prices, slope = length / 2, 0, top, top_slope
    return min(found.moved, max(least, ceil(best - 0.5)))


def _best_of(dual: "_Dual", several: list[Float64s]) -> tuple[float, Float64s, Float64s]:
    """The best bound of several prices, these prices, and the slope."""
    valued = [(*dual.value(prices), prices) for prices in several]
    best, slope, prices = max(valued, key=lambda each: each[0])
    return best, prices, slope


@dataclass(frozen=True, slots=True, eq=False)
class _Dual:
    """The bounds as arrays, and the loads that every placement has at least.

    Parameters
    ----------
    ceiling, floor : (brokers, resources) float64; infinite and 0 if there is none.
    """

    problem: ResourceProblem
    rules: LoadRules
    ceiling: Float64s = field(repr=False)
    floor: Float64s = field(repr=False)
    of_leader: Int64s = field(repr=False)
    of_follower: Int64s = field(repr=False)
    settled: np.ndarray[tuple[int], np.dtype[np.bool_]] = field(repr=False)

    def __init__(self, problem: ResourceProblem, rules: LoadRules, bounds: Bounds, found: SearchedPlacement) -> None:
        high = np.where(bounds.unit > 0, bounds.ceiling, NO_LIMIT)
        high = np.maximum(np.minimum(high, problem.limits.upper), found.loads)
        unbounded = np.minimum(np.where(bounds.unit > 0, bounds.ceiling, NO_LIMIT), problem.limits.upper) >= NO_LIMIT
        low = np.where(bounds.unit > 0, np.minimum(bounds.floor, found.loads), 0)
        of_leader, of_follower = problem.loads.of_leader, problem.loads.of_follower
        reads = problem.loads.reads
        if reads is not None:  # Of the consumers, a leader serves those that no follower can: at least so many.
            widest = int(rules.factor.max(initial=1))
            others = int(np.sort(reads.client_share)[::-1][: max(0, widest - 1)].sum())
            of_leader = of_leader + reads.load * max(0, MILLION - others) // MILLION
        values: dict[str, object] = {
            "problem": problem,
            "rules": rules,
            "ceiling": np.where(unbounded, np.inf, high.astype(np.float64)),
            "floor": low.astype(np.float64) if reads is None else np.zeros(low.shape),
            "of_leader": np.ascontiguousarray(of_leader),
            "of_follower": np.ascontiguousarray(of_follower),
            "settled": rows_legal_in_place(rules),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def value(self, prices: Float64s) -> tuple[float, Float64s]:
        """The bound at some prices, and its slope: (brokers, resources) load beyond the bound that the price is for."""
        base = self.problem.loads.base.astype(np.float64)
        used = base.copy()
        has_negative = bool((prices < 0).any() or (self.of_leader < self.of_follower).any())
        cost = sum_of_cheapest_choices(
            self.rules, self.of_leader, self.of_follower, self.settled, prices, has_negative, used
        )
        bound = np.where(prices > 0, np.where(np.isinf(self.ceiling), 0, self.ceiling), self.floor)
        priced = prices * (base - bound)
        value = cost + float(priced.sum())
        scale = abs(cost) + float(np.abs(prices * base).sum() + np.abs(prices * bound).sum())
        above = np.where(np.isinf(self.ceiling), 0.0, used - self.ceiling)
        below = used - self.floor
        slope = np.where(prices > 0, above, np.where(prices < 0, below, np.maximum(above, 0) + np.minimum(below, 0)))
        return value - ROUNDING * scale, slope

    def step(self, prices: Float64s, slope: Float64s, missing: float) -> Float64s:
        """Prices a step along the slope, as long as a linear bound would need for what is missing."""
        unit = 1.0 / np.maximum(np.where(np.isinf(self.ceiling), 1.0, self.ceiling), 1.0)
        scaled = slope * unit
        norm = float((scaled * scaled).sum())
        if norm == 0 or missing <= 0:
            return prices
        new = prices + missing / norm * scaled * unit
        new[(prices > 0) & (new < 0)] = 0
        new[(prices < 0) & (new > 0)] = 0
        new[np.isinf(self.ceiling) & (new > 0)] = 0
        new[(self.floor <= 0) & (new < 0)] = 0
        return new

    def first_prices(self, start: Int32s) -> list[Float64s]:
        """Prices to start from: of what brokers shed, of what they receive, and of both.

        A broker has a price for one resource, the one that costs most: the weight for the load of the last replica that
        it has to shed for its ceiling, or that all brokers together have to receive for their floors.
        """
        rules, loads = self.rules, self.problem.loads
        in_place = loads.base.astype(np.float64)
        rows, columns = np.nonzero(start != NO_REPLICA)
        broker, leads = start[rows, columns], columns == 0
        of_slot = np.where(leads[:, None], self.of_leader[rows], self.of_follower[rows])
        np.add.at(in_place, broker, of_slot)
        excess = np.where(np.isinf(self.ceiling), 0, np.maximum(in_place - self.ceiling, 0))
        lacking = np.maximum(self.floor - in_place, 0)
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
