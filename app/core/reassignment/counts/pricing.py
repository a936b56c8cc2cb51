"""Each partition's cheapest legal place where brokers have prices: what moves least, and what no placement can beat.

What couples the partitions of a reassignment is that brokers have so much room and no more. Put a price on a replica
at each broker instead, and every partition finds its own cheapest place. Whatever the prices, the sum of those, less
what the brokers' room is worth, is a bound that no placement within the room goes below; with the prices of an optimal
flow it is the optimum (Lagrangian duality). So this proves, without the solver, what the solver found.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.problem import NO_HOME, Problem


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
    from app.core.reassignment.counts import pricing_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

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
    from app.core.reassignment.counts import pricing_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

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
