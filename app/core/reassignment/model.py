"""The problem of a reassignment and its answer, as arrays: eligible brokers, the balance, the placement.

What is asked of a reassignment, as arrays: where each partition's replicas are, and where they may be.

Brokers and racks are numbers here: positions in `Problem.broker_ids`, indices of racks. What a caller asks for (brokers
removed, a factor raised, a topic kept to some brokers, a partition pinned) becomes the *domain* of the partitions that
it touches; the solvers know domains alone, so that no kind of change is a case of its own.

How even brokers are to be, and the band of counts that it comes to.

The placement that a solver returns: the brokers of every replica, with the certificate of the movement.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int32s, Int64s

NO_HOME = -1
"""Pads rows of homes, and says of `must_keep` that nothing has to be kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """Partitions that have the same factor and may be on the same brokers.

    Hard constraints: a partition has `factor` replicas on distinct brokers, each a home of its own where `may_keep`
    holds or a broker where `may_receive` does, and between `least` and `most` of them in every rack.

    Parameters
    ----------
    may_keep : (brokers,) bool, who may keep the replicas that it has.
    may_receive : (brokers,) bool, who may take new ones.
    least, most : (racks,) int64 replicas of one partition; `sum(least) <= factor <= sum(most)`.
    """

    factor: int
    may_keep: NDArray[np.bool_]
    may_receive: NDArray[np.bool_]
    least: Int64s
    most: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Partitions to find a place for. Rows are partitions, in an order that the caller knows.

    Parameters
    ----------
    broker_ids : (brokers,) int32, ascending: every broker that has or may get a replica.
    rack_of : (brokers,) int32 index of each broker's rack. Where racks do not count, all are of rack 0; a broker whose
        rack nobody knows (it is down, and may only keep what it has) is the one of a rack of its own.
    target : (brokers,) bool, the brokers whose counts are to be balanced.
    base : (brokers,) int64 replicas there of partitions that are not asked about.
    domain_of : (rows,) int32 indices into `domains`.
    homes : (rows, widest) int32 positions of the brokers where the replicas are now, the preferred leader first, padded
        with `NO_HOME`; a new partition has none. Where a broker is replaced, its successor is the home.
    is_copied : (rows, widest) bool, homes that have to be copied to all the same (a successor's): they are preferred to
        other brokers and yet are moves.
    must_keep : (rows,) int32 the home that has to stay, as the leader's where the factor is lowered, or `NO_HOME`.
    weight : (rows,) int64 >= 0, what moving one replica of the partition costs: bytes, or 1.
    """

    broker_ids: Int32s
    rack_of: Int32s
    target: NDArray[np.bool_]
    base: Int64s
    domains: tuple[Domain, ...]
    domain_of: Int32s = field(repr=False)
    homes: Int32s = field(repr=False)
    is_copied: NDArray[np.bool_] = field(repr=False)
    must_keep: Int32s = field(repr=False)
    weight: Int64s = field(repr=False)

    @property
    def racks(self) -> int:
        """How many racks there are."""
        return int(self.rack_of.max(initial=-1)) + 1

    @property
    def factors(self) -> Int64s:
        """(rows,) int64 replicas wanted of each partition."""
        return np.array([domain.factor for domain in self.domains], np.int64)[self.domain_of]


@dataclass(frozen=True, slots=True)
class Balance:
    """How even brokers are to be.

    `tolerance` None is *keep*: only what has to move moves, and goes where the largest count stays smallest.
    0 is *tight*: every count within the narrowest band that there is. Above 0 that band is widened by so much of its
    ends, to [⌊lo · (1 − t)⌋, ⌈hi · (1 + t)⌉].
    """

    tolerance: Fraction | None

    def widened(self, tight: "Band") -> "Band":
        """The band that the tolerance makes of the narrowest one; `keep` makes none."""
        if self.tolerance is None:
            raise ValueError("keep has no band")
        return Band(floor(tight.low * (1 - self.tolerance)), ceil(tight.high * (1 + self.tolerance)))


KEEP = Balance(None)
TIGHT = Balance(Fraction(0))


@dataclass(frozen=True, slots=True)
class Band:
    """The least and the most that any target broker has: replicas or leaders, or their weight."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaPlacement:
    """The brokers of every replica after the reassignment.

    Parameters
    ----------
    replicas : (rows, widest) int32 broker positions, padded with -1. Current brokers that keep their replica stay in
        their column order; new brokers fill the gaps by ascending position.
    band : the counts (or loads) of the target brokers are within it; None with `keep`, which bounds no count.
    certificate : of the moved weight, with the least that any placement within the constraints and the band moves.
        Moved are `problem.weight` for each replica on a broker that has none now, or whose copy `is_copied` all the
        same; partitions without any replica now (new ones) cost nothing.
    """

    replicas: Int32s = field(repr=False)
    band: Band | None
    certificate: Certificate[int]

    @property
    def moved(self) -> int:
        """The weight of all replicas that have to be copied."""
        return self.certificate.value
