"""The problem of a reassignment and its answer, as arrays: eligible brokers, the balance, the placement.

Brokers are positions in `MovementProblem.broker_ids`, racks are indices. Every kind of change (brokers removed, a
replication factor raised, a topic restricted to some brokers, a pinned partition) becomes the *domain* of the
partitions that it concerns. Solvers read domains only, so that no kind of change is a special case.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TypeAlias

import numpy as np

from app.core.certificate import Certificate
from app.core.measures.copysets import distinct_sets
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s

Deadline: TypeAlias = Callable[[], bool]
"""Whether the time of a solver has passed."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """Partitions with the same replication factor and the same eligible brokers.

    Hard constraints: a partition has `factor` replicas on distinct brokers, each of them a current broker of the
    partition for which `may_keep` is set or any broker for which `may_receive` is set, and between `least` and `most`
    of them in every rack.

    Parameters
    ----------
    factor : replicas of each partition.
    may_keep : (brokers,) bool, brokers that may keep a replica that they have.
    may_receive : (brokers,) bool, brokers that may receive a replica.
    least, most : (racks,) int64 replicas of one partition; `sum(least) <= factor <= sum(most)`.
    """

    factor: int
    may_keep: Bools
    may_receive: Bools
    least: Int64s
    most: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class DomainTable:
    """Domains as stacked arrays.

    Parameters
    ----------
    factor : (domains,) int64. least, most : (domains, racks) int64. may_keep, may_receive : (domains, brokers) bool.
    """

    factor: Int64s
    least: Int64s
    most: Int64s
    may_keep: Bools
    may_receive: Bools


@dataclass(frozen=True, eq=False)
class MovementProblem:
    """Partitions whose replicas are to be placed. Rows are partitions, in the caller's order.

    Parameters
    ----------
    broker_ids : (brokers,) int32, ascending: every broker that has a replica or may receive one.
    rack_of : (brokers,) int32 index of each broker's rack; all 0 if racks are ignored. An offline broker of unknown
        rack, which may only keep what it has, gets a singleton rack.
    target : (brokers,) bool, the brokers whose counts are balanced.
    base : (brokers,) int64 replicas of partitions outside the problem.
    domains : the distinct domains.
    domain_of : (rows,) int32 indices into `domains`.
    current : (rows, widest) int32 positions of the brokers that have a replica, the preferred leader first, padded with
        `NO_REPLICA`; empty for a new partition. If a broker is replaced, its successor is listed instead.
    is_copied : (rows, widest) bool, current brokers to which the replica has to be copied all the same (successors):
        they are preferred to other brokers, and count as moves.
    must_keep : (rows,) int32 the current broker that has to stay, as the leader's if the factor is lowered, or
        `NO_REPLICA`.
    weight : (rows,) int64 >= 0, the cost of moving one replica of the partition: bytes, or 1.
    share : (brokers,) int64 > 0 without a common factor: counts are balanced in proportion to it. None is the same for
        all brokers.
    floor_cap : (brokers,) int64 upper bound of the floor of brokers that are no targets: the own load of one that stays
        and may not receive; -1 of targets, and of brokers that no band bounds. None if it is -1 everywhere.
    in_sync : (rows, widest) bool, current brokers whose replica is kept before others, at equal movement; if one of
        them is removed, the partition keeps another or receives a new replica. None is all of them.
    """

    broker_ids: Int32s
    rack_of: Int32s
    target: Bools
    base: Int64s
    domains: tuple[Domain, ...]
    domain_of: Int32s = field(repr=False)
    current: Int32s = field(repr=False)
    is_copied: Bools = field(repr=False)
    must_keep: Int32s = field(repr=False)
    weight: Int64s = field(repr=False)
    share: Int64s | None = field(default=None, repr=False)
    in_sync: Bools | None = field(default=None, repr=False)
    floor_cap: Int64s | None = field(default=None, repr=False)

    def freed(self, brokers: Bools) -> "MovementProblem":
        """The problem in which nothing on some brokers, (brokers,) bool, has to stay, of partitions in sync."""
        is_freed = np.append(brokers, True)[self.must_keep]
        if self.in_sync is not None:
            is_freed &= (self.in_sync | (self.current == NO_REPLICA)).all(axis=1)
        return replace(self, must_keep=np.where(is_freed, NO_REPLICA, self.must_keep).astype(np.int32))

    def planned(self, at: Int32s) -> "MovementProblem":
        """The problem of the cluster in which a placement, (rows, widest) int32, is complete.

        Its legal placements are legal in this problem as well.
        """
        return replace(self, current=at, is_copied=np.zeros(at.shape, np.bool_), in_sync=None)

    @property
    def is_there(self) -> Bools:
        """(rows,) bool: partitions that have replicas now."""
        there: Bools = (self.current != NO_REPLICA).any(axis=1)
        return there

    @property
    def is_bounded(self) -> Bools:
        """(brokers,) bool, brokers that a band bounds: targets, and brokers with a capped floor."""
        return bounded(self.target, self.floor_cap)

    @property
    def shared_count(self) -> int:
        """The replicas that targets share: all but those that brokers with a capped floor have."""
        return max(0, int(self.factors.sum()) + int(self.base[self.is_bounded].sum()) - capped_load(self.floor_cap))

    def bounds(self, band: "Band") -> "BrokerBounds":
        """The bounds that a band sets on each broker."""
        bounds = BrokerBounds.of(band, len(self.target))
        if self.floor_cap is None:
            return bounds
        return BrokerBounds(capped_floors(band.low, self.target, self.floor_cap), bounds.high)

    @property
    def racks(self) -> int:
        """Number of racks."""
        return int(self.rack_of.max(initial=-1)) + 1

    @cached_property
    def table(self) -> DomainTable:
        """The domains as arrays."""
        domains, racks, brokers = self.domains, self.racks, len(self.broker_ids)
        return DomainTable(
            factor=np.array([domain.factor for domain in domains], np.int64),
            least=np.array([domain.least for domain in domains], np.int64).reshape(len(domains), racks),
            most=np.array([domain.most for domain in domains], np.int64).reshape(len(domains), racks),
            may_keep=np.array([domain.may_keep for domain in domains], np.bool_).reshape(len(domains), brokers),
            may_receive=np.array([domain.may_receive for domain in domains], np.bool_).reshape(len(domains), brokers),
        )

    @property
    def may_stay(self) -> Bools:
        """(rows, widest) bool: current brokers that may keep their replica."""
        may_keep = self.table.may_keep[self.domain_of[:, None], self.current]
        return np.asarray((self.current != NO_REPLICA) & may_keep, np.bool_)

    @property
    def factors(self) -> Int64s:
        """(rows,) int64 replication factor of each partition after the change."""
        return self.table.factor[self.domain_of]

    @property
    def widest(self) -> int:
        """The largest replication factor; 0 without domains."""
        return int(self.table.factor.max(initial=0))


def bounded(target: Bools, cap: Int64s | None) -> Bools:
    """(brokers,) bool, targets and brokers with a capped floor. cap : (brokers,) int64, as of `MovementProblem`."""
    return target if cap is None else target | (cap >= 0)


def capped_floors(low: int | Int64s, target: Bools, cap: Int64s | None) -> Int64s:
    """(brokers,) int64: the floor of targets, up to `cap` of the others. low : of all, or (brokers,) of each."""
    return np.asarray(np.where(target, low, 0 if cap is None else np.minimum(low, cap)), np.int64)


def capped_load(cap: Int64s | None) -> int:
    """The load of brokers with a capped floor."""
    return 0 if cap is None else int(np.maximum(cap, 0).sum())


@dataclass(frozen=True, slots=True)
class Balance:
    """The balance that brokers are brought to.

    Parameters
    ----------
    tolerance : None is *keep*: only forced moves, to the receivers that leave the smallest maximum. 0 is *tight*: every
        count within the narrowest feasible band. t > 0: every count within ±t of the mean.
    below : how far counts may be below the mean; None is as far as above it. Loads of *tight* may be as small as they
        come; if `below` is 0 beside a tolerance of 0, they are as near to the mean as possible.
    """

    tolerance: Fraction | None
    below: Fraction | None = None

    @property
    def tolerance_below(self) -> Fraction:
        """How far counts may be below the mean; 0 with `keep`."""
        return self.below if self.below is not None else self.tolerance or Fraction(0)

    def band(self, total: int, targets: int, tight: "Band") -> "Band":
        """The integers within the tolerance of the mean, joined with the narrowest feasible band.

        Parameters
        ----------
        total : of all replicas, leaders or loads. What stays on brokers that are no targets is in it as well, so the
            mean is at most the upper end of the narrowest band, and at least its lower end.
        targets : number of brokers that share it.
        tight : the narrowest feasible band.

        Raises
        ------
        ValueError : with `keep`, which has no band.
        """
        if self.tolerance is None:
            raise ValueError("keep has no band")
        mean = min(max(Fraction(total, max(1, targets)), Fraction(tight.low)), Fraction(tight.high))
        low, high = ceil(mean * (1 - self.tolerance_below)), floor(mean * (1 + self.tolerance))
        return Band(min(tight.low, low), max(tight.high, high))


KEEP = Balance(None)
TIGHT = Balance(Fraction(0))


@dataclass(frozen=True, slots=True)
class Band:
    """Inclusive bounds on what each target broker has: replicas, leaders, or their load."""

    low: int
    high: int


NO_LIMIT = 1 << 62
"""Stands for a limit that is not set: above any sum of loads."""
UNLIMITED = 1 << 40
"""More replicas or leaders than there are."""


def band_around(mean: Fraction, tolerance: Fraction | None) -> Band:
    """The whole numbers within the tolerance of a topic's mean, and those around it; None is any number."""
    if tolerance is None:
        return Band(0, UNLIMITED)
    return Band(min(floor(mean), ceil(mean * (1 - tolerance))), max(ceil(mean), floor(mean * (1 + tolerance))))


@dataclass(frozen=True, slots=True, eq=False)
class BrokerBounds:
    """Inclusive bounds on the count of each bounded broker. low, high : (brokers,) int64; others are not bounded."""

    low: Int64s = field(repr=False)
    high: Int64s = field(repr=False)

    @classmethod
    def of(cls, band: Band, brokers: int) -> "BrokerBounds":
        """The same band for all brokers."""
        return cls(np.full(brokers, band.low, np.int64), np.full(brokers, band.high, np.int64))

    def hold(self, loads: Int64s) -> bool:
        """Whether (brokers,) int64 loads are within the bounds."""
        return bool(((loads >= self.low) & (loads <= self.high)).all())

    def joined(self, loads: Int64s) -> "BrokerBounds":
        """The bounds, widened to (brokers,) int64 loads."""
        return BrokerBounds(np.minimum(self.low, loads), np.maximum(self.high, loads))


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
    topic_excess : by how many replicas topics are outside their bands; None if topics are not balanced.
    bounds : of each broker if they differ by its weight; `band` then is from the smallest to the largest.
    """

    replicas: Int32s = field(repr=False)
    band: Band | None
    certificate: Certificate[int]
    topic_excess: int | None = None
    bounds: BrokerBounds | None = field(default=None, repr=False)

    @property
    def moved(self) -> int:
        """The weight of all replicas that have to be copied."""
        return self.certificate.value


@dataclass(frozen=True, eq=False)
class KnownSets:
    """The replica sets of a cluster.

    Parameters
    ----------
    sets : (sets, widest) int32 ascending positions, padded with the number of brokers. brokers : that number.
    """

    sets: Int32s = field(repr=False)
    brokers: int

    @classmethod
    def of(cls, lists: Int32s, brokers: int) -> "KnownSets":
        """The distinct sets of (rows, widest) int32 positions, padded with negative ones."""
        return cls(distinct_sets(lists, brokers), brokers)

    @cached_property
    def of_broker(self) -> Sequence[Int64s]:
        """By broker, the ascending indices of its sets."""
        index, column = np.nonzero(self.sets < self.brokers)
        brokers = self.sets[index, column]
        order = np.argsort(brokers, kind="stable")
        return np.split(index[order], np.cumsum(np.bincount(brokers, minlength=self.brokers))[:-1])

    @cached_property
    def unused(self) -> Int64s:
        """Positions of the brokers on no set, ascending."""
        return np.setdiff1d(np.arange(self.brokers), self.sets)

    @cached_property
    def sizes(self) -> Int64s:
        """(sets,) int64 brokers of each set."""
        return np.asarray(np.count_nonzero(self.sets < self.brokers, axis=1), np.int64)

    @cached_property
    def _members(self) -> frozenset[bytes]:
        return frozenset(row.tobytes() for row in self.sets)

    def opened(self, lists: Int32s) -> Int64s:
        """The rows of (rows, widest) int32 positions on a set that is not known, unless it has a broker without any."""
        width = max(self.sets.shape[1], lists.shape[1])
        padded = np.full((len(lists), width), self.brokers, np.int32)
        padded[:, : lists.shape[1]] = np.where(lists == NO_REPLICA, np.int32(self.brokers), lists)
        padded.sort(axis=1)
        rows = np.flatnonzero(~np.isin(padded, self.unused).any(axis=1) & (padded[:, 0] < self.brokers))
        own = self.sets.shape[1]
        return np.array(
            [
                row
                for row in rows.tolist()
                if (padded[row, own:] < self.brokers).any() or padded[row, :own].tobytes() not in self._members
            ],
            np.int64,
        )

    def with_brokers(self, brokers: Sequence[int], size: int) -> Int64s:
        """Indices of the sets of a size that have all of these brokers."""
        found = np.flatnonzero(self.sizes == size) if not brokers else self.of_broker[brokers[0]]
        for broker in brokers[1:]:
            found = np.intersect1d(found, self.of_broker[broker], assume_unique=True)
        return np.asarray(found[self.sizes[found] == size], np.int64)
