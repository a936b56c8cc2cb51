"""KIP-925's optimum by a minimum-cost flow: of the same cost as Kafka's own, in a fraction of the time.

Kafka cancels negative cycles one by one, and which optimum it ends in hangs on their order; the replay beside this
follows it. Here the same graphs go to a solver. What is equal:

- `min_traffic`: each client's count of tasks, and the cost.
- `balance_subtopology`: each client's count, at most Kafka's share of each subtopology on each client, and the cost.
  Kafka fills its graph before it cancels cycles; the shares are rounded up from numbers that would carry every task, so
  that the fullest flow carries all of them, and both are cheapest among the flows that do.

What is not: which task goes where, if several assignments cost the same. And nothing is said of costs of −2³¹, which
are their own negatives in Java; the replay refuses them.

Source: KIP-925, `MinTrafficGraphConstructor` and `BalanceSubtopologyGraphConstructor` of Apache Kafka 4.0.
"""

from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow, Network, cheapest_amounts
from app.core.model import Int64s


@dataclass(frozen=True, slots=True, eq=False)
class CheapestTasks:
    """The client of each task, (tasks,) int64, and what they cost together."""

    chosen: Int64s = field(repr=False)
    cost: int


def min_traffic(cost: Int64s, owners: Int64s) -> CheapestTasks:
    """The client of each task at least cost, where each client keeps its count.

    Parameters
    ----------
    cost : (tasks, clients) int64. owners : (tasks,) int64.
    """
    counts = np.bincount(owners, minlength=cost.shape[1]).astype(np.int64)
    return balance_subtopology(cost, np.zeros(len(cost), np.int64), counts, counts[None, :])


def balance_subtopology(cost: Int64s, group: Int64s, counts: Int64s, share: Int64s) -> CheapestTasks:
    """The client of each task at least cost, where each client keeps its count and its share of each subtopology.

    Parameters
    ----------
    cost : (tasks, clients) int64. group : (tasks,) int64, the subtopology of each, from 0.
    counts : (clients,) int64 tasks of each; they sum to the tasks.
    share : (subtopologies, clients) int64, how many of each at most.

    Raises
    ------
    ValueError : no assignment keeps the counts within the shares.
    """
    tasks, clients = cost.shape
    if not tasks:
        return CheapestTasks(np.zeros(0, np.int64), 0)
    groups = len(share)
    first_pair, first_client = tasks, tasks + groups * clients
    task, client = np.divmod(np.arange(tasks * clients, dtype=np.int64), clients)
    pair_group, pair_client = np.divmod(np.arange(groups * clients, dtype=np.int64), clients)
    tails = np.concatenate([task, first_pair + pair_group * clients + pair_client])
    heads = np.concatenate([first_pair + group[task] * clients + client, first_client + pair_client])
    capacities = np.concatenate([np.ones(len(task), np.int64), share.ravel()])
    unit_cost = np.concatenate([cost.ravel(), np.zeros(len(pair_client), np.int64)])
    supplies = np.concatenate([np.ones(tasks, np.int64), np.zeros(groups * clients, np.int64), -counts])
    amounts = _cheapest(tails, heads, capacities, unit_cost, supplies)[: len(task)].reshape(tasks, clients)
    chosen = amounts.argmax(axis=1).astype(np.int64)
    return CheapestTasks(chosen, int(cost[np.arange(tasks), chosen].sum()))


def _cheapest(tails: Int64s, heads: Int64s, capacities: Int64s, unit_cost: Int64s, supplies: Int64s) -> Int64s:
    """(arcs,) int64 flow."""
    network = Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities)
    try:
        return cheapest_amounts(network, unit_cost)
    except InfeasibleFlow:
        raise ValueError(f"no assignment keeps {-supplies[supplies < 0].sum()} tasks within the shares") from None
