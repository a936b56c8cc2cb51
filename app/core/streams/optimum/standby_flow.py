"""Standbys as units of flow: from each task through the profiles that it may or must use to clients, to the sink.

    task ──(what is free)──→ task in a profile ──(has no state there: 1)──→ client ──(n-th: (2n−1)/threads)──→ sink

What a task must have in a profile starts there. A client's arcs to the sink get dearer one by one, so that the cheapest
flow is the one of the least sum of squares. Imbalance is the first cost, restored copies are the second.
"""

from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow, Network, min_cost_flow
from app.core.model import Int64s
from app.core.streams.model import Bools
from app.core.streams.optimum.problem import Problem
from app.core.streams.optimum.tag_patterns import Profiles


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """How many of each task's standbys go to each profile: (tasks, profiles) int64, at least and at most."""

    lower: Int64s
    upper: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Standbys, (clients, tasks) bool, and what none within the same places stays below."""

    standby: Bools = field(repr=False)
    imbalance_bound: int
    restored_bound: int


def place(problem: Problem, profiles: Profiles, places: Places) -> Placed:
    """Find the least imbalance, then the fewest restored copies, exactly, by two minimum-cost flows."""
    tasks, clients = len(problem.rows), len(problem.capacities)
    if not tasks or not problem.standbys:
        return Placed(np.zeros((clients, tasks), np.bool_), 0, 0)
    threads = int(problem.capacities.sum())
    share = -(-tasks * problem.standbys * problem.capacities // threads)
    longest = share + 2
    while True:
        longest = np.minimum(longest, tasks)
        try:
            found, full = _flow(problem, profiles, places, longest)
        except InfeasibleFlow:
            full = longest < tasks
        # With its last arc empty a client would not take more if it had more arcs, since each is dearer than the last.
        if not (full & (longest < tasks)).any():
            return found
        longest = np.where(full, 2 * longest, longest)


def _flow(problem: Problem, profiles: Profiles, places: Places, longest: Int64s) -> tuple[Placed, Bools]:
    """The flow in which each client takes `longest` standbys at most; and who takes so many."""
    tasks, clients = len(problem.rows), len(problem.capacities)
    task, profile = np.nonzero(places.upper)
    pair_node = tasks + np.arange(len(task))
    first_client = tasks + len(task)
    sink = first_client + clients
    free = (places.upper - places.lower)[task, profile]
    pair, client = np.nonzero(profiles.of_client[None, :] == profile[:, None])
    elsewhere = problem.active[task[pair]] != client
    pair, client = pair[elsewhere], client[elsewhere]
    seat_client = np.repeat(np.arange(clients), longest)
    seat = np.arange(len(seat_client)) - np.repeat(np.cumsum(longest) - longest, longest)
    tails = np.concatenate([task, pair_node[pair], first_client + seat_client])
    heads = np.concatenate([pair_node, first_client + client, np.full(len(seat), sink)])
    capacities = np.concatenate([free, np.ones(len(pair) + len(seat), np.int64)])
    imbalance = np.zeros(len(tails), np.int64)
    imbalance[len(tails) - len(seat) :] = (2 * seat + 1) * problem.weights[seat_client]
    restored = np.zeros(len(tails), np.int64)
    restored[len(task) : len(task) + len(pair)] = ~problem.has_state[client, task[pair]]
    supplies = np.zeros(sink + 1, np.int64)
    supplies[:tasks] = problem.standbys - places.lower.sum(axis=1)
    supplies[pair_node] = places.lower[task, profile]
    supplies[sink] = -tasks * problem.standbys
    network = Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities.astype(np.int64))
    flow = min_cost_flow(network, (imbalance, restored))
    taken = flow.amounts[len(task) : len(task) + len(pair)] > 0
    standby = np.zeros((clients, tasks), np.bool_)
    standby[client[taken], task[pair[taken]]] = True
    return Placed(standby, *flow.lower_bounds), standby.sum(axis=1) >= longest
