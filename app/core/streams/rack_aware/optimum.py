"""KIP-925: rack-aware optimisation of an assignment of tasks.

Hard constraints: each client keeps its number of tasks and, with `balance_subtopology`, has at most its share of each
subtopology. Soft goal: the least sum of `traffic_cost` for each partition that is read across racks and
`non_overlap_cost` for each task that moves. Of the assignments with the least cost the answer is Kafka's own: a flow
from which negative cycles are cancelled one by one, in the order in which Kafka visits them.

Source: KIP-925, `RackAwareTaskAssignor` of Apache Kafka 4.0.

KIP-925's optimum by a minimum-cost flow: of the same cost as Kafka's own, in a fraction of the time.

Kafka cancels negative cycles one by one, and their order decides which optimum it reaches; `cycles_kernel` replays it.
Here a solver gets the same graphs. Equal are:

- `min_traffic`: each client's count of tasks, and the cost.
- `balance_subtopology`: each client's count, at most Kafka's share of each subtopology on each client, and the cost.
  Kafka sends a maximum flow before it cancels cycles; the shares are rounded up from numbers that carry every task, so
  that the maximum flow carries all of them, and both are cheapest among the flows that do.

The assignment itself can differ if several have the same cost. Costs of −2³¹, which are their own negatives in Java,
are excluded; the replay rejects them.

Source: KIP-925, `MinTrafficGraphConstructor` and `BalanceSubtopologyGraphConstructor` of Apache Kafka 4.0.
"""

from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow, Network, cheapest_amounts
from app.core.model import Int64s
from app.core.streams.model import (
    Application,
    Bools,
    PartialAssignment,
    RackAwareStrategy,
    StreamsOptions,
    TaskPartitions,
    inconsistent,
)
from app.core.streams.rack_aware import graphs_kernel, swaps_kernel
from app.core.streams.rack_aware.racks import (
    UNKNOWN_READS,
    CrossRackReads,
    cross_rack_reads,
    unknown_partitions,
    why_off,
)
from app.errors.kafka import RackCostsOverflow


@dataclass(frozen=True, slots=True, eq=False)
class CheapestTasks:
    """The client of each task, (tasks,) int64, and the total cost."""

    chosen: Int64s = field(repr=False)
    cost: int


def min_traffic(cost: Int64s, owners: Int64s) -> CheapestTasks:
    """The client of each task at least cost, if each client keeps its number of tasks.

    Parameters
    ----------
    cost : (tasks, clients) int64. owners : (tasks,) int64.
    """
    counts = np.bincount(owners, minlength=cost.shape[1]).astype(np.int64)
    return balance_subtopology(cost, np.zeros(len(cost), np.int64), counts, counts[None, :])


def balance_subtopology(cost: Int64s, group: Int64s, counts: Int64s, share: Int64s) -> CheapestTasks:
    """The client of each task at least cost, if each client keeps its number of tasks and its shares of subtopologies.

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


STATELESS_COSTS = (1, 0)
"""Traffic and non-overlap cost of stateless tasks: a move costs 0."""


@dataclass(frozen=True, slots=True, eq=False)
class RackAware:
    """KIP-925 for an application in which it is on."""

    application: Application
    strategy: RackAwareStrategy
    reads: CrossRackReads

    def optimise_active(self, partial: PartialAssignment, rows: Int64s, costs: tuple[int, int]) -> int:
        """Exchange active tasks between clients in place; returns the total cost, including moves.

        Parameters
        ----------
        rows : (rows,) int64 tasks, ascending.
        costs : traffic cost and non-overlap cost.

        Raises
        ------
        TaskPartitionsUnknown : if the partitions of a task, or their racks, are unknown.
        InconsistentTasks : if a task is active on no client or on two, or would move to the client of its standby.
        RackCostsOverflow : if costs overflow so that Kafka's own code does not terminate.
        """
        if not len(rows):
            return 0
        owners = self._owners(partial.active, rows)
        cost = int32_costs(self.reads.sources[:, rows].T, partial.active[:, rows].T, *costs)
        target = self._solve(rows, cost, owners)
        for at in np.flatnonzero(target < 0)[:1].tolist():
            raise inconsistent(self.application, int(rows[at]), "finds no client", "IllegalStateException")
        for at in np.flatnonzero(target != owners).tolist():
            row = int(rows[at])
            if partial.standby[target[at], row]:
                raise inconsistent(
                    self.application, row, "would go to where its standby is", "IllegalArgumentException"
                )
            partial.active[owners[at], row] = False
            partial.active[target[at], row] = True
        return int(cost[np.arange(len(rows)), target].sum())

    def cheapest_active(self, partial: PartialAssignment, rows: Int64s, costs: tuple[int, int]) -> CheapestTasks:
        """An optimal assignment of active tasks, of the same cost as `optimise_active`, from an exact flow.

        `partial` does not change. Clients are numbered in the application's order.

        Parameters
        ----------
        rows, costs : as in `optimise_active`.

        Raises
        ------
        TaskPartitionsUnknown, InconsistentTasks : as in `optimise_active`.
        """
        if not len(rows):
            return CheapestTasks(np.zeros(0, np.int64), 0)
        owners = self._owners(partial.active, rows)
        cost = int32_costs(self.reads.sources[:, rows].T, partial.active[:, rows].T, *costs)
        if self.strategy is RackAwareStrategy.MIN_TRAFFIC:
            return min_traffic(cost, owners)
        return balance_subtopology(cost, *self._shares(rows, owners))

    def optimise_standbys(self, partial: PartialAssignment, costs: tuple[int, int], tag_values: Bools | None) -> int:
        """Swap standbys between pairs of clients in place, in up to four rounds; returns the cost of their traffic.

        Parameters
        ----------
        tag_values : (clients, tag values) bool, if a swap must not lower the number of a task's tag values; or None.
        """
        self._require_known(self.reads.changelogs, np.flatnonzero(partial.standby.any(axis=0)))
        tags = np.zeros((len(partial.standby), 0), np.bool_) if tag_values is None else tag_values
        reads = self.reads
        standbys = swaps_kernel.Standbys(
            partial.active, partial.standby, reads.changelogs, reads.client_racks, tags, *costs
        )
        if not swaps_kernel.swap_standbys(standbys):
            raise _costs_overflow()
        return self.standby_cost(partial, costs[0])

    def active_cost(self, partial: PartialAssignment, rows: Int64s, traffic_cost: int) -> int:
        """Traffic cost of the active tasks on their current clients."""
        if not len(rows):
            return 0
        self._owners(partial.active, rows)
        return _current_cost(self.reads.sources[:, rows], partial.active[:, rows], traffic_cost)

    def standby_cost(self, partial: PartialAssignment, traffic_cost: int) -> int:
        """Traffic cost of the standbys on their current clients."""
        self._require_known(self.reads.changelogs, np.flatnonzero(partial.standby.any(axis=0)))
        return _current_cost(self.reads.changelogs, partial.standby, traffic_cost)

    def _require_known(self, counts: Int64s, rows: Int64s) -> None:
        for row in rows[(counts[:, rows] == UNKNOWN_READS).any(axis=0)].tolist():
            raise unknown_partitions(self.application, row)

    def _owners(self, active: Bools, rows: Int64s) -> Int64s:
        """(rows,) int64: the client of each task. The first inconsistent task decides the failure."""
        times = active[:, rows].sum(axis=0)
        for at in np.flatnonzero((times != 1) | (self.reads.sources[:, rows] == UNKNOWN_READS).any(axis=0))[
            :1
        ].tolist():
            row = int(rows[at])
            if len(active) and self.reads.sources[0, row] == UNKNOWN_READS:
                raise unknown_partitions(self.application, row)
            predicate = "is active on several clients" if times[at] else "is active on no client"
            raise inconsistent(self.application, row, predicate, "IllegalArgumentException")
        owners: Int64s = active[:, rows].argmax(axis=0)
        return owners

    def _solve(self, rows: Int64s, cost: Int64s, owners: Int64s) -> Int64s:
        if self.strategy is RackAwareStrategy.MIN_TRAFFIC:
            target: Int64s = graphs_kernel.min_traffic(cost, owners)
        else:
            target = graphs_kernel.balance_subtopology(cost, *self._shares(rows, owners))
        if target[0] == graphs_kernel.NEVER_ENDS:
            raise _costs_overflow()
        return target

    def _shares(self, rows: Int64s, owners: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Each task's subtopology, each client's number of tasks, and each client's share of each subtopology."""
        subtopologies = np.array([self.application.task_ids[row][0] for row in rows.tolist()], np.int64)
        subtopology = np.unique(subtopologies, return_inverse=True)[1].astype(np.int64)
        counts = np.bincount(owners, minlength=len(self.application.clients))
        # The same expression as Kafka's, since the ceiling can depend on its rounding.
        share = np.ceil(counts[None, :] * 1.0 / len(rows) * np.bincount(subtopology)[:, None]).astype(np.int64)
        return subtopology, counts, share


def rack_aware(
    application: Application, options: StreamsOptions, partitions: TaskPartitions | None
) -> RackAware | None:
    """KIP-925 for an application, or None if it is off; `why_off` gives the reason."""
    if partitions is None or why_off(application.clients, options, partitions) is not None:
        return None
    reads = cross_rack_reads(application, partitions, describes_changelogs=options.num_standby_replicas != 0)
    return RackAware(application, options.rack_aware_assignment_strategy, reads)


def int32_costs(crossing: Int64s, is_current: Bools, traffic_cost: int, non_overlap_cost: int) -> Int64s:
    """(tasks, clients) int64: the cost of each task on each client, in Java's 32-bit arithmetic."""
    cost = crossing * traffic_cost + np.where(is_current, 0, non_overlap_cost)
    return np.ascontiguousarray(cost.astype(np.int32), np.int64)


def _costs_overflow() -> RackCostsOverflow:
    return RackCostsOverflow("a task's cost on a client wraps to -2^31, which is its own negative in Java")


def _current_cost(crossing: Int64s, is_current: Bools, traffic_cost: int) -> int:
    return int(int32_costs(crossing, is_current, traffic_cost, 0)[is_current].sum())
