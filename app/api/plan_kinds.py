"""What the API has for each kind of plan: its operation, and its documents in OpenAPI."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.groups import operation as groups
from app.api.groups.documents import GroupPlanDocument
from app.api.plan_documents import (
    DiffDocument,
    GroupDiffDocument,
    PlanDocument,
    ReassignmentDiffDocument,
    StreamsDiffDocument,
)
from app.api.reassignment import operation as reassignment
from app.api.reassignment.documents import ReassignmentPlanDocument
from app.api.replicas import operation as replicas
from app.api.streams import operation as streams
from app.api.streams.documents import StreamsPlanDocument


@dataclass(frozen=True, slots=True)
class PlanResource:
    """One kind of plan in the API. `router` has the operation that plans, `plan` and `difference` are its documents."""

    router: APIRouter
    plan: type[BaseModel]
    difference: type[BaseModel]


PLAN_RESOURCES: Mapping[str, PlanResource] = MappingProxyType(
    {
        "replicas": PlanResource(replicas.router, PlanDocument, DiffDocument),
        "reassignment": PlanResource(reassignment.router, ReassignmentPlanDocument, ReassignmentDiffDocument),
        "group": PlanResource(groups.router, GroupPlanDocument, GroupDiffDocument),
        "streams": PlanResource(streams.router, StreamsPlanDocument, StreamsDiffDocument),
    }
)
"""Every kind of `KINDS`, in its order; the application's routes and the documents of `/v1/plans` are made of it."""
