"""`POST /v1/plans/consumers`: how many consumers a group needs, when, and which partitions each reads."""

from typing import Annotated

from fastapi import Body, Response

from app.api import examples
from app.api.http.operations import Operations
from app.api.planned import PlanningOnce, plan_operation
from app.services.consumers import PLANNER, ConsumersRequest
from app.services.consumers.answers import ConsumersPlanDocument

router = Operations("/v1/plans", "plans")


@plan_operation(router, "consumers", ConsumersPlanDocument)
def plan_consumers(
    planning: PlanningOnce, body: Annotated[ConsumersRequest, Body(openapi_examples=examples.CONSUMERS_REQUEST)]
) -> Response:
    """Plan the consumers of a group over time.

    Find the fewest consumers of each interval that read all partitions within their capacity, and the assignment
    that moves least from the interval before, each with a lower bound. `schedule` states when to have how many;
    `front` states the movement that more consumers would save; `oversized` has partitions that no consumer can read.
    """
    return planning.answer(PLANNER, body)
