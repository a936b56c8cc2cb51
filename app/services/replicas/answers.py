"""The answer of a plan of new topics, as JSON and the OpenAPI document have it."""

from dataclasses import dataclass, fields
from typing import Literal

from app.core.measures.copysets import CopysetsChoice
from app.core.measures.placement import AttributeExposure, PlacementMeasures
from app.core.measures.violations import Violation
from app.services.bodies import ABSENT, AnswerRecord
from app.services.plans.answers import PlacedTopic, PlanAnswer, WholePlan


class BrokerShare(AnswerRecord):
    """Bounds over all random outcomes, `lowest` and `highest`, and the extremes of the sampled ones."""

    lowest: int
    """Lower bound on the number over all random outcomes."""
    highest: int
    """Upper bound on the number over all random outcomes."""
    seen_lowest: int
    """Smallest number among the sampled outcomes."""
    seen_highest: int
    """Largest number among the sampled outcomes."""


class ShareDocument(AnswerRecord):
    """The possible numbers of leaders or replicas of each broker. A spread is the largest count minus the smallest."""

    guaranteed_spread: int
    """Lower bound on the spread over brokers of any outcome."""
    worst_case_spread: int
    """Upper bound on the spread over brokers of any outcome."""
    seen_least_spread: int
    """Smallest spread among the sampled outcomes."""
    seen_widest_spread: int
    """Largest spread among the sampled outcomes."""
    per_broker: dict[str, BrokerShare]
    """Bounds on the number of each broker, by broker id."""


class EnvelopeDocument(AnswerRecord):
    """Bounds of the placement of one topic over all random choices of a controller.

    `enumerated`: all `outcomes` were evaluated, and each bound is reached. `bounded_and_sampled`: no outcome exceeds
    the bounds; `seen` values come from `seeds` seeds.
    """

    topic: str
    """Name of the topic."""
    method: Literal["enumerated", "bounded_and_sampled"]
    """`enumerated`: every outcome was computed. `bounded_and_sampled`: bounds are proven, extremes are sampled."""
    outcomes: int
    """Number of distinct outcomes if they are enumerated, otherwise 0."""
    seeds: int
    """Number of sampled seeds; 0 if the outcomes were enumerated."""
    leaders: ShareDocument
    """Possible numbers of preferred leaders of each broker."""
    replicas: ShareDocument
    """Possible numbers of replicas of each broker."""


class UnassignedDocument(AnswerRecord):
    """Replicas of one topic without a place: each of its partitions lacks as many.

    `values` are the forced values that no live broker has, by attribute.
    """

    topic: str
    """Name of the topic."""
    replicas_per_partition: int
    """Number of unassigned replicas of each partition."""
    partitions: int
    """Number of partitions of the topic in the request."""
    replicas: int
    """Number of unassigned replicas of the topic."""
    values: dict[str, list[str]]
    """Forced values that no live broker has, by attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwareMeasures(PlacementMeasures):
    """The measures of a placement by attributes; a plan has them in the order of its request."""

    attributes: dict[str, AttributeExposure]
    """How replicas are spread over each attribute, in the order of the request."""

    @classmethod
    def of(cls, measures: PlacementMeasures, attributes: dict[str, AttributeExposure]) -> "AwareMeasures":
        """The measures, extended by attributes."""
        return cls(**{each.name: getattr(measures, each.name) for each in fields(measures)}, attributes=attributes)


class ReplicasAnswer(PlanAnswer, kw_only=True):
    """The fields of a plan of new topics that its planner computes."""

    envelope: list[EnvelopeDocument] | None
    """Bounds over all outcomes for each topic; null unless `prediction` is `envelope`."""
    measures: PlacementMeasures | AwareMeasures
    """Balance over brokers, rack safety and the cost of each loss."""
    unassigned: list[UnassignedDocument] | None = ABSENT
    """Of awareness: topics with unassigned replicas."""
    scatter_width: int | None = ABSENT
    """Of copysets: least number of other brokers with which a broker shares the sets of the largest replication factor,
    if every set has partitions."""
    front: list[CopysetsChoice] | None = ABSENT
    """Of copysets, if requested: the choices by ascending scatter width, for the largest replication factor."""
    violations: list[Violation]
    """Ways in which the placement is illegal or fragile, by topic; empty if there are none."""


class PlanDocument(ReplicasAnswer, WholePlan, kw_only=True):
    """An immutable plan, with its request."""

    topics: list[PlacedTopic]
    """Placed topics, in the order of the request."""
