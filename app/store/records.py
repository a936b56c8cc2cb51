"""Records of snapshots and plans, as the stores take and return them.

Apart from the stores, so that a plan can be made and written without a database and its driver.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app.core.model import Placement
from app.errors import Json


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot without its document. `summary` has what a list shows: counts and warnings."""

    id: UUID
    cluster: str
    content_hash: str
    summary: Mapping[str, Json]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PlanHead:
    """A plan without its assignments."""

    id: UUID
    kind: str
    hash: str
    cluster: str | None
    snapshot_id: UUID | None
    labels: Mapping[str, str]
    request: Mapping[str, Json]
    answer: Mapping[str, Json]
    """Everything but the assignments: prediction, seed, measures, violations, warnings."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PlanTopic:
    """The shape of one topic of a plan."""

    ordinal: int
    name: str
    first_partition_id: int
    partitions: int
    replication_factor: int


@dataclass(frozen=True, slots=True)
class NewPlan:
    """A plan that is ready to be stored.

    Parameters
    ----------
    solver_seconds : what solving took; not stored, because the same plan is the same bytes.
    """

    kind: str
    hash: str
    cluster: str | None
    snapshot_id: UUID | None
    labels: Mapping[str, str]
    request: Mapping[str, Json]
    answer: Mapping[str, Json]
    placements: Sequence[Placement] = field(repr=False)
    solver_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class PlanFilter:
    """Selects the plans of a list; a field that is None or empty does not restrict it."""

    kind: str | None = None
    cluster: str | None = None
    topic: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    created_after: datetime | None = None
    created_before: datetime | None = None
