"""The answers that every kind of plan has: a plan, its changes, a page of its rows, a page of a difference.

A kind's own fields are a subclass of `PlanAnswer`, which its planner returns and the store keeps. Its document is a
subclass of that and of `WholePlan`, whose fields are read from the head of the stored plan.
"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from app.core.model import Int32s
from app.services.bodies import ABSENT, AnswerRecord, ListOf, Read
from app.services.cautions import Caution
from app.services.plans.record import ComparedRelease, KafkaReleases
from app.services.plans.status import Status


class Predicted(AnswerRecord, kw_only=True):
    """How sure a plan is."""

    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`: nothing
    is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""


class PlanAnswer(Predicted, kw_only=True):
    """Base of the fields that a planner computes."""

    warnings: ListOf[Caution]
    """Conditions that did not prevent the plan; empty if there are none."""


class PlanIdentity(AnswerRecord, kw_only=True):
    """Identity of a plan and of its input."""

    id: UUID
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
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
    """Labels, name → value, with which plans can be found: from the request, as changed since."""


class PlanSummary(Predicted, PlanIdentity, kw_only=True):
    """A plan without its assignments."""


class PlanChangeDocument(AnswerRecord):
    """A change of status, labels or notes; fields that did not change are absent."""

    at: datetime
    """When it was changed, RFC 3339 in UTC."""
    by: str
    """Name of the API key that changed it; `anyone` while the service has no keys."""
    status: Status | None = ABSENT
    """The new status."""
    labels: dict[str, str] | None = ABSENT
    """The new labels, all of them."""
    notes: str | None = ABSENT
    """The new notes; null if they were removed."""


class WholePlan(PlanSummary, kw_only=True):
    """A plan with the releases of Kafka that it holds for, and its callers' labels and notes."""

    notes: str | None = None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] = ABSENT
    """The changes of status, labels and notes, oldest first; the newest 100."""
    kafka: KafkaReleases | None = ABSENT
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or the
    release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None = ABSENT
    """For each of `compare_kafka_versions` its different answers; absent without such releases."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""


class PlacedTopic(AnswerRecord):
    """The replicas of one topic: row i is partition `first_partition_id` + i, its preferred leader first."""

    name: str
    """Name of the topic."""
    first_partition_id: int
    """Id of the partition in the first row of `replicas`; 0 for a new topic."""
    replicas: Annotated[list[list[int]] | Int32s, Read(list[list[int]], list)]
    """Broker ids, a row for each partition by ascending id, the preferred leader first."""


class PartitionDocument(AnswerRecord):
    """One partition of a plan."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    leader: int
    """Broker id of the preferred leader, which is the first replica."""
    replicas: ListOf[int]
    """Broker ids, the preferred leader first."""
    unassigned: int | None = ABSENT
    """Number of unassigned replicas; present if there are any."""


class DifferencePage(AnswerRecord):
    """Base of pages of a difference."""

    summary: Any
    """Counts over the whole difference, not only its page."""
    items: ListOf[Any]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""
