"""KIP-925's two graphs: tasks, clients and, to balance subtopologies, a stage of clients by subtopology in between.

Arcs are built as (from, to) pairs with capacity, cost and flow, and sorted into both directions of a `Residual`.

Source: KIP-925, `MinTrafficGraphConstructor` and `BalanceSubtopologyGraphConstructor` of Apache Kafka 4.0.
"""

import numpy as np

from app.core.compiled.arrays import Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.counting_kernel import grouped
from app.core.model import Int64s
from app.core.streams.rack_aware.cycles_kernel import SMALLEST_INT, Residual, cancel_negative_cycles, fill_max_flow

SOURCE = 0
NEVER_ENDS = -2
"""Instead of every client, where Kafka's search does not end."""


@compiled
def min_traffic(cost: Int64Matrix, owners: Int64Vector) -> Int64s:
    """The client of each task at least cost, if each client keeps its number of tasks.

    Parameters
    ----------
    cost : (tasks, clients) int64. owners : (tasks,) int64.

    Returns
    -------
    (tasks,) int64; all `NEVER_ENDS` if cancelling cycles does not terminate.
    """
    tasks, clients = cost.shape
    arcs = np.empty((tasks * clients + tasks + clients, 5), np.int64)
    counts = np.zeros(clients, np.int64)
    sink = 1 + tasks + clients
    n = 0
    for task in range(tasks):
        counts[owners[task]] += 1
        for client in range(clients):
            n = _add(arcs, n, 1 + task, 1 + tasks + client, 1, cost[task, client], 1 if owners[task] == client else 0)
        n = _add(arcs, n, SOURCE, 1 + task, 1, 0, 1)
    for client in range(clients):
        n = _add(arcs, n, 1 + tasks + client, sink, counts[client], 0, counts[client])
    return _cheapest_clients(_residual(arcs, sink + 1), np.full(tasks, 1 + tasks))


@compiled
def balance_subtopology(cost: Int64Matrix, group: Int64Vector, counts: Int64Vector, share: Int64Matrix) -> Int64s:
    """The client of each task at least cost, if each client keeps its number of tasks and its shares of subtopologies.

    Parameters
    ----------
    cost : (tasks, clients) int64, tasks ascending. group : (tasks,) int64, the subtopology of each, ascending from 0.
    counts : (clients,) int64 tasks of each. share : (subtopologies, clients) int64, how many of each at most.

    Returns
    -------
    As `min_traffic` does.
    """
    tasks, clients = cost.shape
    groups = len(share)
    first_client, second_stage = 1 + tasks, 1 + tasks + groups * clients
    sink = second_stage + clients
    arcs = np.empty((tasks * clients + groups * clients + tasks + clients, 5), np.int64)
    n = 0
    for task in range(tasks):
        for client in range(clients):
            n = _add(arcs, n, 1 + task, first_client + group[task] * clients + client, 1, cost[task, client], 0)
        n = _add(arcs, n, SOURCE, 1 + task, 1, 0, 0)
    for client in range(clients):
        for number in range(groups):
            node = first_client + number * clients + client
            n = _add(arcs, n, node, second_stage + client, share[number, client], 0, 0)
        n = _add(arcs, n, second_stage + client, sink, counts[client], 0, 0)
    graph = _residual(arcs, sink + 1)
    fill_max_flow(graph, SOURCE, sink)
    return _cheapest_clients(graph, first_client + group * clients)


@subroutine
def _add(arcs: Int64Matrix, count: int, tail: int, head: int, capacity: int, cost: int, flow: int) -> int:
    """Append an arc to `count` others. Returns their new number."""
    arcs[count, 0], arcs[count, 1] = tail, head
    arcs[count, 2], arcs[count, 3], arcs[count, 4] = capacity, cost, flow
    return count + 1


@subroutine
def _cheapest_clients(graph: Residual, first_client: Int64Vector) -> Int64s:
    """(tasks,) int64 the client to which each task's flow goes at least cost, −1 if to none; or all `NEVER_ENDS`.

    `first_client` : (tasks,) int64 the node of the first client that each task's arcs go to.
    """
    if not cancel_negative_cycles(graph):
        return np.full(len(first_client), NEVER_ENDS)
    chosen = np.full(len(first_client), -1)
    for task in range(len(first_client)):
        for arc in range(graph.first[1 + task], graph.first[2 + task]):
            if graph.to[arc] >= first_client[task] and graph.residual_capacity[arc] == 0:
                chosen[task] = graph.to[arc] - first_client[task]
                break
    return chosen


@subroutine
def _residual(arcs: Int64Matrix, nodes: int) -> Residual:
    """Both directions of each arc (from, to, capacity, cost, flow), sorted by tail, then by head."""
    n = len(arcs)
    origin, to = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    for arc in range(n):
        origin[arc], to[arc] = arcs[arc, 0], arcs[arc, 1]
        origin[n + arc], to[n + arc] = arcs[arc, 1], arcs[arc, 0]
    _, by_end = grouped(np.arange(2 * n), to, nodes)
    first, order = grouped(by_end, origin[by_end], nodes)
    place = np.empty(2 * n, np.int64)
    place[order] = np.arange(2 * n)
    graph = Residual(
        first,
        np.empty(2 * n, np.int64),
        np.empty(2 * n, np.int64),
        np.empty(2 * n, np.int64),
        np.empty(2 * n, np.int64),
        np.empty(2 * n, np.int64),
    )
    for at in range(2 * n):
        directed = order[at]
        is_forward = directed < n
        arc = directed if is_forward else directed - n
        cost, flow = arcs[arc, 3], arcs[arc, 4]
        graph.origin[at], graph.to[at] = origin[directed], to[directed]
        # The smallest 32-bit integer is its own negative in Java.
        graph.cost[at] = cost if is_forward or cost == SMALLEST_INT else -cost
        graph.residual_capacity[at] = arcs[arc, 2] - flow if is_forward else flow
        graph.mate[at] = place[arc + n if is_forward else arc]
    return graph
