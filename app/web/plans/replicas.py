"""The view of a plan of replicas: the placement as a picture, and the commands of Kafka's tools."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from app.core.model import Broker, unpadded
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.topic_script import config_options
from app.services.plans import Plan, PlannedPartition
from app.services.plans.record import some
from app.store.records import PlanHead
from app.web.pictures import placement as placement_picture
from app.web.pictures.placement import PlacementPicture
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted

SHOWN_PARTITIONS, SHOWN_BROKERS = 50, 300
LONGEST_COMMAND = 4_000
"""Characters of a command that a person still copies; a longer assignment is a file."""


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    plan = viewed.plan
    known = {topic.name for topic in viewed.cluster.topics}
    return {
        "moves_existing": all(placement.topic in known for placement in plan.placements),
        "partitions": _first_partitions(plan),
        "create_command": _create_command(plan),
        "most_envelopes": SHOWN_PARTITIONS,
        "most_brokers": SHOWN_BROKERS,
    }


def _draw(viewed: ViewedPlan, style: str) -> str:
    plan, brokers = viewed.plan, viewed.cluster.brokers
    factors = {placement.replicas.shape[1] for placement in plan.placements}
    partitions = counted(sum(len(placement.replicas) for placement in plan.placements), "partition")
    size = f"{partitions} × {counted(factors.pop(), 'replica')}" if len(factors) == 1 else partitions
    names = some([placement.topic for placement in plan.placements], noun="topic")
    title = f"{names}: {size} on {counted(len(brokers), 'broker')}"
    assignments = {placement.topic: placement.assignment for placement in plan.placements}
    return placement_picture.draw(PlacementPicture(title, _in_domains(plan.head, brokers), assignments), style=style)


def _in_domains(head: PlanHead, brokers: Sequence[Broker]) -> Sequence[Broker]:
    """The brokers in their panels: racks, or the values of the first attribute that a plan goes by."""
    attributes: Any = head.request.get("attributes")
    if not attributes:
        return brokers
    return [replace(broker, rack=broker.value(attributes[0])) for broker in brokers]


def _first_partitions(plan: Plan) -> list[PlannedPartition]:
    rows = (
        PlannedPartition(placement.topic, placement.first_partition_id + index, replicas)
        for placement in plan.placements
        for index, replicas in enumerate(unpadded(placement.replicas[:SHOWN_PARTITIONS]))
    )
    return list(islice(rows, SHOWN_PARTITIONS))


def _create_command(plan: Plan) -> str | None:
    """The command that creates the plan's one topic as planned, where there is one and it is short enough to copy."""
    if len(plan.placements) != 1 or plan.placements[0].first_partition_id > 0:
        return None
    placement = plan.placements[0]
    configs: Any = plan.head.request.get("configs", {})
    if 2 * placement.replicas.size > LONGEST_COMMAND:
        return None  # too long before it is written, which for a million partitions takes a while
    command = (
        f"kafka-topics.sh --bootstrap-server localhost:9092 --create --topic {shlex.quote(placement.topic)}"
        f"{config_options(configs.get(placement.topic, {}))} \\\n"
        f"  --replica-assignment {reassignment.write_replica_assignment(placement.replicas)}"
    )
    return command if len(command) <= LONGEST_COMMAND else None


VIEW = View(
    title=lambda _, topics: some(topics, noun="topic"),
    draw=_draw,
    template="replica_plan.html",
    values=_values,
    tabs={"measures": "Measures", "partitions": "Partitions"},
)
"""How plans of replicas are shown."""
