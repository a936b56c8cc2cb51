"""Records of snapshots and plans, as the stores take and return them.

Apart from the stores, so that a plan can be made and written without a database and its driver.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from app.core.model import Placement
from app.errors import Json

MOST_CHANGES = 100
"""Changes that the history of a plan has at most; older ones are dropped."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot without its document. `summary` is for lists: counts and warnings.

    A cluster may return to an earlier state: `last_seen_at` is when the same snapshot was stored last.
    """

    id: UUID
    cluster: str
    content_hash: str
    summary: Mapping[str, Json]
    created_at: datetime
    last_seen_at: datetime


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
    title: str = ""
    summary: str = ""
    status: str = "proposed"
    notes: str | None = None
    history: Sequence[Mapping[str, Json]] = ()
    """The changes of status, labels and notes, oldest first: the newest `MOST_CHANGES`."""
    revision: int = 0
    """The number of all changes."""
    ledger: Mapping[str, Json] | None = None
    """Measured execution against its prediction; None if no log was recorded."""


@dataclass(frozen=True, slots=True)
class ExecutedPlan:
    """A plan whose execution was recorded. An error is null if nothing can be compared."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"title": "ExecutedPlanDocument"}

    id: UUID
    """Id of the plan, whose `ledger` has its batches."""
    title: str
    """The plan in a few words."""
    cluster: str | None
    """Cluster of the plan."""
    bytes_error: float | None
    """Relative error of the copied bytes."""
    seconds_error: float | None
    """Relative error of the duration."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Relative errors of the predictions of plans that were executed.

    Parameters
    ----------
    count : number of plans.
    bytes_error, seconds_error : median and 90th percentile over plans; None if nothing can be compared.
    plans : the newest of them, newest first.
    """

    count: int
    bytes_error: Sequence[float] | None
    seconds_error: Sequence[float] | None
    plans: Sequence[ExecutedPlan]


@dataclass(frozen=True, slots=True)
class ListedPlan:
    """A plan in a list: neither its request, its answer nor its assignments is read for it."""

    id: UUID
    kind: str
    title: str
    summary: str
    status: str
    hash: str
    engine_version: int
    created_at: datetime
    cluster: str | None
    snapshot_id: UUID | None
    labels: Mapping[str, str]
    prediction: str
    seed: int | None


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
    title, summary : its changes and their cost, in a few words each.
    solver_seconds : time of solving; not stored, because the same plan is the same bytes.
    """

    kind: str
    hash: str
    cluster: str | None
    snapshot_id: UUID | None
    labels: Mapping[str, str]
    request: Mapping[str, Json]
    answer: Mapping[str, Json]
    placements: Sequence[Placement] = field(repr=False)
    title: str = ""
    summary: str = ""
    solver_seconds: float = field(default=0.0, compare=False)

    @property
    def head(self) -> "NewPlan":
        """The plan itself, which has the fields of the head of a stored plan."""
        return self


@dataclass(frozen=True, slots=True)
class PlanFilter:
    """Selects the plans of a list; a field that is None or empty does not restrict it."""

    kind: str | None = None
    status: str | None = None
    cluster: str | None = None
    topic: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    created_after: datetime | None = None
    created_before: datetime | None = None
