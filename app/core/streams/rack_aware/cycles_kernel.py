"""Minimum-cost flow by cancelling negative cycles one by one, in the order in which Kafka detects them.

Kafka detects a cycle with Bellman-Ford: as many sweeps over all arcs as there are nodes, in the order of their numbers;
the first arc that still shortens a path in the last sweep is on or behind a cycle, which its parents lead to. It starts
again for every cycle. Two shortcuts save time here without any effect on the result:

- A node whose distance has not changed since its arcs were relaxed shortens no path, and is skipped.
- After some sweeps the distances decrease by the same amounts from period to period, so that all whole periods up to
  the last sweep are skipped.

Source: KIP-925, `Graph` of Apache Kafka 4.0.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolVector, Int64Vector
from app.core.compiled.loops import subroutine
from app.core.streams.model import Bools

NONE = -1
SMALLEST_INT = -(2**31)
ENOUGH_CYCLES = 10
"""Cancelled cycles for each arc, after which cancelling is taken not to terminate."""


class Residual(NamedTuple):
    """A residual graph: nodes in the order of Kafka's numbers, the arcs of each by destination.

    first : (nodes + 1,) int64 into the arcs. origin, to : (arcs,) int64 nodes. cost, residual_capacity : (arcs,) int64.
    mate : (arcs,) int64, the reverse arc.
    """

    first: Int64Vector
    origin: Int64Vector
    to: Int64Vector
    cost: Int64Vector
    residual_capacity: Int64Vector
    mate: Int64Vector


@subroutine
def cancel_negative_cycles(graph: Residual) -> bool:
    """Cancel negative cycles until none is left; changes `residual_capacity`. False if cancelling does not terminate.

    Each cancellation lowers the cost, so that it terminates, except with costs of `SMALLEST_INT`, which are their own
    negatives in Java: both directions of such an arc are cheap, and there may always be another cycle.
    """
    nodes = len(graph.first) - 1
    parent = np.empty(nodes, np.int64)
    may_not_end = bool((graph.cost == SMALLEST_INT).any())
    remaining_cycles = ENOUGH_CYCLES * len(graph.to)
    while True:
        node = _end_of_last_shortening(graph, parent)
        if node == NONE:
            return True
        remaining_cycles -= 1
        if may_not_end and remaining_cycles < 0:
            return False
        visited = np.zeros(nodes, np.bool_)
        while not visited[node]:
            visited[node] = True
            node = graph.origin[parent[node]]
        _send(graph, parent, node, node)


@subroutine
def _send(graph: Residual, parent: Int64Vector, first: int, last: int) -> int:
    """Send as much flow as fits from `last` to `first`, or around a cycle if they are one node; returns the amount.

    `parent` : the arc that leads to each node of the path.
    """
    flow = 2**31 - 1
    at = first
    while True:
        flow = min(flow, int(graph.residual_capacity[parent[at]]))
        at = int(graph.origin[parent[at]])
        if at == last:
            break
    at = first
    while True:
        arc = parent[at]
        graph.residual_capacity[arc] -= flow
        graph.residual_capacity[graph.mate[arc]] += flow
        at = int(graph.origin[arc])
        if at == last:
            return flow


@subroutine
def _end_of_last_shortening(graph: Residual, parent: Int64Vector) -> int:
    """The head of the first arc that shortens a path in the last sweep, or `NONE`; `parent` : arcs."""
    nodes = len(graph.first) - 1
    # Kafka adds a source before all nodes that reaches each at cost 0: one more node, and so one more sweep.
    last_sweep = nodes
    distance = np.zeros(nodes, np.int64)
    parent[:] = NONE
    changed = np.ones(nodes, np.bool_)
    remembered = np.zeros(nodes, np.int64)
    was_changed = np.zeros(nodes, np.bool_)
    remembered_at, next_memory = NONE, 2
    sweep = 0
    while sweep <= last_sweep:
        any_changed = False
        for node in range(nodes):
            if not changed[node]:
                continue
            changed[node] = False
            for arc in range(graph.first[node], graph.first[node + 1]):
                if graph.residual_capacity[arc] == 0:
                    continue
                to = graph.to[arc]
                if distance[to] > distance[node] + graph.cost[arc]:
                    distance[to] = distance[node] + graph.cost[arc]
                    parent[to] = arc
                    if sweep == last_sweep:
                        return int(to)
                    changed[to] = True
                    any_changed = True
        if not any_changed:
            return NONE
        if remembered_at != NONE and _fell_alike(graph, distance, remembered, was_changed):
            period = sweep - remembered_at
            sweep += (last_sweep - 1 - sweep) // period * period
            remembered_at = NONE
            next_memory = last_sweep + 1
        elif sweep >= next_memory:
            for node in range(nodes):
                remembered[node] = distance[node]
                was_changed[node] = changed[node]
            remembered_at = sweep
            next_memory = 2 * sweep
        sweep += 1
    return NONE


@subroutine
def _fell_alike(graph: Residual, distance: Int64Vector, before: Int64Vector, was_changed: BoolVector) -> bool:
    """Whether all decreased distances decreased by the same amount, and the others had no effect."""
    fall = 0
    for node in range(len(distance)):
        if distance[node] != before[node]:
            if fall != 0 and distance[node] - before[node] != fall:
                return False
            fall = distance[node] - before[node]
    for node in range(len(distance)):
        if distance[node] == before[node] and was_changed[node]:
            return False
        if distance[node] != before[node]:
            for arc in range(graph.first[node], graph.first[node + 1]):
                to = graph.to[arc]
                if graph.residual_capacity[arc] != 0 and distance[to] == before[to]:
                    return False
    return True


@subroutine
def fill_max_flow(graph: Residual, source: int, sink: int) -> int:
    """Send a maximum flow along shortest paths in the order of Kafka's breadth-first search; returns its amount."""
    nodes = len(graph.first) - 1
    total = 0
    while True:
        parent = np.full(nodes, NONE, np.int64)
        queue = np.empty(nodes, np.int64)
        if not _reaches(graph, source, sink, parent, queue):
            return total
        total += _send(graph, parent, sink, source)


@subroutine
def _reaches(graph: Residual, source: int, sink: int, parent: Int64Vector, queue: Int64Vector) -> bool:
    visited: Bools = np.zeros(len(parent), np.bool_)
    visited[source] = True
    queue[0] = source
    begin, end = 0, 1
    while begin < end:
        node = queue[begin]
        begin += 1
        for arc in range(graph.first[node], graph.first[node + 1]):
            to = graph.to[arc]
            if visited[to] or graph.residual_capacity[arc] <= 0:
                continue
            visited[to] = True
            parent[to] = arc
            if to == sink:
                return True
            queue[end] = to
            end += 1
    return False
