"""Answers about sweeps, as JSON."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from app.services.bodies import AnswerRecord
from app.services.sweeps.answers import ScenarioDocument


class SweepDocument(AnswerRecord):
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


class SweepsPage(AnswerRecord):
    """Sweeps, newest first."""

    items: list[SweepDocument]
    """Sweeps without their definitions, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class ScenariosPage(AnswerRecord):
    """A page of scenarios."""

    items: list[ScenarioDocument]
    """Scenarios in the requested order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class FrontDocument(AnswerRecord):
    """The feasible scenarios that no other dominates in cost, headroom and cross-rack bytes; cheapest first."""

    items: list[ScenarioDocument]
    """Scenarios that no other dominates, cheapest first."""
