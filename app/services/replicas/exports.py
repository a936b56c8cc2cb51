"""A plan of replicas as a file: what Kafka's tools take, and what people and programs read."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from app.core.model import Int32s
from app.errors.requests import NotExportable
from app.formats import placement_tables, reassignment, replica_assignment
from app.services.plans import MARKDOWN_ROWS, ClusterOf, Plan, Write
from app.store.records import NewPlan


def _replica_assignment(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
    """The string is of one topic, from partition 0 on: Kafka counts off what the topic has already."""
    if len(plan.placements) != 1:
        names = ", ".join(placement.topic for placement in plan.placements[:10])
        raise NotExportable(f"--replica-assignment is of one topic; name one of: {names}", topics=len(plan.placements))
    placement = plan.placements[0]
    rows = placement.replicas
    if placement.first_partition_id > 0:
        existing = _existing(placement.topic, placement.first_partition_id, rows.shape[1], cluster_of)
        rows = np.concatenate([existing, rows])
    return (replica_assignment.write(rows) + "\n").encode()


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


EXPORTS: Mapping[str, Write] = MappingProxyType(
    {
        "reassignment": lambda plan, _: reassignment.write_placements(plan.placements),
        "replica_assignment": _replica_assignment,
        "csv": lambda plan, _: placement_tables.write_csv(plan.placements),
        "markdown": lambda plan, _: placement_tables.write_markdown(plan.placements, limit=MARKDOWN_ROWS).encode(),
        "arrow": lambda plan, _: placement_tables.write_arrow(plan.placements),
    }
)
"""The formats of a plan of replicas."""
