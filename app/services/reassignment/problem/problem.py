"""A change of a cluster with nothing left to look up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from app.core.kafka_versions import Controller, KafkaVersion
from app.core.measures.tally import Tally, tally
from app.core.model import NO_REPLICA, Assignment, Int32s, Int64s, LogDirectory
from app.core.reassignment import (
    BatchLimits,
    BrokerDisks,
    Cordons,
    MovementProblem,
    TopicBalance,
)
from app.core.reassignment.resources import Limits
from app.core.replica_lists import not_among
from app.errors import FieldPath, Json
from app.services.cautions import Caution
from app.services.reassignment.problem.broker_sets import BrokerSets
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.conflicts import Groups, Option
from app.services.reassignment.problem.domains import Relaxation
from app.services.reassignment.problem.loads import (
    LeaderObjective,
    PartitionSizes,
    ReplicaObjective,
)
from app.services.reassignment.problem.log_dirs import LogDirTable
from app.services.reassignment.problem.objectives import ResourceObjective
from app.services.reassignment.problem.parts import ProblemPart
from app.services.reassignment.problem.resources import Resources
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.resources import PricesRequest

DISK_SHARE = ("batches", "max_disk_share")


@dataclass(frozen=True, slots=True, eq=False)
class BatchRules:
    """What one batch may do.

    Parameters
    ----------
    heat : (rows,) int64 ingress rate of a partition, or its bytes if no rate is reported.
    size_bytes : (rows,) int64 or `UNKNOWN_SIZE`.
    disks : used and available bytes by broker; None if disks are not limited.
    cordons : that Kafka enforces while batches run. disk_path : the field that limits disks.
    """

    limits: BatchLimits
    heat: Int64s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    disks: BrokerDisks | None
    cordons: Cordons
    disk_path: FieldPath = DISK_SHARE


SEARCH_SHARE = 0.7
"""Of the time until the deadline, a search over resources; the rest is for the bound on the movement."""


@dataclass(frozen=True, slots=True, eq=False)
class ReassignmentProblem:
    """A change of a cluster with nothing left to look up: brokers by position, partitions by row.

    Parameters
    ----------
    movement : the minimum-movement problem of the core; its rows are those of the scope.
    sets : the broker sets. parts : of the problem, which are placed and balanced each on its own.
    before : (rows, widest) int32 positions of the scope's replicas as they are, padded with -1.
    is_ready : (rows, widest) bool, those that are in sync on live brokers.
    topics, topic_leaders : the balance of each topic's replicas and leaders; None if these are not balanced.
    weights : (brokers,) int64; None if all weigh the same. `movement.share` has them unless leaders alone are planned.
    counts_bytes : whether `movement.weight` is bytes. pins : by row, the pinned positions in their order.
    max_moved_bytes : the budget; None if there is none. has_trade_off : whether movement against balance is tabulated.
    resources : what partitions load on brokers. limits : of brokers.
    objective : over resources; None if replicas are placed before their leaders. prices : of what crosses racks.
    log_dirs : the disks of replicas; None if the request does not choose them.
    directories : the log directories of the snapshot, by broker id.
    repaired : the topics whose partitions are repaired if they span too few racks; None if all are, if racks do not
        count, or if no replica may move.
    leaders_only : whether no replica may move. relaxes : whether a conflict is relaxed instead of rejected.
    relaxed : constraints given up so far. constraints : in words, for the certificate.
    started_s, deadline_s : of the monotonic clock, in seconds; no deadline is None.
    subscriptions : by id of each group that rebalances when racks change, its topics.
    version : of Kafka. controller : the kind that the snapshot reports; None if it does not.
    canonical : the request with nothing left to guess.
    options, without : the options of the request that restrict placements, and the problem without some of them, which
        raises as `resolve` does; the conflict of an infeasible problem is found by them.
    """

    brokers: BrokerTable
    scope: PartitionScope
    sizes: PartitionSizes
    sets: BrokerSets
    movement: MovementProblem
    parts: tuple[ProblemPart, ...]
    before: Int32s = field(repr=False)
    is_ready: NDArray[np.bool_] = field(repr=False)
    topics: TopicBalance | None
    topic_leaders: TopicBalance | None
    weights: Int64s | None = field(repr=False)
    counts_bytes: bool
    pins: Mapping[int, Int64s]
    replicas: ReplicaObjective
    leaders: LeaderObjective
    resources: Resources = field(repr=False)
    limits: Limits
    objective: ResourceObjective | None
    prices: PricesRequest | None
    batches: BatchRules
    log_dirs: LogDirTable | None
    directories: Mapping[int, Sequence[LogDirectory]] = field(repr=False)
    max_moved_bytes: int | None
    has_trade_off: bool
    repaired: frozenset[str] | None
    leaders_only: bool
    relaxes: bool
    relaxed: tuple[Relaxation, ...]
    constraints: tuple[str, ...]
    started_s: float
    deadline_s: float | None
    subscriptions: Mapping[str, frozenset[str]] = field(repr=False)
    version: KafkaVersion
    controller: Controller | None
    canonical: dict[str, Json] = field(repr=False)
    options: Callable[[], Groups] = field(repr=False)
    without: Callable[[Sequence[Option]], "ReassignmentProblem"] = field(repr=False)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about the brokers, the scope and the sizes."""
        of_log_dirs = () if self.log_dirs is None else self.log_dirs.cautions
        return (
            *self.brokers.cautions,
            *self.scope.cautions,
            *self.sets.cautions,
            *self.sizes.cautions,
            *self.resources.cautions,
            *of_log_dirs,
        )

    @property
    def weights_of_leaders(self) -> Int64s | None:
        """(brokers,) int64 in proportion to which leaders by count are balanced; None if all brokers are alike."""
        return self.weights if self.leaders.by == "count" else None

    def ready(self, lists: Int32s, rows: Int64s | None = None) -> NDArray[np.bool_]:
        """(rows, width) bool: replicas of lists, of all or some rows, that Kafka can elect at the end."""
        behind = np.where(self.is_ready, NO_REPLICA, self.before)
        return not_among(lists, behind if rows is None else behind[rows])

    def as_ids(self, replicas: Int32s) -> Int32s:
        """(rows, widest) int32 positions as broker ids."""
        return np.append(self.brokers.ids, np.int32(NO_REPLICA))[replicas]

    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline_s is not None and monotonic() >= self.deadline_s

    def ends_search(self) -> Callable[[], bool]:
        """Whether the time of a search that begins now has passed: `SEARCH_SHARE` of the time until the deadline."""
        if self.deadline_s is None:
            return lambda: False
        now = monotonic()
        ends_s = now + SEARCH_SHARE * (self.deadline_s - now)
        return lambda: monotonic() >= ends_s


def tally_of(problem: ReassignmentProblem, replicas: Int32s, *, is_before: bool = False) -> Tally:
    """The scope's partitions, (rows, widest) int32 broker ids, counted over the brokers afterwards, or before."""
    brokers, scope = problem.brokers, problem.scope
    offline = set(brokers.ids[brokers.is_offline].tolist())
    added = {broker.id for broker in brokers.added}
    listed = [broker for broker in brokers.known if broker.id not in added] if is_before else brokers.stay
    assignments = {
        name: Assignment(scope.partition_ids[start:stop], replicas[start:stop])
        for name, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True)
        if start < stop
    }
    # A broker that is down serves as little as a fenced one.
    return tally(assignments, [replace(broker, fenced=broker.id in offline) for broker in listed])
