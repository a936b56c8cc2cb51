"""Weights of partitions: bytes, rates and counts by row, and the objectives that are balanced by them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import UNKNOWN_SIZE, Cluster, Int64s, Topic
from app.core.reassignment.problem import LeaderObjective, PreferredRacks, ReplicaObjective, TopicMinimums
from app.core.replica_lists import per_broker
from app.errors.every import FieldPath, RatesMissing, SizesMissing
from app.services.amounts import partition_rates
from app.services.cautions import Caution, caution
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import EVERY, LeadersBy, ReplicasBy, ResourceFields, topic_factors
from app.services.reassignment.requests.request import ReassignmentRequest, balance_of


def preferred_racks_of(
    request: ReassignmentRequest, brokers: BrokerTable, scope: PartitionScope
) -> PreferredRacks | None:
    """The preferred racks by row; None if the request has none."""
    if not request.preferred_racks:
        return None
    lists = tuple(dict.fromkeys(tuple(racks) for racks in request.preferred_racks.values()))
    default = request.preferred_racks.get(EVERY)
    of_topic = [request.preferred_racks.get(name, default) for name in scope.topics]
    index = np.array([-1 if racks is None else lists.index(tuple(racks)) for racks in of_topic], np.int32)
    rank = [[_place(racks, broker.rack) for broker in brokers.known] for racks in lists]
    lengths = np.array([len(racks) for racks in lists], np.int64)
    return PreferredRacks(np.array(rank, np.int32), lengths, index[scope.topic_of])


def _place(racks: Sequence[str], rack: str | None) -> int:
    return racks.index(rack) if rack in racks else len(racks)


def spread_of(request: ReassignmentRequest, scope: PartitionScope) -> Int64s | None:
    """(rows,) int64 index of each partition's topic in `spread_leaders` by name, −1 of others; None without any."""
    if not request.spread_leaders:
        return None
    index_of = {name: index for index, name in enumerate(sorted(request.spread_leaders))}
    return np.array([index_of.get(name, -1) for name in scope.topics], np.int64)[scope.topic_of]


def topic_minimums_of(
    minimums: Mapping[str, int], brokers: BrokerTable, scope: PartitionScope, may_lead: Bools
) -> TopicMinimums | None:
    """The minimums by row; None without any. They hold on brokers that stay, are up and may lead."""
    if not minimums:
        return None
    topics = tuple(sorted(minimums))
    index_of = {name: index for index, name in enumerate(topics)}
    index = np.array([index_of.get(name, -1) for name in scope.topics], np.int32)
    return TopicMinimums(
        np.array([minimums[name] for name in topics], np.int64),
        may_lead & ~brokers.is_removed & ~brokers.is_offline,
        index[scope.topic_of],
    )


_RATES: FieldPath = ("ingress_bytes_per_s",)
RowLoads: TypeAlias = tuple[Int64s, Mapping[str, Int64s] | None]


@dataclass(frozen=True, slots=True, eq=False)
class PartitionSizes:
    """The sizes of a scope's partitions.

    Parameters
    ----------
    size_bytes, copied_bytes : (rows,) int64 of a replica on its disk, and of these those that a new one copies; 0 if
        unknown.
    is_known : (rows,) bool, reported, or estimated on request.
    of_others : the same by topic outside the scope.
    """

    size_bytes: Int64s = field(repr=False)
    copied_bytes: Int64s = field(repr=False)
    is_known: Bools = field(repr=False)
    of_others: Mapping[str, Int64s] = field(repr=False)
    cautions: tuple[Caution, ...] = ()

    @property
    def unknown(self) -> int:
        """The number of partitions of the scope whose size is unknown."""
        return int(np.count_nonzero(~self.is_known))

    @property
    def mean_bytes(self) -> int | None:
        """Mean bytes that a new replica copies, rounded; None if any size is unknown."""
        return None if self.unknown else round(int(self.copied_bytes.sum()) / max(1, len(self.size_bytes)))

    def require(self, what: str, path: FieldPath) -> None:
        """Raise `SizesMissing` if a size is unknown; `what` needs them all."""
        if self.unknown:
            raise SizesMissing(
                f'{what} needs the bytes of every partition; those of {self.unknown} are unknown; `"unknown_sizes": '
                '"estimate"` estimates them',
                path=path,
                partitions=self.unknown,
            )


@dataclass(frozen=True, slots=True, eq=False)
class IngressRates:
    """Bytes per second into partitions, as the request reports them.

    Parameters
    ----------
    of_rows : (rows,) int64, 0 of topics without a reported rate.
    reported : as the request has them, by topic: of the whole, or of each partition.
    """

    of_rows: Int64s = field(repr=False)
    reported: Mapping[str, float | Sequence[float]] = field(repr=False)

    def require(self, scope: PartitionScope) -> tuple[Int64s, Mapping[str, Int64s]]:
        """(rows,) int64 rates, and those outside the scope by topic. Raises `RatesMissing`, `ConflictingFields`."""
        for name in scope.topics:
            if name not in self.reported:
                detail = f"a balance by ingress needs the rates of all topics; ingress_bytes_per_s lacks topic {name}"
                raise RatesMissing(detail, path=("ingress_bytes_per_s",), topic=name)
        return self.of_rows, self.of_others(scope.others)

    def of_others(self, others: Iterable[Topic]) -> Mapping[str, Int64s]:
        """By name of those topics that have a reported rate, (partitions,) int64. Raises `ConflictingFields`."""
        return {
            topic.name: np.rint(
                partition_rates(topic.name, self.reported[topic.name], len(topic.partition_ids), path=_RATES)
            ).astype(np.int64)
            for topic in others
            if topic.name in self.reported
        }


@dataclass(frozen=True, slots=True, eq=False)
class PartitionLoads:
    """All loads of a problem.

    Parameters
    ----------
    rates : None if none is reported.
    heat : (rows,) int64 ingress rate of a partition, or its bytes if no rate is reported.
    base : (brokers,) int64 replicas outside the scope.
    """

    sizes: PartitionSizes
    rates: IngressRates | None
    heat: Int64s = field(repr=False)
    base: Int64s = field(repr=False)
    replicas: ReplicaObjective
    leaders: LeaderObjective


def loads_of(request: ReassignmentRequest, brokers: BrokerTable, scope: PartitionScope) -> PartitionLoads:
    """Sizes, rates and the loads that the request balances.

    Raises
    ------
    SizesMissing, RatesMissing : an objective or the budget needs unreported values.
    ConflictingFields : a topic has another number of partitions than rates.
    """
    sizes = sizes_of(request, scope)
    if request.max_moved_bytes is not None:
        sizes.require("max_moved_bytes", ("max_moved_bytes",))
    rates = _rates_of(request, scope)
    return PartitionLoads(
        sizes=sizes,
        rates=rates,
        heat=sizes.size_bytes if rates is None else rates.of_rows,
        base=replicas_of_others(brokers, scope.others, None),
        replicas=_replica_objective(request, brokers, scope, sizes, rates),
        leaders=_leader_objective(request, brokers, scope, rates),
    )


def sizes_of(request: ReassignmentRequest, scope: PartitionScope) -> PartitionSizes:
    """Sizes as reported; with `estimate`, an unknown one is the mean of its topic, or of all topics."""
    sizes = scope.size_bytes.copy()
    others = {topic.name: topic.size_bytes.copy() for topic in scope.others}
    by_topic = [sizes[start:stop] for start, stop in pairwise(scope.starts.tolist())]
    missing = int(np.count_nonzero(sizes == UNKNOWN_SIZE))
    cautions = []
    if request.unknown_sizes == "estimate" and _estimate([*by_topic, *others.values()]) and missing:
        cautions.append(caution("estimated_sizes", missing=missing))
    elif missing:
        name = "unknown_sizes.replicas" if request.minimise == "replicas" else "unknown_sizes"
        cautions.append(caution(name, missing=missing, partitions=len(sizes)))
    is_known = sizes != UNKNOWN_SIZE
    stored = np.where(is_known, sizes, 0)
    most = np.array([topic.most_copied_bytes for topic in scope.described], np.int64)
    return PartitionSizes(
        stored,
        np.minimum(stored, np.repeat(most, np.diff(scope.starts))),
        is_known,
        {name: np.maximum(reported, 0) for name, reported in others.items()},
        tuple(cautions),
    )


def _estimate(topics: Sequence[Int64s]) -> bool:
    """Fill in unknown sizes in place; False if no size at all is known."""
    known = [sizes[sizes != UNKNOWN_SIZE] for sizes in topics]
    everything = np.concatenate([np.zeros(0, np.int64), *known])
    if not len(everything):
        return False
    overall = round(float(everything.mean()))
    for sizes, reported in zip(topics, known, strict=True):
        sizes[sizes == UNKNOWN_SIZE] = round(float(reported.mean())) if len(reported) else overall
    return True


def with_recorded_rates(request: ReassignmentRequest, cluster: Cluster) -> ReassignmentRequest:
    """The request with the rates of the snapshot, if it states none and the snapshot has some.

    Partitions of unknown rate, and partitions to be created, have none.

    Raises
    ------
    RatesMissing : an objective needs rates, and neither has any.
    """
    if request.ingress_bytes_per_s is not None:
        return request
    recorded = {
        topic.name: [
            *np.nan_to_num(topic.ingress_bytes_per_s).tolist(),
            *[0.0] * (request.partitions.get(topic.name, 0) - len(topic.partition_ids)),
        ]
        for topic in cluster.topics
        if topic.ingress_bytes_per_s is not None
    }
    if recorded:
        return replace(request, ingress_bytes_per_s=recorded)
    for name, value in (("replicas_by", "throughput"), ("leaders_by", "ingress")):
        if getattr(request.balance, name) == value:
            detail = f"balance.{name} is {value}, and neither ingress_bytes_per_s nor the snapshot has rates"
            raise RatesMissing(detail, path=("balance", name), value=value)
    return request


def _rates_of(request: ReassignmentRequest, scope: PartitionScope) -> IngressRates | None:
    """The reported rates by row; None if the request reports none.

    Raises `ConflictingFields` if a topic has another number of partitions than rates.
    """
    reported = request.ingress_bytes_per_s
    if reported is None:
        return None
    rates = np.zeros(len(scope.partition_ids), np.float64)
    for name, (start, stop) in zip(scope.topics, pairwise(scope.starts.tolist()), strict=True):
        if name in reported:
            rates[start:stop] = partition_rates(name, reported[name], stop - start, path=_RATES)
    return IngressRates(np.rint(rates).astype(np.int64), reported)


def _replica_objective(
    request: ReassignmentRequest,
    brokers: BrokerTable,
    scope: PartitionScope,
    sizes: PartitionSizes,
    rates: IngressRates | None,
) -> ReplicaObjective:
    """The load of each row that `balance.replicas_by` names. Raises `SizesMissing`, `RatesMissing`."""
    by: ReplicasBy = "count" if request.leaders_only else request.balance.replicas_by
    load, of_others = _REPLICA_LOADS[by](scope, sizes, rates)
    if by != "count":
        load, of_others = grown_rows(request, scope.topics, scope.topic_of, load), grown_topics(request, of_others)
    return ReplicaObjective(by, request.replicas_balance, load, replicas_of_others(brokers, scope.others, of_others))


def _leader_objective(
    request: ReassignmentRequest, brokers: BrokerTable, scope: PartitionScope, rates: IngressRates | None
) -> LeaderObjective:
    """The load of leading each row that `balance.leaders_by` names. Raises `RatesMissing`."""
    load, of_others = _LEADER_LOADS[request.balance.leaders_by](scope, rates)
    if request.balance.leaders_by != "count":
        load, of_others = grown_rows(request, scope.topics, scope.topic_of, load), grown_topics(request, of_others)
    evacuated = request.evacuate_leaders
    may_lead = ~(brokers.mask(evacuated.brokers) | brokers.in_racks(evacuated.racks))
    is_constrained = bool(request.preferred_racks or request.min_leaders_per_broker)
    if request.leaders_balance.tolerance is not None or is_constrained:
        # If leaders stay as they are, fenced and offline ones stay too, since they come back.
        may_lead &= ~brokers.is_offline
    return LeaderObjective(
        by=request.balance.leaders_by,
        balance=request.leaders_balance,
        load=load,
        base_load=replicas_of_others(brokers, scope.others, of_others, first=1),
        frees_moved=balance_of(request).leaders == "moved",
        moves_replicas=request.balance.leaders_move_replicas,
        fewest_changes=request.minimise == "leader_changes",
        may_lead=may_lead,
        evacuates=bool(evacuated.brokers or evacuated.racks),
        counts_actual=request.balance.leaders == "preferred",
        preferred=preferred_racks_of(request, brokers, scope),
        minimums=topic_minimums_of(request.min_leaders_per_broker, brokers, scope, may_lead),
        spread=spread_of(request, scope),
    )


def _counts(scope: PartitionScope) -> RowLoads:
    return np.ones(len(scope.partition_ids), np.int64), None


def _bytes(sizes: PartitionSizes) -> RowLoads:
    sizes.require("balance by bytes", ("balance", "replicas_by"))
    return sizes.size_bytes, sizes.of_others


def _ingress(scope: PartitionScope, rates: IngressRates | None) -> RowLoads:
    if rates is None:
        raise RuntimeError("a request without rates is rejected when it is resolved")
    return rates.require(scope)


_REPLICA_LOADS: Mapping[ReplicasBy, Callable[[PartitionScope, PartitionSizes, IngressRates | None], RowLoads]] = {
    "count": lambda scope, _sizes, _rates: _counts(scope),
    "bytes": lambda _scope, sizes, _rates: _bytes(sizes),
    "throughput": lambda scope, _sizes, rates: _ingress(scope, rates),
}
"""By objective, the load of each row of the scope, and of other topics by name and partition; None is 1 a replica."""
_LEADER_LOADS: Mapping[LeadersBy, Callable[[PartitionScope, IngressRates | None], RowLoads]] = {
    "count": lambda scope, _rates: _counts(scope),
    "ingress": _ingress,
}
"""The same of leading a partition."""


def replicas_of_others(
    brokers: BrokerTable, others: Iterable[Topic], load: Mapping[str, Int64s] | None, *, first: int | None = None
) -> Int64s:
    """(brokers,) int64 load of replicas outside the scope: 1 each if `load` is None, else by topic and partition.

    Parameters
    ----------
    first : how many replicas of each list count; 1 for preferred leaders, None for all.
    """
    totals = np.zeros(len(brokers.ids), np.int64)
    for topic in others:
        if load is None or topic.name in load:
            positions = positions_of(np.ascontiguousarray(topic.replicas[:, :first]), brokers.ids)
            totals += per_broker(positions, len(totals), None if load is None else load[topic.name])
    return totals


def grown_rows(request: ResourceFields, topics: Sequence[str], topic_of: Int64s, amounts: Int64s) -> Int64s:
    """(rows,) int64 amounts, each multiplied by the growth of its topic.

    Parameters
    ----------
    topic_of : (rows,) int64 indices into `topics`.
    """
    if not request.growth:
        return amounts
    factors = np.array(topic_factors(request.growth, topics, 1.0), np.float64)
    return np.rint(amounts * factors[topic_of]).astype(np.int64)


def grown_topics(request: ResourceFields, amounts: Mapping[str, Int64s] | None) -> Mapping[str, Int64s] | None:
    """By topic the (partitions,) int64 amounts, multiplied by its growth; None if there are none."""
    if amounts is None or not request.growth:
        return amounts
    factors = topic_factors(request.growth, list(amounts), 1.0)
    return {
        name: np.rint(each * factor).astype(np.int64)
        for (name, each), factor in zip(amounts.items(), factors, strict=True)
    }
