"""Loads of partitions on brokers: bytes, bytes/s in and out, and vCPU, of each row and of each broker.

The loads follow the capacity model (`core/capacity`), as integers: sizes and rates as reported, multiplied by the
growth of the request.

Groups of the snapshot read the partitions, from the racks of their members. A reassignment makes some groups rebalance:
since 4.1 the coordinator compares a hash of the subscribed topics, which covers the racks of replicas (KIP-1101):
groups of the consumer and of the streams protocol rebalance when these change. Before 4.1 the coordinator compares no
racks. A classic group is rebalanced by its own leader, if that has a rack (KIP-881), and is not among these.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import positions_of
from app.core.measures.traffic import read_traffic
from app.core.model import NO_RACK, NO_REPLICA, Bools, BrokerCapacity, Cluster, Float64s, Int32s, Int64s, Topic
from app.core.reassignment.batches.model import Batches, changes_racks, changes_racks_meanwhile
from app.core.reassignment.resource_problem import MILLION, NO_CAPACITY, RESOURCES, ResourceLoads, kafka_loads, loads_of
from app.core.recorded import RecordedGroup, TopicPartitions
from app.core.replica_lists import stacked, widened
from app.errors.every import UnknownBroker, UnknownTopic, suggestion
from app.services.bodies import AnswerRecord
from app.services.cautions import Caution, caution
from app.services.fields import min_isr_of
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.loads import IngressRates, PartitionLoads, grown_rows
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests import parts

NAMED_TOPICS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Partitions with their bytes and rates, topic after topic, grown as the request has it.

    Parameters
    ----------
    topic_of : (rows,) int64, ascending. size_bytes, ingress : (rows,) int64 of one replica, and of producers.
    fan_out : (topics,) float64, how many times each byte is read.
    """

    topic_of: Int64s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    ingress: Int64s = field(repr=False)
    fan_out: Float64s = field(repr=False)

    @property
    def reads(self) -> Int64s:
        """(rows,) int64 bytes/s of all consumers."""
        return np.rint(self.ingress * self.fan_out[self.topic_of]).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """Loads of a cluster's partitions on its brokers, with their model.

    Parameters
    ----------
    names : the resources of which the loads are known, in the order of `RESOURCES`.
    scope : the rows that may move. others : the rows outside the scope, which are on `other_replicas`, (rows, widest)
        int32 positions.
    capacity : (brokers, resources) int64. rack_of, racks : as in `BrokerTable`, of the brokers' own racks if those do
        not constrain the plan; without racks no client is in one.
    min_isr : (topics,) int32 `min.insync.replicas` of the scope's topics, then of the others; 0 if unknown.
    """

    names: tuple[parts.Resource, ...]
    scope: Traffic
    others: Traffic
    other_replicas: Int32s = field(repr=False)
    capacity: Int64s = field(repr=False)
    rack_of: Int32s = field(repr=False)
    racks: tuple[str, ...]
    cpu_model: parts.CpuModel
    follower_fetching: bool
    min_isr: Int32s = field(repr=False)
    cautions: tuple[Caution, ...] = ()

    def row_loads(self, factors: Int64s) -> ResourceLoads:
        """The loads of the scope's rows with (rows,) int64 replication factors; the base covers all other rows."""
        nothing = np.zeros_like(self.capacity)
        elsewhere = self._loads(self.others, _factors(self.other_replicas), nothing)
        base = loads_of(elsewhere, self.rack_of, self.other_replicas, self.other_replicas[:, 0])
        return self._loads(self.scope, factors, base)

    def broker_loads(self, replicas: Int32s) -> Int64s:
        """(brokers, resources) int64 load of every broker, with (rows, widest) int32 positions, leaders first."""
        loads: Int64s = loads_of(self.row_loads(_factors(replicas)), self.rack_of, replicas, replicas[:, 0])
        return loads

    def rows(self, replicas: Int32s) -> tuple[Int32s, Traffic]:
        """All rows of the cluster: the scope's on (rows, widest) int32 positions, then the others."""
        scope, others = self.scope, self.others
        width = max(replicas.shape[1], self.other_replicas.shape[1])
        return np.concatenate([widened(replicas, width), widened(self.other_replicas, width)]), Traffic(
            topic_of=np.concatenate([scope.topic_of, others.topic_of + len(scope.fan_out)]),
            size_bytes=np.concatenate([scope.size_bytes, others.size_bytes]),
            ingress=np.concatenate([scope.ingress, others.ingress]),
            fan_out=np.concatenate([scope.fan_out, others.fan_out]),
        )

    def _loads(self, traffic: Traffic, factors: Int64s, base: Int64s) -> ResourceLoads:
        model, racks = self.cpu_model, len(self.racks)
        share = np.zeros(int(self.rack_of.max(initial=-1)) + 1, np.int64)
        share[:racks] = MILLION // max(racks, 1)
        return kafka_loads(
            ingress=traffic.ingress,
            reads=traffic.reads,
            retained=traffic.size_bytes,
            factors=factors,
            base=base,
            capacity=self.capacity,
            cpu=(model.per_byte_in, model.per_byte_out, model.per_partition),
            client_share=share if self.follower_fetching and racks else None,
        )


def resources_of(
    request: parts.ResourceFields, brokers: BrokerTable, scope: PartitionScope, loads: PartitionLoads
) -> Resources:
    """Read capacities and traffic of a request against a cluster.

    Raises `UnknownTopic`, `UnknownBroker`, and `ConflictingFields` if a topic has another number of partitions than
    rates.
    """
    sizes, rates, others = loads.sizes, loads.rates, loads.sizes.others
    names = [*scope.topics, *others.names]
    _require_topics(request, names)
    capacity = capacities_of(request.capacity, brokers)
    rack_of, racks = _racks_of(brokers)
    of_rows, of_others = (None, None) if rates is None else (rates.of_rows, rates.of_others)
    min_isr = min_isr_of((*scope.described, *scope.others))
    return Resources(
        names=_known(request, loads, has_vcpu=bool(capacity[:, _CPU].any())),
        scope=_traffic(request, scope.topics, scope.topic_of, sizes.size_bytes, of_rows),
        others=_traffic(request, others.names, others.topic_of, sizes.of_others, of_others),
        other_replicas=_positions(scope.others, brokers),
        capacity=capacity,
        rack_of=rack_of,
        racks=racks,
        cpu_model=request.cpu_model or parts.CpuModel(),
        follower_fetching=request.follower_fetching,
        min_isr=np.array([min_isr.get(name, 0) for name in names], np.int32),
        cautions=tuple(_cautions(request, names, rates, racks)),
    )


_CPU = RESOURCES.index("cpu")
CAPACITY_FIELDS = ("disk_bytes", "nic_in_bytes_per_s", "nic_out_bytes_per_s", "vcpu")
"""By resource in the order of `RESOURCES`: the field of a broker's capacity."""


_UNITS = (1, 1, 1, MILLION)


def capacities_of(stated: Mapping[str, parts.CapacityRequest], brokers: BrokerTable) -> Int64s:
    """(brokers, resources) int64 capacity, or `NO_CAPACITY`: of the broker's id, else of `*`, else the snapshot's.

    Raises `UnknownBroker`.
    """
    known = {str(broker.id) for broker in brokers.known}
    for name in stated:
        if name != parts.EVERY and name not in known:
            detail = f"there is no broker {name} in the snapshot, nor is one added"
            raise UnknownBroker(detail, path=("capacity", name), value=int(name))
    capacity = np.full((len(brokers.known), len(RESOURCES)), NO_CAPACITY, np.int64)
    for place, broker in enumerate(brokers.known):
        capacity[place] = capacity_of(stated.get(str(broker.id)), stated.get(parts.EVERY), broker.capacity)
    return capacity


def capacity_of(*sources: parts.CapacityRequest | BrokerCapacity | None) -> Int64s:
    """(resources,) int64 capacity of a broker, or `NO_CAPACITY`: of the first source that has each."""
    capacity = np.full(len(RESOURCES), NO_CAPACITY, np.int64)
    for column, (name, unit) in enumerate(zip(CAPACITY_FIELDS, _UNITS, strict=True)):
        values = (getattr(source, name, None) for source in sources)
        capacity[column] = round(unit * next((value for value in values if value is not None), NO_CAPACITY))
    return capacity


def _factors(replicas: Int32s) -> Int64s:
    return np.asarray(np.count_nonzero(replicas != NO_REPLICA, axis=1), np.int64)


def _known(request: parts.ResourceFields, loads: PartitionLoads, *, has_vcpu: bool) -> tuple[parts.Resource, ...]:
    """The resources with a known load; the processor's only if the request or a capacity is about it."""
    names: list[parts.Resource] = []
    if loads.sizes.is_known.any() or not len(loads.sizes.is_known):
        names.append("disk")
    if loads.rates is not None:
        names += ["nic_in", "nic_out"]
        if has_vcpu or request.cpu_model is not None:
            names.append("cpu")
    return tuple(names)


def _traffic(
    request: parts.ResourceFields, topics: Sequence[str], topic_of: Int64s, size_bytes: Int64s, ingress: Int64s | None
) -> Traffic:
    rates = np.zeros(len(topic_of), np.int64) if ingress is None else ingress
    size_bytes, rates = (grown_rows(request, topics, topic_of, amounts) for amounts in (size_bytes, rates))
    return Traffic(
        topic_of, size_bytes, rates, np.array(parts.topic_factors(request.consumers, topics, 0.0), np.float64)
    )


def _positions(others: Sequence[Topic], brokers: BrokerTable) -> Int32s:
    lists = stacked([topic.destination.replicas for topic in others])
    return positions_of(lists, brokers.ids) if lists.size else np.full((len(lists), 1), NO_REPLICA, np.int32)


def _racks_of(brokers: BrokerTable) -> tuple[Int32s, tuple[str, ...]]:
    """The racks that clients are in: as of the table, else the brokers' own ones if each has one."""
    names = tuple(sorted({broker.rack for broker in brokers.known if broker.rack is not None}))
    if brokers.racks or any(broker.rack is None for broker in brokers.known):
        return brokers.rack_of, brokers.racks
    return np.array([names.index(broker.rack or "") for broker in brokers.known], np.int32), names


def _require_topics(request: parts.ResourceFields, names: Sequence[str]) -> None:
    known = set(names)
    stated: Mapping[str, Mapping[str, float]] = {"consumers": request.consumers, "growth": request.growth}
    for name, by_topic in stated.items():
        for topic in by_topic:
            if topic != parts.EVERY and topic not in known:
                detail = f"there is no topic {topic} in the snapshot{suggestion(topic, names)}"
                raise UnknownTopic(detail, path=(name, topic), value=topic)


def _cautions(
    request: parts.ResourceFields, names: Sequence[str], rates: IngressRates | None, racks: Sequence[str]
) -> Iterator[Caution]:
    missing = [] if rates is None else [name for name in names if name not in rates.reported]
    if missing:
        topics = tuple(missing[:NAMED_TOPICS])
        yield caution("unknown_rates", missing=len(missing), known=len(names), topics=topics)
    if request.follower_fetching and not racks:
        yield caution("follower_fetching_ignored")


@overload
def in_unit(amount: int, column: int) -> float: ...
@overload
def in_unit(amount: int | None, column: int) -> float | None: ...
def in_unit(amount: int | None, column: int) -> float | None:
    """A load as documents have it: vCPU with three decimals, and integers of everything else."""
    return amount if amount is None or column != _CPU else round(amount / MILLION, 3)


@dataclass(frozen=True, slots=True, eq=False)
class GroupReads:
    """Reads: a partition and the group that reads it.

    Parameters
    ----------
    group_ids : the groups with members that read partitions.
    group_of, rows : (reads,) int64 index of the group, and row of the partition in `Resources.rows`.
    to_rack : (reads,) int32 rack of the member; `NO_RACK` if it is unknown, the number of racks if no broker is there.
    """

    group_ids: tuple[str, ...]
    group_of: Int64s = field(repr=False)
    rows: Int64s = field(repr=False)
    to_rack: Int32s = field(repr=False)

    def crossing(self, resources: Resources, replicas: Int32s) -> list[list[float]]:
        """For each group, the bytes/s from rack to rack, and bytes/s of unknown racks.

        Parameters
        ----------
        replicas : (rows of the scope, widest) int32 positions, leaders first.
        """
        lists, traffic = resources.rows(replicas)
        # Offline brokers of unknown rack are in racks of their own, after all others.
        rack_of = np.where(resources.rack_of < len(resources.racks), resources.rack_of, NO_RACK).astype(np.int32)
        rates = traffic.ingress[self.rows].astype(np.float64)
        follower_fetching = resources.follower_fetching
        found = read_traffic(lists[self.rows], rack_of, self.to_rack, rates, follower_fetching=follower_fetching)
        sums = [np.bincount(self.group_of, each, len(self.group_ids)) for each in (found.cross_rack, found.unknown)]
        by_group: list[list[float]] = np.column_stack(sums).tolist()
        return by_group


def group_reads(groups: Iterable[RecordedGroup], scope: PartitionScope, racks: Sequence[str]) -> GroupReads:
    """Find the reads of groups whose partitions have one member each; share groups are left out."""
    topics = _topics(scope)
    rack_numbers = {None: NO_RACK, "": NO_RACK} | {rack: number for number, rack in enumerate(racks)}
    runs = [
        (group.group_id, rack_numbers.get(member.rack_id, len(racks)), _rows(run, *topics[run.topic]))
        for group in groups
        if group.type != "share"
        for member in group.members
        for run in member.assigned or ()
        if run.topic in topics
    ]
    number_of = {group: number for number, group in enumerate(dict.fromkeys(group for group, _, _ in runs))}
    lengths = [len(rows) for _, _, rows in runs]
    columns = np.array([(number_of[group], rack) for group, rack, _ in runs], np.int64).reshape(-1, 2)
    group_of, to_rack = np.repeat(columns, lengths, axis=0).T
    rows = np.concatenate([np.zeros(0, np.int64), *(rows for _, _, rows in runs)])
    return GroupReads(tuple(number_of), group_of, rows, to_rack.astype(np.int32))


def _topics(scope: PartitionScope) -> dict[str, tuple[int, Int32s]]:
    """By name of each topic, the first of its rows in `Resources.rows`, and its partition ids, ascending."""
    named = [*zip(scope.topics, np.split(scope.partition_ids, scope.starts[1:-1]), strict=False)]
    named += [(topic.name, topic.partition_ids) for topic in scope.others]
    starts = np.cumsum([0, *(len(ids) for _, ids in named)]).tolist()
    return {name: (start, ids) for start, (name, ids) in zip(starts, named, strict=False)}


def _rows(run: TopicPartitions, start: int, ids: Int32s) -> Int64s:
    """The rows of those partitions of a topic that there are."""
    numbers = np.array(run.partitions, np.int64)
    places = np.searchsorted(ids, numbers)
    return np.asarray(start + places[np.isin(numbers, ids)], np.int64)


HASHES_RACKS_SINCE = KafkaVersion(4, 1)
"""The first release whose coordinator rebalances a group when racks of replicas change."""
_PROTOCOLS = ("consumer", "streams")


class RebalancingGroup(AnswerRecord):
    """A group that rebalances when a batch is complete, since a topic that it reads has replicas in other racks."""

    group_id: str
    """Id of the group."""
    batch: int
    """Number of the batch, from 1."""


@dataclass(frozen=True, slots=True)
class Rebalances:
    """The groups that rebalance.

    Parameters
    ----------
    lasting : (batch, group id), batches from 0, by batch and id: after the batch the racks are others than before it.
    meanwhile : ids of groups with a further batch in which racks differ only while data moves.
    """

    lasting: tuple[tuple[int, str], ...] = ()
    meanwhile: tuple[str, ...] = ()

    @property
    def named(self) -> list[RebalancingGroup]:
        """The groups that rebalance lastingly, with batches as their files are numbered."""
        return [RebalancingGroup(group, batch + 1) for batch, group in self.lasting]


def subscriptions_of(cluster: Cluster, version: KafkaVersion) -> Mapping[str, frozenset[str]]:
    """The topics of each group that rebalances when racks change, by group id; empty before 4.1."""
    if version < HASHES_RACKS_SINCE:
        return {}
    return {group.group_id: _subscribed(group) for group in cluster.groups if group.type in _PROTOCOLS}


def rebalances_of(
    subscriptions: Mapping[str, frozenset[str]], brokers: BrokerTable, scope: PartitionScope, batches: Batches
) -> Rebalances:
    """Find the groups and batches."""
    if not subscriptions or not len(batches.rows):
        return Rebalances()
    rack_of = _rack_of(brokers)
    lasting = _by_topic(batches, scope, changes_racks(batches.before, batches.after, rack_of))
    copying = _by_topic(batches, scope, changes_racks_meanwhile(batches.before, batches.after, rack_of))
    pairs: set[tuple[int, str]] = set()
    meanwhile = []
    for group, topics in subscriptions.items():
        certain = {batch for topic in topics for batch in lasting.get(topic, ())}
        pairs.update((batch, group) for batch in certain)
        if any(batch not in certain for topic in topics for batch in copying.get(topic, ())):
            meanwhile.append(group)
    return Rebalances(tuple(sorted(pairs)), tuple(sorted(meanwhile)))


def _subscribed(group: RecordedGroup) -> frozenset[str]:
    """The subscribed topics; of members whose subscription is not recorded, those that they read."""
    subscribed = {topic for member in group.members for topic in member.topics or ()}
    if all(member.topics is not None for member in group.members) and group.members:
        return frozenset(subscribed)
    read = {each.topic for member in group.members for each in (*(member.assigned or ()), *(member.target or ()))}
    return frozenset(subscribed | read | {offset.topic for offset in group.offsets})


def _rack_of(brokers: BrokerTable) -> Int32s:
    """(brokers,) int32 numbers of the racks that brokers have, whatever the plan makes of racks."""
    number_of = {
        rack: number for number, rack in enumerate(sorted({b.rack for b in brokers.known if b.rack is not None}))
    }
    return np.array([NO_RACK if b.rack is None else number_of[b.rack] for b in brokers.known], np.int32)


def _by_topic(batches: Batches, scope: PartitionScope, changes: Bools) -> Mapping[str, Sequence[int]]:
    """The batches with a step of each topic that changes its racks."""
    at = np.flatnonzero(changes)
    found: dict[str, list[int]] = defaultdict(list)
    for topic, batch in np.unique(
        np.column_stack([scope.topic_of[batches.rows[at]], batches.batch_of[at]]), axis=0
    ).tolist():
        found[scope.topics[topic]].append(batch)
    return found
