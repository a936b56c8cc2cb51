"""`POST /v1/plans/restart`: the waves in which the brokers of a cluster are restarted."""

from typing import Annotated

from fastapi import Body, Response

from app.api import examples
from app.api.http.operations import Operations
from app.api.planned import PlanningOnce, plan_operation
from app.services.restarts import PLANNER, RestartRequest
from app.services.restarts.reports import RestartPlanDocument

router = Operations("/v1/plans", "plans")


@plan_operation(router, "restart", RestartPlanDocument)
def plan_restart(
    planning: PlanningOnce, body: Annotated[RestartRequest, Body(openapi_examples=examples.RESTART_REQUEST)]
) -> Response:
    """Plan the restart of a cluster in waves.

    Order the restarts of all brokers that are up in the fewest waves. In each wave every partition has a leader and
    `min.insync.replicas` in sync, the controllers have a majority, and no broker exceeds `limits` with the leaders of
    the wave elsewhere. `certificate` proves the number of waves; `blocked` lists blockers in any schedule.
    """
    return planning.answer(PLANNER, body)
