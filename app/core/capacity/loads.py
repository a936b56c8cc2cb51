"""The load of every broker, from the actual placement: before any failure and under each failure set.

A surviving broker stores the same: its disk, its ingress and its partitions stay. Leadership moves: the leader of
a partition is the first live replica in list order. It sends to the live followers and serves the consumers that have
no live replica in their rack. Clients stay where they are, in a lost rack as well.

Loads do not depend on the capacity of brokers, on growth or on prices, so scenarios that differ in these alone share
them.

The load of each partition, and how many bytes brokers store: the topics of a scenario as arrays over all partitions.

A replica stores min(growing, local + segment, most) bytes, where `growing` and `local` are proportional to traffic. So
the bytes that a broker stores are concave and piecewise linear in the factor by which traffic grows. Each Newton step
from a point below the root ends at the root of the tangent, which is no larger; the steps end when no partition reaches
a bend in between.

Of a tiered topic every closed segment has one copy in remote storage until retention ends. Brokers delete the segments
that local retention has passed, whole ones; so a replica has at most one segment more than local retention.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from app.core.capacity import loads_kernel as kernel
from app.core.capacity.scenario import (
    FIRST_BROKER_ID,
    RESOURCES,
    BaseFailure,
    Clients,
    Float64s,
    Prices,
    Scenario,
    TopicLoad,
    Topology,
    base_failures,
)
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s, Placement
from app.core.replica_lists import stacked


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """All partitions, topic after topic.

    Parameters
    ----------
    bounds : (topics + 1,) int64; topic t is partitions bounds[t] … bounds[t + 1] − 1.
    peak_ingress : (partitions,) float64 bytes/s. fan_out, lagging_share, mean_to_peak : (topics,) float64.
    min_insync : (topics,) int32.
    growing_bytes : (partitions,) float64 bytes of a replica on disk now, without an upper bound; proportional to
        traffic, and infinite if retention is limited by size alone.
    local_bytes, segment_bytes : (partitions,) float64; a replica has at most their sum on disk, of which the first is
        proportional to traffic. Infinite and 0 if local retention is not limited in time.
    most_bytes : (partitions,) float64 upper bound on the bytes of a replica on disk; may be infinite.
    remote_bytes : bytes in remote storage now.
    """

    bounds: Int64s
    peak_ingress: Float64s
    fan_out: Float64s
    lagging_share: Float64s
    mean_to_peak: Float64s
    min_insync: Int32s
    growing_bytes: Float64s
    local_bytes: Float64s
    segment_bytes: Float64s
    most_bytes: Float64s
    remote_bytes: float

    @property
    def on_disk(self) -> tuple[Float64s, Float64s, Float64s, Float64s]:
        """The bytes of a replica, as the loop over partitions takes them."""
        return self.growing_bytes, self.local_bytes, self.segment_bytes, self.most_bytes

    @property
    def traffic(self) -> tuple[Int64s, Float64s, Float64s, Float64s]:
        """The bounds, peak ingress, fan-out and lagging share, as the loops over partitions take them."""
        return self.bounds, self.peak_ingress, self.fan_out, self.lagging_share


def workload(topics: Sequence[TopicLoad]) -> Workload:
    """Spread each topic's bytes over its partitions by their weights."""
    shares = [partition_shares(topic) for topic in topics]
    on_disk = [_bytes_on_disk(topic, share) for topic, share in zip(topics, shares, strict=True)]
    growing, local, segment, most, remote = map(np.concatenate, zip(*on_disk, strict=True))
    return Workload(
        bounds=np.cumsum([0, *(topic.partitions for topic in topics)], dtype=np.int64),
        peak_ingress=np.concatenate(
            [share * topic.peak_ingress_bytes_per_s for topic, share in zip(topics, shares, strict=True)]
        ),
        fan_out=np.array([topic.consumer_groups for topic in topics], np.float64),
        lagging_share=np.array([topic.lagging_share for topic in topics], np.float64),
        mean_to_peak=np.array([_mean_to_peak(topic) for topic in topics], np.float64),
        min_insync=np.array([topic.min_insync_replicas for topic in topics], np.int32),
        growing_bytes=growing,
        local_bytes=local,
        segment_bytes=segment,
        most_bytes=most,
        remote_bytes=float(remote.sum()),
    )


def partition_shares(topic: TopicLoad) -> Float64s:
    """(partitions,) float64: each partition's share of its topic; they sum to 1."""
    weights = topic.partition_weights
    if isinstance(weights, float):
        weights = np.arange(1, topic.partitions + 1, dtype=np.float64) ** -weights
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _mean_to_peak(topic: TopicLoad) -> float:
    peak = topic.peak_ingress_bytes_per_s
    return topic.ingress_bytes_per_s / peak if peak > 0 else 0.0


def _bytes_on_disk(topic: TopicLoad, shares: Float64s) -> tuple[Float64s, ...]:
    """A topic's part of `Workload.on_disk`, and (partitions,) float64 bytes in remote storage."""
    per_retained = 1 + topic.disk_headroom
    cap = np.inf if topic.retention_bytes is None else topic.retention_bytes * per_retained
    if topic.retained_bytes_per_partition is not None:
        growing = np.full(len(shares), topic.retained_bytes_per_partition * per_retained)
    elif topic.retained_bytes is not None:
        growing = shares * topic.retained_bytes * per_retained
    elif topic.retention_s is not None:
        growing = shares * (topic.ingress_bytes_per_s * topic.retention_s * per_retained)
    else:
        growing = np.full(topic.partitions, np.inf)
    remote = np.minimum(growing, cap) / per_retained * topic.remote_storage
    local, segment = np.full(topic.partitions, np.inf), 0.0
    if topic.local_retention_s is not None:
        local = shares * (topic.ingress_bytes_per_s * topic.local_retention_s * per_retained)
        segment = topic.segment_bytes
    if topic.local_retention_bytes is not None:
        cap = min(cap, topic.local_retention_bytes * per_retained + topic.segment_bytes)
    return growing, local, np.full(topic.partitions, segment), np.full(topic.partitions, cap), remote


_SMALLEST_STEP = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class Storage:
    """Bytes on the disks of `brokers` brokers; `rows` are (partitions, widest) positions of brokers, padded."""

    rows: Int32s
    workload: Workload
    brokers: int

    @cached_property
    def stored_bytes(self) -> Float64s:
        """(brokers,) float64 bytes stored now."""
        growing, fixed, _ = self._at(1.0)
        return growing + fixed

    @cached_property
    def _without_traffic(self) -> tuple[Float64s, Float64s, bool]:
        """The start of every search, whatever the limit."""
        return self._at(0.0)

    def first_full(self, limit: float) -> tuple[float, int]:
        """The largest factor at which no broker stores more than `limit` bytes, and the first broker to reach it.

        0 if bytes that do not grow exceed the limit; infinite if it is never reached.
        """
        factor = 0.0
        while True:
            growing, fixed, bends_ahead = self._at(factor) if factor > 0 else self._without_traffic
            roots = np.where(fixed > limit, 0.0, np.inf)
            np.divide(limit - fixed, growing, out=roots, where=growing > 0)
            broker = int(roots.argmin())
            reached = max(0.0, float(roots[broker]))
            if not bends_ahead or not factor * _SMALLEST_STEP < reached < np.inf:
                return reached, broker
            factor = reached

    def _at(self, factor: float) -> tuple[Float64s, Float64s, bool]:
        growing, fixed = np.zeros(self.brokers), np.zeros(self.brokers)
        bends_ahead = kernel.store(self.rows, *self.workload.on_disk, factor, growing, fixed)
        return growing, fixed, bool(bends_ahead)


SECONDS_PER_MONTH = 365 * 24 * 3600 / 12
CROSS_RACK_PER_GIB = 0.02
"""The default price of a GiB from rack to rack: large clouds bill 0.01 US dollars on either side between
availability zones.
"""
_GIB = 2**30


def cost_per_month(bytes_per_s: float, price_per_gib: float) -> float:
    """The cost of bytes that cross racks in a month of 365 / 12 days, at a price of each GiB."""
    return bytes_per_s * SECONDS_PER_MONTH / _GIB * price_per_gib


@dataclass(frozen=True, slots=True)
class CrossRack:
    """Bytes/s from rack to rack, on average and before any failure, by cause."""

    producers: float
    replication: float
    consumers: float

    @property
    def total(self) -> float:
        """All causes."""
        return self.producers + self.replication + self.consumers

    def billed(self, prices: Prices) -> float:
        """The bytes/s that are billed."""
        return self.total if prices.replication_billed else self.producers + self.consumers


@dataclass(frozen=True, slots=True)
class MonthlyCost:
    """The cost of a month at today's traffic, by part, in the caller's currency."""

    brokers: float
    storage: float
    cross_rack: float
    remote_storage: float

    @property
    def total(self) -> float:
        """All parts."""
        return self.brokers + self.storage + self.cross_rack + self.remote_storage


def monthly_cost(scenario: Scenario, cross_rack: CrossRack, remote_bytes: float) -> MonthlyCost:
    """The cost of brokers, provisioned disk, remote storage, and bytes between racks in a month of 365 / 12 days."""
    brokers = len(scenario.topology.brokers)
    prices = scenario.prices
    return MonthlyCost(
        brokers=brokers * scenario.broker_profile.price_per_month,
        storage=brokers * scenario.broker_profile.disk_bytes / _GIB * prices.storage_per_gib_month,
        cross_rack=cost_per_month(cross_rack.billed(prices), prices.cross_rack_per_gib),
        remote_storage=remote_bytes / _GIB * prices.remote_storage_per_gib_month,
    )


_READ_IS_A_QUARTER_OF_A_WRITE = 0.25
_BLOCK_NUMBERS = 1 << 22
"""Loads (lost brokers × brokers × columns) of one block: 32 MiB."""


@dataclass(frozen=True, slots=True)
class LoadSpread:
    """The load of one resource over the live brokers, in bytes, bytes/s or partitions.

    Parameters
    ----------
    p95 : the 95th percentile by nearest rank, a value that occurs. broker : the id of the broker with the largest load,
        the lowest id if there are several.
    """

    max: float
    p95: float
    mean: float
    broker: int


@dataclass(frozen=True, slots=True)
class ResourceLoad:
    """One resource before any failure, and under the failure set that has the most loaded surviving broker."""

    before: LoadSpread
    worst: LoadSpread
    worst_failure: str


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """The largest number of affected partitions over the failure sets of a class; each count has its own worst set.

    Parameters
    ----------
    partitions_offline : without a live replica. partitions_under_min_isr : with fewer live replicas than min in-sync,
        offline partitions included. partitions_not_rack_safe : live replicas span fewer than min(live replicas, live
        racks) racks.
    """

    failure_sets: int
    partitions_offline: int
    partitions_under_min_isr: int
    partitions_not_rack_safe: int


@dataclass(frozen=True, slots=True)
class CountRange:
    """The smallest and largest of a count over all brokers; `spread` is max − min."""

    min: int
    max: int
    spread: int

    @classmethod
    def of(cls, counts: Int64s) -> Self:
        """The range of (brokers,) counts."""
        low, high = int(counts.min()), int(counts.max())
        return cls(low, high, high - low)


@dataclass(frozen=True, slots=True, eq=False)
class BrokerLoads:
    """The loads that a placement puts on brokers.

    `resources["vcpu"]` is in bytes/s of processor work: writes and replication count whole, reads a quarter.
    """

    resources: Mapping[str, ResourceLoad]
    leaders: CountRange
    replicas: CountRange
    failures: Mapping[str, ClassCounts]
    cross_rack: CrossRack
    storage: Storage


def positions(placements: Iterable[Placement]) -> Int32s:
    """(partitions, largest factor) int32 positions of replicas' brokers, topic after topic, padded with NO_REPLICA."""
    rows = stacked([placement.replicas for placement in placements])
    return np.where(rows == NO_REPLICA, NO_REPLICA, rows - np.int32(FIRST_BROKER_ID))


def loads(
    rows: Int32s, work: Workload, *, topology: Topology, clients: Clients, failures: Sequence[str]
) -> BrokerLoads:
    """Compute the load of every broker, before any failure and under every failure set of the given classes.

    Parameters
    ----------
    rows : (partitions, largest factor) int32 of `positions`. failures : of `FAILURE_CLASSES`.
    """
    return _FailureSets(rows, work, topology, clients).loads(failures)


def leading(rows: Int32s, work: Workload, brokers: int) -> dict[str, tuple[Float64s, Float64s]]:
    """The resources that leaders use more of than followers if they serve all consumers, in the units of `BrokerLoads`.

    Parameters
    ----------
    rows : (partitions, largest factor) int32 of `positions`.

    Returns
    -------
    By resource, (brokers,) float64 loads before any failure, and (partitions,) float64 gains of a new leader.
    """
    ingress, sizes, is_replica = work.peak_ingress, np.diff(work.bounds), rows != NO_REPLICA
    factors = is_replica.sum(axis=1)
    sent, reads = (factors - 1) * ingress, np.repeat(work.fan_out, sizes) * ingress
    gains = {
        "disk_bytes_per_s": np.repeat(work.lagging_share, sizes) * reads,
        "nic_out": sent + reads,
        "vcpu": sent + _READ_IS_A_QUARTER_OF_A_WRITE * reads,
    }
    received = np.bincount(rows[is_replica], np.repeat(ingress, factors), brokers)
    led = {
        name: np.bincount(rows[:, 0], gain, brokers) + received * (name != "nic_out") for name, gain in gains.items()
    }
    return {name: (np.asarray(led[name], np.float64), gain) for name, gain in gains.items()}


class _FailureSets:
    """Visits the failure sets; records the worst set of each resource and the largest counts of each class."""

    def __init__(self, rows: Int32s, work: Workload, topology: Topology, clients: Clients) -> None:
        self._rows = rows
        self._work = work
        self._topology = topology
        self._consumers = shares(clients.consumer_share_per_rack, topology)
        self._producers = shares(clients.producer_share_per_rack, topology)
        self._fetching = clients.follower_fetching
        self._local = self._consumers if self._fetching else np.zeros_like(self._consumers)
        brokers = len(topology.brokers)
        self._received, self._replicas = np.zeros(brokers), np.zeros(brokers, np.int64)
        kernel.receive(rows, work.peak_ingress, self._received, self._replicas)
        self._storage = Storage(rows, work, brokers)
        self._stored = self._storage.stored_bytes
        self._arrays = (*work.traffic, work.min_insync, topology.rack_of, self._local)
        self._worst: dict[str, tuple[float, str, Float64s]] = {}
        self._counts: dict[str, tuple[int, Int64s]] = {}

    def loads(self, failures: Sequence[str]) -> BrokerLoads:
        before: dict[str, Float64s] = {}
        leaders = CountRange(0, 0, 0)
        for base, carried, counts in self._base_failures(failures):
            if base.rack is None:
                before = {name: values[0] for name, values in self._values(carried[np.newaxis]).items()}
                leaders = CountRange.of(carried[:, kernel.LEADERS].astype(np.int64))
            if base.own_class in failures:
                self._record_counts(base.own_class, counts[np.newaxis, :3])
            if base.own_class in failures and base.rack is not None:
                self._record_loads(carried[np.newaxis], base.dead[np.newaxis], [base.name])
            if base.plus_one_class in failures:
                self._lose_one_more(base, carried, counts)
        return BrokerLoads(
            resources={name: self._resource(name, before[name]) for name in RESOURCES},
            leaders=leaders,
            replicas=CountRange.of(self._replicas),
            failures={name: ClassCounts(sets, *most.tolist()) for name, (sets, most) in self._counts.items()},
            cross_rack=self._cross_rack(),
            storage=self._storage,
        )

    def _base_failures(self, failures: Sequence[str]) -> Iterator[tuple[BaseFailure, Float64s, Int64s]]:
        """Each base failure that the classes need, with (brokers, 4) loads and (4,) counts of the surviving brokers.

        The loads of lost brokers have no meaning. The columns are as in `loads_kernel`.
        """
        no_failure, *racks = base_failures(self._topology)
        brokers, rack_of = len(self._topology.brokers), self._topology.rack_of
        carried, counts = np.zeros((brokers, 4)), np.zeros(5, np.int64)
        kernel.carry(self._rows, *self._work.traffic, rack_of, self._local, carried, counts)
        yield no_failure, carried, counts[:4]
        if not {"rack", "rack_and_broker"}.intersection(failures):
            return
        changes, changed = np.zeros((len(racks), brokers, 4)), np.zeros((len(racks), 4), np.int64)
        kernel.change_with_a_rack_lost(self._rows, *self._arrays, changes, changed)
        # All partitions can span one rack fewer, those without a replica in the lost rack as well.
        one_rack_fewer = np.array([0, 0, *counts[3:]])
        for base, change, count in zip(racks, changes, changed, strict=True):
            yield base, carried + change, one_rack_fewer + count

    def _lose_one_more(self, base: BaseFailure, carried: Float64s, counts: Int64s) -> None:
        """Lose each live broker in turn, in blocks of bounded memory."""
        brokers = len(base.dead)
        rack_of = self._topology.rack_of
        live_in_rack = np.bincount(rack_of[~base.dead], minlength=len(self._topology.racks))
        is_last = live_in_rack[rack_of] == 1
        racks_left = (np.count_nonzero(live_in_rack) - is_last).astype(np.int32)
        block = max(1, _BLOCK_NUMBERS // carried.size)
        for first in range(0, brokers, block):
            lost = min(block, brokers - first)
            change, changed = np.zeros((lost, *carried.shape)), np.zeros((lost, 3), np.int64)
            kernel.change_with_one_more(self._rows, *self._arrays, base.dead, racks_left, first, change, changed)
            live = np.flatnonzero(~base.dead[first : first + lost])
            if not len(live):
                continue
            lost_brokers = live + first
            dead = np.repeat(base.dead[np.newaxis], len(lost_brokers), axis=0)
            dead[np.arange(len(lost_brokers)), lost_brokers] = True
            before = np.repeat(counts[np.newaxis, :3], len(lost_brokers), axis=0)
            # A rack is lost with its last live broker.
            before[is_last[lost_brokers], 2] = counts[kernel.NOT_RACK_SAFE + 1]
            self._record_counts(base.plus_one_class, before + changed[live])
            names = [base.name_with(FIRST_BROKER_ID + int(broker)) for broker in lost_brokers]
            self._record_loads(carried + change[live], dead, names)

    def _values(self, carried: Float64s) -> dict[str, Float64s]:
        """Loads by resource: (failure sets, brokers), or one row if no failure changes the resource."""
        replication, reads = carried[..., kernel.REPLICATION], carried[..., kernel.READS]
        return {
            "disk": self._stored[np.newaxis],
            "disk_bytes_per_s": self._received + carried[..., kernel.LAGGING],
            "nic_in": self._received[np.newaxis],
            "nic_out": replication + reads,
            "vcpu": self._received + replication + _READ_IS_A_QUARTER_OF_A_WRITE * reads,
            "partitions": self._replicas[np.newaxis].astype(np.float64),
        }

    def _record_loads(self, carried: Float64s, dead: Bools, names: Sequence[str]) -> None:
        """Record for each resource the failure set with the most loaded surviving broker; the first of equal sets."""
        for resource, values in self._values(carried).items():
            most = np.where(dead, -np.inf, values)
            per_set = most.max(axis=1)
            worst = int(per_set.argmax())
            if per_set[worst] > self._worst.get(resource, (-np.inf,))[0]:
                self._worst[resource] = float(per_set[worst]), names[worst], most[worst]

    def _record_counts(self, failure_class: str, counts: Int64s) -> None:
        sets, most = self._counts.get(failure_class, (0, np.zeros(3, np.int64)))
        self._counts[failure_class] = sets + len(counts), np.maximum(most, counts.max(axis=0))

    def _resource(self, name: str, before: Float64s) -> ResourceLoad:
        spread = _spread(before)
        if name not in self._worst:
            return ResourceLoad(spread, spread, "none")
        _, failure, values = self._worst[name]
        return ResourceLoad(spread, _spread(values), failure)

    def _cross_rack(self) -> CrossRack:
        work = self._work
        crossed = np.zeros((len(work.fan_out), 3))
        clients = self._topology.rack_of, self._producers, self._consumers, self._fetching
        kernel.crossing(self._rows, work.bounds, work.peak_ingress, work.fan_out, *clients, crossed)
        return CrossRack(*(work.mean_to_peak @ crossed).tolist())


def shares(given: Mapping[str, float] | None, topology: Topology) -> Float64s:
    """(racks,) float64 shares of clients by rack; equal shares if `given` is None."""
    if given is None:
        return np.full(len(topology.racks), 1 / len(topology.racks))
    return np.array([given.get(rack, 0.0) for rack in topology.racks], np.float64)


def _spread(values: Float64s) -> LoadSpread:
    """Of (brokers,) loads, −inf for lost brokers."""
    # Sorting 60 loads takes 1 µs, np.quantile of them 140 µs, and a scenario has twelve of these.
    live = np.sort(values[values > -np.inf])
    p95 = live[-(-95 * len(live) // 100) - 1]
    return LoadSpread(float(live[-1]), float(p95), float(live.mean()), FIRST_BROKER_ID + int(values.argmax()))
