"""Who leads how much of each partition, and how it is spread: the largest and least loads there must be, exactly.

Leadership is a flow: each row sends its weight to its candidates, each broker passes on between its least and its most.
Where every weight is 1 an integral flow is a choice of leaders; with other weights it may split a partition between
candidates, and what it cannot reach no choice can.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.leaders import shares_kernel as kernel
from app.core.reassignment.leaders.problem import NOBODY
from app.core.reassignment.model import Band


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Rows and the amounts of them that each candidate leads; `amounts` changes as loads are spread.

    Parameters
    ----------
    table : (rows, width) int32 brokers. costs : (rows, width) int32 >= 0, or `problem.NOT_A_CANDIDATE`.
    amounts : (rows, width) int64; they sum to the row's weight.
    target : (brokers,) bool. base : (brokers,) int64.
    """

    table: Int32s = field(repr=False)
    costs: Int32s = field(repr=False)
    amounts: Int64s = field(repr=False)
    target: NDArray[np.bool_]
    base: Int64s

    @classmethod
    def of(cls, table: Int32s, costs: Int32s, weight: Int64s, target: NDArray[np.bool_], base: Int64s) -> "Shares":
        """The shares where every row is led whole, at its least cost, where there is a choice as evenly as goes."""
        table = np.ascontiguousarray(table, np.int32)
        costs = np.ascontiguousarray(costs, np.int32)
        started = kernel.start(table, costs, weight.astype(np.int64), base.astype(np.int64))
        return cls(table, costs, started, target, base.astype(np.int64))

    def without_costs(self) -> "Shares":
        """The same shares, in which every candidate is as good as another; a copy."""
        return Shares(self.table, np.minimum(self.costs, 0), self.amounts.copy(), self.target, self.base)

    def loads(self) -> Int64s:
        """(brokers,) int64: what each broker leads, without `base`."""
        is_led = self.amounts > 0
        loads = np.zeros(len(self.base), np.int64)
        np.add.at(loads, self.table[is_led], self.amounts[is_led])
        return loads

    def columns(self) -> Int64s:
        """(rows,) int64: the candidate that leads the most of each row."""
        return np.argmax(self.amounts, axis=1) if self.amounts.size else np.zeros(len(self.amounts), np.int64)

    def leaders(self) -> Int32s:
        """(rows,) int32: the broker that leads the most of each row, `NOBODY` where no replica is a candidate."""
        leaders = np.full(len(self.table), NOBODY, np.int32)
        is_led = (self.costs >= 0).any(axis=1)
        leaders[is_led] = self.table[is_led, self.columns()[is_led]]
        return leaders

    def settle(self, low: Int64s, high: Int64s) -> Int64s:
        """Bring every broker's load within its bounds at the least cost; gives the prices that prove it.

        The shares have to be as they started, each row at its least cost; and the bounds such that there is a way.

        Returns
        -------
        (brokers,) int64: with `costs` + prices, each row is where that is least; whoever leads more than its least has
        a price of at least 0, whoever leads less than its most one of at most 0.
        """
        excess, up, down = self._apart(low, high)
        prices = np.zeros(len(self.base) + 1, np.int64)
        kernel.settle(self.table, self.costs, self.amounts, prices, excess, up, down)
        if (excess > 0).any():
            raise RuntimeError(f"{int(excess[excess > 0].sum())} of what brokers lead is outside all bounds")
        found: Int64s = prices[-1] - prices[:-1]
        return found

    def narrow(self) -> Band:
        """Spread the loads of the target brokers, and say within what: smallest high first, then the largest low."""
        high = self.narrow_high()
        return Band(self._narrow_low(high), high)

    def narrow_high(self) -> int:
        """Spread the loads so that the largest of a target broker, `base` included, is the smallest; 0 without targets.

        Where a high is too small, the flow leaves brokers that lead only what no other can take from them, and the
        mean of those is the least that it can be: the next one to try. A few rounds reach the end.
        """
        brokers = int(np.count_nonzero(self.target))
        if not brokers:
            return 0
        is_theirs = (self.target[self.table] | (self.costs < 0)).all(axis=1)
        total = int(self.amounts[is_theirs].sum()) + int(self.base[self.target].sum())
        high = -(-total // brokers)
        while (full := self._left(self._lows(0, is_bound=False), self._highs(high))).any():
            high = -(-int((self.loads() + self.base)[full].sum()) // int(np.count_nonzero(full)))
        return high

    def _narrow_low(self, high: int) -> int:
        """The largest least load with that high: likewise, by brokers that can take nothing from others."""
        brokers = int(np.count_nonzero(self.target))
        if not brokers:
            return 0
        may_be_theirs = (self.target[self.table] & (self.costs >= 0)).any(axis=1)
        total = int(self.amounts[may_be_theirs].sum()) + int(self.base[self.target].sum())
        low = min(high, total // brokers)
        while (poor := self._left(self._lows(low), self._highs(high))).any():
            low = int((self.loads() + self.base)[poor].sum()) // int(np.count_nonzero(poor))
        return low

    def cap(self, most: int) -> None:
        """Spread the loads so that no target broker has more, `base` included, as far as that can be."""
        self._left(self._lows(0, is_bound=False), self._highs(most))

    def even_out(self) -> None:
        """Spread the loads of all brokers, `base` included, so that no other choice is more even.

        The largest load becomes the least it can be, then the second largest, and so on. Brokers are split where the
        flow from those above the mean of a group to those below it stops: nothing above the cut can go below it, and
        nothing below should go above. Until every group is within one of its mean.

        Source: Frank and Murota, "Decreasing minimization on M-convex sets" (2018), for the structure.
        """
        brokers = len(self.base)
        group, closed = np.zeros((2, brokers), np.int64)
        no_prices = np.zeros(brokers + 1, np.int64)
        while True:
            loads = self.loads() + self.base
            level = _levels(loads, group)
            if (level == loads).all():
                return
            excess = np.concatenate([loads - level, np.zeros(1, np.int64)])
            reached = kernel.saturate(self.table, self.costs, self.amounts, group, no_prices, excess, closed, closed)
            group = np.unique(2 * group + reached[:-1], return_inverse=True)[1].astype(np.int64)

    def _lows(self, low: int, *, is_bound: bool = True) -> Int64s:
        """(brokers,) int64 least loads without `base`; below nothing where there is no bound."""
        return np.where(self.target & is_bound, low - self.base, -1)

    def _highs(self, high: int) -> Int64s:
        """(brokers,) int64 most loads without `base`; above everything where there is no bound."""
        return np.where(self.target, high - self.base, int(self.amounts.sum()) + 1)

    def _apart(self, low: Int64s, high: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """How far loads are outside their bounds, with the slack's part last; and the room within, up and down."""
        loads = self.loads()
        low = np.minimum(low, high)
        within = np.clip(loads, low, high)
        excess = loads - within
        return np.append(excess, -excess.sum()), high - within, within - low

    def _left(self, low: Int64s, high: Int64s) -> NDArray[np.bool_]:
        """Spread the loads into their bounds; (brokers,) bool: who is in the way of what cannot be.

        Those are the brokers that the rest of the excess reaches, if it is excess; if it is want, those that nothing
        reaches that could be given.
        """
        excess, up, down = self._apart(low, high)
        brokers = len(self.base)
        no_groups, no_prices = np.zeros(brokers, np.int64), np.zeros(brokers + 1, np.int64)
        reached = kernel.saturate(self.table, self.costs, self.amounts, no_groups, no_prices, excess, up, down)
        if not (excess > 0).any():
            return np.zeros(brokers, np.bool_)
        return reached[:-1] if (excess[:-1] > 0).any() else ~reached[:-1]


def _levels(loads: Int64s, group: Int64s) -> Int64s:
    """What each broker is to be brought to: its group's mean, rounded up while one is above that, then rounded down.

    Its own load where the whole group is within one of the mean.
    """
    sizes = np.bincount(group)
    totals, largest = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
    least = np.full(len(sizes), np.iinfo(np.int64).max)
    np.add.at(totals, group, loads)
    np.maximum.at(largest, group, loads)
    np.minimum.at(least, group, loads)
    floor, ceiling = totals // sizes, -(-totals // sizes)
    level = np.where(largest > ceiling, ceiling, floor)[group]
    return np.where(((largest > ceiling) | (least < floor))[group], level, loads)
