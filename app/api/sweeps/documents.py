"""Answers about sweeps, as JSON."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class SweepDocument(BaseModel):
    """A sweep. `error` says why it failed, `waiting` why it is not making progress; both are null otherwise."""

    id: UUID
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    scenarios: int
    done: int
    rate_per_s: float | None
    seconds_left: float | None
    waiting: dict[str, Any] | None
    error: dict[str, Any] | None
    labels: dict[str, str]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class SweepWithDefinition(SweepDocument):
    """A sweep and its definition."""

    definition: dict[str, Any]


class SweepsPage(BaseModel):
    """Sweeps, newest first."""

    items: list[SweepDocument]
    next_page_token: str | None


class BindingDocument(BaseModel):
    """The limit that breaks first: on which broker, under which failure, with which load."""

    resource: str
    broker: int | None
    failure: str
    value: float
    limit: float


class ScenarioDocument(BaseModel):
    """One scored scenario, with the figures of its sweep's kind; those listed here are of capacity sweeps.

    A scenario that could not be scored has its `error` and its axes alone.
    """

    model_config = ConfigDict(extra="allow")

    index: int
    axes: dict[str, Any]
    feasible: bool | None = None
    binding: BindingDocument | None = None
    monthly_cost: float | None = None
    headroom: float | None = None
    first_breaking_month: int | None = None
    cross_rack_bytes_per_s: float | None = None
    error: dict[str, Any] | None = None


class ScenariosPage(BaseModel):
    """A page of scenarios."""

    items: list[ScenarioDocument]
    next_page_token: str | None


class FrontDocument(BaseModel):
    """The feasible scenarios that no other dominates in cost, headroom and cross-rack bytes; cheapest first."""

    items: list[ScenarioDocument]


class CountsDocument(BaseModel):
    """The number of scenarios that are scored, feasible, and within the constraints as well."""

    scored: int
    feasible: int
    acceptable: int


class HistogramDocument(BaseModel):
    """The number of values from each edge to the next; the last bin includes its upper edge."""

    edges: list[float]
    counts: list[int]


class DistributionDocument(BaseModel):
    """A figure over the scenarios that have it; `without` counts the others."""

    count: int
    without: int
    min: float
    mean: float
    p50: float
    p95: float
    max: float
    histogram: HistogramDocument


class SummaryDocument(BaseModel):
    """The distribution of each figure, null if no scenario has it. `failed` counts the scenarios with an error."""

    kind: str
    scenarios: int
    failed: int
    figures: dict[str, DistributionDocument | None]


class BestDocument(BaseModel):
    """The best scenario, null if none is acceptable, and why each cheaper neighbour is not acceptable."""

    objective: str
    constraints: dict[str, float]
    counts: CountsDocument
    best: ScenarioDocument | None
    why_not_cheaper: list[dict[str, Any]]


class ComparisonDocument(BaseModel):
    """The best scenarios of two sweeps."""

    first: BestDocument
    second: BestDocument
