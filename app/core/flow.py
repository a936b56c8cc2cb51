"""Network flows: minimum cost under lexicographic costs, maximum flow, feasibility. The only door to the flow solvers.

    min_cost_flow       several costs in order of importance, each with its lower bound from duality
    cheapest_amounts    one cost, without the proof
    max_flow            as much as passes from a source to a sink, and the minimum cut
    is_feasible         whether supplies and demands can be met within the capacities

Flows are exact and integral. Which of several optimal flows is returned depends on the order of the arcs alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core import flow_kernel
from app.core.model import Bools, Int32s, Int64s

LARGEST_PRODUCT = 1 << 61
"""The solver multiplies costs by the number of nodes in 64 bits; the rest is headroom for its sums."""


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A directed flow network.

    Parameters
    ----------
    supplies : (nodes,) int64, supply (> 0) or demand (< 0) of each node; they sum to zero.
    tails, heads : (arcs,) int32 nodes. capacities : (arcs,) int64 >= 0.
    """

    supplies: Int64s
    tails: Int32s
    heads: Int32s
    capacities: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """A flow that is optimal for several costs in lexicographic order, with the proof.

    Parameters
    ----------
    amounts : (arcs,) int64 on each arc.
    costs : the total of each cost, in the order in which they were given.
    lower_bounds : the values of the dual problems. Each is a lower bound among the flows that are optimal for all costs
        before it.
    potentials : (nodes,) int64 dual prices of each cost: with them, no arc with residual capacity has a negative
        reduced cost, cost + potential of the tail − potential of the head.
    """

    amounts: Int64s = field(repr=False)
    costs: tuple[int, ...]
    lower_bounds: tuple[int, ...]
    potentials: tuple[Int64s, ...] = field(repr=False)


class InfeasibleFlow(Exception):
    """The supplies cannot be sent through the capacities."""


def largest_cost(nodes: int) -> int:
    """The largest cost of an arc for which a network of `nodes` is solved exactly in 64 bits."""
    return LARGEST_PRODUCT // (nodes + 2)


def min_cost_flow(network: Network, costs: Sequence[Int64s], *, is_over: Callable[[], bool] | None = None) -> Flow:
    """Minimise several costs in lexicographic order: the first, then the second among its optimal flows, and so on.

    By complementary slackness, the flows that are optimal for a cost are those that leave every arc of positive reduced
    cost empty and saturate every arc of negative reduced cost, for any optimal potentials. So each cost is minimised on
    its own, without weights between them, and restricts the network for the next.

    Complexity: for each cost one cost-scaling push-relabel, O(nodes² · arcs · log(nodes · largest cost)) at worst and
    near-linear in practice, and Bellman-Ford rounds over the arcs for the potentials.

    Parameters
    ----------
    costs : each (arcs,) int64, of absolute value up to `largest_cost(nodes)`.
    is_over : whether a deadline has passed; the costs after the present one then are not minimised, and the flow has
        none of their figures.

    Raises
    ------
    InfeasibleFlow : if the supplies cannot be sent.

    Examples
    --------
    Two units from node 0 to node 2; the direct arc carries one of them.

    >>> import numpy as np
    >>> arcs = np.array([[0, 2, 1], [0, 1, 2], [1, 2, 2]])
    >>> tails, heads = arcs[:, 0].astype(np.int32), arcs[:, 1].astype(np.int32)
    >>> flow = min_cost_flow(Network(np.array([2, 0, -2]), tails, heads, arcs[:, 2]), [np.array([1, 3, 0])])
    >>> flow.amounts.tolist(), flow.costs, flow.lower_bounds
    ([1, 1, 1], (4,), (4,))

    Source: Goldberg and Tarjan, "Finding minimum-cost circulations by successive approximation" (1990), in OR-tools.
    """
    remaining, filled = network, np.zeros(len(network.tails), np.int64)
    open_arcs = np.arange(len(network.tails))
    bounds: list[int] = []
    duals: list[Int64s] = []
    amounts = filled
    for cost in costs:
        amounts = filled.copy()
        amounts[open_arcs] = cheapest_amounts(remaining, cost[open_arcs])
        flowing = amounts[open_arcs]
        potentials = _potentials(remaining, cost[open_arcs], flowing)
        reduced = cost[open_arcs] + potentials[remaining.tails] - potentials[remaining.heads]
        dual = int(-(remaining.supplies * potentials).sum()) + int(
            (np.minimum(reduced, 0) * remaining.capacities).sum()
        )
        bounds.append(dual + int((filled * cost).sum()))
        duals.append(potentials)
        if is_over is not None and is_over():
            break
        full = reduced < 0
        filled[open_arcs[full]] = remaining.capacities[full]
        remaining, open_arcs = _narrowed(remaining, full, reduced == 0), open_arcs[reduced == 0]
    return Flow(
        amounts, tuple(int((amounts * cost).sum()) for cost in costs[: len(bounds)]), tuple(bounds), tuple(duals)
    )


def cheapest_amounts(network: Network, costs: Int64s) -> Int64s:
    """(arcs,) int64 amounts of a flow of minimum cost, without the proof.

    Parameters
    ----------
    costs : (arcs,) int64, of absolute value up to `largest_cost(nodes)`.

    Raises
    ------
    InfeasibleFlow : if the supplies cannot be sent.
    """
    if not len(network.tails):
        if network.supplies.any():
            raise InfeasibleFlow
        return np.zeros(0, np.int64)
    from ortools.graph.python import min_cost_flow as solvers  # noqa: PLC0415 — executors of other kernels lack it

    solver = solvers.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(network.tails, network.heads, network.capacities, costs)
    solver.set_nodes_supplies(np.arange(len(network.supplies), dtype=np.int32), network.supplies)
    status = solver.solve()
    if status == solver.INFEASIBLE:
        raise InfeasibleFlow
    if status != solver.OPTIMAL:
        raise RuntimeError(f"the minimum-cost flow over {len(network.tails)} arcs ended as {status}")
    return np.asarray(solver.flows(arcs), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class MaxFlow:
    """A maximum flow. amount : its value. is_sink_side : (nodes,) bool, the sink's side of a minimum cut.

    The sink's side are the nodes from which the sink can be reached through residual capacity.
    """

    amount: int
    is_sink_side: Bools = field(repr=False)


def max_flow(tails: Int32s, heads: Int32s, capacities: Int64s, *, source: int, sink: int) -> MaxFlow:
    """Send as much as passes from the source to the sink.

    Complexity: O(nodes² · √arcs), by push-relabel in the order of highest labels.

    Parameters
    ----------
    tails, heads : (arcs,) int32 nodes. capacities : (arcs,) int64 >= 0, summing to less than 2⁶³ at the source.

    Examples
    --------
    >>> import numpy as np
    >>> tails, heads = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    >>> flow = max_flow(tails, heads, np.array([5, 3]), source=0, sink=2)
    >>> flow.amount, flow.is_sink_side.tolist()
    (3, [False, False, True])

    Source: Goldberg and Tarjan, "A new approach to the maximum-flow problem" (1988), in OR-tools.
    """
    from ortools.graph.python import max_flow as solvers  # noqa: PLC0415 — executors of other kernels lack it

    solver = solvers.SimpleMaxFlow()
    solver.add_arcs_with_capacity(tails, heads, capacities)
    status = solver.solve(source, sink)
    if status != solver.OPTIMAL:
        raise RuntimeError(f"the maximum flow over {len(tails)} arcs ended as {status}")
    nodes = max(int(tails.max(initial=0)), int(heads.max(initial=0)), source, sink) + 1
    is_sink_side = np.zeros(nodes, np.bool_)
    is_sink_side[solver.get_sink_side_min_cut()] = True
    return MaxFlow(int(solver.optimal_flow()), is_sink_side)


def is_feasible(network: Network) -> bool:
    """Whether the supplies can be sent through the capacities, by a maximum flow.

    A source feeds every supply and a sink drains every demand; both are met if and only if all of it passes.
    """
    nodes, supplies = len(network.supplies), network.supplies
    source, sink = nodes, nodes + 1
    sending, receiving = np.flatnonzero(supplies > 0), np.flatnonzero(supplies < 0)
    if not len(sending):
        return not len(receiving)
    tails = np.concatenate([network.tails, np.full(len(sending), source), receiving])
    heads = np.concatenate([network.heads, sending, np.full(len(receiving), sink)])
    capacities = np.concatenate([network.capacities, supplies[sending], -supplies[receiving]])
    flow = max_flow(tails.astype(np.int32), heads.astype(np.int32), capacities, source=source, sink=sink)
    return flow.amount == int(supplies[sending].sum())


def _potentials(network: Network, costs: Int64s, amounts: Int64s) -> Int64s:
    """Shortest distances in the residual network: with these, no residual arc has a negative reduced cost.

    They exist, since the residual network of an optimal flow has no negative cycle.
    """
    forward, backward = amounts < network.capacities, amounts > 0
    tails = np.concatenate([network.tails[forward], network.heads[backward]])
    heads = np.concatenate([network.heads[forward], network.tails[backward]])
    lengths = np.concatenate([costs[forward], -costs[backward]])
    distances = np.zeros(len(network.supplies), np.int64)
    flow_kernel.relax(tails, heads, lengths, distances)
    return distances


def _narrowed(network: Network, full: Bools, is_open: Bools) -> Network:
    """The network in which the `full` arcs stay saturated, and only the open ones may change."""
    supplies = network.supplies.copy()
    np.subtract.at(supplies, network.tails[full], network.capacities[full])
    np.add.at(supplies, network.heads[full], network.capacities[full])
    return Network(supplies, network.tails[is_open], network.heads[is_open], network.capacities[is_open])
