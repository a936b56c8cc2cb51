"""Leaders within bounds at the least cost, with the prices that prove it. paths_kernel.py : its loops."""

from dataclasses import dataclass

import numpy as np

from app.core.model import Bools, Int32s, Int64s
from app.core.reassignment.solvers.leaders import paths_kernel as kernel
from app.core.replica_lists import per_broker


@dataclass(frozen=True, slots=True, eq=False)
class Receivers:
    """Brokers that may lead partitions of which they have no replica.

    Parameters
    ----------
    costs : (rows,) int64, no less than those of replicas. set_of : (rows,) int64 index in `sets`, (sets, brokers) bool.
    """

    costs: Int64s
    set_of: Int64s
    sets: Bools


def settled(
    table: Int32s, costs: Int64s, leader: Int32s, low: Int64s, high: Int64s, receivers: Receivers | None = None
) -> tuple[Int32s, Int64s] | None:
    """Bring the number of leaders of every broker within its bounds at the least cost.

    Complexity: O(brokers²), vectorised, for each length of a path, and O(partitions / brokers) for each path.

    Parameters
    ----------
    table, costs : (rows, width) of replicas; negative if one may not lead.
    leader : (rows,) int32, each one a cheapest one; -1 for a partition without any.
    low, high : (brokers,) int64.

    Returns
    -------
    (rows,) int32 leaders, and (brokers,) int64 dual prices; None if bounds are infeasible, or costs too large.
    """
    rows, brokers = len(leader), len(low)
    counts = per_broker(leader[:, None], brokers)
    low = np.minimum(low, high)
    within = np.clip(counts, low, high)
    if receivers is None:
        receivers = Receivers(np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.zeros((1, brokers), np.bool_))
    # Rows of a leader are beside one another: lists of rows then are read in the order of memory.
    order = np.argsort(leader, kind="stable")
    led = kernel.Leading(
        table[order],
        costs[order],
        receivers.costs[order],
        receivers.set_of[order],
        receivers.sets,
        leader[order],
        np.full(rows + brokers, -1, np.int32),
        np.full((brokers + 1, brokers + 1), kernel.FAR, np.int64),
        np.full(len(receivers.sets), kernel.FAR, np.int64),
        np.zeros(brokers + 1, np.int64),
        np.append(counts - within, (within - counts).sum()),
        high - within,
        within - low,
    )
    if not kernel.settle(led):
        return None
    found = np.empty_like(led.leader)
    found[order] = led.leader
    return found, led.prices[:-1] - led.prices[-1]
