"""KIP-925: tasks change places so that fewer partitions are read across racks, and every client keeps its count.

Hard: each client has as many tasks after as before; of one subtopology about its share, where that is the strategy.
Soft: the sum of `traffic_cost` for each partition that crosses racks and `non_overlap_cost` for each task that moves.
Of the assignments with the least cost it is Kafka's own: a flow, from which negative cycles are cancelled one by one in
the order in which Kafka finds them.

Source: KIP-925, `RackAwareTaskAssignor` of Apache Kafka 4.0.
"""

from dataclasses import dataclass

import numpy as np

from app.core.model import Int64s
from app.core.streams.application import Application, Holdings, inconsistent
from app.core.streams.model import Bools, RackAwareStrategy, StreamsOptions, TaskPartitions
from app.core.streams.rack_aware import flow
from app.core.streams.rack_aware.racks import UNKNOWN, Crossings, crossings, unknown_partitions, why_off
from app.errors import RackCostsOverflow

STATELESS_COSTS = (1, 0)
"""Traffic and non-overlap cost of tasks without state: to move them costs nothing."""
STANDBY_ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class RackAware:
    """KIP-925 where it is on."""

    application: Application
    strategy: RackAwareStrategy
    counts: Crossings

    def optimise_active(self, held: Holdings, rows: Int64s, costs: tuple[int, int]) -> int:
        """Let active tasks change places; returns the cost, of which a part may be for moves.

        Parameters
        ----------
        rows : (rows,) int64 tasks, ascending. costs : of traffic and of a move.

        Raises
        ------
        TaskPartitionsUnknown : of a task whose partitions or their racks nobody knows.
        InconsistentTasks : of a task that is active nowhere or twice, or that would go to where its standby is.
        RackCostsOverflow : where costs overflow in a way that Kafka never ends on.
        """
        if not len(rows):
            return 0
        owners = self._owners(held.active, rows)
        cost = int32_costs(self.counts.sources[:, rows].T, held.active[:, rows].T, *costs)
        chosen = self._solve(rows, cost, owners)
        for at in np.flatnonzero(chosen < 0)[:1].tolist():
            raise inconsistent(self.application, int(rows[at]), "finds no client", "IllegalStateException")
        for at in np.flatnonzero(chosen != owners).tolist():
            row = int(rows[at])
            if held.standby[chosen[at], row]:
                raise inconsistent(
                    self.application, row, "would go to where its standby is", "IllegalArgumentException"
                )
            held.active[owners[at], row] = False
            held.active[chosen[at], row] = True
        return int(cost[np.arange(len(rows)), chosen].sum())

    def cheapest_active(self, held: Holdings, rows: Int64s, costs: tuple[int, int]) -> flow.CheapestTasks:
        """What active tasks could be at the same cost as `optimise_active` makes them, by an exact flow.

        Nothing changes in what is held; clients are numbered in the application's order.

        Parameters
        ----------
        rows, costs : as there.

        Raises
        ------
        TaskPartitionsUnknown, InconsistentTasks : as there.
        """
        if not len(rows):
            return flow.CheapestTasks(np.zeros(0, np.int64), 0)
        owners = self._owners(held.active, rows)
        cost = int32_costs(self.counts.sources[:, rows].T, held.active[:, rows].T, *costs)
        if self.strategy is RackAwareStrategy.MIN_TRAFFIC:
            return flow.min_traffic(cost, owners)
        return flow.balance_subtopology(cost, *self._shares(rows, owners))

    def optimise_standbys(self, held: Holdings, costs: tuple[int, int], tags_held: Bools | None) -> int:
        """Let standbys of two clients at a time change places, in up to four rounds; returns the cost of their traffic.

        Parameters
        ----------
        tags_held : (clients, tag values) bool, where a move must not lower how many tag values hold a task; or None.
        """
        from app.core.streams.rack_aware import swaps_kernel as kernel  # noqa: PLC0415 — numba takes long to import

        self._require_known(self.counts.changelogs, np.flatnonzero(held.standby.any(axis=0)))
        tags = np.zeros((len(held.standby), 0), np.bool_) if tags_held is None else tags_held
        ended = kernel.swap_standbys(
            held.active,
            held.standby,
            self.counts.changelogs,
            self.counts.client_racks,
            tags,
            costs[0],
            costs[1],
            STANDBY_ROUNDS,
        )
        if not ended:
            raise _endless()
        return self.standby_cost(held, costs[0])

    def active_cost(self, held: Holdings, rows: Int64s, traffic_cost: int) -> int:
        """What active tasks cost where they are."""
        if not len(rows):
            return 0
        self._owners(held.active, rows)
        return _cost_where_held(self.counts.sources[:, rows], held.active[:, rows], traffic_cost)

    def standby_cost(self, held: Holdings, traffic_cost: int) -> int:
        """What standbys cost where they are."""
        self._require_known(self.counts.changelogs, np.flatnonzero(held.standby.any(axis=0)))
        return _cost_where_held(self.counts.changelogs, held.standby, traffic_cost)

    def _require_known(self, counts: Int64s, rows: Int64s) -> None:
        for row in rows[(counts[:, rows] == UNKNOWN).any(axis=0)].tolist():
            raise unknown_partitions(self.application, row)

    def _owners(self, active: Bools, rows: Int64s) -> Int64s:
        """(rows,) int64: the client of each task. The first task that is out of order decides on the failure."""
        times = active[:, rows].sum(axis=0)
        for at in np.flatnonzero((times != 1) | (self.counts.sources[:, rows] == UNKNOWN).any(axis=0))[:1].tolist():
            row = int(rows[at])
            if len(active) and self.counts.sources[0, row] == UNKNOWN:
                raise unknown_partitions(self.application, row)
            what = "is active on several clients" if times[at] else "is active on no client"
            raise inconsistent(self.application, row, what, "IllegalArgumentException")
        owners: Int64s = active[:, rows].argmax(axis=0)
        return owners

    def _solve(self, rows: Int64s, cost: Int64s, owners: Int64s) -> Int64s:
        from app.core.streams.rack_aware import graphs_kernel as kernel  # noqa: PLC0415 — numba takes long to import

        if self.strategy is RackAwareStrategy.MIN_TRAFFIC:
            chosen: Int64s = kernel.min_traffic(cost, owners)
        else:
            chosen = kernel.balance_subtopology(cost, *self._shares(rows, owners))
        if chosen[0] == kernel.NEVER_ENDS:
            raise _endless()
        return chosen

    def _shares(self, rows: Int64s, owners: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Each task's subtopology, each client's count, and how many tasks of each subtopology it has at most."""
        subtopologies = np.array([self.application.task_ids[row][0] for row in rows.tolist()], np.int64)
        group = np.unique(subtopologies, return_inverse=True)[1].astype(np.int64)
        held = np.bincount(owners, minlength=len(self.application.clients))
        # The very expression of Kafka's, whose rounding the ceiling may hang on.
        share = np.ceil(held[None, :] * 1.0 / len(rows) * np.bincount(group)[:, None]).astype(np.int64)
        return group, held, share


def rack_aware(
    application: Application, options: StreamsOptions, partitions: TaskPartitions | None
) -> RackAware | None:
    """KIP-925 for an application, or None where it is off; `why_off` says why."""
    if partitions is None or why_off(application.clients, options, partitions) is not None:
        return None
    counts = crossings(application, partitions, describes_changelogs=options.num_standby_replicas != 0)
    return RackAware(application, options.rack_aware_assignment_strategy, counts)


def int32_costs(crossing: Int64s, held: Bools, traffic_cost: int, non_overlap_cost: int) -> Int64s:
    """(tasks, clients) int64: what each task costs on each client, with Java's 32-bit arithmetic."""
    cost = crossing * traffic_cost + np.where(held, 0, non_overlap_cost)
    return np.ascontiguousarray(cost.astype(np.int32), np.int64)


def _endless() -> RackCostsOverflow:
    return RackCostsOverflow("a task's cost on a client wraps to -2^31, which is its own negative in Java")


def _cost_where_held(crossing: Int64s, held: Bools, traffic_cost: int) -> int:
    return int(int32_costs(crossing, held, traffic_cost, 0)[held].sum())
