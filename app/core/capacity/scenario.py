"""A capacity-planning scenario: everything that its score hangs on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.model import Broker, Int32s, NewTopic

RESOURCES = ("disk", "disk_bytes_per_s", "nic_in", "nic_out", "vcpu", "partitions")
"""What a broker can run out of, in the order in which limits that break together are named."""
FAILURE_CLASSES = ("none", "broker", "rack", "rack_and_broker")
FIRST_BROKER_ID = 1
DEFAULT_BYTES_PER_S_PER_VCPU = 20 * 2**20
"""A round figure to begin with, not a measurement: `broker_profile.bytes_per_s_per_vcpu` says what was measured."""


@dataclass(frozen=True)
class Topology:
    """Racks with their numbers of brokers.

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
    """What one broker can carry and costs; None where nothing limits it."""

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
        """All there is of one of `RESOURCES`, in its own unit."""
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
    ingress_bytes_per_s : what producers write to the topic, on average; money and retention go by it.
    peak_ingress_bytes_per_s : what they write at most; limits go by it.
    retained_bytes : one copy of the topic as it is now. retained_bytes_per_partition : the same by partition,
        (partitions,) float64. retention_s : how long records are kept. One of them, or None.
    retention_bytes : no partition keeps more than this; alone, every partition keeps as much.
    disk_headroom : the share by which a replica's bytes on disk pass what is retained.
    consumer_groups : the fan-out, how often every byte is read.
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
        """The same topic and traffic over so many times the partitions.

        The keys of partition p of n go to p, p + n, p + 2n … of a multiple of n, and so does what was measured of it.
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
    """Which algorithm of `PLACEMENTS` places the topics; without a seed each scenario has its own."""

    algorithm: str = "admin_utils"
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Clients:
    """Where clients are: the share of them in each rack, None for as many in each; KIP-392 on or off."""

    producer_share_per_rack: Mapping[str, float] | None = None
    consumer_share_per_rack: Mapping[str, float] | None = None
    follower_fetching: bool = False


@dataclass(frozen=True, slots=True)
class Traffic:
    """How traffic grows: compound, a month; −1 is the end of all traffic."""

    growth_per_month: float = 0.0
    horizon_months: int = 24


@dataclass(frozen=True, slots=True)
class Prices:
    """What the caller pays besides the brokers; some managed services do not bill replication between racks."""

    cross_rack_per_gib: float = 0.0
    storage_per_gib_month: float = 0.0
    replication_billed: bool = True


NO_TARGETS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario, complete.

    Parameters
    ----------
    failures : of `FAILURE_CLASSES`, in that order; `none` is always among them.
    targets : the share of a resource that may be used; 1 where none is given.
    rereplication_bytes_per_s : the throttle at which every survivor of a failure takes in, and hands out, copies of
        lost replicas; 0 leaves that out.
    seed : what the placement draws from.
    """

    topology: Topology
    profile: BrokerProfile
    topics: tuple[TopicLoad, ...]
    placement: PlacementPolicy
    clients: Clients
    traffic: Traffic
    failures: tuple[str, ...]
    targets: Mapping[str, float]
    prices: Prices
    rereplication_bytes_per_s: float
    seed: int

    def limit(self, resource: str) -> float | None:
        """What one broker may use of a resource; None where nothing limits it."""
        capacity = self.profile.capacity(resource)
        return None if capacity is None else capacity * self.targets.get(resource, 1.0)
