"""`POST /v1/plans/consumers`: how many consumers a group needs, when, and which partitions each reads."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel, Field

from app.api import examples
from app.api.http.json_bodies import JsonRoute
from app.api.models.clusters import WarningDocument
from app.api.plan_documents import WholePlan
from app.api.planned import PlanningOnce, plan_operation
from app.errors import reassignments, requests
from app.services.consumers import PLANNER, ConsumerCounts, ConsumersRequest, IntervalConsumers
from app.services.plans.record import KafkaReleases


class ConsumersInterval(BaseModel):
    """The consumers of one interval."""

    begin: str = Field(alias="from")
    """Begin of the interval."""
    consumers: int
    """Number of consumers."""
    lower_bound: int
    """No assignment within capacity, and no `min`, allows fewer consumers."""
    bytes_per_s: int
    """Rate at which all consumers read; with `delay_s` it differs from the rate of the series."""
    assignment: dict[str, list[int]]
    """By topic, the number of each partition's consumer, from 0. Consumers keep their numbers."""
    moved_bytes_per_s: int
    """Rate of the partitions with another consumer than in the interval before; 0 in the first."""
    moved_lower_bound: int
    """No assignment to as many consumers moves less from the interval before."""
    lost_bytes_per_s: int
    """Rate above the capacity of consumers, by which lag grows: of oversized partitions, and if `max` is too small."""
    backlog_bytes: int
    """Bytes that wait at the end of the interval, within `delay_s`."""


class ConsumersFront(BaseModel):
    """One choice between fewer consumers and less movement."""

    hold_s: float
    """`hold_s` of a request for this choice."""
    spare: int
    """`spare` of a request for this choice."""
    consumer_hours: float
    """Sum over consumers of the time for which each is there."""
    cost: float | None
    """Its price; null without `price_per_consumer_hour`."""
    moved_bytes_per_s: float
    """Mean of `moved_bytes_per_s` over intervals; a request for this choice may find less."""


class ConsumersStep(BaseModel):
    """A change of the number of consumers."""

    begin: str = Field(alias="from")
    """When to order it: `start_s` before it is needed, if there are more."""
    consumers: int
    """Number of consumers from then on."""


class ConsumersKafka(KafkaReleases):
    """The same with one of Kafka's assignors, which do not know rates, and the releases that have it."""

    assignor: str
    """Name of the assignor."""
    consumers_needed: int | None
    """The fewest consumers with which none exceeds its capacity in any interval; null if there are none, up to the
    number of partitions and to 100 more than the plan has."""
    intervals_above_capacity: int
    """Number of intervals in which a consumer would exceed its capacity with as many consumers as planned."""


class OversizedPartition(BaseModel):
    """A partition above the capacity of a consumer, which has a consumer of its own, and what helps."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    bytes_per_s: int
    """Its largest rate: a consumer with this capacity could read it."""
    intervals: int
    """Number of intervals in which it exceeds the capacity."""
    partitions_needed: int
    """Partitions of the topic with which its share fits, if its keys spread; `/v1/keys` states which keys move."""


class PartitionsNeeded(BaseModel):
    """How many partitions a topic needs until the end of the horizon."""

    topic: str
    """Name of the topic."""
    partitions: int
    """The fewest partitions, a multiple of the number of racks of the cluster; they cannot be reduced later."""
    current: int
    """Number of partitions of the series."""
    lasts_months: int | None
    """Whole months until the largest partition exceeds a consumer; null if it never does."""


class ConsumersPlanDocument(WholePlan):
    """The consumers of a group over time."""

    intervals: list[ConsumersInterval]
    """The intervals of the series."""
    step_s: int
    """Seconds of an interval."""
    proven_consumers: int
    """Number of intervals whose number of consumers is proven to be the fewest."""
    proven_moves: int
    """Number of intervals whose movement is proven to be least."""
    consumer_hours: float
    """Sum over consumers of the time for which each is there."""
    cost: float | None
    """Its price; null without `price_per_consumer_hour`."""
    moved_bytes_per_s: float
    """Mean of `moved_bytes_per_s` over intervals."""
    front: list[ConsumersFront]
    """Choices of which none has both fewer consumer hours and less movement than another, by consumer hours."""
    schedule: list[ConsumersStep]
    """When to have how many consumers."""
    kafka: ConsumersKafka
    """The same with one of Kafka's assignors."""
    oversized: list[OversizedPartition]
    """Partitions above the capacity of a consumer."""
    partitions: list[PartitionsNeeded]
    """Partitions that each topic needs; empty unless requested."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""


class ConsumersDiffDocument(BaseModel):
    """The intervals whose number of consumers differs."""

    summary: ConsumerCounts
    """Counts over all intervals, not only those of the page."""
    items: list[IntervalConsumers]
    """Intervals with another number of consumers."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


router = APIRouter(route_class=JsonRoute, prefix="/v1/plans", tags=["plans"])


@plan_operation(
    router,
    "consumers",
    summary="Plan the consumers of a group over time",
    answer=ConsumersPlanDocument,
    failures=(
        requests.ConflictingFields,
        requests.AssignorUnavailable,
        reassignments.UnknownTopic,
        requests.ImpossibleValue,
    ),
)
def plan_consumers(
    planning: PlanningOnce, body: Annotated[ConsumersRequest, Body(openapi_examples=examples.CONSUMERS_REQUEST)]
) -> Response:
    """Find the fewest consumers of each interval that read all partitions within their capacity, and the assignment
    that moves least from the interval before, each with a lower bound. `schedule` states when to have how many;
    `front` states what more consumers would save in movement; `oversized` has partitions that no consumer can read.
    """
    return planning.answer(PLANNER, body)
