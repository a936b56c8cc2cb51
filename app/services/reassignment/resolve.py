"""From a request and a cluster to one frozen problem; nothing below reads the request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from app.core.certificate import Certificate
from app.core.cordons import CORDONS_SINCE, LISTS_CHECKED_SINCE
from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import Tally, positions_of, tally
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Assignment, Cluster, Int32s, Int64s
from app.core.reassignment import (
    Band,
    Batches,
    BatchLimits,
    BrokerDisks,
    Cordons,
    ExecutionStep,
    Hottest,
    LeaderChoice,
    LeaderProblem,
    MovementProblem,
    ReassignedPartitions,
    ReplicaPlacement,
    TieBreaks,
    TopicBalance,
    summed,
)
from app.core.reassignment.resources import RESOURCES, Limits
from app.core.replica_lists import per_broker
from app.core.replicas.rack_modes import RackMode
from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields
from app.services.cautions import Caution
from app.services.plans import Allowance
from app.services.reassignment.broker_limits import limits_of, require_loads
from app.services.reassignment.broker_sets import BrokerSets, broker_sets_of
from app.services.reassignment.brokers import Bools, BrokerTable, brokers_of, with_removed_racks
from app.services.reassignment.domains import Domains, Relaxation, domains_of
from app.services.reassignment.kafka_generate import GeneratedMovement
from app.services.reassignment.loads import (
    LeaderObjective,
    PartitionLoads,
    PartitionSizes,
    ReplicaObjective,
    loads_of,
    replicas_of_others,
    with_recorded_rates,
)
from app.services.reassignment.log_dir_choice import LogDirSolution
from app.services.reassignment.log_dirs import LogDirTable, log_dirs_of
from app.services.reassignment.objectives import ResourceObjective, objective_of
from app.services.reassignment.parts import ProblemPart, parts_of, shares_of
from app.services.reassignment.rebalances import Rebalances, subscriptions_of
from app.services.reassignment.requests import ReassignmentRequest, canonical_fields, repaired_topics
from app.services.reassignment.resource_requests import PricesRequest
from app.services.reassignment.resources import Resources, resources_of
from app.services.reassignment.scope import PartitionScope, scope_of
from app.services.reassignment.weights import weights_of

if TYPE_CHECKING:
    from app.services.reassignment.placing import PlacedReplicas
    from app.services.reassignment.resource_planning import ResourceSolution

DISK_SHARE = ("batches", "max_disk_share")
NO_LIMIT = 2**63 - 1


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


@dataclass(frozen=True, slots=True, eq=False)
class ReassignmentProblem:
    """A change of a cluster with nothing left to look up: brokers by position, partitions by row.

    Parameters
    ----------
    movement : the minimum-movement problem of the core; its rows are those of the scope.
    sets : the broker sets. parts : of the problem, which are placed and balanced each on its own.
    before : (rows, widest) int32 positions of the scope's replicas as they are, padded with -1.
    topics, topic_leaders : the balance of each topic's replicas and leaders; None if these are not balanced.
    counts_bytes : whether `movement.weight` is bytes. pins : by row, the pinned positions in their order.
    max_moved_bytes : the budget; None if there is none. has_trade_off : whether movement against balance is tabulated.
    resources : what partitions load on brokers. limits : of brokers.
    objective : over resources; None if replicas are placed before their leaders. prices : of what crosses racks.
    log_dirs : the disks of replicas; None if the request does not choose them.
    repaired : the topics whose partitions are repaired if they span too few racks, where a default leaves out others.
    leaders_only : whether no replica may move. relaxes : whether a conflict is relaxed instead of rejected.
    relaxed : constraints given up so far. constraints : in words, for the certificate.
    started_s, deadline_s : of the monotonic clock, in seconds; no deadline is None.
    subscriptions : by id of each group that rebalances when racks change, its topics.
    version : of Kafka.
    canonical : the request with nothing left to guess.
    """

    brokers: BrokerTable
    scope: PartitionScope
    sizes: PartitionSizes
    sets: BrokerSets
    movement: MovementProblem
    parts: tuple[ProblemPart, ...]
    before: Int32s = field(repr=False)
    topics: TopicBalance | None
    topic_leaders: TopicBalance | None
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
    canonical: dict[str, Json] = field(repr=False)

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

    def as_ids(self, replicas: Int32s) -> Int32s:
        """(rows, widest) int32 positions as broker ids."""
        return np.append(self.brokers.ids, np.int32(NO_REPLICA))[replicas]

    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline_s is not None and monotonic() >= self.deadline_s


@dataclass(frozen=True, slots=True, eq=False)
class LedPart:
    """The leaders of the partitions of a part that are not pinned, with their lower bound."""

    problem: LeaderProblem
    choice: LeaderChoice


@dataclass(frozen=True, slots=True, eq=False)
class LeaderSolution:
    """Replica lists with their preferred leaders first.

    Parameters
    ----------
    parts : of each part of the problem; one of all if leaders are placed together with replicas.
    after : (rows, widest) int32 positions, padded at the end.
    """

    parts: tuple[LedPart, ...]
    after: Int32s = field(repr=False)

    @property
    def band(self) -> Band | None:
        """The band of leaders; None with several parts, each of which has its own."""
        return self.parts[0].choice.band if len(self.parts) == 1 else None

    @property
    def changes(self) -> Certificate[int]:
        """The leader changes of all parts."""
        certificates = [part.choice.certificate for part in self.parts]
        return certificates[0] if len(certificates) == 1 else summed(certificates)

    @property
    def topic_excess(self) -> int | None:
        """By how many leaders topics are outside their bands; None if they have none."""
        excess = [part.choice.topic_excess for part in self.parts if part.choice.topic_excess is not None]
        return sum(excess) if excess else None

    @property
    def largest_bound(self) -> int:
        """A lower bound on the largest load of a broker."""
        return max(part.choice.largest.lower_bound for part in self.parts)


@dataclass(frozen=True, slots=True)
class Executions:
    """The order of execution, with the cordons that are set and lifted.

    Parameters
    ----------
    batches : one after another. rollback : their inverses, from the last to the first.
    at_once : the whole plan as one batch. rollback_at_once : its inverse.
    """

    batches: tuple[ExecutionStep, ...]
    rollback: tuple[ExecutionStep, ...]
    at_once: tuple[ExecutionStep, ...]
    rollback_at_once: tuple[ExecutionStep, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ReassignmentSolution:
    """Everything that the solvers return for a problem.

    Parameters
    ----------
    placed : replica lists with their lower bounds. trade_off : the least movement of each part in ever wider bands, if
        requested.
    resources : replicas and leaders over resources; None if the objective is not over them.
    steps : the batches. reassigned : what they were cut from. executions : None if no broker is or becomes cordoned.
    generated : what Kafka's own tool would move. rebalances : the groups that rebalance.
    log_dirs : the directory of every replica; None if the request does not choose them.
    tally, tally_before : the scope's partitions with the plan, and before it. relaxed : all relaxed constraints.
    """

    placed: "PlacedReplicas"
    trade_off: Sequence[Sequence[ReplicaPlacement]] | None
    leaders: LeaderSolution
    resources: "ResourceSolution | None"
    reassigned: ReassignedPartitions
    steps: Batches
    executions: Executions | None
    generated: GeneratedMovement
    rebalances: Rebalances
    log_dirs: LogDirSolution | None
    tally: Tally
    tally_before: Tally
    relaxed: tuple[Relaxation, ...]
    seconds: float

    @property
    def placement(self) -> ReplicaPlacement:
        """The replica lists of all parts."""
        return self.placed.whole


def resolve(
    request: ReassignmentRequest, cluster: Cluster, allowance: Allowance, version: KafkaVersion
) -> ReassignmentProblem:
    """Read the request against the cluster, which this release of Kafka runs.

    Raises
    ------
    What `brokers_of`, `scope_of` and `domains_of` do.
    SizesMissing, RatesMissing, ConflictingFields : an objective or a limit needs what the cluster does not report.
    """
    started = monotonic()
    request = with_removed_racks(request, cluster)
    stated, request = request, with_recorded_rates(request, cluster)
    changes = replace(request, rack_mode=RackMode.DISABLED) if request.leaders_only else request
    brokers = brokers_of(changes, cluster)
    scope = scope_of(changes, cluster, allowance)
    before = positions_of(scope.before, brokers.ids)
    homes, is_copied = _homes(brokers, before)
    sets = broker_sets_of(changes, brokers, scope)
    domains = domains_of(changes, brokers, sets, scope, homes)
    loads = loads_of(request, brokers, scope)
    shares = shares_of(sets, brokers, scope, loads.replicas, before)
    sizes = loads.sizes
    require_loads(request, scope, sizes, loads.rates)
    resources = resources_of(request, brokers, scope, sizes, loads.rates)
    limits = limits_of(request, brokers, resources.capacity)
    counts_bytes = request.minimise == "bytes" and not sizes.unknown
    weights = None if request.leaders_only else weights_of(request, brokers, resources.capacity)
    if weights is not None and request.balance.per_topic is not None:
        detail = (
            'brokers have weights, and balance.per_topic gives all the same; "weights": {"*": 1} lets them be equal'
        )
        raise ConflictingFields(detail, path=("balance", "per_topic"), value="weights")
    movement = MovementProblem(
        broker_ids=brokers.ids,
        rack_of=brokers.rack_of,
        target=np.logical_or.reduce([share.target for share in shares]),
        base=loads.base,
        domains=domains.domains,
        domain_of=domains.domain_of,
        current=homes,
        is_copied=is_copied,
        must_keep=_must_keep(brokers, domains, before),
        weight=sizes.size_bytes if counts_bytes else np.ones(len(sizes.size_bytes), np.int64),
        share=weights,
    )
    ties = TieBreaks(sizes.size_bytes, replicas_of_others(brokers, scope.others, sizes.of_others), scope.topic_of)
    topics = _topics(request, scope, request.topic_tolerance)
    return ReassignmentProblem(
        brokers=brokers,
        scope=scope,
        sizes=sizes,
        sets=sets,
        movement=movement,
        parts=parts_of(shares, movement, ties, topics),
        before=before,
        topics=topics,
        topic_leaders=_topics(request, scope, request.topic_leaders_tolerance),
        counts_bytes=counts_bytes,
        pins=domains.pins,
        replicas=loads.replicas,
        leaders=loads.leaders,
        resources=resources,
        limits=limits,
        objective=objective_of(request, scope, sizes, loads.rates, is_weighted=weights is not None),
        prices=request.prices,
        batches=_batch_rules(request, brokers, scope, loads, before, _disk_limits(request, resources, limits), version),
        log_dirs=log_dirs_of(request.log_dirs, cluster, brokers, scope, sizes, request.batches.max_disk_share),
        max_moved_bytes=request.max_moved_bytes,
        has_trade_off=request.trade_off,
        repaired=_repaired(request, brokers),
        leaders_only=request.leaders_only,
        relaxes=request.on_conflict == "relax",
        relaxed=domains.relaxed,
        constraints=tuple(_constraints(request, brokers, domains)),
        started_s=started,
        deadline_s=None if request.deadline_s is None else started + request.deadline_s,
        subscriptions=subscriptions_of(cluster, version),
        version=version,
        canonical=canonical_fields(stated, brokers.requested),
    )


def _topics(request: ReassignmentRequest, scope: PartitionScope, tolerance: Fraction | None) -> TopicBalance | None:
    """The balance of each topic of the scope; those that the request does not name have no band."""
    per_topic = request.balance.per_topic
    if per_topic is None or tolerance is None:
        return None
    named = frozenset(scope.topics if per_topic.topics is None else per_topic.topics)
    bands = tuple(tolerance if name in named else None for name in scope.topics)
    return TopicBalance(scope.topic_of, len(scope.topics), bands)


def _repaired(request: ReassignmentRequest, brokers: BrokerTable) -> frozenset[str] | None:
    """As of `ReassignmentProblem`; None if the request decides, or racks do not count."""
    is_decided = request.repair_racks is not None or request.leaders_only or not brokers.racks
    return None if is_decided else repaired_topics(request)


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


def _homes(brokers: BrokerTable, before: Int32s) -> tuple[Int32s, Bools]:
    """Current brokers with successors in place of those that they replace, and which of them are such successors.

    A successor that has a replica of the partition already gets no second one: the replaced one's is removed.
    """
    homes, is_copied = before.copy(), np.zeros(before.shape, np.bool_)
    for old in np.flatnonzero(brokers.is_replaced).tolist():
        new = brokers.successor_of[old]
        is_old = homes == old
        is_double = (homes == new).any(axis=1)[:, None]
        homes[is_old] = new
        is_copied |= is_old & ~is_double
        homes[is_old & is_double] = NO_REPLICA
    if not brokers.is_replaced.any():
        return homes, is_copied
    order = np.argsort(homes == NO_REPLICA, axis=1, kind="stable")
    return np.take_along_axis(homes, order, axis=1), np.take_along_axis(is_copied, order, axis=1)


def _must_keep(brokers: BrokerTable, domains: Domains, before: Int32s) -> Int32s:
    """(rows,) int32 broker of the preferred leader if the factor is lowered and it may stay: it leads on."""
    factors = np.array([domain.factor for domain in domains.domains], np.int64)[domains.domain_of]
    may_keep = np.array([[*domain.may_keep, False] for domain in domains.domains], np.bool_)
    current_factors = np.count_nonzero(before != NO_REPLICA, axis=1)
    leader = before[:, 0]
    stays = (factors < current_factors) & (leader != NO_REPLICA)
    if len(may_keep):
        stays &= may_keep[domains.domain_of, leader]
    # A pin determines the replicas, and so the leader.
    stays[list(domains.pins)] = False
    return np.where(stays & ~np.append(brokers.is_removed, False)[leader], leader, np.int32(NO_REPLICA)).astype(
        np.int32
    )


def _batch_rules(
    request: ReassignmentRequest,
    brokers: BrokerTable,
    scope: PartitionScope,
    loads: PartitionLoads,
    before: Int32s,
    disk_limits: Int64s | None,
    version: KafkaVersion,
) -> BatchRules:
    """Raises `ConflictingFields`, `SizesMissing` if disks are limited and not known, or what is on them is not."""
    rules, sizes = request.batches, loads.sizes
    return BatchRules(
        limits=BatchLimits(
            max_moves_in_per_broker=rules.max_moves_in_per_broker,
            max_moves_out_per_broker=rules.max_moves_out_per_broker,
            max_bytes_in_per_broker=rules.max_bytes_in_per_broker,
            max_partitions=rules.max_partitions,
            throttle_bytes_per_s=rules.throttle_bytes_per_s,
            hottest=Hottest(rules.hottest),
        ),
        heat=loads.heat,
        size_bytes=np.where(sizes.is_known, sizes.size_bytes, UNKNOWN_SIZE),
        disks=None if disk_limits is None else _disks(disk_limits, brokers, scope, sizes, before),
        cordons=_cordons(brokers, version),
        disk_path=DISK_SHARE if rules.max_disk_share is not None else ("limits", "disk"),
    )


def _cordons(brokers: BrokerTable, version: KafkaVersion) -> Cordons:
    """The cordons that a cluster of this release enforces: removed brokers are cordoned before anything moves.

    A broker that is down is fenced, and cannot be asked to cordon its log directories.
    """
    if version < CORDONS_SINCE:
        return Cordons(rejects_lists=False)
    cordoned = frozenset(brokers.ids[brokers.is_cordoned].tolist())
    draining = cordoned.union(brokers.ids[brokers.is_removed & ~brokers.is_offline].tolist())
    return Cordons(cordoned, draining, draining, rejects_lists=version >= LISTS_CHECKED_SINCE)


def _disk_limits(request: ReassignmentRequest, resources: Resources, limits: Limits) -> Int64s | None:
    """(brokers,) int64 most bytes on disk at any time; None if disks are not limited.

    A hard limit of the disk holds in every batch; if conflicts are relaxed, and with a soft limit, it may not hold even
    in the end. A broker without a known disk size is not limited by `max_disk_share`.

    Raises `ConflictingFields` if no broker has a disk size.
    """
    if request.log_dirs is not None:  # whose limits are of directories
        return None
    column, share = RESOURCES.index("disk"), request.batches.max_disk_share
    is_hard = bool(request.limits.disk) and not limits.is_soft[column] and request.on_conflict == "refuse"
    if share is None:
        return limits.upper[:, column] if is_hard else None
    disk_bytes = resources.capacity[:, column]
    if not disk_bytes.any():
        detail = "max_disk_share limits disks, and no broker has a capacity.disk_bytes"
        raise ConflictingFields(detail, path=DISK_SHARE, value=share)
    shares = [int(size * share) if size else NO_LIMIT for size in disk_bytes.tolist()]
    most = np.array(shares, np.int64)
    return np.minimum(most, limits.upper[:, column]) if is_hard else most


def _disks(
    limits: Int64s, brokers: BrokerTable, scope: PartitionScope, sizes: PartitionSizes, before: Int32s
) -> BrokerDisks:
    """Used and available bytes of every broker. Raises `SizesMissing`."""
    sizes.require("max_disk_share", DISK_SHARE)
    used = replicas_of_others(brokers, scope.others, sizes.of_others)
    used += per_broker(before, len(used), sizes.size_bytes)
    return BrokerDisks(used, limits)


def _constraints(request: ReassignmentRequest, brokers: BrokerTable, domains: Domains) -> list[str]:
    """The constraints that the lower bound holds under, in words."""
    words = []
    if brokers.is_removed.any():
        words.append(f"nothing stays on brokers {brokers.named(brokers.is_removed)}")
    if brokers.racks and not request.leaders_only:
        words.append(f"racks are {request.rack_mode.value}: {', '.join(brokers.racks[:20])}")
    if request.max_replicas_per_rack is not None:
        words.append(f"{request.max_replicas_per_rack} replicas of a partition a rack at most")
    if domains.pins:
        words.append(f"{len(domains.pins)} partitions are pinned")
    return words
