"""The additional report on replicas placed by attributes: exposure, unassigned replicas, warnings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.core.measures.placement import exposure_by_attribute
from app.core.model import Assignment, Broker, NewTopic, Placement
from app.core.replicas.awareness.layout import Layout
from app.core.replicas.awareness.rules import POLICIES, Rules
from app.core.replicas.awareness.verifier import broken
from app.errors import Json
from app.services.cautions import Caution, caution
from app.services.replicas.answers import AwareMeasures, ReplicasAnswer, UnassignedDocument


def with_attributes(
    answer: ReplicasAnswer,
    placements: Sequence[Placement],
    topics: Sequence[NewTopic],
    *,
    listed: Sequence[Broker],
    live: Sequence[Broker],
    rules: Rules,
) -> ReplicasAnswer:
    """An answer with the report on attributes; `listed` are all brokers, `live` those that replicas were placed on."""
    assignments: dict[str, Assignment] = {placement.topic: placement.assignment for placement in placements}
    unassigned = list(_unassigned(placements, topics, live, rules))
    of_rules = (
        violation
        for placement, topic in zip(placements, topics, strict=True)
        for violation in broken(placement, live, rules, topic.replication_factor)
    )
    return replace(
        answer,
        measures=AwareMeasures.of(answer.measures, exposure_by_attribute(assignments, listed, rules.attributes)),
        unassigned=unassigned,
        violations=[*answer.violations, *of_rules],
        warnings=[*answer.warnings, *_cautions(unassigned, topics, listed, live, rules)],
    )


def unassigned_of(answer: Mapping[str, Json], topic: str) -> int:
    """The number of unassigned replicas of each partition of a topic, from the plan's answer."""
    listed: Any = answer.get("unassigned") or ()
    return next((each["replicas_per_partition"] for each in listed if each["topic"] == topic), 0)


def _unassigned(
    placements: Sequence[Placement], topics: Sequence[NewTopic], live: Sequence[Broker], rules: Rules
) -> Iterator[UnassignedDocument]:
    lost = {name: _absent(values, live, name) for name, values in rules.forced.items()}
    for placement, topic in zip(placements, topics, strict=True):
        partitions, factor = placement.replicas.shape
        if missing := topic.replication_factor - factor:
            values = {name: absent for name, absent in lost.items() if absent}
            yield UnassignedDocument(topic.name, missing, partitions, missing * partitions, values)


def _absent(values: Sequence[str], brokers: Sequence[Broker], name: str) -> list[str]:
    there = {broker.value(name) for broker in brokers}
    return [value for value in values if value not in there]


def _cautions(
    unassigned: Sequence[UnassignedDocument],
    topics: Sequence[NewTopic],
    listed: Sequence[Broker],
    live: Sequence[Broker],
    rules: Rules,
) -> Iterator[Caution]:
    if unassigned:
        replicas = sum(each.replicas for each in unassigned)
        concerned = tuple(each.topic for each in unassigned)
        yield caution("replicas_unassigned", replicas=replicas, topics=concerned)
    for name, values in rules.forced.items():
        if unknown := _absent(values, listed, name):
            yield caution("forced_value_without_broker", name=name, unknown=", ".join(unknown))
    layout = Layout.of(live, rules.attributes)
    name, shares = layout.attributes[0], layout.share_of(0)
    if shares.max() - shares.min() > shares.max() * 1e-9:
        sizes = ", ".join(f"{value}: {size}" for value, size in zip(layout.values[0], layout.sizes(0), strict=True))
        yield caution("unequal_values", name=name, sizes=sizes)
    demands = POLICIES[rules.policy]
    for topic in topics:
        led_by = {demand.leading_value for demand in demands(layout, rules, topic.replication_factor)}
        if None not in led_by and len(led_by) < len(layout.values[0]):
            idle = ", ".join(value for at, value in enumerate(layout.values[0]) if at not in led_by)
            of_topic = {"topic": topic.name, "topics": (topic.name,)}
            yield caution("values_never_lead", name=name, idle=idle, policy=rules.policy.value, **of_topic)
