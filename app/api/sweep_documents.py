"""What sweeps look like as JSON."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class SweepDocument(BaseModel):
    """A sweep. `state` is all that has to be read: `error` says why it failed, `waiting` why it does not go on now."""

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
    """A sweep, and what it sweeps."""

    definition: dict[str, Any]


class SweepsPage(BaseModel):
    """Sweeps, newest first."""

    items: list[SweepDocument]
    next_page_token: str | None


class BindingDocument(BaseModel):
    """What makes a scenario not feasible: on which broker, under which failure, and by how much."""

    resource: str
    broker: int | None
    failure: str
    value: float
    limit: float


class ScenarioDocument(BaseModel):
    """One scored scenario, with the figures of its sweep's kind; those that are listed here are of capacity sweeps.

    One that could not be scored has its `error`, and nothing else but its axes.
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
    """Scenarios as they were asked for."""

    items: list[ScenarioDocument]
    next_page_token: str | None


class FrontDocument(BaseModel):
    """The feasible scenarios that no other beats in cost, headroom and cross-rack bytes at once; cheapest first."""

    items: list[ScenarioDocument]


class CountsDocument(BaseModel):
    """How many scenarios were scored, are feasible, and keep the constraints as well."""

    scored: int
    feasible: int
    acceptable: int


class HistogramDocument(BaseModel):
    """How many values lie from one edge to the next; the last bin holds its upper edge, too."""

    edges: list[float]
    counts: list[int]


class DistributionDocument(BaseModel):
    """A figure over the scenarios that have it; `without` counts those that have not."""

    count: int
    without: int
    min: float
    mean: float
    p50: float
    p95: float
    max: float
    histogram: HistogramDocument


class SummaryDocument(BaseModel):
    """The figures of a sweep's scenarios; one that no scenario has is null. `failed` scenarios have an error alone."""

    kind: str
    scenarios: int
    failed: int
    figures: dict[str, DistributionDocument | None]


class BestDocument(BaseModel):
    """The best scenario, null where none will do, and why each cheaper neighbour is not it."""

    objective: str
    constraints: dict[str, float]
    counts: CountsDocument
    best: ScenarioDocument | None
    why_not_cheaper: list[dict[str, Any]]


class ComparisonDocument(BaseModel):
    """Two sweeps by what each found best."""

    first: BestDocument
    second: BestDocument
