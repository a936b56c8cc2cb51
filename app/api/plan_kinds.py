"""The documents of each kind of plan in OpenAPI."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import BaseModel

from app.api.consumers.documents import ConsumersDiffDocument, ConsumersPlanDocument
from app.api.groups.documents import GroupDiffDocument, GroupPlanDocument
from app.api.plan_documents import DiffDocument, PlanDocument
from app.api.reassignment.diff_documents import ReassignmentDiffDocument
from app.api.reassignment.documents import ReassignmentPlanDocument
from app.api.restarts.documents import RestartDiffDocument, RestartPlanDocument
from app.api.streams.documents import StreamsDiffDocument, StreamsPlanDocument


@dataclass(frozen=True, slots=True)
class PlanResource:
    """One kind of plan in the API: the documents of a plan and of a difference."""

    plan: type[BaseModel]
    difference: type[BaseModel]


PLAN_RESOURCES: Mapping[str, PlanResource] = MappingProxyType(
    {
        "replicas": PlanResource(PlanDocument, DiffDocument),
        "reassignment": PlanResource(ReassignmentPlanDocument, ReassignmentDiffDocument),
        "group": PlanResource(GroupPlanDocument, GroupDiffDocument),
        "streams": PlanResource(StreamsPlanDocument, StreamsDiffDocument),
        "restart": PlanResource(RestartPlanDocument, RestartDiffDocument),
        "consumers": PlanResource(ConsumersPlanDocument, ConsumersDiffDocument),
    }
)
"""Every kind of `KINDS`, in its order; the documents of `/v1/plans` are made of it."""
