"""Filling a tree's brokers by weight within bounds at every node.

The nodes stand in one array, level by level from the root (node 0) to the brokers; the children of a node are side by
side, and so are all its descendants of one level.
"""

import numpy as np

from app.core.compiled.arrays import FloatVector, Int64Matrix
from app.core.compiled.loops import compiled, subroutine

_HALVINGS = 64


@compiled
def share(
    children: Int64Matrix,
    first_broker: int,
    weights: FloatVector,
    current: FloatVector,
    low: FloatVector,
    high: FloatVector,
    result: FloatVector,
) -> None:
    """Fill `result`: the shares, summing to the root's, whose Σ (current + share)² / weight over the brokers is least.

    Parameters
    ----------
    children : (nodes, 2) int64, where a node's children begin and end; of brokers anything.
    first_broker : the node that is the first broker. weights, current : (brokers,) float64.
    low, high : (nodes,) float64 bounds; no broker's are wider than 0 to the number of rows.
    result : (nodes,) float64; the root's is given.
    """
    for node in range(first_broker):
        begin, end = children[node, 0], children[node, 1]
        first, last = begin, end  # the brokers of the node
        while first < first_broker:
            first, last = children[first, 0], children[last - 1, 1]
        least, most = np.inf, -np.inf
        for broker in range(first, last):
            at = broker - first_broker
            least = min(least, (current[at] + low[broker]) / weights[at])
            most = max(most, (current[at] + high[broker]) / weights[at])
        for _ in range(_HALVINGS):
            middle = (least + most) / 2
            if _had(children, first_broker, weights, current, low, high, begin, end, middle, result) < result[node]:
                least = middle
            else:
                most = middle
        _had(children, first_broker, weights, current, low, high, begin, end, most, result)


@subroutine
def _had(
    children: Int64Matrix,
    first_broker: int,
    weights: FloatVector,
    current: FloatVector,
    low: FloatVector,
    high: FloatVector,
    begin: int,
    end: int,
    fill: float,
    result: FloatVector,
) -> float:
    """Sum of the quotas of nodes begin … end - 1 if every broker is filled to `fill`; sets them in `result`."""
    total = 0.0
    for node in range(begin, end):
        if node >= first_broker:
            at = node - first_broker
            had = fill * weights[at] - current[at]
        else:
            had = _had(
                children, first_broker, weights, current, low, high, children[node, 0], children[node, 1], fill, result
            )
        result[node] = min(max(had, low[node]), high[node])
        total += result[node]
    return total
