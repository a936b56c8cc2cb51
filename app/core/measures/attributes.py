"""Exposure to the loss of each value of each attribute of brokers: racks are one attribute among others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.core.measures import exposure_kernel as kernel
from app.core.measures.placement import RacksPerPartition, rack_safe_share
from app.core.measures.tally import BrokerArrays, positions_of, tally_over
from app.core.model import Assignment, Broker


@dataclass(frozen=True, slots=True)
class ValueLoss:
    """The cost of losing all brokers of one value, before anything is moved."""

    partitions_leaderless: int
    """Partitions whose preferred leader is lost; another replica has to lead."""
    partitions_reduced: int
    """Partitions that lose at least one replica."""
    partitions_down_to_one: int
    """Partitions that keep one replica, of more."""
    partitions_offline: int
    """Partitions that lose every replica."""


@dataclass(frozen=True, slots=True)
class AttributeExposure:
    """How placements are spread over one attribute; a broker without it has none of its values."""

    values_per_partition: RacksPerPartition
    """Number of values that the partitions span."""
    spanning_share: float
    """The share of partitions that span min(replicas, values) values; 1.0 if there is no partition."""
    losses: Mapping[str, ValueLoss]
    """By value, sorted."""


def exposure_by_attribute(
    assignments: Mapping[str, Assignment], brokers: Sequence[Broker], attributes: Sequence[str]
) -> dict[str, AttributeExposure]:
    """Measure the exposure to the loss of each value of each attribute, in the order given.

    An attribute that no broker has is omitted.
    """
    exposures = {}
    for name in attributes:
        # The counts of racks are those of any attribute.
        table = BrokerArrays.of([replace(broker, rack=broker.value(name)) for broker in brokers])
        if table.racks:
            exposures[name] = _exposure(assignments, table)
    return exposures


def _exposure(assignments: Mapping[str, Assignment], table: BrokerArrays) -> AttributeExposure:
    counts = tally_over(table, assignments)
    down_to_one = np.zeros(len(table.racks), np.int64)
    for assignment in assignments.values():
        kernel.count_down_to_one(positions_of(assignment.replicas, table.ids), table.rack_of, down_to_one)
    losses = zip(counts.per_rack.tolist(), down_to_one.tolist(), strict=True)
    return AttributeExposure(
        values_per_partition=RacksPerPartition.of(counts),
        spanning_share=rack_safe_share(counts) or 0.0,
        losses={
            value: ValueLoss(leaders, reduced, to_one, offline)
            for value, ((leaders, reduced, offline), to_one) in zip(table.racks, losses, strict=True)
        },
    )
