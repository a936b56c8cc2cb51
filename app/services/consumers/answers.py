"""The answer of a plan of consumers, as JSON and the OpenAPI document have it."""

from typing import Annotated

from pydantic import Field

from app.services.bodies import ABSENT, AnswerRecord
from app.services.plans.answers import PlanAnswer, WholePlan
from app.services.plans.record import KafkaReleases


class ConsumersInterval(AnswerRecord):
    """The consumers of one interval."""

    from_: str
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


class ConsumersFront(AnswerRecord):
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


class ConsumersStep(AnswerRecord):
    """A change of the number of consumers."""

    from_: str
    """When to order it: `start_s` before it is needed, if there are more."""
    consumers: int
    """Number of consumers from then on."""


class ConsumersKafka(KafkaReleases, kw_only=True):
    """The same with one of Kafka's assignors, which do not know rates, and the releases that have it."""

    from_: Annotated[str, Field(examples=["4.0.1"])] = ABSENT
    to: Annotated[str, Field(examples=["4.4"])] = ABSENT
    assignor: str
    """Name of the assignor."""
    consumers_needed: int | None
    """The fewest consumers, at least `min`, with which none exceeds its capacity in any interval; null if there are
    none, up to the number of partitions and to 100 more than the plan has."""
    intervals_above_capacity: int
    """Number of intervals in which a consumer would exceed its capacity with as many consumers as planned."""


class OversizedPartition(AnswerRecord):
    """A partition above the capacity of a consumer, which has a consumer of its own, and the remedy."""

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


class PartitionsNeeded(AnswerRecord):
    """How many partitions a topic needs until the end of the horizon."""

    topic: str
    """Name of the topic."""
    partitions: int
    """The fewest partitions, a multiple of the number of racks of the cluster; they cannot be reduced later."""
    current: int
    """Number of partitions of the series."""
    lasts_months: int | None
    """Whole months until the largest partition exceeds a consumer; null if it never does."""


class ConsumersAnswer(PlanAnswer, kw_only=True):
    """The fields of a plan of consumers that its planner computes."""

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


class ConsumersPlanDocument(ConsumersAnswer, WholePlan, kw_only=True):
    """The consumers of a group over time."""


class ScaledPartitionDocument(AnswerRecord):
    """One partition, with its consumer over time."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    consumers: list[int]
    """Number of its consumer, from 0, in each interval."""
