"""The measures of an assignment: balance, racks spanned by each partition, exposure to losses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Self

import numpy as np

from app.core.measures.copysets import Copysets, copysets
from app.core.measures.losses import Losses, ReplicaStates
from app.core.measures.tally import BrokerArrays, Tally, tally_over
from app.core.measures.tally_kernel import TOO_FEW_RACKS
from app.core.model import Assignment, Broker, Int64s
from app.core.replica_lists import stacked, widened


@dataclass(frozen=True, slots=True)
class PerBroker:
    """A count for each broker, by ascending id; `spread` is max - min; all are 0 if there is no broker."""

    min: int
    """Smallest count of a broker."""
    max: int
    """Largest count of a broker."""
    spread: int
    """Largest count minus the smallest."""
    per_broker: Mapping[int, int]
    """Count of each broker by its id, ascending."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The cost of losing one broker or one rack, before anything is moved."""

    leaders: int
    """Partitions whose preferred leader is lost; another replica has to lead."""
    partitions_reduced: int
    """Partitions that lose at least one replica."""
    partitions_offline: int
    """Partitions that lose every replica."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """The cost of each loss: racks by name, brokers by ascending id."""

    racks: Mapping[str, Loss]
    """Cost of losing each rack, by name."""
    brokers: Mapping[int, Loss]
    """Cost of losing each broker, by id."""


@dataclass(frozen=True, slots=True)
class RacksPerPartition:
    """Number of distinct racks that partitions span; `partitions` counts partitions by that number."""

    min: int
    """Smallest number that a partition spans."""
    max: int
    """Largest number that a partition spans."""
    partitions: Mapping[int, int]
    """Number of partitions by the number that they span."""

    @classmethod
    def of(cls, counts: Tally) -> Self:
        """Count the partitions of a tally."""
        spanned = {racks: int(n) for racks, n in enumerate(counts.per_racks_spanned) if n}
        return cls(min(spanned, default=0), max(spanned, default=0), spanned)


@dataclass(frozen=True, slots=True)
class PlacementMeasures:
    """The measures that every plan reports."""

    partitions: int
    """Number of partitions."""
    leaders: PerBroker
    """Preferred leaders of each broker."""
    replicas: PerBroker
    """Replicas of each broker."""
    racks_per_partition: RacksPerPartition | None
    """Number of racks that partitions span; null if no broker has a rack."""
    rack_safe_share: float | None
    """Share of partitions that span min(replicas, racks) racks; 1.0 if there are none, null without racks."""
    exposure: Exposure
    """Cost of losing each broker and each rack."""
    losses: Losses | None = None
    """Cost of each loss with the in-sync replicas that writes need, exact; absent from plans of earlier releases."""
    copysets: Copysets | None = None
    """Distinct replica sets, and the odds that simultaneous losses contain one; absent likewise."""


def measure(counts: Tally, min_isr: Mapping[str, int] | None = None) -> PlacementMeasures:
    """Turn the counts of an assignment into its measures.

    A broker without a rack is in none: its replicas add to no partition's racks. For losses every replica on a live
    broker is in sync.

    Parameters
    ----------
    min_isr : `min.insync.replicas` by topic, of topics for which it is known; None leaves out losses and copysets.
    """
    ids = [broker.id for broker in counts.brokers]
    losses, sets = (None, None) if min_isr is None else _of_losses(counts, min_isr)
    return PlacementMeasures(
        partitions=int(counts.per_racks_spanned.sum()),
        leaders=_per_broker(ids, counts.per_broker[:, 0]),
        replicas=_per_broker(ids, counts.per_broker[:, 1]),
        racks_per_partition=RacksPerPartition.of(counts) if counts.racks else None,
        rack_safe_share=rack_safe_share(counts),
        exposure=Exposure(
            racks=dict(zip(counts.racks, starmap(Loss, counts.per_rack.tolist()), strict=True)),
            brokers=dict(zip(ids, starmap(Loss, counts.per_broker.tolist()), strict=True)),
        ),
        losses=losses,
        copysets=sets,
    )


def _of_losses(counts: Tally, min_isr: Mapping[str, int]) -> tuple[Losses, Copysets]:
    positions = stacked(counts.positions)
    positions = widened(positions, max(1, positions.shape[1]))  # each list has a first place, also without topics
    least = np.array([min_isr.get(topic, 0) for topic in counts.assignments], np.int32)
    rows = np.repeat(least, [len(of_topic) for of_topic in counts.positions])
    states = ReplicaStates.placed(positions, counts.table.fenced, rows)
    return states.losses(counts.table), copysets(positions, len(counts.brokers))


def rack_safe_share(counts: Tally) -> float | None:
    """The share of partitions that span min(replicas, racks) racks; None without racks, 1.0 without partitions."""
    if not counts.racks:
        return None
    partitions = int(counts.per_racks_spanned.sum())
    crowded = sum(int(np.count_nonzero(faults & TOO_FEW_RACKS)) for faults in counts.faults)
    return 1 - crowded / partitions if partitions else 1.0


def _per_broker(ids: list[int], numbers: Int64s) -> PerBroker:
    of_brokers = numbers.tolist()
    low, high = min(of_brokers, default=0), max(of_brokers, default=0)
    return PerBroker(low, high, high - low, dict(zip(ids, of_brokers, strict=True)))


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
    """The losses by value, sorted."""


def exposure_by_attribute(
    assignments: Mapping[str, Assignment], brokers: Sequence[Broker], attributes: Sequence[str]
) -> dict[str, AttributeExposure]:
    """Measure the exposure to the loss of each value of each attribute, in the order given.

    An attribute that no broker has is omitted.
    """
    exposures = {}
    for name in attributes:
        # Racks are counted like any attribute.
        table = BrokerArrays.of([replace(broker, rack=broker.value(name)) for broker in brokers])
        if table.racks:
            exposures[name] = _exposure(assignments, table)
    return exposures


def _exposure(assignments: Mapping[str, Assignment], table: BrokerArrays) -> AttributeExposure:
    counts = tally_over(table, assignments)
    columns = np.ascontiguousarray(stacked(counts.positions).T)
    values = np.append(table.rack_of, np.full(2, -1, np.int32))[columns]  # of unknown brokers, and of padding
    replicas, down_to_one = np.count_nonzero(columns >= 0, axis=0), np.zeros(len(table.racks), np.int64)
    for place, value in enumerate(values):
        is_there = values == value
        is_first = (value >= 0) & ~is_there[:place].any(axis=0)
        leaves_one = is_first & (replicas - np.count_nonzero(is_there, axis=0) == 1)
        down_to_one += np.bincount(value[leaves_one], minlength=len(table.racks))
    losses = zip(counts.per_rack.tolist(), down_to_one.tolist(), strict=True)
    return AttributeExposure(
        values_per_partition=RacksPerPartition.of(counts),
        spanning_share=rack_safe_share(counts) or 0.0,
        losses={
            value: ValueLoss(leaders, reduced, to_one, offline)
            for value, ((leaders, reduced, offline), to_one) in zip(table.racks, losses, strict=True)
        },
    )
