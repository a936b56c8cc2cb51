"""The records of a scenario: a cluster, its traffic, and the failures that it has to withstand.

Field names and limits are as in `POST /v1/sweeps`: `app.core.sweeps.fields.read_record` reads the records from JSON.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.model import DEFAULT_SEGMENT_BYTES, Bools, Broker, Int32s
from app.core.replicas.registry import PLACEMENTS
from app.core.sweeps.fields import (
    as_list,
    as_name,
    as_number,
    declared,
    flag,
    impossible,
    integer,
    number,
    random_seed,
    read_record,
)
from app.errors import FieldPath, Json
from app.errors.requests import ImpossibleValue

Float64s = NDArray[np.float64]

RESOURCES = ("disk", "disk_bytes_per_s", "nic_in", "nic_out", "vcpu", "partitions")
"""The resources of a broker; of limits that break at the same load, the first is reported."""
FAILURE_CLASSES = ("none", "broker", "rack", "rack_and_broker")
FIRST_BROKER_ID = 1
DEFAULT_BYTES_PER_S_PER_VCPU = 20 * 2**20
"""A default, not a measurement: `broker_profile.bytes_per_s_per_vcpu` sets the measured value."""
LONGEST_HORIZON_MONTHS = 1200
LARGEST_REPLICATION_FACTOR = 2**15 - 1
"""Kafka sends a replication factor as an int16."""
LARGEST_AMOUNT = 1e18
"""Of bytes, bytes/s, vCPUs or seconds: products with other fields stay finite."""
LARGEST_PRICE = 1e12

amount = partial(number, maximum=LARGEST_AMOUNT)
capacity = partial(number, above=0, maximum=LARGEST_AMOUNT)
price = partial(number, 0.0, maximum=LARGEST_PRICE)


def as_numbers(value: Json, path: FieldPath) -> Float64s:
    """A list of numbers of 0 to `LARGEST_AMOUNT`, as float64; without dimension if one number is for all."""
    if isinstance(value, int | float):
        return np.array(as_number(value, path, maximum=LARGEST_AMOUNT), np.float64)
    numbers = enumerate(as_list(value, path))
    return np.array([as_number(each, (*path, index), maximum=LARGEST_AMOUNT) for index, each in numbers])


def _as_weights(value: Json, path: FieldPath) -> float | Float64s:
    """An exponent, 0 for "uniform", or a weight for each partition."""
    if value == "uniform":
        return 0.0
    if isinstance(value, Mapping):
        return read_record(Zipf, value, path).zipf
    if isinstance(value, str):
        raise impossible('"uniform", {"zipf": s} or a list with a weight a partition is needed', value, path)
    weights = as_numbers(as_list(value, path), path)
    if not 0 < weights.sum() < np.inf:
        raise ImpossibleValue("the weights need a finite sum above 0", path=path)
    return weights


def _as_algorithm(value: Json, path: FieldPath) -> str:
    algorithm = as_name(value, path)
    if algorithm not in PLACEMENTS:
        raise impossible(f"a placement algorithm is needed, of {', '.join(PLACEMENTS)}", algorithm, path)
    return algorithm


def _as_unit(value: Json, path: FieldPath) -> str:
    if value not in ("broker", "rack"):
        raise impossible('"broker" or "rack" is needed', value, path)
    return str(value)


def _as_shares(value: Json, path: FieldPath) -> Mapping[str, float]:
    if not isinstance(value, Mapping) or not value:
        raise impossible("a share for each rack is needed", value, path)
    shares = {rack: as_number(share, (*path, rack), maximum=1.0) for rack, share in value.items()}
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise impossible("shares that sum to 1 are needed", sum(shares.values()), path)
    return shares


@dataclass(frozen=True, slots=True)
class Zipf:
    """Weights 1 / (p + 1) ** zipf of partition p."""

    zipf: float = number(maximum=100, description="The exponent; 0 for equal weights.")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerProfile:
    """Capacity and price of one broker; None if a resource has no limit."""

    name: str | None = declared(as_name, None)
    disk_bytes: float = capacity(description="Bytes of its disks together.")
    disk_bytes_per_s: float | None = capacity(None, description="Bytes/s that its disks read and write.")
    nic_in_bytes_per_s: float | None = capacity(None, description="Bytes/s that its network interface receives.")
    nic_out_bytes_per_s: float | None = capacity(None, description="Bytes/s that its network interface sends.")
    vcpu: float | None = capacity(None, description="Number of its virtual CPUs.")
    max_partitions: int | None = integer(None, minimum=1, description="Upper limit on its replicas.")
    price_per_month: float = price(description="Price of a broker a month, in any currency.")
    bytes_per_s_per_vcpu: float = capacity(
        DEFAULT_BYTES_PER_S_PER_VCPU, description="Measured bytes/s that one vCPU can process."
    )

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TopicLoad:
    """A topic and its traffic.

    Parameters
    ----------
    ingress_bytes_per_s : mean rate of writes to the topic; decides cost and retention.
    retained_bytes, retained_bytes_per_partition, retention_s : at most one is not None; the second is (partitions,)
        float64, or without dimension if all are equal.
    retention_bytes : alone, every partition retains as much.
    local_retention_s, local_retention_bytes : only with `remote_storage`; None if all that is retained is local, too.
    disk_headroom : the share by which a replica's bytes on disk exceed its retained bytes.
    partition_weights : the exponent z of partition weights 1 / (p + 1) ** z, 0 for uniform ones; or (partitions,)
        float64 weights, which count relative to their sum.
    """

    name: str = declared(as_name)
    partitions: int = integer(minimum=1, description="Number of partitions.")
    replication_factor: int = integer(
        minimum=1, maximum=LARGEST_REPLICATION_FACTOR, description="Number of replicas of each partition."
    )
    min_insync_replicas: int = integer(1, minimum=1, description="`min.insync.replicas` of the topic.")
    ingress_bytes_per_s: float = amount(description="Bytes/s that producers write to the topic, on average.")
    peak_ingress_bytes_per_s: float = amount(0.0, description="Limits depend on the peak, cost on the mean.")
    retained_bytes: float | None = amount(None, description="Bytes of one copy of the topic now; grows with traffic.")
    retained_bytes_per_partition: Float64s | None = declared(as_numbers, None)
    retention_s: float | None = amount(None, description="Seconds for which records are retained.")
    retention_bytes: float | None = amount(None, description="Upper bound on a partition's bytes; does not grow.")
    remote_storage: bool = flag(
        False, description="`remote.storage.enable`: what is retained has one copy in remote storage (KIP-405)."
    )
    local_retention_s: float | None = amount(
        None, description="Seconds for which brokers keep records that are in remote storage, too; null for retention."
    )
    local_retention_bytes: float | None = amount(
        None, description="The same as an upper bound on a partition's bytes; null for none."
    )
    segment_bytes: float = amount(
        float(DEFAULT_SEGMENT_BYTES), description="`segment.bytes`: a replica may exceed local retention by as much."
    )
    disk_headroom: float = number(
        0.0, maximum=100, description="The share by which a replica's bytes on disk exceed its retained bytes."
    )
    consumer_groups: float = number(0.0, maximum=1e6, description="The fan-out: how many times every byte is read.")
    lagging_share: float = number(0.0, maximum=1, description="The share of reads that are served from disk.")
    partition_weights: "float | Float64s" = declared(_as_weights, 0.0)

    def multiplied(self, by: int) -> Self:
        """The same topic and traffic over `by` times as many partitions.

        The keys of partition p of n are spread over p, p + n, p + 2n … of a multiple of n, and so are its measurements.
        """
        weights, retained = self.partition_weights, self.retained_bytes_per_partition
        if retained is not None:
            retained = np.tile(retained / by, by if retained.ndim else 1)
        return replace(
            self,
            partitions=self.partitions * by,
            partition_weights=weights if isinstance(weights, float) else np.tile(weights, by),
            retained_bytes_per_partition=retained,
        )


@dataclass(frozen=True, slots=True)
class PlacementPolicy:
    """The algorithm of `PLACEMENTS` that places the topics; if the seed is None, each scenario has its own."""

    # Requests state it since the default is `striped`; a definition without one was stored before.
    algorithm: str = declared(_as_algorithm, "admin_utils")
    seed: int | None = random_seed(None)


@dataclass(frozen=True, slots=True)
class Clients:
    """The share of producers and consumers in each rack, None for equal shares; and follower fetching (KIP-392)."""

    producer_share_per_rack: Mapping[str, float] | None = declared(_as_shares, None)
    consumer_share_per_rack: Mapping[str, float] | None = declared(_as_shares, None)
    follower_fetching: bool = flag(False)


@dataclass(frozen=True, slots=True)
class TrafficGrowth:
    """Compound growth of traffic a month, −1 stopping all of it; and the horizon in months."""

    growth_per_month: float = number(
        0.0, minimum=-1.0, maximum=100, description="Growth of traffic from one month to the next; 0.05 is 5 %."
    )
    horizon_months: int = integer(
        24, minimum=0, maximum=LONGEST_HORIZON_MONTHS, description="Number of months that are looked ahead."
    )


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices other than the brokers'; some managed services do not bill replication between racks."""

    cross_rack_per_gib: float = price(description="Price of a GiB between racks, in the currency of brokers.")
    storage_per_gib_month: float = price(description="Price of a GiB on disk a month, in the same currency.")
    remote_storage_per_gib_month: float = price(description="Price of a GiB in remote storage a month, 0 by default.")
    replication_billed: bool = flag(True, description="Whether replication between racks is billed.")


@dataclass(frozen=True, slots=True)
class Rereplication:
    """The throttle at which every surviving broker receives, and sends, copies of lost replicas; 0 adds no load."""

    throttle_bytes_per_s: float = amount(description="Bytes/s of copies that a broker receives, and sends.")


@dataclass(frozen=True, slots=True)
class RestartRules:
    """Rules for every wave of a rolling restart, besides `min.insync.replicas`; with `rack`, waves mix no racks."""

    per: str = declared(_as_unit, "broker")
    max_brokers_per_wave: int | None = integer(None, minimum=1, description="The most brokers of a wave; null: all.")
    controllers: int | None = integer(None, minimum=1, description="Number of voters, in each rack in turn; null: 0.")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One complete scenario, with a field for each section.

    Parameters
    ----------
    failures : of `FAILURE_CLASSES`, in that order; `none` is always among them.
    targets : the share of a resource that may be used; 1 if absent.
    restart : None if restart waves are not requested.
    seed : of the placement's random generator.
    """

    topology: Topology
    broker_profile: BrokerProfile
    topics: tuple[TopicLoad, ...]
    placement: PlacementPolicy
    clients: Clients
    traffic: TrafficGrowth
    failures: tuple[str, ...]
    targets: Mapping[str, float]
    prices: Prices
    rereplication: Rereplication
    restart: RestartRules | None
    seed: int

    def limit(self, resource: str) -> float | None:
        """How much of a resource one broker may use; None if it has no limit."""
        capacity = self.broker_profile.capacity(resource)
        return None if capacity is None else capacity * self.targets.get(resource, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class BaseFailure:
    """The brokers that a failure set loses before it loses one more: none, or a whole rack.

    Parameters
    ----------
    rack : the rack that is lost; None for none. dead : (brokers,) bool.
    own_class : the failure class of this set. plus_one_class : the failure class of this set and one more broker.
    """

    rack: str | None
    dead: Bools
    own_class: str
    plus_one_class: str

    @property
    def name(self) -> str:
        """Name of the failure in an answer: `none` or `rack:a`."""
        return "none" if self.rack is None else f"rack:{self.rack}"

    def name_with(self, broker: int) -> str:
        """Name of the failure of a broker more: `broker:3` or `rack:a+broker:3`."""
        return f"broker:{broker}" if self.rack is None else f"{self.name}+broker:{broker}"


def base_failures(topology: Topology) -> Iterator[BaseFailure]:
    """No failure, then the failure of each rack, as listed.

    Every failure set is one of these, or one of these and one more live broker: each broker by ascending id; each rack
    and one broker outside of it, by rack and then by id.
    """
    yield BaseFailure(None, np.zeros(len(topology.brokers), np.bool_), "none", "broker")
    for index, rack in enumerate(topology.racks):
        yield BaseFailure(rack, topology.rack_of == index, "rack", "rack_and_broker")
