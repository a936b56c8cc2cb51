"""`/plans/{id}`: a plan to look at, and how to hand it to Kafka."""

import shlex
from collections.abc import Sequence
from http import HTTPStatus
from itertools import islice
from uuid import UUID

from fastapi import APIRouter, Response, params

from app.core.model import Broker, unpadded
from app.errors import Json, PlanNotFound
from app.formats import replica_assignment
from app.services import plans
from app.services.plans import Plan, PlannedPartition
from app.store.database import Database
from app.web import pictures
from app.web.pages import page
from app.web.pictures import PlacementPicture
from app.web.words import counted

SHOWN_PARTITIONS, SHOWN_BROKERS = 50, 300
LONGEST_COMMAND = 4_000
"""Characters of a command that a person still copies; a longer assignment is a file."""

_PREDICTIONS = {
    "replay": "A generator with this seed gives exactly this placement in Kafka's own code. A live controller draws "
    "its own seed, so hand Kafka this assignment to get it.",
    "envelope": "Nobody chose a seed, and a live controller draws its own: this is one of the outcomes. What holds "
    "for all of them stands below; hand Kafka this assignment to get this one.",
    "pinned": "Nothing was drawn: the start was given. Hand Kafka this assignment to get it.",
}


def router(database: Database, *, dependencies: Sequence[params.Depends] = ()) -> APIRouter:
    """The plans' pages; `dependencies` is what has to hold for every request."""
    routes = APIRouter(include_in_schema=False, dependencies=list(dependencies))

    @routes.get("/plans/{plan_id}")
    def plan_page(plan_id: str) -> Response:
        try:
            with database.begin() as uow:
                plan = plans.load(uow, _id(plan_id))
                brokers = plans.brokers(uow, plan.head)
        except PlanNotFound:
            return page("plan_not_found.html", status=HTTPStatus.NOT_FOUND, plan_id=plan_id[:100])
        return page(
            "plan.html",
            title=_topic_names(plan),
            plan=plan,
            answer=plan.head.answer,
            prediction=_PREDICTIONS.get(str(plan.head.answer["prediction"]), ""),
            picture=pictures.draw(_picture(plan, brokers), style=""),
            partitions=_first_partitions(plan),
            total=sum(len(placement.replicas) for placement in plan.placements),
            create_command=_create_command(plan),
            envelopes=_envelopes(plan),
            most_brokers=SHOWN_BROKERS,
        )

    return routes


def plan_picture(plan: Plan, brokers: Sequence[Broker]) -> bytes:
    """The plan's placement over the brokers that it was made on, as a whole SVG document."""
    return pictures.draw(_picture(plan, brokers)).encode()


def _picture(plan: Plan, brokers: Sequence[Broker]) -> PlacementPicture:
    factors = {placement.replicas.shape[1] for placement in plan.placements}
    partitions = counted(sum(len(placement.replicas) for placement in plan.placements), "partition")
    size = f"{partitions} × {counted(factors.pop(), 'replica')}" if len(factors) == 1 else partitions
    title = f"{_topic_names(plan)}: {size} on {counted(len(brokers), 'broker')}"
    return PlacementPicture(title, brokers, {placement.topic: placement.assignment for placement in plan.placements})


def _topic_names(plan: Plan) -> str:
    names = [placement.topic for placement in plan.placements]
    if len(names) <= 3:
        return ", ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more topics"


def _first_partitions(plan: Plan) -> list[PlannedPartition]:
    found = (
        PlannedPartition(placement.topic, placement.first_partition_id + index, replicas)
        for placement in plan.placements
        for index, replicas in enumerate(unpadded(placement.replicas[:SHOWN_PARTITIONS]))
    )
    return list(islice(found, SHOWN_PARTITIONS))


def _envelopes(plan: Plan) -> list[tuple[str, Json]]:
    """What holds over all draws, by topic; nothing where none was left open."""
    found = plan.head.answer.get("envelope")
    if not isinstance(found, list):
        return []
    return list(zip([placement.topic for placement in plan.placements[:SHOWN_PARTITIONS]], found, strict=False))


def _create_command(plan: Plan) -> str | None:
    """The command that creates the plan's one topic as planned, where there is one and it is short enough to copy."""
    if len(plan.placements) != 1 or plan.placements[0].first_partition_id > 0:
        return None
    placement = plan.placements[0]
    if 2 * placement.replicas.size > LONGEST_COMMAND:
        return None  # too long before it is written, which for a million partitions takes a while
    command = (
        f"kafka-topics.sh --bootstrap-server localhost:9092 --create --topic {shlex.quote(placement.topic)} \\\n"
        f"  --replica-assignment {replica_assignment.write(placement.replicas)}"
    )
    return command if len(command) <= LONGEST_COMMAND else None


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise PlanNotFound(f"{text[:100]} is not the id of a plan") from None
