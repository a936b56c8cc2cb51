"""`POST /v1/plans/restart`: the waves in which the brokers of a cluster are restarted."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel

from app.api import examples
from app.api.http.json_bodies import JsonRoute
from app.api.models.clusters import WarningDocument
from app.api.plan_documents import WholePlan
from app.api.planned import PlanningOnce, plan_operation
from app.core.restarts.model import Reason
from app.errors import reassignments, requests
from app.services.bodies import one_of
from app.services.restarts import PLANNER, REASONS, BrokerWave, RestartRequest, WaveCounts


class LargestLoad(BaseModel):
    """The load of the remaining broker that is nearest to its limit, or has the largest load if none is limited."""

    broker: int
    """Id of the broker."""
    value: float
    """Its load while the wave is down: partitions that it leads, bytes/s or vCPU."""
    limit: float | None
    """Its limit in the same unit; null if it has none."""


class WaveDocument(BaseModel):
    """Brokers that are restarted together."""

    brokers: list[int]
    """Ids of the brokers, ascending."""
    unwritable: int
    """Number of partitions that fall below `min.insync.replicas` while the wave is down; they are in `blocked`."""
    leaders_moved: int
    """Number of partitions that another broker leads while the wave is down."""
    largest_load: dict[str, LargestLoad]
    """By resource, `leaders` and those whose rates are known; empty if no broker remains."""
    seconds: float
    """Time until the last broker of the wave is back and, if `catch_up_bytes_per_s` is stated, in sync."""


class WaveConflict(BaseModel):
    """A proof that some brokers need several waves."""

    reason: Reason
    """`pairs`: no two of the brokers may be in one wave: they share a partition without slack, are in different racks
    and waves are per rack, or one is above a limit alone. `partition`, `controllers`: a wave can take
    only a part of these brokers. `size`: waves have `max_brokers_per_wave`. `search`: no schedule has fewer waves."""
    waves: int
    """Number of waves that the brokers need at least."""
    brokers: list[int]
    """Ids of the brokers, ascending. Brokers of different proofs are never in one wave, so that their waves add up."""
    topic: str | None
    """Topic of the partition; null unless `reason` is `partition`."""
    partition: int | None
    """Id of the partition; null likewise."""


class WaveCertificate(BaseModel):
    """The number of waves and the proof that there are none with fewer."""

    waves: int
    """Number of waves."""
    lower_bound_waves: int
    """No schedule has fewer waves: the sum over `conflict`."""
    optimal: bool
    """Whether the bound is reached."""
    gap: float
    """Relative optimality gap: (waves − lower bound) / waves."""
    conflict: list[WaveConflict]
    """The brokers that need these waves."""


class BlockedDocument(BaseModel):
    """What no schedule avoids; the waves are planned in spite of it."""

    topic: str | None
    """Topic of the partition; null if it is no partition."""
    partition: int | None
    """Id of the partition; null likewise."""
    broker: int | None
    """Id of the broker; null unless `reason` is `above_limit`."""
    reason: Annotated[str, one_of(REASONS)]
    """Why a partition is not writable during the restart of any of its brokers: it has no replica in sync on a broker
    that is up; `min.insync.replicas` exceeds its replicas; fewer are in sync than it needs; it has one replica; it has
    as many replicas as it needs; as many are in sync as it needs. `above_limit`: the leaders of the broker alone exceed
    a limit elsewhere, so that it is restarted alone. `quorum`: the restart of one controller leaves no majority."""


class RestartPlanDocument(WholePlan):
    """The waves of a restart, in the order of execution."""

    waves: list[WaveDocument]
    """The waves, each after the one before is complete."""
    seconds: float
    """Sum of the times of the waves."""
    certificate: WaveCertificate
    """Proof of the number of waves."""
    blocked: list[BlockedDocument]
    """Brokers, the quorum and the first 1,000 partitions that no schedule keeps available."""
    blocked_partitions: int
    """Number of blocked partitions."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""


class RestartDiffDocument(BaseModel):
    """The brokers whose wave differs, by id."""

    summary: WaveCounts
    """Counts over all brokers, not only those of the page."""
    items: list[BrokerWave]
    """Brokers with another wave, by id."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


router = APIRouter(route_class=JsonRoute, prefix="/v1/plans", tags=["plans"])


@plan_operation(
    router,
    "restart",
    summary="Plan the restart of a cluster in waves",
    answer=RestartPlanDocument,
    failures=(
        requests.ConflictingFields,
        reassignments.UnknownBroker,
        reassignments.UnknownTopic,
        reassignments.CapacityMissing,
        reassignments.RatesMissing,
    ),
)
def plan_restart(
    planning: PlanningOnce, body: Annotated[RestartRequest, Body(openapi_examples=examples.RESTART_REQUEST)]
) -> Response:
    """Order the restarts of all brokers that are up in the fewest waves. In each wave every partition has a leader and
    `min.insync.replicas` in sync, the controllers have a majority, and no broker exceeds `limits` with the leaders of
    the wave elsewhere. `certificate` proves the number of waves; `blocked` has what no schedule keeps available.
    """
    return planning.answer(PLANNER, body)
