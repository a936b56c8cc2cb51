"""What stays where it is, and a first place for what cannot: the least loaded legal broker, heaviest replicas first."""

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s
from app.core.reassignment.loads.rules import Rules
from app.core.reassignment.loads.sets_kernel import take_cheapest

HOME = np.int64(0)
COPIED_HOME = np.int64(1) << 61
ELSEWHERE = np.int64(1) << 62
"""Classes of cost, above any load: the fewest moves first, then homes that are copied to, then the least loaded."""


@njit(cache=True, nogil=True)
def first_places(rules: Rules, heaviest_first: Int64s, loads: Int64s, at: Int32s) -> int:
    """Write a legal place with the fewest moves for each row to `at`, and add the loads; the row that has none, or -1.

    Parameters
    ----------
    heaviest_first : the rows, in the order in which they choose where there is a choice.
    loads : (brokers,) int64, of other partitions. at : (rows, widest) int32, all -1.
    """
    undecided = np.zeros(len(at), np.bool_)
    racks = rules.least.shape[1]
    brokers = np.empty(len(rules.rack_of), np.int32)
    costs = np.empty(len(rules.rack_of), np.int64)
    taken = np.empty(max(1, at.shape[1]), np.int64)
    per_rack = np.empty(racks, np.int64)
    nothing = np.zeros(len(loads), np.int64)
    for row in range(len(at)):
        if stays_as_is(rules, row, per_rack):
            column = 0
            for broker in rules.homes[row]:
                if broker >= 0:
                    at[row, column] = broker
                    loads[broker] += rules.load[row]
                    column += 1
            continue
        undecided[row] = True
        if not _choose(rules, row, nothing, brokers, costs, taken, per_rack):
            return row
        for i in range(rules.factor[rules.domain_of[row]]):
            if costs[taken[i]] < COPIED_HOME:
                loads[brokers[taken[i]]] += rules.load[row]
                at[row, i] = brokers[taken[i]]
    for row in heaviest_first:
        if not undecided[row]:
            continue
        for broker in at[row]:
            if broker >= 0:
                loads[broker] -= rules.load[row]
        _choose(rules, row, loads, brokers, costs, taken, per_rack)
        for i in range(rules.factor[rules.domain_of[row]]):
            at[row, i] = brokers[taken[i]]
            loads[brokers[taken[i]]] += rules.load[row]
    return -1


@njit(cache=True, nogil=True)
def stays_as_is(rules: Rules, row: int, per_rack: Int64s) -> bool:
    """Whether the homes, and they alone, are a legal set that costs nothing."""
    domain = rules.domain_of[row]
    per_rack[:] = 0
    count = 0
    for column in range(rules.homes.shape[1]):
        broker = rules.homes[row, column]
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


@njit(cache=True, nogil=True)
def _choose(
    rules: Rules, row: int, loads: Int64s, brokers: Int32s, costs: Int64s, taken: Int64s, per_rack: Int64s
) -> bool:
    domain = rules.domain_of[row]
    candidates = 0
    for broker in range(len(rules.rack_of)):
        cost = ELSEWHERE if rules.may_receive[domain, broker] else np.int64(-1)
        for column in range(rules.homes.shape[1]):
            if rules.homes[row, column] == broker:
                cost = HOME if rules.stays_free[row, column] else COPIED_HOME
        if cost >= 0:
            brokers[candidates] = broker
            costs[candidates] = cost + loads[broker]
            candidates += 1
    return take_cheapest(
        brokers,
        costs,
        candidates,
        rules.rack_of,
        rules.least[domain],
        rules.most[domain],
        rules.factor[domain],
        rules.must_keep[row],
        taken,
        per_rack,
    )
