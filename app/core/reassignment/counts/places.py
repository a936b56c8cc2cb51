"""The places of partitions: cost, cheapest place under dual prices, counts on brokers, order of replicas.

Each partition's cheapest legal place where brokers have prices: what moves least, and what no placement can beat.

What couples the partitions of a reassignment is that brokers have so much room and no more. Put a price on a replica
at each broker instead, and every partition finds its own cheapest place. Whatever the prices, the sum of those, less
what the brokers' room is worth, is a bound that no placement within the room goes below; with the prices of an optimal
flow it is the optimum (Lagrangian duality). So this proves, without the solver, what the solver found.

Where partitions are, counted, costed and put in order: what every search for a better place starts and ends with.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.counts import places_kernel as kernel
from app.core.reassignment.model import NO_HOME, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What each place costs a partition: solvers minimise the sum.

    Parameters
    ----------
    home : (rows, widest) int64 of each home. away : (rows,) int64 of any other broker.
    """

    home: Int64s = field(repr=False)
    away: Int64s = field(repr=False)


def movement_costs(problem: Problem) -> Costs:
    """What is copied: nothing to a home, the weight elsewhere and to a home `is_copied`; nothing of new partitions."""
    weight = np.where((problem.homes != NO_HOME).any(axis=1), problem.weight, 0)
    return Costs(np.where(problem.is_copied, weight[:, None], 0), weight)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The problem's domains as arrays.

    Parameters
    ----------
    factor : (domains,) int64. least, most : (domains, racks) int64. may_keep, may_receive : (domains, brokers) bool.
    """

    factor: Int64s
    least: Int64s
    most: Int64s
    may_keep: NDArray[np.bool_]
    may_receive: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem) -> "Terms":
        """Stack the domains."""
        domains, racks, brokers = problem.domains, problem.racks, len(problem.broker_ids)
        return cls(
            factor=np.array([domain.factor for domain in domains], np.int64),
            least=np.array([domain.least for domain in domains], np.int64).reshape(-1, racks),
            most=np.array([domain.most for domain in domains], np.int64).reshape(-1, racks),
            may_keep=np.array([domain.may_keep for domain in domains], np.bool_).reshape(-1, brokers),
            may_receive=np.array([domain.may_receive for domain in domains], np.bool_).reshape(-1, brokers),
        )


def settled(problem: Problem) -> NDArray[np.bool_]:
    """(rows,) bool: which partitions are legal where they are, with all that they have."""
    terms = Terms.of(problem)
    settles = np.zeros(len(problem.homes), np.bool_)
    kernel.settled(
        problem.domain_of,
        terms.factor,
        terms.least,
        terms.most,
        terms.may_keep,
        problem.rack_of,
        problem.homes,
        settles,
    )
    return settles


def cheapest(problem: Problem, costs: Costs, prices: Int64s) -> tuple[Int64s, Int32s]:
    """(rows,) int64 what each partition's cheapest legal place costs, the brokers' prices included; and those places,
    (rows, widest) int32, padded with `NO_HOME`.

    Parameters
    ----------
    prices : (brokers,) int64 of one replica there.
    """
    terms = Terms.of(problem)
    ranked, ends = _ranked(problem, terms, prices)
    found = np.zeros(len(problem.homes), np.int64)
    chosen = np.full((len(found), int(terms.factor.max(initial=0))), NO_HOME, np.int32)
    kernel.cheapest(
        problem.domain_of,
        terms.factor,
        terms.least,
        terms.most,
        terms.may_keep,
        ranked,
        ends,
        problem.rack_of,
        problem.homes,
        costs.home,
        costs.away,
        problem.must_keep,
        prices,
        found,
        chosen,
    )
    return found, chosen


def _ranked(problem: Problem, terms: Terms, prices: Int64s) -> tuple[Int32s, Int64s]:
    """(domains, racks, longest) int32 receivers of each rack by ascending price, and (domains, racks) how many.

    No more are looked at than a rack takes of one partition and this one may have as homes.
    """
    looked_at = int(terms.most.max(initial=0)) + problem.homes.shape[1]
    shape = (len(problem.domains), problem.racks)
    ends = np.zeros(shape, np.int64)
    ranked = np.full((*shape, looked_at), NO_HOME, np.int32)
    order = np.argsort(prices, kind="stable")
    racks = problem.rack_of[order]
    for domain in range(shape[0]):
        receives = terms.may_receive[domain][order]
        for rack in np.unique(racks[receives]):
            best = order[receives & (racks == rack)][:looked_at]
            ranked[domain, rack, : len(best)] = best
            ends[domain, rack] = len(best)
    return ranked, ends


def stay_put(problem: Problem) -> tuple[Int32s, NDArray[np.bool_]]:
    """(rows, widest) int32 where settled partitions are, padding elsewhere; (rows,) bool, which those are."""
    stays = settled(problem)
    widest = max((domain.factor for domain in problem.domains), default=0)
    replicas = np.full((len(stays), widest), NO_HOME, np.int32)
    width = min(widest, problem.homes.shape[1])
    replicas[stays, :width] = problem.homes[stays, :width]
    return replicas, stays


def counts(problem: Problem, replicas: Int32s) -> Int64s:
    """(brokers,) int64 replicas on each broker, those of partitions that are not asked about included."""
    here = np.bincount(replicas[replicas != NO_HOME], minlength=len(problem.base))
    return np.asarray(problem.base + here, np.int64)


def frozen_counts(problem: Problem, replicas: Int32s, is_active: NDArray[np.bool_]) -> Int64s:
    """(brokers,) int64 as `counts`, of what the active partitions leave as it is: the others, and what must be kept."""
    musts = problem.must_keep[is_active]
    kept = np.bincount(musts[musts != NO_HOME], minlength=len(problem.base))
    return np.asarray(counts(problem, replicas[~is_active]) + kept, np.int64)


def costs_of(problem: Problem, costs: Costs, replicas: Int32s) -> Int64s:
    """(rows,) int64: what the place of each partition costs."""
    total = np.zeros(len(replicas), np.int64)
    for column in replicas.T:
        matches = (problem.homes == column[:, None]) & (column != NO_HOME)[:, None]
        elsewhere = np.where((column != NO_HOME) & ~matches.any(axis=1), costs.away, 0)
        total += np.where(matches, costs.home, 0).sum(axis=1) + elsewhere
    return total


def moved_weight(problem: Problem, replicas: Int32s) -> int:
    """The weight of all replicas that have to be copied: see `Placed.moved`."""
    return int(costs_of(problem, movement_costs(problem), replicas).sum())


def in_order(problem: Problem, replicas: Int32s) -> Int32s:
    """Each row with kept homes where they stood, in their order, and newcomers by ascending position in the gaps."""
    ordered = np.full_like(replicas, NO_HOME)
    kernel.put_in_order(problem.homes, np.sort(replicas, axis=1), ordered)
    return ordered
