"""What group plans look like as JSON."""

from typing import Any, Literal

from pydantic import BaseModel

from app.api.models.clusters import WarningDocument
from app.api.plan_documents import WholePlan
from app.core.groups.measures.locality import Handover
from app.core.groups.measures.violations import GroupViolation
from app.services.groups import ReaderChange
from app.services.groups.answers import (
    Assigned,
    ComparedAssignor,
    LoadsOfMembers,
    Locality,
    Optimum,
    Phase,
    Sharing,
    Step,
    Traffic,
    Trigger,
)


class GroupPlanDocument(WholePlan):
    """The assignment after the group has rebalanced. `phases[0].assignment` is the assignor's first answer."""

    assignor: str
    """Name of the assignor."""
    protocol: Literal["eager", "cooperative", "reconciled"]
    """How members hand partitions over: all at once, in two phases, or as the coordinator reconciles them."""
    assignment: Assigned
    """Partition ids by member id and topic, once the group has settled."""
    phases: list[Phase]
    """Rounds of the rebalance, in order."""
    settled: bool
    """Whether the rounds end."""
    locality: Locality
    """Where partitions are read."""
    traffic: Traffic | None = None
    """Bytes/s from rack to rack; null if no rate is known, or for a share group; absent from plans of earlier
    releases."""
    loads: LoadsOfMembers
    """Balance of members, and the load of each."""
    moved: int | None
    """Number of partitions that change members; null if owned partitions do not matter, as in a share group."""
    revoked: int | None
    """Number of partitions that are taken from members that stay; null as `moved`."""
    handover: Handover | None
    """Number of partitions by what happens to them; null as `moved`."""
    optimum: Optimum | None
    """The optimal assignment to compare with; null for a share group."""
    sharing: Sharing | None
    """How partitions are covered; null unless it is a share group."""
    comparison: list[ComparedAssignor]
    """Each assignor of the request, in its order."""
    steps: list[Step]
    """Effect of each event, in order; empty without events."""
    trigger: Trigger | None
    """Whether changes since `previous_snapshot_id` make the leader rebalance; null without one."""
    violations: list[GroupViolation]
    """Ways in which the assignment is illegal or uneven; empty if there are none."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""


class GroupDiffDocument(BaseModel):
    """The partitions whose readers differ, by topic and partition id."""

    summary: Handover
    """Counts over all partitions, not only those of the page."""
    items: list[ReaderChange]
    """Partitions with other readers, by topic and partition id."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""
