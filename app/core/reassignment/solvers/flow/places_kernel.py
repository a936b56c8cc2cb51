"""The compiled loops of `places`: the cheapest place under dual prices, settled partitions, order of replicas."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolMatrix, Int32Cube, Int32Matrix, Int32Vector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.legal_sets_kernel import contains

NOTHING = np.int64(2**62)


class PlaceRules(NamedTuple):
    """Partitions, and where their replicas may be.

    Parameters
    ----------
    domain_of, must_keep : (rows,). factor : (domains,). least, most : (domains, racks).
    may_keep, may_receive : (domains, brokers).
    rack_of : (brokers,). current : (rows, widest), padded with -1 at the end.
    """

    domain_of: Int32Vector
    factor: Int64Vector
    least: Int64Matrix
    most: Int64Matrix
    may_keep: BoolMatrix
    may_receive: BoolMatrix
    rack_of: Int32Vector
    current: Int32Matrix
    must_keep: Int32Vector


@compiled
def cheapest(
    rules: PlaceRules,
    ranked: Int32Cube,
    ranked_end: Int64Matrix,
    current_cost: Int64Matrix,
    away: Int64Vector,
    prices: Int64Vector,
    costs: Int64Vector,
    chosen: Int32Matrix,
) -> None:
    """Fill `costs`, (rows,), and `chosen`, (rows, widest), which is padded on entry.

    Greedy is optimal: sets with at most `most` replicas of each rack that still leave `least` of every rack attainable
    are the independent sets of a matroid. So the cheapest candidate that keeps the set independent is taken each time.

    Parameters
    ----------
    ranked : (domains, racks, longest) the receivers of each rack by ascending price. ranked_end : (domains, racks).
    current_cost : (rows, widest) of each current broker. away : (rows,) of others. prices : (brokers,).
    """
    domain_of, factor, least, most, may_keep, _, rack_of, current, must_keep = rules
    racks = least.shape[1]
    capacity = int(most.max()) + 1 if most.size else 1
    names = np.empty((racks, capacity), np.int32)
    values = np.empty((racks, capacity), np.int64)
    filled = np.zeros(racks, np.int64)
    per_rack = np.zeros(racks, np.int64)
    for row in range(len(current)):
        domain, must = domain_of[row], must_keep[row]
        filled[:] = 0
        per_rack[:] = 0
        place, total = 0, np.int64(0)
        for column in range(current.shape[1]):
            broker = current[row, column]
            if broker < 0:
                break
            value = current_cost[row, column] + prices[broker]
            if broker == must:
                chosen[row, place] = broker
                place, total = place + 1, total + value
                per_rack[rack_of[broker]] += 1
            elif may_keep[domain, broker]:
                rack = rack_of[broker]
                _insert(names, values, filled, rack, broker, value, most[domain, rack])
        for rack in range(racks):
            ceiling = most[domain, rack]
            for at in range(ranked_end[domain, rack]):
                broker = ranked[domain, rack, at]
                value = away[row] + prices[broker]
                if ceiling == 0 or (filled[rack] == ceiling and value >= values[rack, ceiling - 1]):
                    break
                if not contains(current, row, broker):
                    _insert(names, values, filled, rack, broker, value, ceiling)
        for rows_there in range(place, factor[domain]):
            rack = _next_rack(rules, row, values, filled, per_rack, factor[domain] - rows_there)
            if rack < 0:
                total = NOTHING
                break
            at = _place_of(per_rack, rack, must, rack_of)
            chosen[row, place] = names[rack, at]
            place, total = place + 1, total + values[rack, at]
            per_rack[rack] += 1
        costs[row] = total


@subroutine
def _next_rack(
    rules: PlaceRules, row: int, values: Int64Matrix, filled: Int64Vector, per_rack: Int64Vector, left: int
) -> int:
    """The rack of the cheapest candidate; only racks below `least` once those need all that is left; −1 if none."""
    domain, must = rules.domain_of[row], rules.must_keep[row]
    least, most = rules.least[domain], rules.most[domain]
    best, best_rack = NOTHING, -1
    underfull = 0
    for rack in range(len(least)):
        underfull += max(0, least[rack] - per_rack[rack])
    for rack in range(len(least)):
        ceiling = least[rack] if underfull >= left else most[rack]
        at = _place_of(per_rack, rack, must, rules.rack_of)
        if per_rack[rack] < ceiling and at < filled[rack] and values[rack, at] < best:
            best, best_rack = values[rack, at], rack
    return best_rack


@subroutine
def _place_of(per_rack: Int64Vector, rack: int, must: int, rack_of: Int32Vector) -> int:
    """How many of the rack's ranked candidates are taken; a broker that must keep its replica is not among them."""
    return int(per_rack[rack]) - (1 if must >= 0 and rack_of[must] == rack else 0)


@subroutine
def _insert(
    names: Int32Matrix, values: Int64Matrix, filled: Int64Vector, rack: int, name: int, value: int, ceiling: int
) -> None:
    """Keep the `ceiling` cheapest of a rack in ascending order; of equals the first inserted stays first."""
    if filled[rack] == ceiling:
        if ceiling == 0 or value >= values[rack, ceiling - 1]:
            return
        at = ceiling - 1
    else:
        at = filled[rack]
        filled[rack] += 1
    while at > 0 and values[rack, at - 1] > value:
        names[rack, at], values[rack, at] = names[rack, at - 1], values[rack, at - 1]
        at -= 1
    names[rack, at], values[rack, at] = name, value


@compiled
def put_in_order(current: Int32Matrix, chosen: Int32Matrix, ordered: Int32Matrix) -> None:
    """Fill `ordered`, (rows, widest): brokers that keep their replica in column order, new brokers in the gaps, then at
    the end.

    Parameters
    ----------
    chosen : (rows, widest), ascending, so that the padding comes first. ordered : padded on entry.
    """
    widest = chosen.shape[1]
    newcomers = np.empty(widest, np.int32)
    for row in range(len(chosen)):
        new = 0
        for place in range(widest):
            broker = chosen[row, place]
            if broker >= 0 and not contains(current, row, broker):
                newcomers[new] = broker
                new += 1
        filled, used = 0, 0
        for column in range(current.shape[1]):
            broker = current[row, column]
            if broker < 0:
                break
            if contains(chosen, row, broker):
                ordered[row, filled] = broker
                filled += 1
            elif used < new:
                ordered[row, filled] = newcomers[used]
                filled += 1
                used += 1
        while used < new:
            ordered[row, filled] = newcomers[used]
            filled += 1
            used += 1
