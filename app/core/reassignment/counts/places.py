"""Places of partitions: their cost, the cheapest one under dual prices, counts on brokers, order of replicas.

Partitions are coupled only by the brokers' limited capacity. With a dual price on a replica at each broker instead,
every partition chooses its cheapest place alone. For any prices, the sum of those costs less the value of the capacity
is a lower bound on the cost of every placement within the capacity (Lagrangian relaxation); with the prices of an
optimal flow it is the optimum. So one pass over the partitions proves, without a solver, what the solver returned.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts import places_kernel as kernel
from app.core.reassignment.model import MovementProblem
from app.core.replica_lists import per_broker

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
    weight = np.where((problem.current != NO_REPLICA).any(axis=1), problem.weight, 0)
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


def settled(problem: MovementProblem) -> NDArray[np.bool_]:
    """(rows,) bool: partitions whose current brokers are a legal placement as they are."""
    table = problem.table
    settles = np.zeros(len(problem.current), np.bool_)
    kernel.settled(
        problem.domain_of,
        table.factor,
        table.least,
        table.most,
        table.may_keep,
        problem.rack_of,
        problem.current,
        settles,
    )
    return settles


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
    table = problem.table
    ranked, ends = _ranked(problem, prices)
    priced_costs = np.zeros(len(problem.current), np.int64)
    chosen = np.full((len(priced_costs), problem.widest), NO_REPLICA, np.int32)
    kernel.cheapest(
        problem.domain_of,
        table.factor,
        table.least,
        table.most,
        table.may_keep,
        ranked,
        ends,
        problem.rack_of,
        problem.current,
        costs.current,
        costs.other,
        problem.must_keep,
        prices,
        priced_costs,
        chosen,
    )
    return priced_costs, chosen


def can_be_placed(problem: MovementProblem) -> NDArray[np.bool_]:
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


def stay_put(problem: MovementProblem) -> tuple[Int32s, NDArray[np.bool_]]:
    """(rows, widest) int32 current brokers of settled partitions, padding elsewhere; (rows,) bool, settled or not."""
    stays = settled(problem)
    replicas = np.full((len(stays), problem.widest), NO_REPLICA, np.int32)
    width = min(problem.widest, problem.current.shape[1])
    replicas[stays, :width] = problem.current[stays, :width]
    return replicas, stays


def counts(problem: MovementProblem, replicas: Int32s) -> Int64s:
    """(brokers,) int64 replicas on each broker, `base` included."""
    return problem.base + per_broker(replicas, len(problem.base))


def frozen_counts(problem: MovementProblem, replicas: Int32s, is_active: NDArray[np.bool_]) -> Int64s:
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
