"""From a request and a cluster to one frozen problem; nothing below reads the request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from time import monotonic

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import positions_of
from app.core.model import CORDONS_SINCE, LISTS_CHECKED_SINCE, NO_REPLICA, UNKNOWN_SIZE, Broker, Cluster, Int32s, Int64s
from app.core.reassignment.batches.execution import Cordons
from app.core.reassignment.batches.model import BatchLimits, BrokerDisks, Hottest
from app.core.reassignment.completion import TOLERATES_KEPT_SINCE, CompletionRule, CompletionRules, completion_rule
from app.core.reassignment.model import NO_LIMIT as NO_BOUND
from app.core.reassignment.model import KnownSets, MovementProblem
from app.core.reassignment.parts import Share, parts_of
from app.core.reassignment.problem import BatchRules, without_deadline
from app.core.reassignment.resource_problem import RESOURCES, Limits
from app.core.reassignment.solvers.flow.destinations import TieBreaks
from app.core.reassignment.solvers.flow.per_topic import TopicBalance
from app.core.replica_lists import per_broker, stacked
from app.core.replicas.copyset_rounds import rounds_of_width
from app.core.replicas.options import RackMode
from app.errors.every import ConflictingFields, CopysetsImpossible
from app.services.plans import Allowance
from app.services.reassignment.problem import objectives
from app.services.reassignment.problem import problem as problems
from app.services.reassignment.problem import scope as scopes
from app.services.reassignment.problem.broker_sets import BrokerSets, broker_sets_of, shares_of
from app.services.reassignment.problem.brokers import Bools, BrokerTable, brokers_of, with_removed_racks
from app.services.reassignment.problem.domains import Domains, domains_of
from app.services.reassignment.problem.loads import (
    PartitionLoads,
    PartitionSizes,
    loads_of,
    with_recorded_rates,
)
from app.services.reassignment.problem.log_dirs import StatedLogDirs, log_dirs_of
from app.services.reassignment.problem.resources import Resources, group_reads, resources_of, subscriptions_of
from app.services.reassignment.requests import request as requests
from app.services.reassignment.requests.parts import LogDirsRequest, SetsOfWidth

NO_LIMIT = 2**63 - 1
DISK_SHARE = ("batches", "max_disk_share")
TO_SAFE, TO_DISABLED = '"rack_mode": "safe", which takes the racks that are left', '"rack_mode": "disabled"'
"""Changes that lift the rack rule if racks lose their brokers, and if brokers lack capacity."""


def resolve(
    request: requests.ReassignmentRequest, cluster: Cluster, allowance: Allowance, version: KafkaVersion
) -> problems.ReassignmentProblem:
    """Read the request against the cluster, which this release of Kafka runs.

    Raises
    ------
    As `brokers_of`, `scope_of` and `domains_of`.
    SizesMissing, RatesMissing, ConflictingFields : an objective or a limit needs unreported values.
    """
    started = monotonic()
    try:
        brokers, scope, sets, domains, before, current, is_copied = _eligible(request, cluster, allowance, ())
    except problems.REFUSED as refused:
        groups = problems.options_of(request, brokers_of(_changes(request, cluster), cluster), lift_of_racks=TO_SAFE)
        raise problems.explained(refused, groups, partial(_eligible, request, cluster, allowance)) from None
    stated, folded = request, with_removed_racks(request, cluster)
    request = _with_log_dirs(with_recorded_rates(folded, cluster))
    is_ready = scopes.ready_replicas(brokers, scope, before)
    loads = loads_of(request, brokers, scope)
    sizes = loads.sizes
    objectives.require_loads(request, scope, loads)
    resources = resources_of(request, brokers, scope, loads)
    log_dirs = None if request.log_dirs is None else log_dirs_of(request, cluster, brokers, scope, sizes)
    limits = _with_directories(request, objectives.limits_of(request, brokers, resources.capacity), log_dirs)
    folded, request = (
        objectives.with_capacity_as_weight(each, brokers, resources.capacity)
        for each in (replace(folded, minimise=requests.minimised(request, sizes.mean_bytes)), request)
    )
    cost = None if sizes.unknown else requests.bytes_per_replica(folded.minimise)
    weights = objectives.weights_of(request, brokers, resources.capacity)
    shares = shares_of(sets, brokers, scope, loads.replicas, weights, before, _staying(domains, before))
    movement = MovementProblem(
        broker_ids=brokers.ids,
        rack_of=brokers.rack_of,
        target=np.logical_or.reduce([share.target for share in shares]),
        base=loads.base,
        domains=domains.domains,
        domain_of=domains.domain_of,
        current=current,
        is_copied=is_copied,
        must_keep=np.full(len(before), NO_REPLICA, np.int32),
        weight=np.ones(len(before), np.int64) if cost is None else sizes.copied_bytes + cost,
        share=None if request.leaders_only else weights,
        floor_cap=_floor_cap(shares),
        in_sync=scopes.kept_first(brokers, scope, before, is_ready, current, is_copied),
    )
    movement = scopes.with_source_kept(movement, is_ready, before)
    movement = replace(movement, must_keep=scopes.leaders_to_keep(brokers, scope, movement, before, domains.pins))
    ties = TieBreaks(sizes.size_bytes, sizes.others.per_broker(sizes.of_others), scope.topic_of)
    topics = _topics(request, scope, request.topic_tolerance)
    return problems.ReassignmentProblem(
        brokers=brokers,
        scope=scope,
        sizes=sizes,
        sets=sets,
        movement=movement,
        parts=parts_of(shares, movement, ties, topics),
        before=before,
        is_ready=is_ready,
        is_new=scope.is_new,
        topic_of=scope.topic_of,
        size_bytes=sizes.size_bytes,
        is_removed=brokers.is_removed,
        is_offline=brokers.is_offline,
        may_receive=brokers.may_receive,
        successor_of=brokers.successor_of,
        topics=topics,
        topic_leaders=_topics(request, scope, request.topic_leaders_tolerance),
        weights=weights,
        counts_bytes=cost == 0,
        in_rack=frozenset(request.placement),
        bytes_per_replica=cost,
        pins=domains.pins,
        replicas=loads.replicas,
        leaders=loads.leaders,
        resources=resources,
        limits=limits,
        objective=objectives.objective_of(
            request, scope, loads, resources, movement.factors, is_weighted=weights is not None
        ),
        known_sets=_known_sets(request, brokers, scope, before),
        sets_of_width=_sets_of_width(request, brokers, shares, movement.factors),
        prices=request.prices,
        batches=_batch_rules(
            *(request, brokers, scope, loads, before, _disk_limits(request, resources, limits), version),
            completion_rule(version, cluster.reported_controller),
        ),
        disk_path=DISK_SHARE if request.batches.max_disk_share is not None else ("limits", "disk"),
        log_dirs=log_dirs,
        directories=cluster.log_dirs,
        max_moved_bytes=request.max_moved_bytes,
        has_trade_off=request.trade_off,
        repaired=None if request.leaders_only or not brokers.racks else requests.repaired_topics(request),
        leaders_only=request.leaders_only,
        relaxes=request.on_conflict == "relax",
        relaxed=domains.relaxed,
        constraints=tuple(_constraints(request, brokers, domains)),
        started_s=started,
        remaining_s=without_deadline
        if request.deadline_s is None
        else partial(_remaining, started + request.deadline_s),
        reads=group_reads(cluster.groups, scope, resources.racks),
        subscriptions=subscriptions_of(cluster, version),
        version=version,
        canonical=requests.canonical_fields(folded, brokers.requested),
        options=lambda: problems.options_of(stated, brokers, lift_of_racks=TO_DISABLED),
        without=lambda dropped: resolve(problems.without(stated, dropped), cluster, allowance, version),
    )


def _known_sets(
    request: requests.ReassignmentRequest, brokers: BrokerTable, scope: scopes.PartitionScope, before: Int32s
) -> KnownSets | None:
    """The replica sets of all topics, with successors in place of the brokers that they replace; None if sets do not
    count.
    """
    if request.copysets != "no_new":
        return None
    others = [positions_of(topic.destination.replicas, brokers.ids) for topic in scope.others]
    return KnownSets.of(np.append(brokers.successor_of, [-1, -1])[stacked([before, *others])], len(brokers.ids))


def _sets_of_width(
    request: requests.ReassignmentRequest, brokers: BrokerTable, shares: Sequence[Share], factors: Int64s
) -> Sequence[Mapping[int, Int32s]] | None:
    """By part and replication factor, the sets of the brokers that may receive; None if no scatter width is requested.

    Raises `CopysetsImpossible`.
    """
    if not isinstance(request.copysets, SetsOfWidth):
        return None
    width, path, of_parts = request.copysets.scatter_width, ("copysets", "scatter_width"), list[Mapping[int, Int32s]]()
    for share in shares:
        at = np.flatnonzero(share.brokers & brokers.may_receive).astype(np.int32)
        receiving = [brokers.known[broker] if brokers.racks else Broker(int(brokers.ids[broker])) for broker in at]
        sets, needed = dict[int, Int32s](), np.unique(factors[share.rows]).tolist()
        for factor in needed:
            if factor > len(at):
                detail = f"sets of {factor} brokers need as many that may receive replicas, and {len(at)} may"
                raise CopysetsImpossible(detail, path=path, value=width, maximum=len(at))
            try:
                rounds = rounds_of_width(receiving, factor, width).rounds
            except CopysetsImpossible as impossible:
                raise CopysetsImpossible(
                    impossible.detail, path=path, **impossible.context | {"value": width}
                ) from None
            sets[factor] = at[np.concatenate(rounds)]
        of_parts.append(sets)
    return of_parts


def _remaining(deadline_s: float) -> float:
    """The seconds until a deadline of the monotonic clock."""
    return deadline_s - monotonic()


def _eligible(
    request: requests.ReassignmentRequest, cluster: Cluster, allowance: Allowance, dropped: Sequence[problems.Option]
) -> tuple[BrokerTable, scopes.PartitionScope, BrokerSets, Domains, Int32s, Int32s, Bools]:
    """The rows of a request without some options. Raises as `brokers_of`, `scope_of` and `domains_of`."""
    request = _changes(problems.without(request, dropped), cluster)
    brokers = brokers_of(request, cluster)
    if any(option.name == problems.OFFLINE for option in dropped):
        brokers = replace(brokers, is_offline=np.zeros_like(brokers.is_offline))
    scope = scopes.scope_of(request, cluster, allowance)
    before = positions_of(scope.before, brokers.ids)
    current, is_copied = _current_brokers(brokers, before)
    sets = broker_sets_of(request, brokers, scope)
    return brokers, scope, sets, domains_of(request, brokers, sets, scope, current), before, current, is_copied


def _changes(request: requests.ReassignmentRequest, cluster: Cluster) -> requests.ReassignmentRequest:
    """The request with its removed racks as brokers; without racks if no replica moves."""
    request = with_removed_racks(request, cluster)
    return replace(request, rack_mode=RackMode.DISABLED) if request.leaders_only else request


def _with_log_dirs(request: requests.ReassignmentRequest) -> requests.ReassignmentRequest:
    """Limits of directories are reached by choosing directories."""
    if request.limits.log_dirs is None or request.log_dirs is not None:
        return request
    return replace(request, log_dirs=LogDirsRequest())


def _with_directories(request: requests.ReassignmentRequest, limits: Limits, log_dirs: StatedLogDirs | None) -> Limits:
    """The limits; with the objective `relieve` also a soft one on a broker: the sum of its directories' limits.

    Moves within the broker alone do not bring all of them below theirs if it has more. Whether they are is decided by
    choosing directories.
    """
    if request.objective != "relieve" or request.limits.log_dirs is None or log_dirs is None:
        return limits
    upper, is_soft, column = limits.upper.copy(), limits.is_soft.copy(), RESOURCES.index("disk")
    together, is_unlimited = log_dirs.limit_of_brokers(), upper[:, column] >= NO_BOUND
    is_soft[column] |= is_unlimited.all()
    upper[:, column] = np.where(together < NO_BOUND, np.minimum(upper[:, column], together), upper[:, column])
    return Limits(upper, is_soft)


def _topics(
    request: requests.ReassignmentRequest, scope: scopes.PartitionScope, tolerance: Fraction | None
) -> TopicBalance | None:
    """The balance of each topic of the scope, if there is one; those that the request does not name have no band."""
    per_topic = request.balance.per_topic
    if per_topic is None or tolerance is None or not scope.topics:
        return None
    named = frozenset(scope.topics if per_topic.topics is None else per_topic.topics)
    bands = tuple(tolerance if name in named else None for name in scope.topics)
    return TopicBalance(scope.topic_of, len(scope.topics), bands)


def _current_brokers(brokers: BrokerTable, before: Int32s) -> tuple[Int32s, Bools]:
    """Current brokers with successors in place of those that they replace, and which of them are such successors.

    A successor that has a replica of the partition already gets no second one: the replaced one's is removed.
    """
    current, is_copied = before.copy(), np.zeros(before.shape, np.bool_)
    for old in np.flatnonzero(brokers.is_replaced).tolist():
        new = brokers.successor_of[old]
        is_old = current == old
        is_double = (current == new).any(axis=1)[:, None]
        current[is_old] = new
        is_copied |= is_old & ~is_double
        current[is_old & is_double] = NO_REPLICA
    if not brokers.is_replaced.any():
        return current, is_copied
    order = np.argsort(current == NO_REPLICA, axis=1, kind="stable")
    return np.take_along_axis(current, order, axis=1), np.take_along_axis(is_copied, order, axis=1)


def _floor_cap(shares: Sequence[Share]) -> Int64s | None:
    """Of the whole problem: a broker has a cap in the part of its set alone."""
    caps = [share.floor_cap for share in shares if share.floor_cap is not None]
    return np.maximum.reduce(caps) if caps else None


def _staying(domains: Domains, before: Int32s) -> Int32s:
    """(rows, widest) int32 current brokers that may keep their replica, `NO_REPLICA` for the others."""
    may_keep = np.array([[*domain.may_keep, False] for domain in domains.domains], np.bool_)
    if not len(may_keep):
        return before
    return np.where(may_keep[domains.domain_of[:, None], before], before, np.int32(NO_REPLICA))


def _batch_rules(
    request: requests.ReassignmentRequest,
    brokers: BrokerTable,
    scope: scopes.PartitionScope,
    loads: PartitionLoads,
    before: Int32s,
    disk_limits: Int64s | None,
    version: KafkaVersion,
    rule: CompletionRule,
) -> BatchRules:
    """Raises `ConflictingFields`, `SizesMissing` if disks are limited and they or their contents are unknown."""
    rules, sizes, cordons = request.batches, loads.sizes, _cordons(brokers, version)
    return BatchRules(
        limits=BatchLimits(
            max_moves_in_per_broker=rules.max_moves_in_per_broker,
            max_moves_out_per_broker=rules.max_moves_out_per_broker,
            max_bytes_in_per_broker=rules.max_bytes_in_per_broker,
            max_partitions=rules.max_partitions,
            throttle_bytes_per_s=rules.throttle_bytes_per_s,
            record_batch_bytes=rules.record_batch_bytes,
            hottest=Hottest(rules.hottest),
        ),
        heat=loads.heat,
        size_bytes=np.where(sizes.is_known, sizes.copied_bytes, UNKNOWN_SIZE),
        disks=None if disk_limits is None else _disks(disk_limits, sizes, before),
        cordons=cordons,
        is_barred=_barred(brokers, cordons, version),
        rack_of=brokers.rack_of if brokers.racks else None,
        completion=CompletionRules(
            in_sync=_by_row(brokers, scope, [np.column_stack([topic.leaders, topic.isr]) for topic in scope.described]),
            leaving=_by_row(brokers, scope, [topic.removing for topic in scope.described]),
            is_live=~brokers.is_offline,
            rule=rule,
        ),
        leaders=_known(positions_of(scope.leaders, brokers.ids), brokers),
    )


def _by_row(brokers: BrokerTable, scope: scopes.PartitionScope, of_topics: Sequence[Int32s]) -> Int32s:
    """(rows, widest) int32 positions of lists of broker ids by topic of the scope; padding for new partitions."""
    return _known(positions_of(scopes.on_rows(of_topics, ~scope.is_new, len(scope.is_new)), brokers.ids), brokers)


def _known(positions: Int32s, brokers: BrokerTable) -> Int32s:
    """The positions, padding in place of brokers that the table does not have."""
    return np.where(positions == len(brokers.ids), np.int32(NO_REPLICA), positions)


def _barred(brokers: BrokerTable, cordons: Cordons, version: KafkaVersion) -> Bools | None:
    """(brokers,) bool, brokers that no list between may have: Kafka rejects cordoned ones, and before 4.3 does not
    complete lists with brokers that are down; or None.
    """
    is_barred = brokers.mask(cordons.during if cordons.rejects_lists else ())
    if version < TOLERATES_KEPT_SINCE:
        is_barred |= brokers.is_offline
    return is_barred if is_barred.any() else None


def _cordons(brokers: BrokerTable, version: KafkaVersion) -> Cordons:
    """The cordons that a cluster of this release enforces: removed brokers are cordoned before anything moves.

    A broker that is down is fenced, and cannot cordon its log directories.
    """
    if version < CORDONS_SINCE:
        return Cordons(rejects_lists=False)
    cordoned = frozenset(brokers.ids[brokers.is_cordoned].tolist())
    draining = cordoned.union(brokers.ids[brokers.is_removed & ~brokers.is_offline].tolist())
    return Cordons(cordoned, draining, draining, rejects_lists=version >= LISTS_CHECKED_SINCE)


def _disk_limits(request: requests.ReassignmentRequest, resources: Resources, limits: Limits) -> Int64s | None:
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


def _disks(limits: Int64s, sizes: PartitionSizes, before: Int32s) -> BrokerDisks:
    """Used and available bytes of every broker. Raises `SizesMissing`."""
    sizes.require("max_disk_share", DISK_SHARE)
    used = sizes.others.per_broker(sizes.of_others)
    used += per_broker(before, len(used), sizes.size_bytes)
    return BrokerDisks(used, limits)


def _constraints(request: requests.ReassignmentRequest, brokers: BrokerTable, domains: Domains) -> list[str]:
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
