"""Weights of partitions: bytes, rates and counts by row, and the objectives that are balanced by them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import UNKNOWN_SIZE, Cluster, Int32s, Int64s, Topic
from app.core.reassignment.problem import LeaderObjective, PreferredRacks, ReplicaObjective, TopicMinimums
from app.core.replica_lists import per_broker, stacked
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


@dataclass(frozen=True, slots=True, eq=False)
class OtherTopics:
    """The topics outside a scope: their partitions, below one another.

    Parameters
    ----------
    topic_of : (rows,) int64 indices into `names`. replicas : (rows, widest) int32 positions of brokers.
    """

    names: tuple[str, ...]
    topic_of: Int64s = field(repr=False)
    replicas: Int32s = field(repr=False)
    brokers: int

    @classmethod
    def of(cls, brokers: BrokerTable, topics: Sequence[Topic]) -> "OtherTopics":
        """The partitions of these topics."""
        positions = positions_of(stacked([topic.replicas for topic in topics]), brokers.ids)
        topic_of = np.repeat(np.arange(len(topics)), [len(topic.partition_ids) for topic in topics])
        return cls(tuple(topic.name for topic in topics), topic_of, positions, len(brokers.ids))

    def per_broker(self, load: Int64s | None = None, *, first: int | None = None) -> Int64s:
        """(brokers,) int64 loads of their replicas.

        Parameters
        ----------
        load : (rows,) int64 of a replica; None for 1. first : how many replicas of each list count; 1 for leaders.
        """
        return per_broker(self.replicas[:, :first], self.brokers, load)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionSizes:
    """The sizes of a scope's partitions.

    Parameters
    ----------
    size_bytes, copied_bytes : (rows,) int64 of a replica on its disk, and of these those that a new one copies; 0 if
        unknown.
    is_known : (rows,) bool, reported, or estimated on request.
    others, of_others : the topics outside the scope, and (rows of these,) int64 bytes of a replica, 0 if unknown.
    """

    size_bytes: Int64s = field(repr=False)
    copied_bytes: Int64s = field(repr=False)
    is_known: Bools = field(repr=False)
    others: OtherTopics
    of_others: Int64s = field(repr=False)
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
    of_rows, of_others : (rows,) int64 of the scope and outside it, 0 of topics without a reported rate.
    reported : as the request has them, by topic: of the whole, or of each partition.
    """

    of_rows: Int64s = field(repr=False)
    of_others: Int64s = field(repr=False)
    reported: Mapping[str, float | Sequence[float]] = field(repr=False)

    def require(self, scope: PartitionScope) -> None:
        """Raise `RatesMissing` if a topic of the scope has no rate."""
        for name in scope.topics:
            if name not in self.reported:
                detail = f"a balance by ingress needs the rates of all topics; ingress_bytes_per_s lacks topic {name}"
                raise RatesMissing(detail, path=_RATES, topic=name)


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
    sizes = sizes_of(request, scope, OtherTopics.of(brokers, scope.others))
    if request.max_moved_bytes is not None:
        sizes.require("max_moved_bytes", ("max_moved_bytes",))
    rates = _rates_of(request, scope)
    return PartitionLoads(
        sizes=sizes,
        rates=rates,
        heat=sizes.size_bytes if rates is None else rates.of_rows,
        base=sizes.others.per_broker(),
        replicas=_replica_objective(request, scope, sizes, rates),
        leaders=_leader_objective(request, brokers, scope, sizes, rates),
    )


def sizes_of(request: ReassignmentRequest, scope: PartitionScope, others: OtherTopics) -> PartitionSizes:
    """Sizes as reported; with `estimate`, an unknown one is the mean of its topic, or of all topics."""
    sizes = scope.size_bytes.copy()
    of_others = np.concatenate([np.zeros(0, np.int64), *(topic.size_bytes for topic in scope.others)])
    ends = np.cumsum([len(topic.partition_ids) for topic in scope.others])
    by_topic = [*np.split(sizes, scope.starts[1:-1]), *np.split(of_others, ends[:-1])]
    missing = int(np.count_nonzero(sizes == UNKNOWN_SIZE))
    cautions = []
    if request.unknown_sizes == "estimate" and _estimate(by_topic) and missing:
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
        others,
        np.maximum(of_others, 0),
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
    counts = [*zip(scope.topics, np.diff(scope.starts).tolist(), strict=True)]
    counts += [(topic.name, len(topic.partition_ids)) for topic in scope.others]
    rates = [partition_rates(name, reported.get(name, 0.0), count, path=_RATES) for name, count in counts]
    every = np.rint(np.concatenate([np.zeros(0), *rates])).astype(np.int64)
    of_rows, of_others = np.split(every, scope.starts[-1:])
    return IngressRates(of_rows, of_others, reported)


def _replica_objective(
    request: ReassignmentRequest, scope: PartitionScope, sizes: PartitionSizes, rates: IngressRates | None
) -> ReplicaObjective:
    """The load of each row that `balance.replicas_by` names. Raises `SizesMissing`, `RatesMissing`."""
    by: ReplicasBy = "count" if request.leaders_only else request.balance.replicas_by
    load, of_others = _loads_by(by, request, scope, sizes, rates)
    return ReplicaObjective(by, request.replicas_balance, load, sizes.others.per_broker(of_others))


def _leader_objective(
    request: ReassignmentRequest,
    brokers: BrokerTable,
    scope: PartitionScope,
    sizes: PartitionSizes,
    rates: IngressRates | None,
) -> LeaderObjective:
    """The load of leading each row that `balance.leaders_by` names. Raises `RatesMissing`."""
    load, of_others = _loads_by(request.balance.leaders_by, request, scope, sizes, rates)
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
        base_load=sizes.others.per_broker(of_others, first=1),
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


def _loads_by(
    by: ReplicasBy | LeadersBy,
    request: ReassignmentRequest,
    scope: PartitionScope,
    sizes: PartitionSizes,
    rates: IngressRates | None,
) -> tuple[Int64s, Int64s | None]:
    """The load of a replica of each row of the scope, and of each row outside it, which is 1 each if it is None."""
    if by == "count":
        return np.ones(len(scope.partition_ids), np.int64), None
    if by == "bytes":
        sizes.require("balance by bytes", ("balance", "replicas_by"))
        of_rows, of_others = sizes.size_bytes, sizes.of_others
    elif rates is None:
        raise RuntimeError("a request without rates is rejected when it is resolved")
    else:
        rates.require(scope)
        of_rows, of_others = rates.of_rows, rates.of_others
    others = sizes.others
    return (
        grown_rows(request, scope.topics, scope.topic_of, of_rows),
        grown_rows(request, others.names, others.topic_of, of_others),
    )


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
