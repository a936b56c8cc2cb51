"""A plan of replicas as a file: for Kafka's tools, for people and for programs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from app.core.model import Cluster, Int32s, Placement
from app.errors.every import NotExportable
from app.formats.kafka_files import reassignment, topic_script
from app.formats.kafka_files.topic_script import ScriptedTopic
from app.formats.syntax.quantities import counted
from app.formats.tables import placement_tables
from app.services.plans import MARKDOWN_ROWS, ClusterOf, Plan, Write
from app.services.replicas.awareness import unassigned_of
from app.store.records import NewPlan


def _replica_assignment(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
    """The string is of one topic, from partition 0 on: Kafka skips the partitions that exist."""
    if len(plan.placements) != 1:
        names = ", ".join(placement.topic for placement in plan.placements[:10])
        raise NotExportable(f"--replica-assignment is of one topic; name one of: {names}", topics=len(plan.placements))
    placement = plan.placements[0]
    rows = placement.replicas
    if placement.first_partition_id > 0:
        existing = _existing(placement.topic, placement.first_partition_id, rows.shape[1], cluster_of)
        rows = np.concatenate([existing, rows])
    return (reassignment.write_replica_assignment(rows) + "\n").encode()


def _script(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
    head = plan.head
    title = f"Plan {head.hash}" + (f" on the cluster {head.cluster}" if head.cluster else "")
    answer: Any = head.answer
    fragile = [(violation["topic"], violation["detail"]) for violation in answer["violations"]]
    configs: Any = head.request.get("configs", {})
    topics = []
    for placement in plan.placements:
        name, new = placement.topic, placement.replicas
        remarks = [detail for topic, detail in fragile if topic == name]
        if lacking := unassigned_of(head.answer, name):
            remarks.append(f"{counted(lacking, 'replica')} of each partition are unassigned")
        topic = ScriptedTopic(name, new, rejection=_rejection(placement, cluster_of()), remarks=tuple(remarks))
        topic = replace(topic, configs=configs.get(name, {}))
        if placement.first_partition_id > 0 and topic.rejection is None:
            try:
                existing = _existing(name, placement.first_partition_id, new.shape[1], cluster_of)
            except NotExportable as unsayable:
                topic = replace(topic, rejection=unsayable.detail)
            else:
                topic = replace(topic, replicas=np.concatenate([existing, new]), existing=len(existing))
        topics.append(topic)
    return topic_script.write(title, topics).encode()


def _rejection(placement: Placement, cluster: Cluster | None) -> str | None:
    """Why Kafka would reject the topic as the snapshot has it."""
    topic = None if cluster is None else cluster.topic(placement.topic)
    if topic is None:
        return None
    partitions = len(topic.partition_ids)
    if placement.first_partition_id <= 0 < partitions:
        return f"topic {placement.topic} exists with {counted(partitions, 'partition')}"
    if placement.first_partition_id != partitions:
        begin = placement.first_partition_id
        return f"topic {placement.topic} has {counted(partitions, 'partition')}; new ones cannot start at {begin}"
    return None


def _existing(name: str, partitions: int, factor: int, cluster_of: ClusterOf) -> Int32s:
    cluster = cluster_of()
    topic = None if cluster is None else cluster.topic(name)
    if topic is None or topic.partition_ids.tolist() != list(range(partitions)):
        raise NotExportable(
            f"--replica-assignment starts at partition 0, and the first {partitions} of {name} are in no snapshot",
            topic=name,
        )
    if topic.replicas.shape[1] != factor or (topic.replicas < 0).any():
        raise NotExportable(
            f"--replica-assignment wants one replication factor, and {name} has another than {factor}", topic=name
        )
    return topic.replicas


EXPORTS: Mapping[str, Write] = {
    "reassignment": lambda plan, _: reassignment.write_placements(plan.placements),
    "replica_assignment": _replica_assignment,
    "script": _script,
    "csv": lambda plan, _: placement_tables.write_csv(plan.placements),
    "markdown": lambda plan, _: placement_tables.write_markdown(plan.placements, limit=MARKDOWN_ROWS).encode(),
    "arrow": lambda plan, _: placement_tables.write_arrow(plan.placements),
}
"""The formats of a plan of replicas."""
