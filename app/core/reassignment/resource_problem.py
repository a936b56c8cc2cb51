"""Several resources at once: loads of replicas, limits of brokers, goals, and the placement that answers them.

Resources are columns, in the order of `RESOURCES`. Loads are integers: bytes, bytes/s, millionths of a vCPU, replicas
and leaders. The load of a replica depends on whether it leads, so replicas and leaders are chosen together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Float64s, Int32s, Int64s
from app.core.reassignment.model import NO_LIMIT, MovementProblem, ReplicaPlacement

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
    broker with the lowest position does. The leader serves all others.

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
    is_soft: NDArray[np.bool_]

    @classmethod
    def none(cls, brokers: int) -> "Limits":
        """No limit for any broker."""
        return cls(np.full((brokers, len(RESOURCES)), NO_LIMIT, np.int64), np.zeros(len(RESOURCES), np.bool_))

    def without_removed(self, is_removed: NDArray[np.bool_], base: Int64s) -> "Limits":
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
    """

    movement: MovementProblem
    loads: ResourceLoads
    limits: Limits
    leader: Int32s = field(repr=False)
    may_lead: NDArray[np.bool_]
    topic_of: Int32s | None = field(default=None, repr=False)
    is_ready: NDArray[np.bool_] | None = field(default=None, repr=False)

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
    """

    name: str
    tolerance: Fraction = Fraction(0)


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
