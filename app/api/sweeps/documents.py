"""Answers about sweeps, as JSON."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from app.services.reassignment.problem.problem import Relaxation


class SweepDocument(BaseModel):
    """A sweep. `error` says why it failed, `waiting` why it is not making progress; both are null otherwise."""

    id: UUID
    """Id of the sweep, a UUIDv7: later sweeps have greater ids."""
    kind: str
    """Kind of the sweep."""
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    """State of the sweep; the last three are final."""
    scenarios: int
    """Number of scenarios."""
    done: int
    """Number of scenarios that are scored."""
    rate_per_s: float | None
    """Scenarios scored in a second, of late; null unless the sweep runs."""
    seconds_left: float | None
    """Estimated seconds until the sweep ends; null unless the sweep runs."""
    waiting: dict[str, Any] | None
    """Why the sweep makes no progress, with a code and a detail; null if it does."""
    error: dict[str, Any] | None
    """Why the sweep failed, with a code and a detail; null unless `state` is `failed`."""
    labels: dict[str, str]
    """Labels of the request, name → value."""
    created_at: datetime
    """When the sweep was accepted, RFC 3339 in UTC."""
    started_at: datetime | None
    """When a worker started the sweep, RFC 3339 in UTC; null before."""
    finished_at: datetime | None
    """When the sweep ended, RFC 3339 in UTC; null before."""


class SweepWithDefinition(SweepDocument):
    """A sweep and its definition."""

    definition: dict[str, Any]
    """The definition: every field of the request with its default."""


class SweepsPage(BaseModel):
    """Sweeps, newest first."""

    items: list[SweepDocument]
    """Sweeps without their definitions, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class BindingDocument(BaseModel):
    """The limit that breaks first: on which broker, under which failure, with which load."""

    resource: str
    """Resource that reaches its limit first."""
    broker: int | None
    """Id of the broker that it belongs to; null if it belongs to none."""
    failure: str
    """Failure under which it does, such as `none`, `broker:3` or `rack:a`."""
    value: float
    """Load of the resource, in its unit."""
    limit: float
    """Limit of the resource, in its unit."""


class ViolatedLimitDocument(BaseModel):
    """The limit of a resource that brokers exceed in the placement with the least excess that was found."""

    resource: str
    """Resource whose limit is exceeded."""
    brokers: int
    """Number of brokers above their limits."""
    broker: int
    """Id of the broker that is farthest above its limit."""
    value: float
    """Its load, in the unit of the resource."""
    limit: float
    """Its limit, in the unit of the resource."""
    soft: bool
    """Whether the limit is soft, so that the scenario is feasible all the same."""


class ScenarioDocument(BaseModel):
    """One scored scenario, with the figures of its sweep's kind; those listed here are of capacity sweeps, `feasible`
    and `violated_limits` of reassignments, too.

    A scenario that could not be scored has its `error` and its axes alone.
    """

    model_config = ConfigDict(extra="allow")

    index: int
    """Index of the scenario in the sweep, from 0."""
    axes: dict[str, Any]
    """Value of each axis."""
    feasible: bool | None = None
    """Whether every load is within its limit under every failure; of reassignments, within every hard limit."""
    violated_limits: list[ViolatedLimitDocument] | None = None
    """Limits that brokers exceed, by resource; empty if all hold."""
    relaxed: list[Relaxation] | None = None
    """Of reassignments, constraints that do not hold because they conflict; empty if the scenario is feasible."""
    binding: BindingDocument | None = None
    """The limit that breaks first; null if no resource has one."""
    monthly_cost: float | None = None
    """Cost of a month, in the currency of the prices."""
    headroom: float | None = None
    """Factor by which traffic can grow until the first limit is reached; null if there is no limit."""
    first_breaking_month: int | None = None
    """First month of the horizon in which a limit is exceeded, from 0; null if there is none."""
    cross_rack_bytes_per_s: float | None = None
    """Bytes/s between racks."""
    remote_bytes: float | None = None
    """Bytes of tiered topics in remote storage, one copy of what is retained."""
    restart_waves: int | None = None
    """Waves of a rolling restart; the fewest if they equal `restart_waves_lower_bound`. Null without `base.restart`."""
    restart_waves_lower_bound: int | None = None
    """No restart has fewer waves; null without `base.restart`."""
    error: dict[str, Any] | None = None
    """Why the scenario could not be scored, with a code and a detail; null if it was."""


class ScenariosPage(BaseModel):
    """A page of scenarios."""

    items: list[ScenarioDocument]
    """Scenarios in the requested order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class FrontDocument(BaseModel):
    """The feasible scenarios that no other dominates in cost, headroom and cross-rack bytes; cheapest first."""

    items: list[ScenarioDocument]
    """Scenarios that no other dominates, cheapest first."""


class CountsDocument(BaseModel):
    """The number of scenarios that are scored, feasible, and within the constraints as well."""

    scored: int
    """Number of scenarios that are scored."""
    feasible: int
    """Number of scenarios within their limits."""
    acceptable: int
    """Number of feasible scenarios within the constraints as well."""


class HistogramDocument(BaseModel):
    """The number of values from each edge to the next; the last bin includes its upper edge."""

    edges: list[float]
    """Edges of the bins, ascending, in the unit of the figure; one more than `counts`."""
    counts: list[int]
    """Number of scenarios in each bin."""


class DistributionDocument(BaseModel):
    """A figure over the scenarios that have it; `without` counts the others."""

    count: int
    """Number of scenarios that have the figure."""
    without: int
    """Number of scenarios that do not have it."""
    min: float
    """Smallest value."""
    mean: float
    """Arithmetic mean."""
    p50: float
    """Median."""
    p95: float
    """95th percentile."""
    max: float
    """Largest value."""
    histogram: HistogramDocument
    """Number of values in bins of equal width."""


class SummaryDocument(BaseModel):
    """The distribution of each figure, null if no scenario has it. `failed` counts the scenarios with an error."""

    kind: str
    """Kind of the sweep."""
    scenarios: int
    """Number of scored scenarios."""
    failed: int
    """Number of scenarios with an error."""
    figures: dict[str, DistributionDocument | None]
    """Distribution by name of the figure; null if no scenario has it."""


class BestDocument(BaseModel):
    """The best scenario, null if none is acceptable, and why each cheaper neighbour is not acceptable."""

    objective: str
    """Figure that is minimised or maximised."""
    constraints: dict[str, float]
    """Bounds that an acceptable scenario is within, by name."""
    counts: CountsDocument
    """Number of scenarios by whether they qualify."""
    best: ScenarioDocument | None
    """The best acceptable scenario; null if there is none."""
    why_not_cheaper: list[dict[str, Any]]
    """Neighbours on the axes that cost less, each with the reason why it is not acceptable."""


class ComparisonDocument(BaseModel):
    """The best scenarios of two sweeps."""

    first: BestDocument
    """Best scenario of the sweep in the path."""
    second: BestDocument
    """Best scenario of the sweep in `with`."""
