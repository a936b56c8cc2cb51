"""`POST /v1/plans/reassignment`: add and remove brokers, change factors and racks, with the least movement."""

from typing import Annotated

from fastapi import Body, Response

from app.api import examples
from app.api.http.operations import Operations
from app.api.planned import PlanningOnce, plan_operation
from app.services.reassignment import PLANNER, ReassignmentRequest
from app.services.reassignment.reports.report import ReassignmentPlanDocument

router = Operations("/v1/plans", "plans")


@plan_operation(router, "reassignment", ReassignmentPlanDocument)
def plan_reassignment(
    planning: PlanningOnce, body: Annotated[ReassignmentRequest, Body(openapi_examples=examples.REASSIGNMENT_REQUEST)]
) -> Response:
    """Change a cluster with the least movement.

    Add, remove and replace brokers, change replication factors, repair racks, balance replicas and leaders: with the
    least movement, proven by the `certificate`.

    `batches` are the steps that Kafka executes one after another, within the limits of the request. If the request is
    infeasible, the problem has an irreducible infeasible subset of its constraints, and changes that resolve it.
    """
    return planning.answer(PLANNER, body)
