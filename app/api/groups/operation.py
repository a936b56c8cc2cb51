"""`POST /v1/plans/group`: the partitions of each consumer-group member, and the effect of events."""

from typing import Annotated

from fastapi import Body, Response

from app.api import examples
from app.api.groups.requests import PlanGroupRequest
from app.api.http.operations import Operations
from app.api.planned import PlanningOnce, plan_operation
from app.services.groups import PLANNER
from app.services.groups.answers import GroupPlanDocument

router = Operations("/v1/plans", "plans")


@plan_operation(router, "group", GroupPlanDocument)
def plan_group(
    planning: PlanningOnce, body: Annotated[PlanGroupRequest, Body(openapi_examples=examples.GROUP_REQUEST)]
) -> Response:
    """Predict the assignment of a consumer group.

    Predict the assignment after the group has rebalanced, equal to Kafka's own assignor's: the partitions that
    move, the reads across racks, and the optimum, with its certificate.

    `events` are applied in order, and each returns a step. Several assignors are compared. Silent behaviour of Kafka
    (ignored racks, partitions of topics without subscription) is in `warnings`.
    """
    return planning.answer(PLANNER, body)
