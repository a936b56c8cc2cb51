"""Places of partitions: their cost, the cheapest one under dual prices, counts on brokers, order of replicas.

Partitions are coupled only by the brokers' limited capacity. With a dual price on a replica at each broker instead,
every partition chooses its cheapest place alone. For any prices, the sum of those costs less the value of the capacity
is a lower bound on the cost of every placement within the capacity (Lagrangian relaxation); with the prices of an
optimal flow it is the optimum. So one pass over the partitions proves, without a solver, what the solver returned.

Slots: the replicas of partitions that have exactly one replica in each rack they may use.

With three racks and three replicas, a partition has one slot in each rack. A slot stays on its current broker or moves
to any receiver of its rack, whatever the other slots of the partition do: they are in other racks. So slots of one
topic in one rack that move are interchangeable, and so are their destinations; only what it costs to move each differs.
"""

from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import MovementProblem
from app.core.reassignment.solvers.flow import places_kernel as kernel
from app.core.replica_lists import per_broker, per_rack

LAST_IN_SYNC = 16
"""Cost of losing the only replica in sync of a partition; losing one of several costs 1."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaceCosts:
    """The cost of each place of a partition; solvers minimise the sum.

    Parameters
    ----------
    current : (rows, widest) int64 of each current broker. other : (rows,) int64 of any other broker.
    """

    current: Int64s = field(repr=False)
    other: Int64s = field(repr=False)


def movement_costs(problem: MovementProblem) -> PlaceCosts:
    """The weight of each replica that is copied: none on a current broker, the weight elsewhere and where `is_copied`;
    none for new partitions.
    """
    weight = np.where(problem.is_there, problem.weight, 0)
    return PlaceCosts(np.where(problem.is_copied, weight[:, None], 0), weight)


def sync_costs(problem: MovementProblem) -> PlaceCosts:
    """The cost of replicas in sync that are not kept: 1 for each, `LAST_IN_SYNC` for the only one of a partition.

    It is charged to every place but the current brokers in sync, which for a partition differs by a constant.
    """
    if problem.in_sync is None:
        return PlaceCosts(np.zeros(problem.current.shape, np.int64), np.zeros(len(problem.current), np.int64))
    number = np.count_nonzero(problem.in_sync, axis=1)
    elsewhere = np.where(number == 1, LAST_IN_SYNC, np.minimum(number, 1))
    return PlaceCosts(np.where(problem.in_sync, 0, elsewhere[:, None]), elsewhere)


def place_rules(problem: MovementProblem) -> kernel.PlaceRules:
    """Where replicas may be, as compiled loops take it."""
    of = problem.table
    return kernel.PlaceRules(
        problem.domain_of,
        of.factor,
        of.least,
        of.most,
        of.may_keep,
        of.may_receive,
        problem.rack_of,
        problem.current,
        problem.must_keep,
    )


def settled(problem: MovementProblem) -> Bools:
    """(rows,) bool: partitions whose current brokers are a legal placement as they are."""
    table, domain, is_there = problem.table, problem.domain_of, problem.current != NO_REPLICA
    in_racks = per_rack(problem.current, problem.rack_of, problem.racks)
    is_spread = ((in_racks >= table.least[domain]) & (in_racks <= table.most[domain])).all(axis=1)
    is_legal = is_spread & (problem.may_stay == is_there).all(axis=1) & (is_there.sum(axis=1) == problem.factors)
    return np.asarray(is_legal, np.bool_)


def cheapest(problem: MovementProblem, costs: PlaceCosts, prices: Int64s) -> tuple[Int64s, Int32s]:
    """The cheapest legal place of each partition under dual prices.

    Complexity: O(rows · (widest + racks · most)), compiled, after sorting the brokers of each rack by price.

    Parameters
    ----------
    problem, costs : the partitions and what their places cost.
    prices : (brokers,) int64 of one replica there.

    Returns
    -------
    (rows,) int64 cost of each partition's cheapest place, prices included; and those places, (rows, widest) int32,
    padded with `NO_REPLICA`.
    """
    ranked, ends = _ranked(problem, prices)
    priced_costs = np.zeros(len(problem.current), np.int64)
    chosen = np.full((len(priced_costs), problem.widest), NO_REPLICA, np.int32)
    kernel.cheapest(place_rules(problem), ranked, ends, costs.current, costs.other, prices, priced_costs, chosen)
    return priced_costs, chosen


def can_be_placed(problem: MovementProblem) -> Bools:
    """(rows,) bool: partitions with a legal placement."""
    free = np.zeros(len(problem.broker_ids), np.int64)
    return cheapest(problem, movement_costs(problem), free)[0] < kernel.NOTHING


def _ranked(problem: MovementProblem, prices: Int64s) -> tuple[Int32s, Int64s]:
    """(domains, racks, longest) int32 receivers of each rack by ascending price, and (domains, racks) how many.

    No more are listed than a rack may have of one partition plus its current brokers.
    """
    table = problem.table
    looked_at = int(table.most.max(initial=0)) + problem.current.shape[1]
    shape = (len(problem.domains), problem.racks)
    ends = np.zeros(shape, np.int64)
    ranked = np.full((*shape, looked_at), NO_REPLICA, np.int32)
    order = np.argsort(prices, kind="stable")
    racks = problem.rack_of[order]
    for domain in range(shape[0]):
        receives = table.may_receive[domain][order]
        for rack in np.unique(racks[receives]):
            best = order[receives & (racks == rack)][:looked_at]
            ranked[domain, rack, : len(best)] = best
            ends[domain, rack] = len(best)
    return ranked, ends


def stay_put(problem: MovementProblem) -> tuple[Int32s, Bools]:
    """(rows, widest) int32 current brokers of settled partitions, padding elsewhere; (rows,) bool, settled or not."""
    stays = settled(problem)
    replicas = np.full((len(stays), problem.widest), NO_REPLICA, np.int32)
    width = min(problem.widest, problem.current.shape[1])
    replicas[stays, :width] = problem.current[stays, :width]
    return replicas, stays


def counts(problem: MovementProblem, replicas: Int32s) -> Int64s:
    """(brokers,) int64 replicas on each broker, `base` included."""
    return problem.base + per_broker(replicas, len(problem.base))


def frozen_counts(problem: MovementProblem, replicas: Int32s, is_active: Bools) -> Int64s:
    """(brokers,) int64 as `counts`, without the replicas that active partitions may move."""
    pinned = per_broker(problem.must_keep[is_active, None], len(problem.base))
    return counts(problem, replicas[~is_active]) + pinned


def costs_of(problem: MovementProblem, costs: PlaceCosts, replicas: Int32s) -> Int64s:
    """(rows,) int64: the cost of each partition's place."""
    total = np.zeros(len(replicas), np.int64)
    for column in replicas.T:
        matches = (problem.current == column[:, None]) & (column != NO_REPLICA)[:, None]
        elsewhere = np.where((column != NO_REPLICA) & ~matches.any(axis=1), costs.other, 0)
        total += np.where(matches, costs.current, 0).sum(axis=1) + elsewhere
    return total


def moved_weight(problem: MovementProblem, replicas: Int32s) -> int:
    """The weight of all replicas that have to be copied: see `ReplicaPlacement`."""
    return int(costs_of(problem, movement_costs(problem), replicas).sum())


def in_order(problem: MovementProblem, replicas: Int32s) -> Int32s:
    """Each row with the brokers that keep their replica in column order, and new brokers by ascending position in the
    gaps.
    """
    ordered = np.full_like(replicas, NO_REPLICA)
    kernel.put_in_order(problem.current, np.sort(replicas, axis=1), ordered)
    return ordered


class Slots:
    """The slots of all partitions that consist of slots, in the order of rows.

    A partition does if each rack has to have one of its replicas, or none, and has one broker at most that may keep
    one. Complexity: O(rows · (racks + widest)).

    Attributes
    ----------
    consists : (rows,) bool, partitions that consist of slots.
    row : (slots,) int64. rack : (slots,) int32.
    current_broker : (slots,) int32, the one that may keep the replica; `NO_REPLICA` if it has to be placed.
    column : (slots,) int64 of that broker in the list of current brokers; 0 without one.
    is_pinned : (slots,) bool, the current broker must keep its replica.
    receivers : (slots,) int64 index of the partition's set of receivers in `sets`, (sets, brokers) bool.
    """

    def __init__(self, problem: MovementProblem) -> None:
        table, racks, domain, current = problem.table, problem.racks, problem.domain_of, problem.current
        # What the other racks need and may have bounds each rack as well.
        factor = table.factor[:, None]
        most = np.minimum(table.most, factor - table.least.sum(axis=1)[:, None] + table.least)
        least = np.maximum(table.least, factor - table.most.sum(axis=1)[:, None] + table.most)
        is_settled = ((least == most) & (most <= 1)).all(axis=1)
        may_keep = problem.may_stay | ((current != NO_REPLICA) & (current == problem.must_keep[:, None]))
        row, column = np.nonzero(may_keep)
        cell = row * racks + problem.rack_of[current[row, column]]
        has_one = np.bincount(cell, minlength=len(current) * racks).reshape(-1, racks).max(axis=1, initial=0) <= 1
        self.consists = np.asarray(is_settled[domain] & has_one, np.bool_)

        self.row, rack = np.nonzero((most[domain] == 1) & self.consists[:, None])
        self.rack = rack.astype(np.int32)
        of_cell = np.full(len(current) * racks, -1, np.int64)
        of_cell[cell] = column
        at = of_cell[self.row * racks + rack]
        self.column, has_current_broker = np.maximum(at, 0), at >= 0
        self.current_broker = np.full(len(self.row), NO_REPLICA, np.int32)
        self.current_broker[has_current_broker] = current[self.row[has_current_broker], at[has_current_broker]]
        self.is_pinned = has_current_broker & (self.current_broker == problem.must_keep[self.row])
        self.sets, set_of = np.unique(table.may_receive, axis=0, return_inverse=True)
        self.receivers = set_of.reshape(-1)[domain[self.row]].astype(np.int64)

    @property
    def is_free(self) -> Bools:
        """(slots,) bool: slots whose current broker may keep the replica and need not."""
        return np.asarray((self.current_broker != NO_REPLICA) & ~self.is_pinned, np.bool_)

    def costs_of_staying(self, costs: PlaceCosts) -> Int64s:
        """(slots,) int64: the cost of the current broker; that of another broker for slots without one."""
        column = np.where(self.current_broker != NO_REPLICA, self.column, -1)
        return np.asarray(np.column_stack([costs.current, costs.other])[self.row, column], np.int64)

    def costs_of_leaving(self, costs: PlaceCosts) -> Int64s:
        """(slots,) int64: by how much another broker costs more than the current broker; 0 without one."""
        return np.asarray(costs.other[self.row] - self.costs_of_staying(costs), np.int64)

    def replicas(self, at: Int32s, rows: int, widest: int) -> Int32s:
        """(rows, widest) int32: the brokers of each partition, unordered, from (slots,) int32 brokers of slots."""
        lists = np.full((rows, widest), NO_REPLICA, np.int32)
        lists[self.row, np.arange(len(self.row)) - np.searchsorted(self.row, self.row)] = at
        return lists
