"""Every broker's load, from the real placement: before any failure and under each failure set.

A survivor goes on to hold what it held: its disk, what it takes in and its partitions stay. What moves to it is the
lead: the leader of a partition is the first replica in list order that is not lost; it sends to the live followers and
serves the consumers that no live replica in their rack does. Clients go on where they are, in a lost rack, too.

Nothing here hangs on what a broker can carry, on growth or on prices, so that scenarios which differ in these alone
share their loads.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.capacity.costs import CrossRack
from app.core.capacity.failures import Ground, grounds
from app.core.capacity.scenario import FIRST_BROKER_ID, RESOURCES, Clients, Topology
from app.core.capacity.storage import Storage
from app.core.capacity.workload import Float64s, Workload
from app.core.model import NO_REPLICA, Int32s, Int64s, Placement

_READ_IS_A_QUARTER_OF_A_WRITE = 0.25
_NUMBERS_AT_ONCE = 1 << 22
"""How many loads (brokers lost × brokers × columns) are held at once: 32 MiB."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One resource over the brokers that are up: bytes, bytes/s, or partitions.

    broker : the id of the one with the most; the lowest of several. p95 : the least that 95 % of them do not pass.
    """

    max: float
    p95: float
    mean: float
    broker: int


@dataclass(frozen=True, slots=True)
class ResourceLoad:
    """One resource before any failure, and under the failure set that loads one survivor most."""

    before: Spread
    worst: Spread
    worst_failure: str


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Partitions of each kind under the worst failure set of a class; each kind has its own worst.

    partitions_offline : have no live replica. partitions_under_min_isr : fewer than min in-sync, offline ones, too.
    partitions_not_rack_safe : whose live replicas span fewer racks than they could: min(replicas, racks) of the live.
    """

    failure_sets: int
    partitions_offline: int
    partitions_under_min_isr: int
    partitions_not_rack_safe: int


@dataclass(frozen=True, slots=True)
class Counts:
    """A count over all brokers."""

    min: int
    max: int

    @property
    def spread(self) -> int:
        """max − min."""
        return self.max - self.min


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What a placement makes of a workload. `resources["vcpu"]` is in bytes/s that pass through a broker's processor:
    writes and replication whole, reads a quarter."""

    resources: Mapping[str, ResourceLoad]
    leaders: Counts
    replicas: Counts
    failures: Mapping[str, ClassCounts]
    cross_rack: CrossRack
    storage: Storage


def positions(placements: Iterable[Placement]) -> Int32s:
    """(partitions, widest) int32: the position of each replica's broker, all topics one after another, padded."""
    rows = [placement.replicas for placement in placements]
    padded = np.full((sum(map(len, rows)), max(row.shape[1] for row in rows)), NO_REPLICA, np.int32)
    begin = 0
    for row in rows:
        np.subtract(row, FIRST_BROKER_ID, out=padded[begin : begin + len(row), : row.shape[1]])
        begin += len(row)
    return padded


def loads(rows: Int32s, work: Workload, *, topology: Topology, clients: Clients, failures: Sequence[str]) -> Loads:
    """Load every broker, before and under every failure set of the classes named.

    Parameters
    ----------
    rows : as of `positions`. failures : of `FAILURE_CLASSES`.
    """
    return _Walk(rows, work, topology, clients).over(failures)


class _Walk:
    """Goes through the failure sets, keeping of each resource the worst and of each class the counts."""

    def __init__(self, rows: Int32s, work: Workload, topology: Topology, clients: Clients) -> None:
        from app.core.capacity import loads_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

        self._kernel = kernel
        self._rows = rows
        self._work = work
        self._topology = topology
        self._consumers = shares(clients.consumer_share_per_rack, topology)
        self._producers = shares(clients.producer_share_per_rack, topology)
        self._fetching = clients.follower_fetching
        self._local = self._consumers if self._fetching else np.zeros_like(self._consumers)
        brokers = len(topology.brokers)
        self._received, self._replicas = np.zeros(brokers), np.zeros(brokers, np.int64)
        kernel.hold(rows, work.peak_ingress, self._received, self._replicas)
        self._storage = Storage(rows, work, brokers)
        self._stored = self._storage.stored_bytes
        self._worst: dict[str, tuple[float, str, Float64s]] = {}
        self._counts: dict[str, tuple[int, Int64s]] = {}

    def over(self, failures: Sequence[str]) -> Loads:
        before: dict[str, Float64s] = {}
        leaders = Counts(0, 0)
        for ground, carried, counts in self._grounds(failures):
            if ground.rack is None:
                before = {name: values[0] for name, values in self._values(carried[np.newaxis]).items()}
                leaders = _counts(carried[:, self._kernel.LEADERS].astype(np.int64))
            if ground.own_class in failures:
                self._take_counts(ground.own_class, counts[np.newaxis, :3])
            if ground.own_class in failures and ground.rack is not None:
                self._take(carried[np.newaxis], ground.dead[np.newaxis], [ground.name])
            if ground.plus_one_class in failures:
                self._plus_one(ground, carried, counts)
        return Loads(
            resources={name: self._resource(name, before[name]) for name in RESOURCES},
            leaders=leaders,
            replicas=_counts(self._replicas),
            failures={name: ClassCounts(sets, *most.tolist()) for name, (sets, most) in self._counts.items()},
            cross_rack=self._cross_rack(),
            storage=self._storage,
        )

    def _grounds(self, failures: Sequence[str]) -> Iterator[tuple[Ground, Float64s, Int64s]]:
        """Each ground that the classes need, with (brokers, 4) loads and (4,) counts of its survivors.

        What the lost ones carried has no meaning. The columns are those of `loads_kernel`.
        """
        everything_up, *racks = grounds(self._topology)
        brokers, work = len(self._topology.brokers), self._work
        carried, counts = np.zeros((brokers, 4)), np.zeros(5, np.int64)
        arrays = work.bounds, work.peak_ingress, work.fan_out, work.lagging_share
        self._kernel.carry(self._rows, *arrays, self._topology.rack_of, self._local, carried, counts)
        yield everything_up, carried, counts[:4]
        if not {"rack", "rack_and_broker"}.intersection(failures):
            return
        changes, changed = np.zeros((len(racks), brokers, 4)), np.zeros((len(racks), 4), np.int64)
        self._kernel.change_with_a_rack_lost(self._rows, *self._arrays(), changes, changed)
        # A rack less is there for all partitions, for those without a replica in it as well.
        with_a_rack_less = np.array([0, 0, *counts[3:]])
        for ground, change, count in zip(racks, changes, changed, strict=True):
            yield ground, carried + change, with_a_rack_less + count

    def _arrays(self) -> tuple[Int64s, Float64s, Float64s, Float64s, Int32s, Int32s, Float64s]:
        """What the kernels of failures begin with, after the rows."""
        work = self._work
        return (
            work.bounds,
            work.peak_ingress,
            work.fan_out,
            work.lagging_share,
            work.min_insync,
            self._topology.rack_of,
            self._local,
        )

    def _plus_one(self, ground: Ground, carried: Float64s, counts: Int64s) -> None:
        """Lose each live broker in turn, in blocks that fit the memory."""
        brokers = len(ground.dead)
        rack_of = self._topology.rack_of
        live_in_rack = np.bincount(rack_of[~ground.dead], minlength=len(self._topology.racks))
        is_last = live_in_rack[rack_of] == 1
        racks_left = (ground.live_racks - is_last).astype(np.int32)
        at_once = max(1, _NUMBERS_AT_ONCE // carried.size)
        for first in range(0, brokers, at_once):
            lost = min(at_once, brokers - first)
            change, changed = np.zeros((lost, *carried.shape)), np.zeros((lost, 3), np.int64)
            self._kernel.change_with_one_more(
                self._rows, *self._arrays(), ground.dead, racks_left, first, change, changed
            )
            places = np.flatnonzero(~ground.dead[first : first + lost])
            if not len(places):
                continue
            at = places + first
            dead = np.repeat(ground.dead[np.newaxis], len(at), axis=0)
            dead[np.arange(len(at)), at] = True
            before = np.repeat(counts[np.newaxis, :3], len(at), axis=0)
            # With its last live broker a rack is lost, too.
            before[is_last[at], 2] = counts[self._kernel.NOT_RACK_SAFE + 1]
            self._take_counts(ground.plus_one_class, before + changed[places])
            names = [ground.name_with(FIRST_BROKER_ID + int(broker)) for broker in at]
            self._take(carried + change[places], dead, names)

    def _values(self, carried: Float64s) -> dict[str, Float64s]:
        """Every resource, (failure sets, brokers) or one row where no failure changes it."""
        kernel = self._kernel
        replication, reads = carried[..., kernel.REPLICATION], carried[..., kernel.READS]
        return {
            "disk": self._stored[np.newaxis],
            "disk_bytes_per_s": self._received + carried[..., kernel.LAGGING],
            "nic_in": self._received[np.newaxis],
            "nic_out": replication + reads,
            "vcpu": self._received + replication + _READ_IS_A_QUARTER_OF_A_WRITE * reads,
            "partitions": self._replicas[np.newaxis].astype(np.float64),
        }

    def _take(self, carried: Float64s, dead: NDArray[np.bool_], names: Sequence[str]) -> None:
        """Keep of each resource the failure set whose most loaded survivor carries most; the first of equals."""
        for resource, values in self._values(carried).items():
            most = np.where(dead, -np.inf, values)
            per_set = most.max(axis=1)
            at = int(per_set.argmax())
            if per_set[at] > self._worst.get(resource, (-np.inf,))[0]:
                self._worst[resource] = float(per_set[at]), names[at], most[at]

    def _take_counts(self, failure_class: str, counts: Int64s) -> None:
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
        self._kernel.crossing(
            self._rows,
            work.bounds,
            work.peak_ingress,
            work.fan_out,
            self._topology.rack_of,
            self._producers,
            self._consumers,
            self._fetching,
            crossed,
        )
        return CrossRack(*(work.mean_to_peak @ crossed).tolist())


def shares(given: Mapping[str, float] | None, topology: Topology) -> Float64s:
    """(racks,) float64: the share of clients in each rack; as many in each where nothing was given."""
    if given is None:
        return np.full(len(topology.racks), 1 / len(topology.racks))
    return np.array([given.get(rack, 0.0) for rack in topology.racks], np.float64)


def _counts(numbers: Int64s) -> Counts:
    return Counts(int(numbers.min()), int(numbers.max()))


def _spread(values: Float64s) -> Spread:
    """Of (brokers,) values, −inf for those that are lost."""
    live = np.sort(values[values > -np.inf])
    p95 = live[-(-95 * len(live) // 100) - 1]
    return Spread(float(live[-1]), float(p95), float(live.mean()), FIRST_BROKER_ID + int(values.argmax()))
