"""The cheapest legal set of brokers of one partition, and the initial placement.

Sets with between `least` and `most` members of each rack, `factor` in all, are the bases of a laminar matroid: taking
the cheapest of every rack up to its minimum, then the cheapest of the rest in racks below their maximum, is optimal.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import BoolVector, Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.loads.rules import LoadRules

ALLOWED_NONE = -1


@compiled
def cheapest_legal_set(
    brokers: Int32Vector,
    costs: Int64Vector,
    candidates: int,
    rack_of: Int32Vector,
    least: Int64Vector,
    most: Int64Vector,
    factor: int,
    must_keep: int,
    choices: Int64Vector,
    per_rack: Int64Vector,
) -> bool:
    """Write the indices of the chosen candidates to `choices[:factor]`; whether there is a legal set.

    Of equally cheap candidates the first is chosen. `must_keep` is chosen whatever it costs.

    Parameters
    ----------
    brokers, costs : the candidates, distinct brokers; only the first `candidates` count.
    choices : buffer of `factor` indices. per_rack : (racks,) buffer of counts.
    """
    per_rack[:] = 0
    free = np.ones(candidates, np.bool_)
    count = 0
    for i in range(candidates):
        if brokers[i] == must_keep:
            choices[0] = i
            free[i] = False
            per_rack[rack_of[must_keep]] += 1
            count = 1
            break
    for bounds in (least, most):
        best = _cheapest(brokers, costs, free, rack_of, per_rack, bounds)
        while best >= 0 and count < factor:
            free[best] = False
            choices[count] = best
            per_rack[rack_of[brokers[best]]] += 1
            count += 1
            best = _cheapest(brokers, costs, free, rack_of, per_rack, bounds)
    return bool(count == factor and (per_rack >= least).all())


@subroutine
def _cheapest(
    brokers: Int32Vector,
    costs: Int64Vector,
    free: BoolVector,
    rack_of: Int32Vector,
    per_rack: Int64Vector,
    bounds: Int64Vector,
) -> int:
    """Find the cheapest free candidate in racks with fewer replicas than their bound. Returns its index, or -1."""
    best = ALLOWED_NONE
    for i in range(len(free)):
        rack = rack_of[brokers[i]]
        if free[i] and per_rack[rack] < bounds[rack] and (best < 0 or costs[i] < costs[best]):
            best = i
    return best


IN_PLACE = np.int64(0)
COPIED_IN_PLACE = np.int64(1) << 61
ELSEWHERE = np.int64(1) << 62
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
    brokers = np.empty(len(rules.rack_of), np.int32)
    costs = np.empty(len(rules.rack_of), np.int64)
    choices = np.empty(max(1, at.shape[1]), np.int64)
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
        if not _choose(rules, row, nothing, brokers, costs, choices, per_rack):
            return row
        for i in range(rules.factor[rules.domain_of[row]]):
            if costs[choices[i]] < COPIED_IN_PLACE:
                loads[brokers[choices[i]]] += rules.load[row]
                at[row, i] = brokers[choices[i]]
    for row in heaviest_first:
        if not undecided[row]:
            continue
        for broker in at[row]:
            if broker >= 0:
                loads[broker] -= rules.load[row]
        _choose(rules, row, loads, brokers, costs, choices, per_rack)
        for i in range(rules.factor[rules.domain_of[row]]):
            at[row, i] = brokers[choices[i]]
            loads[brokers[choices[i]]] += rules.load[row]
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
    brokers: Int32Vector,
    costs: Int64Vector,
    choices: Int64Vector,
    per_rack: Int64Vector,
) -> bool:
    domain = rules.domain_of[row]
    candidates = int(np.int64(0))  # typed, since a literal compiles a second version of what it is passed to
    for broker in range(len(rules.rack_of)):
        cost = ELSEWHERE if rules.may_receive[domain, broker] else np.int64(-1)
        for column in range(rules.current.shape[1]):
            if rules.current[row, column] == broker:
                cost = IN_PLACE if rules.stays_free[row, column] else COPIED_IN_PLACE
        if cost >= 0:
            brokers[candidates] = broker
            costs[candidates] = cost + loads[broker]
            candidates += 1
    return cheapest_legal_set(
        brokers,
        costs,
        candidates,
        rules.rack_of,
        rules.least[domain],
        rules.most[domain],
        rules.factor[domain],
        rules.must_keep[row],
        choices,
        per_rack,
    )


@compiled
def rows_legal_in_place(rules: LoadRules) -> NDArray[np.bool_]:
    """(rows,) bool: rows whose current brokers, and they alone, are a legal set that costs nothing."""
    settled = np.empty(len(rules.load), np.bool_)
    per_rack = np.empty(rules.least.shape[1], np.int64)
    for row in range(len(rules.load)):
        settled[row] = is_legal_in_place(rules, row, per_rack)
    return settled
