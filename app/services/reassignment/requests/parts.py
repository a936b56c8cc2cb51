"""Parts of a request for a reassignment: topics on given brokers, partitions on given replicas, limits of batches."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from app.services.amounts import InBytes, InShares
from app.services.bodies import ListOf, RequestRecord
from app.services.fields import BrokerId, Int32, PartitionId, Rack, TopicName

InRack = Literal["in_rack"]
Number = Annotated[Int32, Field(ge=1)]
_Bytes = Annotated[int, InBytes(ge=1)]


@dataclass(frozen=True)
class IsolateRequest(RequestRecord, schema="IsolateFields"):
    """Topics whose replicas are restricted to these brokers."""

    topics: Annotated[ListOf[TopicName], Field(min_length=1)]
    """Names of the topics that are restricted."""
    brokers: Annotated[ListOf[BrokerId], Field(min_length=1)]
    """Ids of the brokers that they are restricted to."""
    exclusive: bool = False
    """Whether other topics are excluded from these brokers."""


@dataclass(frozen=True)
class PinRequest(RequestRecord, schema="PinFields"):
    """A partition and its replicas, the preferred leader first."""

    topic: TopicName
    partition: PartitionId
    """Id of the partition in its topic."""
    replicas: Annotated[ListOf[BrokerId], Field(min_length=1, max_length=1000)]
    """Broker ids, the preferred leader first."""


@dataclass(frozen=True)
class MovementCost(RequestRecord, schema="MovementCostFields"):
    """The cost of a move: its bytes, and a constant for each replica."""

    bytes_per_replica: Annotated[int, InBytes(le=2**50)]
    """Bytes that one replica less is worth."""


@dataclass(frozen=True)
class EvacuateRequest(RequestRecord, schema="EvacuateFields"):
    """Brokers and racks that lead no partition."""

    brokers: ListOf[BrokerId] = field(default_factory=list)
    """Ids of brokers that lead no partition."""
    racks: ListOf[Rack] = field(default_factory=list)
    """Racks whose brokers lead no partition."""


@dataclass(frozen=True)
class BatchesRequest(RequestRecord, schema="BatchFields"):
    """The limits of each batch; null is no limit."""

    max_moves_in_per_broker: Number | None = 4
    """Replicas copied to a broker in one batch."""
    max_moves_out_per_broker: Number | None = None
    """Replicas copied from a broker in one batch."""
    max_bytes_in_per_broker: _Bytes | None = None
    """Bytes copied to a broker in one batch; deleted replicas are not subtracted."""
    max_partitions: Number | None = None
    """Number of partitions in one batch."""
    max_disk_share: Annotated[float, InShares(gt=0)] | None = None
    """Largest share of a disk in use at any time, for brokers with `capacity.disk_bytes`."""
    throttle_bytes_per_s: _Bytes | None = None
    """Replication throttle of every broker, in and out; batches then have a duration."""
    record_batch_bytes: _Bytes | None = None
    """Size of the record batches of the partitions, if it is near Kafka's `replica.fetch.max.bytes` of 1 MiB: batches
    that a fetch cuts off are sent again, so that copying takes longer."""
    hottest: Literal["last", "first"] = "last"
    """When the partitions with the highest ingress rate move; without rates, the largest ones."""
