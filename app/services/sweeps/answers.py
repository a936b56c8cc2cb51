"""The answers about the scenarios of sweeps, as JSON and the OpenAPI document have them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

from app.services.bodies import AnswerRecord, Read
from app.services.reassignment.problem.problem import Relaxation


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
    """First month of the horizon in which a limit is exceeded, from 0; null if none is."""
    cross_rack_bytes_per_s: float | None = None
    """Bytes/s between racks."""
    remote_bytes: float | None = None
    """Bytes of tiered topics in remote storage, one copy of retained data."""
    restart_waves: int | None = None
    """Waves of a rolling restart; the fewest if they equal `restart_waves_lower_bound`. Null without `base.restart`."""
    restart_waves_lower_bound: int | None = None
    """No restart has fewer waves; null without `base.restart`."""
    error: dict[str, Any] | None = None
    """Why the scenario could not be scored, with a code and a detail; null if it was."""


class CountsDocument(AnswerRecord):
    """The number of scenarios that are scored, feasible, and within the constraints as well."""

    scored: int
    """Number of scenarios that are scored."""
    feasible: int
    """Number of scenarios within their limits."""
    acceptable: int
    """Number of feasible scenarios within the constraints as well."""


class BestDocument(AnswerRecord):
    """The best scenario, null if none is acceptable, and why each cheaper neighbour is not acceptable."""

    objective: str
    """Figure that is minimised or maximised."""
    constraints: dict[str, float]
    """Bounds that an acceptable scenario is within, by name."""
    counts: CountsDocument
    """Number of scenarios by whether they qualify."""
    best: Annotated[Mapping[str, Any] | None, Read(ScenarioDocument | None, dict)]
    """The best acceptable scenario; null without one."""
    why_not_cheaper: list[dict[str, Any]]
    """Neighbours on the axes that cost less, each with the reason why it is not acceptable."""


class ComparisonDocument(AnswerRecord):
    """The best scenarios of two sweeps."""

    first: BestDocument
    """Best scenario of the sweep in the path."""
    second: BestDocument
    """Best scenario of the sweep in `with`."""


class HistogramDocument(AnswerRecord):
    """The number of values from each edge to the next; the last bin includes its upper edge."""

    edges: list[float]
    """Edges of the bins, ascending, in the unit of the figure; one more than `counts`."""
    counts: list[int]
    """Number of scenarios in each bin."""


class DistributionDocument(AnswerRecord):
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


class SummaryDocument(AnswerRecord):
    """The distribution of each figure, null if no scenario has it. `failed` counts the scenarios with an error."""

    kind: str
    """Kind of the sweep."""
    scenarios: int
    """Number of scored scenarios."""
    failed: int
    """Number of scenarios with an error."""
    figures: dict[str, DistributionDocument | None]
    """Distribution by name of the figure; null if no scenario has it."""
