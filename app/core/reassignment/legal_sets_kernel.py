"""The cheapest legal set of brokers of one partition, and the initial placement.

Sets with between `least` and `most` members of each rack, `factor` in all, are the bases of a laminar matroid: taking
the cheapest of every rack up to its minimum, then the cheapest of the rest in racks below their maximum, is optimal.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, inlined, subroutine
from app.core.reassignment.rules import LoadRules

Costs: TypeAlias = NDArray[Any]
"""(brokers,) int64 or float64: what is inlined has no declared types."""
NO_BROKER = -1
NEVER = np.int64(1 << 62)
"""The cost of a broker that may not have a replica."""


@subroutine
def contains(lists: Int32Matrix, row: int, broker: int) -> bool:
    """Whether a broker is in the list of a row."""
    for column in range(lists.shape[1]):  # noqa: SIM110 — numba compiles no any() over a generator
        if lists[row, column] == broker:
            return True
    return False


@compiled
def cheapest_legal_set(
    costs: Int64Vector,
    rack_of: Int32Vector,
    least: Int64Vector,
    most: Int64Vector,
    factor: int,
    must_keep: int,
    members: Int64Vector,
) -> bool:
    """As `choose_cheapest`, for callers outside of loops; costs are below `NEVER`, or that."""
    left, per_rack = np.empty(len(costs), np.int64), np.empty(len(least), np.int64)
    return bool(choose_cheapest(costs, NEVER, rack_of, least, most, factor, must_keep, left, members, per_rack))


@inlined
def choose_cheapest(
    costs: Costs,
    never: Any,
    rack_of: Int32Vector,
    least: Int64Vector,
    most: Int64Vector,
    factor: int,
    must_keep: int,
    left: Costs,
    members: Int64Vector,
    per_rack: Int64Vector,
) -> bool:
    """Write the brokers of the cheapest legal set to `members[:factor]`; whether there is one.

    Of equally cheap brokers the first is chosen. `must_keep` is chosen whatever it costs. Members that are missing, if
    there is no legal set, are `NO_BROKER`.

    Parameters
    ----------
    costs : (brokers,) int64 or float64, `never` of those that may not have a replica.
    left : (brokers,) buffer of costs. per_rack : (racks,) buffer, then the members in each rack.
    """
    per_rack[:] = 0
    members[:factor] = NO_BROKER
    for broker in range(len(costs)):
        left[broker] = costs[broker]
    count = int(np.int64(0))  # typed, since a literal compiles a second version of what it is passed to
    if must_keep >= 0 and costs[must_keep] < never:
        _take(rack_of, never, left, members, per_rack, count, must_keep)
        count += 1
    for bounds in (least, most):
        best = _cheapest(rack_of, never, left, per_rack, bounds)
        while best >= 0 and count < factor:
            _take(rack_of, never, left, members, per_rack, count, best)
            count += 1
            best = _cheapest(rack_of, never, left, per_rack, bounds)
    for rack in range(len(per_rack)):
        if per_rack[rack] < least[rack]:
            return False
    return bool(count == factor)


@inlined
def _cheapest(rack_of: Int32Vector, never: Any, left: Costs, per_rack: Int64Vector, bounds: Int64Vector) -> int:
    """Find the cheapest broker left in racks with fewer members than their bound. Returns it, or `NO_BROKER`."""
    best, lowest = NO_BROKER, never
    for broker in range(len(left)):
        if left[broker] < lowest and per_rack[rack_of[broker]] < bounds[rack_of[broker]]:
            best, lowest = broker, left[broker]
    return best


@inlined
def _take(
    rack_of: Int32Vector, never: Any, left: Costs, members: Int64Vector, per_rack: Int64Vector, count: int, broker: int
) -> None:
    members[count] = broker
    per_rack[rack_of[broker]] += 1
    left[broker] = never


IN_PLACE = np.int64(0)
COPIED_IN_PLACE = np.int64(1) << 61
ELSEWHERE = np.int64(1) << 62
NOWHERE = np.int64((1 << 63) - 1)
"""Classes of cost, above any load: the fewest moves first, then successors, then the least loaded."""


@compiled
def initial_places(rules: LoadRules, heaviest_first: Int64Vector, loads: Int64Vector, at: Int32Matrix) -> int:
    """Write a legal placement with the fewest moves for each row to `at`, and add the loads.

    Returns the first row that has no legal placement, or -1.

    Parameters
    ----------
    heaviest_first : the rows, in the order in which they choose among equally many moves.
    loads : (brokers,) int64, of other partitions. at : (rows, widest) int32, all -1.
    """
    undecided = np.zeros(len(at), np.bool_)
    racks = rules.least.shape[1]
    costs, left = np.empty(len(rules.rack_of), np.int64), np.empty(len(rules.rack_of), np.int64)
    members = np.empty(max(1, at.shape[1]), np.int64)
    per_rack = np.empty(racks, np.int64)
    nothing = np.zeros(len(loads), np.int64)
    for row in range(len(at)):
        if is_legal_in_place(rules, row, per_rack):
            column = 0
            for broker in rules.current[row]:
                if broker >= 0:
                    at[row, column] = broker
                    loads[broker] += rules.load[row]
                    column += 1
            continue
        undecided[row] = True
        if not _choose(rules, row, nothing, costs, left, members, per_rack):
            return row
        for i in range(rules.factor[rules.domain_of[row]]):
            if costs[members[i]] < COPIED_IN_PLACE:
                loads[members[i]] += rules.load[row]
                at[row, i] = members[i]
    for row in heaviest_first:
        if not undecided[row]:
            continue
        for broker in at[row]:
            if broker >= 0:
                loads[broker] -= rules.load[row]
        _choose(rules, row, loads, costs, left, members, per_rack)
        for i in range(rules.factor[rules.domain_of[row]]):
            at[row, i] = members[i]
            loads[members[i]] += rules.load[row]
    return -1


@subroutine
def is_legal_in_place(rules: LoadRules, row: int, per_rack: Int64Vector) -> bool:
    """Whether the current brokers, and they alone, are a legal set that costs nothing."""
    domain = rules.domain_of[row]
    per_rack[:] = 0
    count = 0
    for column in range(rules.current.shape[1]):
        broker = rules.current[row, column]
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


@subroutine
def _choose(
    rules: LoadRules,
    row: int,
    loads: Int64Vector,
    costs: Int64Vector,
    left: Int64Vector,
    members: Int64Vector,
    per_rack: Int64Vector,
) -> bool:
    domain = rules.domain_of[row]
    for broker in range(len(costs)):
        costs[broker] = ELSEWHERE + loads[broker] if rules.may_receive[domain, broker] else NOWHERE
    for column in range(rules.current.shape[1]):
        broker = rules.current[row, column]
        if broker >= 0:
            costs[broker] = loads[broker] + (IN_PLACE if rules.stays_free[row, column] else COPIED_IN_PLACE)
    least, most = rules.least[domain], rules.most[domain]
    factor, pinned = rules.factor[domain], rules.must_keep[row]
    return choose_cheapest(costs, NOWHERE, rules.rack_of, least, most, factor, pinned, left, members, per_rack)


@compiled
def rows_legal_in_place(rules: LoadRules) -> NDArray[np.bool_]:
    """(rows,) bool: rows whose current brokers, and they alone, are a legal set that costs nothing."""
    settled = np.empty(len(rules.load), np.bool_)
    per_rack = np.empty(rules.least.shape[1], np.int64)
    for row in range(len(rules.load)):
        settled[row] = is_legal_in_place(rules, row, per_rack)
    return settled
