"""Minimum-cost flow under several costs in order of importance, each with its proof from duality."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.model import Int32s, Int64s

LARGEST_PRODUCT = 1 << 61
"""The solver multiplies costs by the number of nodes, in 64 bits, and needs some room above."""


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A flow network; what every node sends out (> 0) or takes in (< 0) sums to zero.

    Parameters
    ----------
    supplies : (nodes,) int64. tails, heads : (arcs,) int32 nodes. capacities : (arcs,) int64.
    """

    supplies: Int64s
    tails: Int32s
    heads: Int32s
    capacities: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """The flow on each arc, (arcs,) int64; the sum of each cost, and what no flow can stay below, in the same order."""

    amounts: Int64s = field(repr=False)
    costs: tuple[int, ...]
    bounds: tuple[int, ...]
    """Values of the dual problems. Each is a lower bound among the flows that are optimal for all costs before it."""
    potentials: tuple[Int64s, ...] = field(repr=False)
    """(nodes,) int64 of each cost, the proof: no arc that could carry more has cost + tail's - head's below zero."""


class NoFlow(Exception):
    """The supplies cannot be sent through the capacities."""


def largest_cost(nodes: int) -> int:
    """The largest cost of an arc that can be solved exactly in a network of so many nodes."""
    return LARGEST_PRODUCT // (nodes + 2)


def solve(network: Network, costs: Sequence[Int64s]) -> Flow:
    """Find a flow of the smallest first cost, among those one of the smallest second, and so on.

    By complementary slackness, the flows that are optimal for a cost are those that leave every arc of positive reduced
    cost empty and fill every arc of negative reduced cost, whichever optimal potentials are taken. So each cost is
    minimised on its own, with no weights between them, and narrows the network for the next.

    Parameters
    ----------
    costs : each (arcs,) int64, 0 … `largest_cost(nodes)`.

    Raises
    ------
    NoFlow : if there is no flow at all.
    """
    remaining, filled = network, np.zeros(len(network.tails), np.int64)
    open_arcs = np.arange(len(network.tails))
    bounds: list[int] = []
    proofs: list[Int64s] = []
    amounts = filled
    for cost in costs:
        amounts = filled.copy()
        amounts[open_arcs] = _cheapest(remaining, cost[open_arcs])
        flowing = amounts[open_arcs]
        potentials = _potentials(remaining, cost[open_arcs], flowing)
        reduced = cost[open_arcs] + potentials[remaining.tails] - potentials[remaining.heads]
        dual = int(-(remaining.supplies * potentials).sum()) + int(
            (np.minimum(reduced, 0) * remaining.capacities).sum()
        )
        bounds.append(dual + int((filled * cost).sum()))
        proofs.append(potentials)
        full = reduced < 0
        filled[open_arcs[full]] = remaining.capacities[full]
        remaining, open_arcs = _narrowed(remaining, full, reduced == 0), open_arcs[reduced == 0]
    return Flow(amounts, tuple(int((amounts * cost).sum()) for cost in costs), tuple(bounds), tuple(proofs))


def _cheapest(network: Network, costs: Int64s) -> Int64s:
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 — solvers are loaded when something is to be solved

    flow = min_cost_flow.SimpleMinCostFlow()
    if not len(network.tails):
        if network.supplies.any():
            raise NoFlow
        return np.zeros(0, np.int64)
    arcs = flow.add_arcs_with_capacity_and_unit_cost(network.tails, network.heads, network.capacities, costs)
    flow.set_nodes_supplies(np.arange(len(network.supplies), dtype=np.int32), network.supplies)
    status = flow.solve()
    if status == flow.INFEASIBLE:
        raise NoFlow
    if status != flow.OPTIMAL:
        raise RuntimeError(f"the minimum-cost flow over {len(network.tails)} arcs ended as {status}")
    return np.asarray(flow.flows(arcs), np.int64)


def _potentials(network: Network, costs: Int64s, amounts: Int64s) -> Int64s:
    """Shortest distances in what an optimal flow leaves open: with these, no open arc has a negative reduced cost.

    An optimal flow leaves no negative cycle, so that there are shortest ones.
    """
    from app.core import flow_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

    forward, backward = amounts < network.capacities, amounts > 0
    tails = np.concatenate([network.tails[forward], network.heads[backward]])
    heads = np.concatenate([network.heads[forward], network.tails[backward]])
    lengths = np.concatenate([costs[forward], -costs[backward]])
    distances = np.zeros(len(network.supplies), np.int64)
    kernel.relax(tails, heads, lengths, distances)
    return distances


def _narrowed(network: Network, full: np.ndarray[tuple[int], np.dtype[np.bool_]], kept: Int64s) -> Network:
    """The network in which some arcs carry all they can for good, and only the kept ones are open."""
    supplies = network.supplies.copy()
    np.subtract.at(supplies, network.tails[full], network.capacities[full])
    np.add.at(supplies, network.heads[full], network.capacities[full])
    return Network(supplies, network.tails[kept], network.heads[kept], network.capacities[kept])
