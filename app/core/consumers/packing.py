"""The fewest consumers of one interval: bin packing."""

from dataclasses import dataclass, field
from heapq import heapify, heapreplace

import numpy as np

from app.core.consumers.exact import Effort, assigned
from app.core.consumers.packing_kernel import fill
from app.core.model import Int32s, Int64s

_LARGEST_PARTS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """Partitions on the fewest consumers that were found; `owners` is (rows,) int32."""

    consumers: int
    lower_bound: int
    owners: Int32s = field(repr=False)


def packed(weights: Int64s, capacity: int, effort: Effort) -> Packing:
    """Pack rows of int64 weights <= capacity on the fewest consumers.

    Best fit decreasing, and if it exceeds the lower bounds, a model that finds fewer consumers or proves that these
    are the fewest. The numbers do not depend on the order of rows. O(rows · consumers) without the model.
    """
    order = np.argsort(-weights, kind="stable")
    heavy = order[weights[order] > 0]
    loads, owners = np.zeros(max(1, len(heavy)), np.int64), np.zeros(len(weights), np.int32)
    fill(heavy, weights, capacity, loads, owners)
    used, bound = max(1, int(np.count_nonzero(loads))), lower_bound(weights, capacity)
    none = np.full(len(heavy), -1, np.int32)
    while bound < used:
        fewer = assigned(weights[heavy], weights[heavy], none, bound, capacity, effort)
        if fewer.owners is not None:
            owners[heavy] = fewer.owners
            return Packing(bound, bound, owners)
        if not fewer.is_infeasible:
            break
        bound += 1
    return Packing(used, bound, owners)


def balanced(weights: Int64s, consumers: int) -> Int32s:
    """(rows,) int32: rows by descending weight, each to the least loaded consumer."""
    owners = np.zeros(len(weights), np.int32)
    loads = [(0, consumer) for consumer in range(consumers)]
    heapify(loads)
    for row in np.argsort(-weights, kind="stable").tolist():
        load, consumer = loads[0]
        owners[row] = consumer
        heapreplace(loads, (load + int(weights[row]), consumer))
    return owners


def lower_bound(weights: Int64s, capacity: int) -> int:
    """No packing has fewer consumers: the largest of the bounds of the sum, of Martello and Toth (L2), and of the dual
    feasible functions u(k) of Fekete and Schepers.
    """
    ascending = np.sort(weights[weights > 0])
    bounds = [1, -(-int(ascending.sum()) // capacity), _large_rows(ascending, capacity)]
    for parts in range(1, _LARGEST_PARTS + 1):
        shares = ascending * (parts + 1)
        rounded = np.where(shares % capacity == 0, ascending * parts, shares // capacity * capacity)
        bounds.append(-(-int(rounded.sum()) // (parts * capacity)))
    return max(bounds)


def _large_rows(ascending: Int64s, capacity: int) -> int:
    """The bound L2: rows above half a consumer need one each, and those of at least a threshold what is left of it."""
    sums = np.append(0, np.cumsum(ascending))
    half = int(np.searchsorted(2 * ascending, capacity, side="right"))
    thresholds = np.append(0, np.unique(ascending[:half]))
    alone = np.maximum(np.searchsorted(ascending, capacity - thresholds, side="right"), half)
    small = sums[half] - sums[np.searchsorted(ascending, thresholds)]
    room = (alone - half) * capacity - (sums[alone] - sums[half])
    return int((len(ascending) - half + np.maximum(0, -(-(small - room) // capacity))).max())
