"""Several resources at once: loads of replicas, limits of brokers, goals, and the placement that answers them.

Resources are columns, in the order of `RESOURCES`. Loads are integers: bytes, bytes/s, millionths of a vCPU, replicas
and leaders. The load of a replica depends on whether it leads, so replicas and leaders are chosen together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_LEADER, NO_REPLICA, Bools, Float64s, Int32s, Int64s
from app.core.reassignment.model import NO_LIMIT, TIGHT, Balance, MovementProblem, ReplicaPlacement
from app.core.replica_lists import not_among

RESOURCES = ("disk", "nic_in", "nic_out", "cpu", "replicas", "leaders")
"""Columns of every (…, resources) array: bytes, bytes/s, bytes/s, millionths of a vCPU, and two counts."""
TOPIC_REPLICAS = "topic_replicas"
"""A goal that is no column: the replicas of each topic, spread over brokers."""
GOALS = (*RESOURCES, TOPIC_REPLICAS)
NO_CAPACITY = 0
"""The capacity of a resource is unknown: the brokers share its load equally."""
MILLION = 1_000_000
"""Shares of consumers are in millionths."""


@dataclass(frozen=True, slots=True, eq=False)
class FollowerReads:
    """Consumers that fetch from a replica in their rack (KIP-392).

    A follower in another rack than the leader serves the consumers of its rack; of several in one rack the one on the
    broker with the highest position does, as Kafka chooses of those that are caught up. The leader serves all others.

    Parameters
    ----------
    load : (rows, resources) int64 >= 0 of serving all consumers of the partition: reads in nic_out, their part of cpu.
    client_share : (racks,) int64 millionths of the consumers in each rack; their sum is at most a million.
    """

    load: Int64s = field(repr=False)
    client_share: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class ResourceLoads:
    """The load of each replica on its broker, as leader or as follower, and the capacity of brokers.

    Parameters
    ----------
    of_leader, of_follower : (rows, resources) int64 >= 0. `of_leader` includes consumers unless `reads` are given.
    base : (brokers, resources) int64 >= 0, of partitions outside the problem.
    capacity : (brokers, resources) int64, or `NO_CAPACITY` if unknown. The load of a resource is shared in proportion
        to it; a resource for which any target broker has none is shared equally.
    reads : set if consumers fetch from followers.
    """

    of_leader: Int64s = field(repr=False)
    of_follower: Int64s = field(repr=False)
    base: Int64s = field(repr=False)
    capacity: Int64s = field(repr=False)
    reads: FollowerReads | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Upper limits of each broker's load.

    Parameters
    ----------
    upper : (brokers, resources) int64 >= 0, or `NO_LIMIT`. Brokers that are no targets are limited as well.
    is_soft : (resources,) bool. Hard limits go before every goal, soft ones before the balance and the movement.
    """

    upper: Int64s = field(repr=False)
    is_soft: Bools

    @classmethod
    def none(cls, brokers: int) -> "Limits":
        """No limit for any broker."""
        return cls(np.full((brokers, len(RESOURCES)), NO_LIMIT, np.int64), np.zeros(len(RESOURCES), np.bool_))

    def without_removed(self, is_removed: Bools, base: Int64s) -> "Limits":
        """The limits, those of removed brokers lowered to what stays there: nothing of the problem does, so that their
        limits are no capacity for the others.

        Parameters
        ----------
        is_removed : (brokers,) bool. base : (brokers, resources) int64 of partitions outside the problem.
        """
        lowered = np.where(self.upper < NO_LIMIT, np.minimum(self.upper, base), self.upper)
        return Limits(np.where(is_removed[:, None], lowered, self.upper), self.is_soft)


@dataclass(frozen=True, slots=True, eq=False)
class ResourceProblem:
    """Partitions, the brokers that may have them, and what they load.

    Parameters
    ----------
    movement : domains, current brokers and weights. Its `target` brokers are balanced; brokers that may not receive
        (see `Domain`) still give.
    loads, limits : rows and brokers as in `movement`.
    leader : (rows,) int32 current leader's position, or `NO_LEADER`.
    may_lead : (brokers,) bool. A partition without a replica on such a broker is led by any of its replicas.
    topic_of : (rows,) int32 index of the topic, for the goal `TOPIC_REPLICAS`; None if the goal is not requested.
    is_ready : (rows, widest) bool, current brokers whose replica Kafka can elect; None is all. One of them leads if the
        partition keeps any or receives a new replica, and they are kept before others at equal movement.
    sharing : (brokers, resources) bool, brokers that share the load of each resource; None is `target` for all.
    kept : (brokers, resources) int64, the load below which a broker that may not receive gives none for a goal, since
        nothing can fill it; 0 of brokers that share the load. None is 0 for all.
    """

    movement: MovementProblem
    loads: ResourceLoads
    limits: Limits
    leader: Int32s = field(repr=False)
    may_lead: Bools
    topic_of: Int32s | None = field(default=None, repr=False)
    is_ready: Bools | None = field(default=None, repr=False)
    sharing: Bools | None = field(default=None, repr=False)
    kept: Int64s | None = field(default=None, repr=False)

    @classmethod
    def of_one_load(
        cls, movement: MovementProblem, column: int, of_leader: Int64s, of_follower: Int64s, base: Int64s
    ) -> "ResourceProblem":
        """The problem of one load, on brokers of equal capacity that all may lead."""
        brokers, columns = len(base), (np.arange(len(RESOURCES)) == column).astype(np.int64)
        leader, follower, of_base = (each[:, None] * columns for each in (of_leader, of_follower, base))
        loads = ResourceLoads(leader, follower, of_base, np.zeros_like(of_base))
        no_leader, every = np.full(len(leader), NO_LEADER, np.int32), np.ones(brokers, np.bool_)
        return cls(movement, loads, Limits.none(brokers), no_leader, every)

    @property
    def targets(self) -> Bools:
        """(brokers, resources) bool, brokers that share the load of each resource."""
        if self.sharing is not None:
            return self.sharing
        return np.repeat(self.movement.target[:, None], len(RESOURCES), axis=1)

    def planned(self, placement: "SearchedPlacement") -> "ResourceProblem":
        """The problem of the cluster in which a placement is complete."""
        kept = None if self.kept is None else np.minimum(self.kept, placement.loads)
        movement, leader = self.movement.planned(placement.at), self.leader
        if placement.at.shape[1]:
            leader = placement.at[:, 0]
        # A replica that is out of sync and stays may lead in the search again no more than in the first one.
        is_ready = None if self.is_ready is None else not_among(movement.current, self.behind)
        return replace(self, movement=movement, leader=leader, is_ready=is_ready, kept=kept)

    @property
    def floors(self) -> Int64s:
        """(brokers, resources) int64: the load that brokers keep which may not receive."""
        return np.zeros_like(self.loads.base) if self.kept is None else self.kept

    @property
    def weights(self) -> Int64s:
        """(brokers, resources) int64 > 0 for brokers that share, 0 for others: as of `capacity_weights`."""
        return capacity_weights(self.loads, self.targets)

    @property
    def behind(self) -> Int32s:
        """(rows, widest) int32 current brokers whose replica is not ready, padded; no column without any."""
        current = self.movement.current
        behind = np.full_like(current, NO_REPLICA) if self.is_ready is None else np.where(self.is_ready, -1, current)
        return np.ascontiguousarray(behind if (behind != NO_REPLICA).any() else behind[:, :0], np.int32)


@dataclass(frozen=True, slots=True)
class Goal:
    """A resource (or the replicas of each topic) to balance among target brokers.

    Parameters
    ----------
    name : of `GOALS`.
    tolerance : 0 is *tight*: the smallest largest share of the broker's ideal load. t > 0: every target broker within
        ±t of its ideal load, or as near as can be reached.
    is_near : with a tolerance of 0, every target broker as near to its ideal load as can be reached.
    """

    name: str
    tolerance: Fraction = Fraction(0)
    is_near: bool = False

    @classmethod
    def of(cls, name: str, balance: Balance) -> "Goal":
        """The goal of a balance by the load that has a name."""
        return cls(name, balance.tolerance or Fraction(0), balance.tolerance == 0 and balance != TIGHT)

    @property
    def has_floor(self) -> bool:
        """Whether small loads count beside the largest one."""
        return self.is_near or bool(self.tolerance)


@dataclass(frozen=True, slots=True, eq=False)
class BalancedGoal:
    """What a goal reached.

    Parameters
    ----------
    goal : the requested one.
    largest : the largest load of a target broker over its ideal load (its share of the total by capacity), and a lower
        bound on that of every placement. For `TOPIC_REPLICAS`: the most replicas of a topic on a broker over the
        topic's mean. The bound ignores the other goals; it may hold only among the placements with the least excess.
    smallest : the smallest load over ideal load.
    ceiling, floor : (brokers,) int64 bounds of the load that the movement's certificate is valid for; `NO_LIMIT` and 0
        for brokers that are no targets. For `TOPIC_REPLICAS` (topics,) int64 bounds of the topic's replicas on each.
    """

    goal: Goal
    largest: Certificate[Fraction]
    smallest: Fraction
    ceiling: Int64s = field(repr=False)
    floor: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True)
class LimitConflict:
    """Hard limits that cannot all hold, and none of which can be left out.

    Parameters
    ----------
    resource : of `RESOURCES`, or several joined by "+" if only their combination conflicts.
    brokers : positions whose limits conflict: all, those of a rack, or fewer.
    required : the least load of the first resource that every placement puts on these brokers.
    available : the sum of their limits of it, smaller than `required`.
    is_of_sums : whether sums prove it; otherwise an integer model does, and `required` exceeds `available` by the least
        load above the limits of the first resource if those of the others hold.
    """

    resource: str
    brokers: tuple[int, ...]
    required: int
    available: int
    is_of_sums: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """What is above limits.

    Parameters
    ----------
    above : (brokers, resources) int64 load above the limit.
    hard, soft : the sum over brokers and resources of (load - limit) / limit, each with a lower bound, that of soft
        limits among the placements with the least hard excess. A limit of 0 counts as 1.
    conflicts : proofs that hard limits cannot all hold; none are known if it is empty.
    """

    above: Int64s = field(repr=False)
    hard: Certificate[Fraction]
    soft: Certificate[Fraction]
    conflicts: tuple[LimitConflict, ...] = ()

    @property
    def values(self) -> tuple[Fraction, Fraction]:
        """The hard and the soft sum."""
        return self.hard.value, self.soft.value


@dataclass(frozen=True, slots=True, eq=False)
class ResourcePlacement:
    """Replicas and leaders after the reassignment.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions, padded with -1; brokers that keep their replica stay in column order.
    leaders : (rows,) int32, one of the row's replicas.
    loads : (brokers, resources) int64, base included.
    movement : moved weight; `then` counts leader changes, bounded by those that are forced. Both are among placements
        within the limits that are reached and the ceilings and floors in `goals`.
    goals : what each goal reached, in the requested order.
    excess : None if every limit holds.
    """

    replicas: Int32s = field(repr=False)
    leaders: Int32s = field(repr=False)
    loads: Int64s = field(repr=False)
    movement: Certificate[int]
    goals: tuple[BalancedGoal, ...]
    excess: Excess | None

    @property
    def moved(self) -> int:
        """The weight of all replicas that have to be copied."""
        return self.movement.value

    @property
    def replicas_only(self) -> ReplicaPlacement:
        """The replica lists, with the certificate of their movement alone."""
        return ReplicaPlacement(self.replicas, None, replace(self.movement, then=None))

    @property
    def goal(self) -> Mapping[str, BalancedGoal]:
        """What each goal reached, by its name."""
        return {reached.goal.name: reached for reached in self.goals}


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Ceilings and floors of loads, and how much violations weigh.

    Parameters
    ----------
    ceiling, floor : (brokers, resources) int64. unit : (brokers, resources) float64 of one unit of load.
    topic_most, topic_least : (topics,) int64; empty without a goal for topics. topic_unit : (topics,) float64.
    """

    ceiling: Int64s = field(repr=False)
    floor: Int64s = field(repr=False)
    unit: Float64s = field(repr=False)
    topic_most: Int64s = field(repr=False)
    topic_least: Int64s = field(repr=False)
    topic_unit: Float64s = field(repr=False)

    @classmethod
    def none(cls, problem: ResourceProblem) -> "Bounds":
        """Limits alone."""
        shape = problem.limits.upper.shape
        nothing = np.zeros(0, np.int64)
        return cls(np.full(shape, NO_LIMIT), np.zeros(shape, np.int64), np.zeros(shape), nothing, nothing, np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class SearchedPlacement:
    """A legal placement and what it violates.

    Parameters
    ----------
    at : (rows, widest) int32, the leader in column 0. loads : (brokers, resources) int64. counts : (topics, brokers).
    penalty : of all violations; 0 if there are none. moved : the moved weight.
    """

    at: Int32s = field(repr=False)
    loads: Int64s = field(repr=False)
    counts: Int64s = field(repr=False)
    penalty: float
    moved: int


def kafka_loads(
    *,
    ingress: Int64s,
    reads: Int64s,
    retained: Int64s,
    factors: Int64s,
    base: Int64s,
    capacity: Int64s,
    cpu: tuple[float, float, float] = (0.0, 0.0, 0.0),
    client_share: Int64s | None = None,
) -> ResourceLoads:
    """The loads that partitions put on brokers, by Kafka's replication.

    A leader receives the ingress, and sends it to each follower and to consumers; a follower receives it. Each replica
    stores the retained bytes. The processor's load is linear in bytes in, bytes out and replicas.

    Parameters
    ----------
    ingress, reads : (rows,) int64 bytes/s of producers and of consumers. retained : (rows,) int64 bytes of a replica.
    factors : (rows,) int64 replication factor after the change.
    base, capacity : as of `ResourceLoads`.
    cpu : vCPU for a byte/s in, for a byte/s out, and for a replica.
    client_share : (racks,) int64 millionths of consumers by rack if they fetch from followers (KIP-392); else None.
    """
    per_in, per_out, per_replica = cpu
    by_leader = np.zeros((len(ingress), len(RESOURCES)), np.int64)
    by_leader[:, 0] = retained
    by_leader[:, 1] = ingress
    by_leader[:, 4] = 1
    by_follower = by_leader.copy()
    by_leader[:, 5] = 1
    served = reads if client_share is None else np.zeros_like(reads)
    by_leader[:, 2] = (factors - 1) * ingress + served
    for loads in (by_leader, by_follower):
        loads[:, 3] = np.rint(MILLION * (per_in * loads[:, 1] + per_out * loads[:, 2] + per_replica)).astype(np.int64)
    if client_share is None:
        return ResourceLoads(by_leader, by_follower, base, capacity)
    of_reads = np.zeros_like(by_leader)
    of_reads[:, 2] = reads
    of_reads[:, 3] = np.rint(MILLION * per_out * reads).astype(np.int64)
    return ResourceLoads(by_leader, by_follower, base, capacity, FollowerReads(of_reads, client_share))


def loads_of(loads: ResourceLoads, rack_of: Int32s, replicas: Int32s, leaders: Int32s) -> Int64s:
    """(brokers, resources) int64 load of every broker, `base` included.

    Parameters
    ----------
    rack_of : (brokers,) int32. replicas : (rows, widest) int32 positions, padded with -1.
    leaders : (rows,) int32, one of the row's replicas; of a row without replicas it does not matter.
    """
    total = loads.base.astype(np.int64).copy()
    served = None if loads.reads is None else _served(loads.reads, rack_of, replicas, leaders)
    for column, brokers in enumerate(replicas.T):
        rows = np.flatnonzero(brokers != NO_REPLICA)
        leads = (brokers == leaders)[rows, None]
        of_slot = np.where(leads, loads.of_leader[rows], loads.of_follower[rows])
        if served is not None:
            of_slot += served[rows, column]
        np.add.at(total, brokers[rows], of_slot)
    return total


def _served(reads: FollowerReads, rack_of: Int32s, replicas: Int32s, leaders: Int32s) -> Int64s:
    """(rows, widest, resources) int64 load of the consumers that each replica serves."""
    width = replicas.shape[1]
    racks = np.where(replicas == NO_REPLICA, -1, rack_of[replicas])
    is_leader = (replicas == leaders[:, None]) & (replicas != NO_REPLICA)
    leader_rack = np.where(is_leader, racks, -1).max(axis=1, initial=-1)
    serves = (replicas != NO_REPLICA) & (racks != leader_rack[:, None])
    for column in range(width):
        for other in range(width):
            serves[:, column] &= (racks[:, other] != racks[:, column]) | (replicas[:, other] <= replicas[:, column])
    share = np.where(serves, reads.client_share[racks], 0)
    served: Int64s = reads.load[:, None, :] * share[:, :, None] // MILLION
    rest = reads.load - served.sum(axis=1)
    served[is_leader] = rest[is_leader.any(axis=1)]
    return served


def ideal_loads(weight: Int64s, total: Int64s) -> Float64s:
    """(brokers, resources) float64: each broker's share of the total by its weight.

    Parameters
    ----------
    weight : (brokers, resources) int64, 0 for brokers that do not share. total : (resources,) int64 shared load.
    """
    return np.asarray(weight / np.maximum(weight.sum(axis=0), 1) * total, np.float64)


def capacity_weights(loads: ResourceLoads, targets: Bools) -> Int64s:
    """(brokers, resources) int64 > 0 for targets, (brokers, resources) bool, 0 for others: capacities, or 1 if that of
    a target is unknown.
    """
    unknown = (targets & (loads.capacity <= NO_CAPACITY)).any(axis=0)
    return np.asarray(np.where(targets, np.where(unknown, 1, loads.capacity), 0), np.int64)


def excess_of(loads: Int64s, upper: Int64s) -> Fraction:
    """The load above limits, in shares of the limits; a limit of 0 counts as 1.

    Parameters
    ----------
    loads, upper : (brokers, resources) int64, or `NO_LIMIT`.
    """
    above = np.maximum(loads - upper, 0)
    cells = zip(*np.nonzero(above), strict=True)
    return sum((Fraction(int(above[cell]), max(1, int(upper[cell]))) for cell in cells), Fraction(0))


def largest_share(load: Int64s, weight: Int64s, total: int) -> tuple[Fraction, Fraction]:
    """The largest and the smallest load of a target broker over its ideal load, exactly; 0 if nothing is loaded.

    Parameters
    ----------
    load, weight : (brokers,) int64 of one resource; brokers of weight 0 do not count. total : that is shared.
    """
    sharing = np.flatnonzero(weight)
    if total <= 0 or not len(sharing):
        return Fraction(0), Fraction(0)
    unit = Fraction(int(weight.sum()), total)
    shares = [Fraction(int(load[broker]), int(weight[broker])) for broker in sharing]
    return max(shares) * unit, min(shares) * unit
