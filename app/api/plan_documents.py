"""Plans, their partitions and their differences as JSON."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from app.api.models.clusters import WarningDocument
from app.core.measures.copysets import CopysetsChoice
from app.core.measures.movement import PartitionChange
from app.core.measures.placement import AttributeExposure, PlacementMeasures
from app.core.measures.violations import Violation
from app.services.bodies import Request
from app.services.fields import MOST_LABELS, PRINTABLE_LINES, LabelName, LabelValue
from app.services.plans import PlanPatch, Status
from app.services.plans.record import ComparedRelease, KafkaReleases


class PlanPatchRequest(Request):
    """A JSON merge patch (RFC 7396): what is absent stays, what is null is removed."""

    status: Status = "proposed"
    """The next status of the plan."""
    labels: (
        Annotated[dict[LabelName, LabelValue | None], Field(max_length=MOST_LABELS, examples=[{"team": "storage"}])]
        | None
    ) = None
    """Labels to set, name → value; null removes one, or all in place of the object."""
    notes: Annotated[str, Field(max_length=2000, pattern=PRINTABLE_LINES)] | None = None
    """Notes, which replace those before; null removes them."""

    def service(self) -> PlanPatch:
        """The patch as the service takes it."""
        return PlanPatch(frozenset(self.model_fields_set), self.status, self.labels, self.notes)


class PlacedTopic(BaseModel):
    """The replicas of one topic: row i is partition `first_partition_id` + i, its preferred leader first."""

    name: str
    """Name of the topic."""
    first_partition_id: int
    """Id of the partition in the first row of `replicas`; 0 for a new topic."""
    replicas: list[list[int]]
    """Broker ids, a row for each partition by ascending id, the preferred leader first."""


class PlanSummary(BaseModel):
    """A plan without its assignments."""

    id: UUID
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """What the plan does, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Status
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: UUID | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: those of the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`: nothing
    is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""


class PlanChangeDocument(BaseModel):
    """A change of what is beside a plan; what did not change is absent."""

    at: datetime
    """When it was changed, RFC 3339 in UTC."""
    by: str
    """Name of the API key that changed it; `anyone` while the service has no keys."""
    status: Status | None = None
    """The new status."""
    labels: dict[str, str] | None = None
    """The new labels, all of them."""
    notes: str | None = None
    """The new notes; null if they were removed."""


class WholePlan(PlanSummary):
    """A plan with the releases of Kafka that it holds for, and what its callers have written beside it."""

    notes: str | None = None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] = Field(default_factory=list)
    """The changes of status, labels and notes, oldest first; the newest 100."""

    kafka: KafkaReleases | None = None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or the
    release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None = None
    """For each of `compare_kafka_versions` what it answers otherwise; absent if there are none."""


class BrokerShare(BaseModel):
    """Bounds over all random outcomes, `lowest` and `highest`, and the extremes of the sampled ones."""

    lowest: int
    """Lower bound on the number over all random outcomes."""
    highest: int
    """Upper bound on the number over all random outcomes."""
    seen_lowest: int
    """Smallest number among the sampled outcomes."""
    seen_highest: int
    """Largest number among the sampled outcomes."""


class ShareDocument(BaseModel):
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


class EnvelopeDocument(BaseModel):
    """Bounds of the placement of one topic over all random choices of a controller.

    `enumerated`: all `outcomes` were evaluated, and each bound is reached. `bounded_and_sampled`: no outcome exceeds
    the bounds; what is `seen` was seen on that many `seeds`.
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


class UnassignedDocument(BaseModel):
    """What of one topic has no place: every partition of it lacks as many replicas.

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


class PlanDocument(WholePlan):
    """An immutable plan, with its request."""

    topics: list[PlacedTopic]
    """Placed topics, in the order of the request."""
    envelope: list[EnvelopeDocument] | None
    """Bounds over all outcomes for each topic; null unless `prediction` is `envelope`."""
    measures: PlacementMeasures | AwareMeasures
    """Balance over brokers, rack safety and the cost of each loss."""
    unassigned: list[UnassignedDocument] | None = None
    """Of awareness: topics with unassigned replicas."""
    scatter_width: int | None = None
    """Of copysets: least number of other brokers with which a broker shares the sets of the largest replication factor,
    if every set has partitions."""
    front: list[CopysetsChoice] | None = None
    """Of copysets, if requested: the choices by ascending scatter width, for the largest replication factor."""
    violations: list[Violation]
    """Ways in which the placement is illegal or fragile, by topic; empty if there are none."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""


class PlansPage(BaseModel):
    """Plans, newest first."""

    items: list[PlanSummary]
    """Plans without their assignments, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class PartitionDocument(BaseModel):
    """One partition of a plan."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    leader: int
    """Broker id of the preferred leader, which is the first replica."""
    replicas: list[int]
    """Broker ids, the preferred leader first."""
    unassigned: int | None = None
    """Number of unassigned replicas; present if there are any."""


class ReadPartitionDocument(BaseModel):
    """One partition of a group plan and its readers: one member at most, except in share groups."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    members: list[str]
    """Ids of the members that read it; empty if no member does."""


class PlannedTaskDocument(BaseModel):
    """One task of a Streams plan and its clients; `standby` includes warm-ups."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    active: str | None
    """Process id of the client that runs it; null if no client does."""
    standby: list[str]
    """Process ids of the clients with a standby or warm-up of it."""


class PlannedWaveDocument(BaseModel):
    """One wave of a restart."""

    wave: int
    """Number of the wave, from 1."""
    brokers: list[int]
    """Ids of the brokers that are restarted in it, ascending."""


class ScaledPartitionDocument(BaseModel):
    """One partition, with its consumer over time."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    consumers: list[int]
    """Number of its consumer, from 0, in each interval."""


class PartitionsDocument(BaseModel):
    """A page of partitions, in the order of the request's topics (of a group: by name) and by id; of tasks or waves."""

    items: (
        list[PartitionDocument]
        | list[ReadPartitionDocument]
        | list[PlannedTaskDocument]
        | list[PlannedWaveDocument]
        | list[ScaledPartitionDocument]
    )
    """Partitions, tasks or waves of the page."""
    total: int
    """Number of partitions or tasks on all pages."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class DiffSummary(BaseModel):
    """Counts of differences between two assignments. Kafka copies `replicas_added`."""

    partitions: int
    """Number of partitions that either assignment has."""
    partitions_added: int
    """Number of partitions that only the second assignment has."""
    partitions_removed: int
    """Number of partitions that only the first assignment has."""
    partitions_changed: int
    """Number of partitions whose replica lists differ, in members or in order."""
    replicas_added: int
    """Number of replicas that only the second assignment has; Kafka copies them."""
    replicas_removed: int
    """Number of replicas that only the first assignment has."""
    preferred_leaders_changed: int
    """Number of partitions whose first replica differs."""


class DiffDocument(BaseModel):
    """The partitions that differ, by topic and partition id."""

    summary: DiffSummary
    """Counts over all partitions, not only those of the page."""
    items: list[PartitionChange]
    """Differing partitions, by topic and partition id."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""
