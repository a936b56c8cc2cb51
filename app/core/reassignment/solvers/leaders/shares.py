"""Leadership as a flow between brokers: the smallest maximum and the largest minimum load, exactly.

Each row sends its weight to its candidates, each broker passes on between its minimum and its maximum. If every weight
is 1, an integral flow is a choice of leaders; with other weights it may split a partition between candidates, and what
it cannot reach no choice can.

Leaders by count with minimums: each broker leads at least a stated number of partitions of a topic.

A minimum of a topic on a broker becomes a node beside the broker, which leads exactly the minimum. Partitions of the
topic may be led by the node as well as by the broker itself, at the same cost, and the broker's base includes the
minimum. Every choice that meets the minimums is a flow between brokers and these nodes, and every such flow a choice,
so that the band and the changes are as exact as without minimums.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import Band
from app.core.reassignment.solvers.leaders import shares_kernel as kernel
from app.core.reassignment.solvers.leaders.paths import settled
from app.core.reassignment.solvers.leaders.problem import NOT_A_CANDIDATE, LeaderProblem, LeaderTopics, priced_bound
from app.core.replica_lists import sums_by


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The amount of each row that each candidate leads; methods that balance loads change `amounts` in place.

    Parameters
    ----------
    table : (rows, width) int32 brokers. costs : (rows, width) int32 >= 0, or `problem.NOT_A_CANDIDATE`.
    amounts : (rows, width) int64; they sum to the row's weight.
    target : (brokers,) bool. base : (brokers,) int64.
    exact : (brokers,) int64, the load that each node has exactly, −1 for brokers; None if there are none. It
        may be infeasible; the balance then leaves these loads as they are.
    brokers : their number if nodes of minimums follow them, for each topic one of each broker; 0 without any.
    """

    table: Int32s = field(repr=False)
    costs: Int32s = field(repr=False)
    amounts: Int64s = field(repr=False)
    target: Bools
    base: Int64s
    exact: Int64s | None = None
    brokers: int = 0

    @classmethod
    def of(cls, table: Int32s, costs: Int32s, weight: Int64s, target: Bools, base: Int64s) -> "Shares":
        """Every row led whole by a cheapest candidate, the least loaded one if there are several."""
        table = np.ascontiguousarray(table, np.int32)
        costs = np.ascontiguousarray(costs, np.int32)
        started = kernel.start(table, costs, weight.astype(np.int64), base.astype(np.int64))
        return cls(table, costs, started, target, base.astype(np.int64))

    @classmethod
    def of_part(cls, part: LeaderProblem, costs: Int32s) -> "Shares":
        """The same, of the rows of a problem with its minimums, whose candidates cost (rows, width) int32."""
        if part.minimums is None:
            return cls.of(part.replicas, costs, part.weight, part.target, part.base)
        (topics, brokers), least = part.minimums.low.shape, part.minimums.low
        topic = part.minimums.topic[:, None]
        # A broker without a minimum needs no node.
        has_node = (topic >= 0) & (costs != NOT_A_CANDIDATE) & (least[np.maximum(topic, 0), part.replicas] > 0)
        nodes = np.where(has_node, brokers * (1 + topic) + part.replicas, NO_REPLICA).astype(np.int32)
        of_nodes = np.zeros(topics * brokers, np.int64)
        shares = cls.of(
            np.concatenate([part.replicas, nodes], axis=1),
            np.concatenate([costs, np.where(has_node, costs, NOT_A_CANDIDATE)], axis=1).astype(np.int32),
            part.weight,
            np.concatenate([part.target, of_nodes > 0]),
            np.concatenate([part.base + least.sum(axis=0), of_nodes]),
        )
        return replace(shares, exact=np.concatenate([np.full(brokers, -1, np.int64), least.ravel()]), brokers=brokers)

    def without_costs(self) -> "Shares":
        """A copy in which every candidate costs the same, with loads that are `exact`, as far as feasible."""
        copy = replace(self, costs=np.minimum(self.costs, 0), amounts=self.amounts.copy())
        if copy.exact is not None:
            copy._blocking(copy._lows(0, is_bound=False), copy._unbounded())  # noqa: SLF001 — its own
        return copy

    def loads(self) -> Int64s:
        """(brokers,) int64: what each broker leads, without `base`."""
        is_led = self.amounts > 0
        return sums_by(self.table[is_led], self.amounts[is_led], len(self.base))

    def columns(self) -> Int64s:
        """(rows,) int64: the candidate that leads most of each row."""
        return np.argmax(self.amounts, axis=1) if self.amounts.size else np.zeros(len(self.amounts), np.int64)

    def leaders(self) -> Int32s:
        """(rows,) int32: the broker that leads most of each row, `NO_LEADER` if no replica is a candidate."""
        return self._brokers(self._nodes())

    def _nodes(self) -> Int32s:
        leading = self.table[np.arange(len(self.table)), self.columns()] if self.table.size else NO_LEADER
        return np.where((self.costs >= 0).any(axis=1), leading, NO_LEADER).astype(np.int32)

    def _brokers(self, nodes: Int32s) -> Int32s:
        return np.where(nodes == NO_LEADER, NO_LEADER, nodes % (self.brokers or len(self.base))).astype(np.int32)

    def settle(self, low: Int64s, high: Int64s) -> tuple[Int32s, int]:
        """Bring every load of brokers, without `base`, within its bounds at the least cost, if every weight is 1.

        The shares have to be as `of` returns them, and the bounds feasible.

        Returns
        -------
        (rows,) int32 leaders, and the lower bound on the costs that dual prices prove: with `costs` + prices, each row
        is led by a cheapest candidate; a broker above its minimum has a price >= 0, one below its maximum <= 0.
        """
        low, high = self._of_nodes(low, high)
        found = settled(self.table, self.costs.astype(np.int64), self._nodes(), low, high)
        if found is None:
            raise RuntimeError("leaders are outside all bounds")
        bound = priced_bound(self.table, self.costs, self.amounts.sum(axis=1), low, high, found[1])
        return self._brokers(found[0]), bound

    def _of_nodes(self, low: Int64s, high: Int64s) -> tuple[Int64s, Int64s]:
        """Bounds of all nodes, from those of the brokers: what nodes of minimums lead is part of these."""
        if self.exact is None:
            return low, high
        exact = self.exact[self.brokers :]
        least = exact.reshape(-1, self.brokers).sum(axis=0)
        return np.append(low - least, exact), np.append(high - least, exact)

    def narrow(self) -> Band:
        """Balance the target brokers within the narrowest band: the smallest maximum, then the largest minimum."""
        high = self.narrow_high()
        return Band(self.narrow_low(high), high)

    def narrow_high(self) -> int:
        """Balance the target brokers to the smallest maximum, `base` included; 0 without targets.

        If a maximum is infeasible, the flow leaves brokers that lead only what no other can take over. Their mean is a
        lower bound, and the next value to try (discrete Newton); few rounds are needed.
        """
        brokers = int(np.count_nonzero(self.target))
        if not brokers:
            return 0
        is_within_targets = (self.target[self.table] | (self.costs < 0)).all(axis=1)
        total = int(self.amounts[is_within_targets].sum()) + int(self.base[self.target].sum())
        high = -(-total // brokers)
        while (full := self._blocking(self._lows(0, is_bound=False), self._highs(high))).any():
            full &= self.target
            high = -(-int((self.loads() + self.base)[full].sum()) // int(np.count_nonzero(full)))
        return high

    def reach(self, low: Int64s, high: Int64s) -> bool:
        """Bring loads, without `base`, within bounds of each broker as far as feasible; whether they all are."""
        return not self._blocking(*self._of_nodes(low, high)).any()

    def narrow_low(self, high: int) -> int:
        """The largest minimum for that maximum, likewise, by brokers that can take over nothing from others."""
        brokers = int(np.count_nonzero(self.target))
        if not brokers:
            return 0
        may_be_led_by_targets = (self.target[self.table] & (self.costs >= 0)).any(axis=1)
        total = int(self.amounts[may_be_led_by_targets].sum()) + int(self.base[self.target].sum())
        low = min(high, total // brokers)
        while (underfull := self._blocking(self._lows(low), self._highs(high))).any():
            if self.exact is not None:
                underfull &= self.exact < 0
            there = int((self.loads() + self.base)[underfull].sum())
            low = there // int(np.count_nonzero(underfull))
        return low

    def cap(self, most: int) -> None:
        """Balance the loads so that no target broker exceeds a maximum, `base` included, as far as feasible."""
        self._blocking(self._lows(0, is_bound=False), self._highs(most))

    def even_out(self) -> Int64s:
        """Balance the loads of all brokers, `base` included, to the fairest choice (decreasing minimisation).

        The largest load is minimal, then the second largest, and so on. Brokers are partitioned where the flow from
        those above the mean of a group to those below it is blocked: nothing above the cut can go below it, and nothing
        below should go above. Until every group is within one of its mean.

        Returns
        -------
        (brokers,) int64 the group of each broker.

        Source: Frank and Murota, "Decreasing minimization on M-convex sets" (2018), for the structure.
        """
        brokers = len(self.base)
        group, closed = np.zeros((2, brokers), np.int64)
        while True:
            loads = self.loads() + self.base
            level = _levels(loads, group)
            if (level == loads).all():
                return group
            excess = np.concatenate([loads - level, np.zeros(1, np.int64)])
            reached = kernel.saturate(self._flow(excess, closed, closed)._replace(group=group))
            group = np.unique(2 * group + reached[:-1], return_inverse=True)[1].astype(np.int64)

    def _lows(self, low: int, *, is_bound: bool = True) -> Int64s:
        """(brokers,) int64 minimum loads without `base`; -1 where there is no bound."""
        lows = np.where(self.target & is_bound, low - self.base, -1)
        return lows if self.exact is None else np.where(self.exact < 0, lows, self.exact)

    def _highs(self, high: int) -> Int64s:
        """(brokers,) int64 maximum loads without `base`; above everything where there is no bound."""
        return np.where(self.target, high - self.base, self._unbounded())

    def _unbounded(self) -> Int64s:
        """(brokers,) int64 maximum loads without any bound but `exact`."""
        everything = np.full(len(self.base), int(self.amounts.sum()) + 1)
        return everything if self.exact is None else np.where(self.exact < 0, everything, self.exact)

    def _flow(self, excess: Int64s, up: Int64s, down: Int64s) -> kernel.ShareFlow:
        """The flow between all brokers."""
        group = np.zeros(len(self.base), np.int64)
        return kernel.ShareFlow(self.table, self.costs, self.amounts, group, excess, up, down)

    def _excess(self, low: Int64s, high: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """By how much loads are outside their bounds, with the balancing entry last; and the slack within, up and
        down.
        """
        loads = self.loads()
        low = np.minimum(low, high)
        within = np.clip(loads, low, high)
        excess = loads - within
        return np.append(excess, -excess.sum()), high - within, within - low

    def _blocking(self, low: Int64s, high: Int64s) -> Bools:
        """Bring the loads within their bounds; (brokers,) bool: the brokers that prove what is infeasible.

        If excess is left, those that it can reach; if want is left, those that no broker with slack can reach.
        """
        excess, up, down = self._excess(low, high)
        reached = kernel.saturate(self._flow(excess, up, down))
        if not (excess > 0).any():
            return np.zeros(len(self.base), np.bool_)
        return reached[:-1] if (excess[:-1] > 0).any() else ~reached[:-1]


def _levels(loads: Int64s, group: Int64s) -> Int64s:
    """The level of each broker: the mean of its group, rounded up while some load exceeds that, then rounded down.

    Its own load if the whole group is within one of the mean.
    """
    sizes = np.bincount(group)
    totals, largest = sums_by(group, loads, len(sizes)), np.zeros(len(sizes), np.int64)
    least = np.full(len(sizes), np.iinfo(np.int64).max)
    np.maximum.at(largest, group, loads)
    np.minimum.at(least, group, loads)
    floor, ceiling = totals // sizes, -(-totals // sizes)
    level = np.where(largest > ceiling, ceiling, floor)[group]
    return np.where(((largest > ceiling) | (least < floor))[group], level, loads)


def attainable_minimums(problem: LeaderProblem, minimums: LeaderTopics) -> Int64s:
    """(topics, brokers) int64: minimums that can be met together, with the least total below what is stated."""
    costs = np.where(problem.candidates(), 0, NOT_A_CANDIDATE).astype(np.int32)
    spread = Shares.of_part(replace(problem, minimums=minimums), costs).without_costs()
    return np.minimum(spread.loads()[len(problem.base) :].reshape(minimums.low.shape), minimums.low)
