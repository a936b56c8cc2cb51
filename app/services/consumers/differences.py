"""Differences between two plans of consumers: intervals with another number of consumers."""

from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any
from uuid import UUID

from app.services.bodies import ListOf
from app.services.plans import Difference, Plan, other_plan
from app.services.plans.answers import DifferencePage
from app.store.unit import UnitOfWork


@dataclass(frozen=True, slots=True)
class IntervalConsumers:
    """An interval with another number of consumers."""

    interval: int
    """Number of the interval, from 1."""
    before: int | None
    """Number of consumers before; null if there is no such interval."""
    after: int | None
    """Number of consumers after; null if there is no such interval."""


@dataclass(frozen=True, slots=True)
class ConsumerCounts:
    """Counts of two plans of consumers."""

    intervals: int
    """Number of intervals on either side."""
    changed: int
    """Number of intervals whose consumers differ in number."""
    consumer_hours_before: float
    """Sum of the time of all consumers before; 0 without a plan to compare with."""
    consumer_hours_after: float
    """Sum of the time of all consumers after."""


class ConsumersDiffDocument(DifferencePage):
    """The intervals whose number of consumers differs."""

    summary: ConsumerCounts
    items: ListOf[IntervalConsumers]


def difference(uow: UnitOfWork, plan: Plan, against: UUID | None) -> Difference:
    """The intervals whose number of consumers differs from another plan's, or all if `against` is None.

    Raises `ConflictingFields` if `against` is a plan of another kind, and `PlanNotFound` if it is no plan.
    """
    other = other_plan(uow, plan, against)
    (hours_before, before), (hours_after, after) = _consumers(other), _consumers(plan)
    pairs = [*enumerate(zip_longest(before, after), 1)]
    changed = [IntervalConsumers(place, *counts) for place, counts in pairs if counts[0] != counts[1]]
    counts = ConsumerCounts(len(pairs), len(changed), hours_before, hours_after)
    return Difference(asdict(counts), len(changed), lambda start, stop: changed[start:stop])


def _consumers(plan: Plan | None) -> tuple[float, list[int]]:
    if plan is None:
        return 0.0, []
    answer: Any = plan.head.answer
    return answer["consumer_hours"], [each["consumers"] for each in answer["intervals"]]
