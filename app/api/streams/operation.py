"""`POST /v1/plans/streams`: where the tasks of a Kafka Streams application run."""

from typing import Annotated

from fastapi import Body, Response

from app.api import examples
from app.api.http.operations import Operations
from app.api.planned import PlanningOnce, plan_operation
from app.api.streams.requests import PlanStreamsRequest
from app.services.streams import PLANNER
from app.services.streams.answers import StreamsPlanDocument

router = Operations("/v1/plans", "plans")


@plan_operation(router, "streams", StreamsPlanDocument)
def plan_streams(
    planning: PlanningOnce, body: Annotated[PlanStreamsRequest, Body(openapi_examples=examples.STREAMS_REQUEST)]
) -> Response:
    """Predict the assignment of Streams tasks.

    Predict the clients of active, standby and warm-up tasks, equal to Kafka Streams' own assignor
    (KIP-441), with standbys by client tags (KIP-708) and racks (KIP-925); or, with `protocol: "streams"` (KIP-1071),
    to the coordinator of `kafka_version`, with the tasks of each member. That assignor ignores tags and racks:
    `compared_with_classic` has the tasks all of whose copies one loss takes.

    `ideal` is true if every stateful task has its standbys, all of them apart by every listed tag; `tasks` has the
    reason for each task. `if_lost` has for each tag value, and `if_client_lost` for each client, the tasks that lose
    their state and the lag of the other tasks' survivors. Features that Kafka disables silently are in `warnings`.
    """
    return planning.answer(PLANNER, body)
