"""Plans, their partitions and their differences as JSON."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from app.api.snapshots import WarningDocument
from app.core.groups.measures.handover import Handover
from app.core.measures.attributes import AttributeExposure
from app.core.measures.movement import PartitionChange
from app.core.measures.placement import PlacementMeasures
from app.core.measures.transfers import PartitionTransfer
from app.core.measures.violations import Violation
from app.services.groups import ReaderChange
from app.services.reassignment import SHOWN_FLOWS, BrokerFlow, BrokerTransfer
from app.services.streams import TaskChange, TaskMoves


class PlacedTopic(BaseModel):
    """The replicas of one topic: row i is partition `first_partition_id` + i, its preferred leader first."""

    name: str
    first_partition_id: int
    replicas: list[list[int]]


class PlanSummary(BaseModel):
    """A plan without its assignments."""

    id: UUID
    kind: str
    hash: str
    engine_version: int
    created_at: datetime
    cluster: str | None
    snapshot_id: UUID | None
    labels: dict[str, str]
    prediction: Literal["replay", "envelope", "pinned"]
    seed: int | None


class KafkaReleases(BaseModel):
    """Releases of Kafka, both included; an end without a patch number is all of its line."""

    from_: str = Field(alias="from", examples=["4.0.1"])
    to: str = Field(examples=["4.4"])


class DifferingRow(BaseModel):
    """A row of a plan, as a page of its partitions lists it, in the plan and in the answer of another release."""

    before: dict[str, Any]
    after: dict[str, Any]


class FailureDocument(BaseModel):
    """Why an assignor or a release has no answer: what Kafka's own code does with such a request."""

    code: str
    detail: str
    kafka_exception: str | None = None


class ComparedRelease(BaseModel):
    """The answer of another release, as its difference from the plan; `rows` has the first thousand."""

    kafka_version: str
    kafka: KafkaReleases | None
    differing: int | None
    rows: list[DifferingRow]
    error: FailureDocument | None


class WholePlan(PlanSummary):
    """A plan with the releases of Kafka that it holds for."""

    kafka: KafkaReleases | None = Field(
        None,
        description="The releases whose code was compared and gives the same answer; null if the plan replays no code "
        "of Kafka, or the release that it is made for was not compared.",
    )
    compared_kafka_versions: list[ComparedRelease] | None = Field(
        None, description="For each of `compare_kafka_versions` what it answers otherwise; absent if there are none."
    )


class BrokerShare(BaseModel):
    """Bounds over all random outcomes, `lowest` and `highest`, and the extremes of the sampled ones."""

    lowest: int
    highest: int
    seen_lowest: int
    seen_highest: int


class ShareDocument(BaseModel):
    """The possible numbers of leaders or replicas of each broker. A spread is the largest count minus the smallest."""

    guaranteed_spread: int
    worst_case_spread: int
    seen_least_spread: int
    seen_widest_spread: int
    per_broker: dict[str, BrokerShare]


class EnvelopeDocument(BaseModel):
    """What the placement of one topic can come to, over all that a controller may draw.

    `enumerated`: all `outcomes` were looked at, and each bound is reached. `bounded_and_sampled`: no draw passes the
    bounds; what is `seen` was seen on that many `seeds`.
    """

    topic: str
    method: Literal["enumerated", "bounded_and_sampled"]
    outcomes: int
    seeds: int
    leaders: ShareDocument
    replicas: ShareDocument


class UnassignedDocument(BaseModel):
    """What of one topic has no place: every partition of it lacks as many replicas.

    `values` are the forced values that no live broker has, by attribute.
    """

    topic: str
    replicas_per_partition: int
    partitions: int
    replicas: int
    values: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class AwareMeasures(PlacementMeasures):
    """The measures of a placement by attributes; a plan has them in the order of its request."""

    attributes: dict[str, AttributeExposure]


class PlanDocument(WholePlan):
    """An immutable plan, with its request."""

    topics: list[PlacedTopic]
    envelope: list[EnvelopeDocument] | None
    measures: PlacementMeasures | AwareMeasures
    unassigned: list[UnassignedDocument] | None = Field(
        None, description="Of awareness: topics with unassigned replicas."
    )
    violations: list[Violation]
    warnings: list[WarningDocument]
    request: dict[str, Any]


class CertificateDocument(BaseModel):
    """The quality of an answer and its proof: what was reached, and a lower bound that no answer can be below.

    `optimal`, `gap` and `solver` are in every certificate. Those of a reassignment also have movement and its bounds;
    those of a group have the bound of each goal, in lexicographic order.
    """

    optimal: bool = Field(description="Whether every goal reaches its lower bound.")
    gap: float = Field(description="Relative optimality gap: (value − lower bound) / value; 0 if optimal.")
    solver: str
    constraints: list[str] | None = Field(None, description="The constraints that the lower bound holds under.")
    minimised: Literal["bytes", "replicas"] | None = Field(None, description="Of a reassignment.")
    moved_replicas: int | None = Field(
        None, description="Replicas that Kafka has to copy; those of new partitions are not copied."
    )
    moved_bytes: int | None = Field(None, description="Bytes of moved replicas whose size is known.")
    lower_bound_bytes: int | None = Field(None, description="No plan within the constraints moves fewer bytes.")
    lower_bound_replicas: int | None = Field(None, description="The same in replicas, if those are minimised.")
    unknown_size_replicas: int | None = Field(None, description="Moved replicas of partitions of unknown size.")
    seconds: float | None = Field(None, description="Solver time, including leaders and batches.")
    in_rack_bound: int | None = Field(
        None, description="Upper bound on partitions that a balanced assignment of the group reads in rack."
    )
    moved_bound: int | None = Field(None, description="Lower bound on moved partitions of such an assignment.")
    largest_load_bound: int | None = Field(None, description="Lower bound on the largest load, if one is balanced.")


class PlansPage(BaseModel):
    """Plans, newest first."""

    items: list[PlanSummary]
    next_page_token: str | None


class PartitionDocument(BaseModel):
    """One partition of a plan."""

    topic: str
    partition: int
    leader: int
    replicas: list[int]
    unassigned: int | None = Field(None, description="Number of unassigned replicas; present if there are any.")


class ReadPartitionDocument(BaseModel):
    """One partition of a group plan and its readers: one member at most, except in share groups."""

    topic: str
    partition: int
    members: list[str]


class PlannedTaskDocument(BaseModel):
    """One task of a Streams plan and its clients; `standby` includes warm-ups."""

    task: str
    active: str | None
    standby: list[str]


class PartitionsDocument(BaseModel):
    """A page of partitions, in the order of the request's topics (of a group: by name) and by id; of Streams, tasks."""

    items: list[PartitionDocument] | list[ReadPartitionDocument] | list[PlannedTaskDocument]
    total: int
    next_page_token: str | None


class DiffSummary(BaseModel):
    """Counts of differences between two assignments. Kafka copies `replicas_added`."""

    partitions: int
    partitions_added: int
    partitions_removed: int
    partitions_changed: int
    replicas_added: int
    replicas_removed: int
    preferred_leaders_changed: int


class DiffDocument(BaseModel):
    """The partitions that differ, by topic and partition id."""

    summary: DiffSummary
    items: list[PartitionChange]
    next_page_token: str | None


class ReassignmentDiffSummary(DiffSummary):
    """Counts of differences over all of a cluster; bytes are those of replicas whose size is known."""

    moved_bytes: int
    unknown_size_replicas: int = Field(description="Of the replicas added, those of unknown size.")
    brokers: list[BrokerTransfer] = Field(description="By ascending id.")
    flows: list[BrokerFlow] = Field(description=f"The largest first, {SHOWN_FLOWS} at most.")
    flows_in_all: int


class ReassignmentDiffDocument(BaseModel):
    """The partitions that differ, by topic and partition id, with the racks that they span."""

    summary: ReassignmentDiffSummary
    items: list[PartitionTransfer]
    next_page_token: str | None


class GroupDiffDocument(BaseModel):
    """The partitions whose readers differ, by topic and partition id."""

    summary: Handover
    items: list[ReaderChange]
    next_page_token: str | None


class StreamsDiffDocument(BaseModel):
    """The tasks whose clients differ, by task id."""

    summary: TaskMoves
    items: list[TaskChange]
    next_page_token: str | None
