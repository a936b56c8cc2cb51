"""The assignment of an interval that moves least from the one before, given the number of consumers."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.consumers.exact import Effort, assigned
from app.core.consumers.model import NO_CONSUMER
from app.core.consumers.packing_kernel import Rows, fill, give_back
from app.core.flow import Network, cheapest_amounts, largest_cost
from app.core.model import Int32s, Int64s

_MOST_SUMS = 4_096
"""Sums of the partitions of one consumer that are searched exactly; beyond, some are left out."""
_THRESHOLDS = (0, 0.25, 0.5, 0.625, 0.75, 0.875, 0.9375, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """An assignment, and what proves how little it moves.

    Parameters
    ----------
    owners : (rows,) int32; consumers from the number of previous ones on are new.
    kept : the costs of rows that stay. kept_bound : no assignment to as many consumers keeps more.
    """

    owners: Int32s = field(repr=False)
    kept: int
    kept_bound: int


def least_moves(
    weights: Int64s,
    costs: Int64s,
    previous: Int32s,
    consumers: int,
    capacity: int,
    packing: Int32s,
    effort: Effort | None,
) -> Moves:
    """Keep as much as possible with its consumer.

    Overloaded consumers, and those that stop, pass rows on, which best fit assigns to others; if they do not fit, small
    rows of all consumers are packed again, then larger ones. Local search gives rows back. An integer model improves
    the result of small groups and proves it.

    Parameters
    ----------
    weights, costs : (rows,) int64 capacity that a row takes, and what it counts if it moves.
    previous : (rows,) int32 of 0, 1, …, or `NO_CONSUMER`. packing : (rows,) int32, any assignment to the consumers.
    effort : None leaves out the model.
    """
    before = int(previous.max(initial=NO_CONSUMER)) + 1
    stays, kept_bounds = _stays(weights, costs, previous, before, capacity)
    going_on = np.argsort(-kept_bounds, kind="stable")[:consumers]
    bound = int(kept_bounds[going_on].sum())
    position = np.full(before + 1, NO_CONSUMER, np.int32)  # the last one is that of `NO_CONSUMER`
    position[going_on] = np.arange(len(going_on))
    owners = _refilled(weights, costs, position[previous], stays, consumers, capacity)
    best = relabeled(packing if owners is None else owners, costs, previous, consumers)
    if _kept(costs, previous, best) < bound and effort is not None:
        exact = assigned(weights, costs, previous, consumers, capacity, effort, best)
        best = best if exact.owners is None else max(best, exact.owners, key=lambda each: _kept(costs, previous, each))
        bound = bound if exact.kept_bound is None else min(bound, exact.kept_bound)
    return Moves(best, _kept(costs, previous, best), bound)


def _kept(costs: Int64s, previous: Int32s, owners: Int32s) -> int:
    return int(costs[(owners == previous) & (previous != NO_CONSUMER)].sum())


def _stays(
    weights: Int64s, costs: Int64s, previous: Int32s, before: int, capacity: int
) -> tuple[NDArray[np.bool_], Int64s]:
    """(rows,) bool rows that each previous consumer can keep, and (before,) int64 bounds of their costs."""
    stays = np.zeros(len(weights), np.bool_)
    bounds = np.zeros(before, np.int64)
    for consumer in range(before):
        rows = np.flatnonzero(previous == consumer)
        kept, most = _largest_subset(weights[rows], capacity)
        stays[rows[kept]] = True
        extra = np.sort((costs - weights)[rows])[::-1][: capacity // max(1, int(weights[rows].max(initial=1)))]
        bounds[consumer] = min(most + int(extra.sum()), int(costs[rows].sum()))
    return stays, bounds


def _largest_subset(weights: Int64s, capacity: int) -> tuple[Int64s, int]:
    """Indices of rows with the largest sum that is at most `capacity`, and a bound of that sum."""
    if weights.sum() <= capacity:
        return np.arange(len(weights)), int(weights.sum())
    order = np.argsort(-weights, kind="stable")
    layers, is_exact = [np.zeros(1, np.int64)], True
    for weight in weights[order].tolist():
        sums = np.union1d(layers[-1], layers[-1] + weight)
        sums = sums[sums <= capacity]
        is_exact &= len(sums) <= _MOST_SUMS
        layers.append(sums[-1 :: -1 - len(sums) // _MOST_SUMS][::-1])
    left = best = int(layers[-1][-1])
    chosen = []
    for place in range(len(order) - 1, -1, -1):
        if left not in layers[place]:
            chosen.append(order[place])
            left -= int(weights[order[place]])
    return np.array(chosen, np.int64), best if is_exact else capacity


def _refilled(
    weights: Int64s, costs: Int64s, kept_by: Int32s, stays: NDArray[np.bool_], consumers: int, capacity: int
) -> Int32s | None:
    """(rows,) int32: consumers keep what they can, at first all, then only large rows; the others are filled in."""
    for threshold in _THRESHOLDS:
        is_kept = stays & (kept_by != NO_CONSUMER) & (weights >= np.quantile(weights, threshold) * (threshold > 0))
        owners = np.where(is_kept, kept_by, 0).astype(np.int32)
        loads = np.zeros(consumers, np.int64)
        np.add.at(loads, owners[is_kept], weights[is_kept])
        others = np.flatnonzero(~is_kept)
        order = others[np.argsort(-weights[others], kind="stable")]
        if fill(order, weights, capacity, loads, owners) == len(order):
            give_back(Rows(weights, costs, kept_by), capacity, loads, owners)
            return owners
    return None


def relabeled(owners: Int32s, costs: Int64s, previous: Int32s, consumers: int) -> Int32s:
    """The same assignment with the consumers named so that the costs of rows that stay are largest.

    A maximum-weight matching of consumers to previous ones and to new ones, which are numbered after these.
    """
    before = int(previous.max(initial=NO_CONSUMER)) + 1
    _, positions = np.unique(owners, return_inverse=True)
    size = max(before, consumers)
    had = previous != NO_CONSUMER
    pairs, pair_of = np.unique(positions[had].astype(np.int64) * size + previous[had], return_inverse=True)
    gains = np.zeros(len(pairs), np.int64)
    np.add.at(gains, pair_of, costs[had])
    rows, columns = np.divmod(pairs, size)
    nodes, sink = np.arange(2 * size), np.full(2 * size, 2 * size)
    network = Network(
        supplies=np.repeat([1, 0, -size], [size, size, 1]),
        tails=np.append(rows, nodes).astype(np.int32),
        heads=np.append(columns + size, sink).astype(np.int32),
        capacities=np.ones(len(rows) + 2 * size, np.int64),
    )
    scale = int(gains.max(initial=0)) // largest_cost(2 * size + 1) + 1
    amounts = cheapest_amounts(network, np.append(-gains // scale, np.zeros(2 * size, np.int64)))
    names = np.full(size, NO_CONSUMER, np.int32)
    is_matched = amounts[: len(rows)] > 0
    names[rows[is_matched]] = columns[is_matched]
    names[names == NO_CONSUMER] = np.setdiff1d(np.arange(size), columns[is_matched])
    return names[positions]
