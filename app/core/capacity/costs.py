"""Bytes that cross racks, and the monthly cost."""

from dataclasses import dataclass

from app.core.capacity.scenario import Prices, Scenario

SECONDS_PER_MONTH = 365 * 24 * 3600 / 12
CROSS_RACK_PER_GIB = 0.02
"""The price of a GiB from rack to rack that counts if none is stated: 0.01 on either side, in US dollars, is what
large clouds bill between availability zones.
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

    @property
    def total(self) -> float:
        """All parts."""
        return self.brokers + self.storage + self.cross_rack


def monthly_cost(scenario: Scenario, cross_rack: CrossRack) -> MonthlyCost:
    """The cost of brokers, of all provisioned disk, and of bytes that cross racks in a month of 365 / 12 days."""
    brokers = len(scenario.topology.brokers)
    prices = scenario.prices
    return MonthlyCost(
        brokers=brokers * scenario.broker_profile.price_per_month,
        storage=brokers * scenario.broker_profile.disk_bytes / _GIB * prices.storage_per_gib_month,
        cross_rack=cost_per_month(cross_rack.billed(prices), prices.cross_rack_per_gib),
    )
