"""`POST /v1/plans/replicas`: place the replicas of new topics and new partitions."""

from typing import Annotated

from fastapi import Body, Response

from app.api import examples
from app.api.http.operations import Operations
from app.api.planned import PlanningOnce, plan_operation
from app.api.replicas.requests import PlaceRequest
from app.services.replicas import PLANNER
from app.services.replicas.answers import PlanDocument

router = Operations("/v1/plans", "plans")


@plan_operation(router, "replicas", PlanDocument)
def plan_replicas(
    planning: PlanningOnce, body: Annotated[PlaceRequest, Body(openapi_examples=examples.PLACE_REQUEST)]
) -> Response:
    """Place new topics as Kafka does.

    Place the replicas of new topics exactly as Kafka's own code does; the same request gets the same plan, byte for
    byte.

    The plan's `prediction` is `replay` (the outcome of this seed), `pinned` (nothing is random: give Kafka the
    assignment) or `envelope` (a controller chooses its own seed: this is one outcome, and `envelope` has the bounds
    over all of them).
    """
    return planning.answer(PLANNER, body)
