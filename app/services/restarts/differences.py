"""Differences between two restarts: brokers that are restarted in another wave."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from uuid import UUID

from app.core.model import unpadded
from app.services.bodies import ListOf
from app.services.plans import Difference, Plan, other_plan
from app.services.plans.answers import DifferencePage
from app.store.unit import UnitOfWork


@dataclass(frozen=True, slots=True)
class BrokerWave:
    """A broker that is restarted in another wave."""

    broker: int
    """Id of the broker."""
    before: int | None
    """Number of its wave before; null if it is not restarted."""
    after: int | None
    """Number of its wave after; null if it is not restarted."""


@dataclass(frozen=True, slots=True)
class WaveCounts:
    """Counts of two restarts."""

    brokers: int
    """Number of brokers that are restarted on either side."""
    changed: int
    """Number of brokers whose wave differs."""
    waves_before: int
    """Number of waves before; 0 without a plan to compare with."""
    waves_after: int
    """Number of waves after."""


class RestartDiffDocument(DifferencePage):
    """The brokers whose wave differs, by id."""

    summary: WaveCounts
    items: ListOf[BrokerWave]


def difference(uow: UnitOfWork, plan: Plan, against: UUID | None) -> Difference:
    """The brokers whose wave differs from another restart's, or all if `against` is None.

    Raises `ConflictingFields` if `against` is a plan of another kind, and `PlanNotFound` if it is no plan.
    """
    other = other_plan(uow, plan, against)
    before, after = {} if other is None else _wave_of(other), _wave_of(plan)
    brokers = sorted({*before, *after})
    waves = (BrokerWave(broker, before.get(broker), after.get(broker)) for broker in brokers)
    changed = [each for each in waves if each.before != each.after]
    counts = WaveCounts(len(brokers), len(changed), max(before.values(), default=0), max(after.values(), default=0))
    return Difference(asdict(counts), len(changed), lambda start, stop: changed[start:stop])


def _wave_of(plan: Plan) -> Mapping[int, int]:
    return {
        broker: placement.first_partition_id + place
        for placement in plan.placements
        for place, wave in enumerate(unpadded(placement.replicas))
        for broker in wave
    }
