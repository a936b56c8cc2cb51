"""A broker as requests list it."""

from typing import Annotated, TypeAlias

from pydantic import Field

from app.core.model import Broker, BrokerCapacity
from app.services.amounts import InBytes
from app.services.bodies import ListOf, Read
from app.services.bodies import Request as RequestModel
from app.services.fields import Attributes, BrokerId, Rack

_Bytes = Annotated[int, InBytes()]


class CapacityRequest(RequestModel):
    """Capacity of a broker."""

    disk_bytes: _Bytes | None = None
    """Bytes of the log directories together; null if unknown."""
    nic_in_bytes_per_s: _Bytes | None = None
    """Bytes/s that the network interface receives; null if unknown."""
    nic_out_bytes_per_s: _Bytes | None = None
    """Bytes/s that the network interface sends; null if unknown."""
    vcpu: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None
    """Number of virtual CPUs; null if unknown."""


class BrokerRequest(RequestModel):
    """A broker. A missing `rack` is no rack, which differs from the rack `""`."""

    id: BrokerId
    """`broker.id` or `node.id`."""
    rack: Rack | None = None
    """`broker.rack`; null for none, which differs from the rack `""`."""
    fenced: bool = False
    """Whether the broker is fenced: it is registered, and the controller takes it to be down."""
    capacity: CapacityRequest | None = None
    """Capacity of the broker; null if unknown."""
    attributes: Attributes = Field(default_factory=dict)
    weight: float = Field(1.0, gt=0, allow_inf_nan=False)
    """Relative size of the broker: awareness places twice as many replicas on a broker of weight 2."""

    def broker(self) -> Broker:
        """The record of the core."""
        capacity = None if self.capacity is None else BrokerCapacity(**self.capacity.model_dump())
        return Broker(self.id, self.rack, self.fenced, capacity, self.attributes, self.weight)


ListedBrokers: TypeAlias = ListOf[Annotated[Broker, Read(BrokerRequest, BrokerRequest.broker)]]
"""Brokers of a request; pydantic checks them as of the model, and the core has its own record of them."""
