"""The records of a scenario: what is given of a cluster, its traffic, and which failures it has to withstand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.model import Broker, Int32s, NewTopic

RESOURCES = ("disk", "disk_bytes_per_s", "nic_in", "nic_out", "vcpu", "partitions")
"""The resources of a broker; of limits that break at the same load, the first is reported."""
FAILURE_CLASSES = ("none", "broker", "rack", "rack_and_broker")
FIRST_BROKER_ID = 1
DEFAULT_BYTES_PER_S_PER_VCPU = 20 * 2**20
"""A default, not a measurement: `broker_profile.bytes_per_s_per_vcpu` sets the measured value."""


@dataclass(frozen=True)
class Topology:
    """Racks and the number of brokers in each.

    Broker ids count up from `FIRST_BROKER_ID`, rack by rack, in the order in which the racks are listed.
    """

    brokers_per_rack: Mapping[str, int]

    @cached_property
    def racks(self) -> tuple[str, ...]:
        """The racks, as listed."""
        return tuple(self.brokers_per_rack)

    @cached_property
    def brokers(self) -> tuple[Broker, ...]:
        """Every broker by ascending id."""
        racks = [rack for rack, count in self.brokers_per_rack.items() for _ in range(count)]
        return tuple(Broker(FIRST_BROKER_ID + index, rack) for index, rack in enumerate(racks))

    @cached_property
    def rack_of(self) -> Int32s:
        """(brokers,) int32: the index of each broker's rack."""
        sizes = list(self.brokers_per_rack.values())
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


@dataclass(frozen=True, slots=True)
class BrokerProfile:
    """Capacity and price of one broker; None if a resource has no limit."""

    disk_bytes: float
    disk_bytes_per_s: float | None = None
    nic_in_bytes_per_s: float | None = None
    nic_out_bytes_per_s: float | None = None
    vcpu: float | None = None
    max_partitions: int | None = None
    price_per_month: float = 0.0
    bytes_per_s_per_vcpu: float = DEFAULT_BYTES_PER_S_PER_VCPU
    name: str | None = None

    def capacity(self, resource: str) -> float | None:
        """The capacity of one of `RESOURCES`, in its own unit; None if it has no limit."""
        return {
            "disk": self.disk_bytes,
            "disk_bytes_per_s": self.disk_bytes_per_s,
            "nic_in": self.nic_in_bytes_per_s,
            "nic_out": self.nic_out_bytes_per_s,
            "vcpu": self.vcpu,
            "partitions": self.max_partitions,
        }[resource]


@dataclass(frozen=True, slots=True, eq=False)
class TopicLoad:
    """A topic and its traffic.

    Parameters
    ----------
    ingress_bytes_per_s : what producers write to the topic, on average; decides cost and retention.
    peak_ingress_bytes_per_s : what they write at most; compared with limits.
    retained_bytes : bytes of one copy of the topic now. retained_bytes_per_partition : the same by partition,
        (partitions,) float64. retention_s : seconds for which records are retained. At most one is not None.
    retention_bytes : upper bound on the bytes that a partition retains; alone, every partition retains as much.
    disk_headroom : the share by which a replica's bytes on disk exceed its retained bytes.
    consumer_groups : the fan-out: how many times every byte is read.
    lagging_share : the share of reads that come from disk.
    zipf : partition p weighs 1 / (p + 1) ** zipf; 0 is uniform.
    measured_weights : (partitions,) float64, in place of `zipf`; they count relative to their sum.
    """

    name: str
    partitions: int
    replication_factor: int
    min_insync_replicas: int
    ingress_bytes_per_s: float
    peak_ingress_bytes_per_s: float
    retained_bytes: float | None = None
    retained_bytes_per_partition: NDArray[np.float64] | None = None
    retention_s: float | None = None
    retention_bytes: float | None = None
    disk_headroom: float = 0.0
    consumer_groups: float = 0.0
    lagging_share: float = 0.0
    zipf: float = 0.0
    measured_weights: NDArray[np.float64] | None = None

    @property
    def new_topic(self) -> NewTopic:
        """The topic as a placement algorithm takes it."""
        return NewTopic(self.name, self.partitions, self.replication_factor)

    def multiplied(self, by: int) -> Self:
        """The same topic and traffic over `by` times as many partitions.

        The keys of partition p of n are spread over p, p + n, p + 2n … of a multiple of n, and so are its measurements.
        """
        weights, retained = self.measured_weights, self.retained_bytes_per_partition
        return replace(
            self,
            partitions=self.partitions * by,
            measured_weights=None if weights is None else np.tile(weights, by),
            retained_bytes_per_partition=None if retained is None else np.tile(retained / by, by),
        )


@dataclass(frozen=True, slots=True)
class PlacementPolicy:
    """The algorithm of `PLACEMENTS` that places the topics; if the seed is None, each scenario has its own."""

    algorithm: str = "admin_utils"
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Clients:
    """The share of producers and consumers in each rack, None for equal shares; and follower fetching (KIP-392)."""

    producer_share_per_rack: Mapping[str, float] | None = None
    consumer_share_per_rack: Mapping[str, float] | None = None
    follower_fetching: bool = False


@dataclass(frozen=True, slots=True)
class TrafficGrowth:
    """Compound growth of traffic a month; −1 stops all traffic."""

    growth_per_month: float = 0.0
    horizon_months: int = 24


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices besides those of brokers; some managed services do not bill replication between racks."""

    cross_rack_per_gib: float = 0.0
    storage_per_gib_month: float = 0.0
    replication_billed: bool = True


NO_TARGETS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Scenario:
    """One complete scenario.

    Parameters
    ----------
    failures : of `FAILURE_CLASSES`, in that order; `none` is always among them.
    targets : the share of a resource that may be used; 1 if absent.
    rereplication_bytes_per_s : the throttle at which every surviving broker receives, and sends, copies of lost
        replicas; 0 means that re-replication adds no load.
    seed : of the placement's random generator.
    """

    topology: Topology
    profile: BrokerProfile
    topics: tuple[TopicLoad, ...]
    placement: PlacementPolicy
    clients: Clients
    traffic: TrafficGrowth
    failures: tuple[str, ...]
    targets: Mapping[str, float]
    prices: Prices
    rereplication_bytes_per_s: float
    seed: int

    def limit(self, resource: str) -> float | None:
        """How much of a resource one broker may use; None if it has no limit."""
        capacity = self.profile.capacity(resource)
        return None if capacity is None else capacity * self.targets.get(resource, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class BaseFailure:
    """The brokers that a failure set loses before it loses one more: none, or those of a rack.

    Parameters
    ----------
    rack : the rack that is lost; None for none. dead : (brokers,) bool. live_racks : racks that have a live broker.
    own_class : the failure class of this set. plus_one_class : the failure class of this set and one more broker.
    """

    rack: str | None
    dead: NDArray[np.bool_]
    live_racks: int
    own_class: str
    plus_one_class: str

    @property
    def name(self) -> str:
        """What the failure is called in an answer: `none` or `rack:a`."""
        return "none" if self.rack is None else f"rack:{self.rack}"

    def name_with(self, broker: int) -> str:
        """What the failure of a broker more is called: `broker:3` or `rack:a+broker:3`."""
        return f"broker:{broker}" if self.rack is None else f"{self.name}+broker:{broker}"


def base_failures(topology: Topology) -> Iterator[BaseFailure]:
    """No failure, then the failure of each rack, as listed.

    Every failure set is one of these, or one of these and one more live broker: each broker by ascending id; each rack
    and one broker outside of it, by rack and then by id.
    """
    racks = len(topology.racks)
    yield BaseFailure(None, np.zeros(len(topology.brokers), np.bool_), racks, "none", "broker")
    for index, rack in enumerate(topology.racks):
        yield BaseFailure(rack, topology.rack_of == index, racks - 1, "rack", "rack_and_broker")
