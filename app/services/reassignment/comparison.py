"""What a reassignment moves, against the cluster as it was."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from app.core.measures.transfers import Transfers, transfers
from app.core.model import (
    NO_REPLICA,
    Assignment,
    Broker,
    Cluster,
    Int64s,
    Placement,
    Topic,
)
from app.services.plans import Plan
from app.store.plans import NewPlan, PlanHead


def compared(plan: Plan | NewPlan, cluster: Cluster) -> Transfers:
    """What the plan moves of the whole cluster; of what it does not name nothing."""
    head = plan.head if isinstance(plan, Plan) else plan
    return compared_assignments(before_of(cluster), planned(plan.placements), brokers_of(head, cluster), cluster)


def compared_assignments(
    before: Mapping[str, Assignment],
    after: Mapping[str, Assignment],
    brokers: Sequence[Broker],
    cluster: Cluster,
) -> Transfers:
    """What lies between two assignments; the sizes are those of the cluster's partitions, and 0 of others."""
    topics = {topic.name: topic for topic in cluster.topics}
    sizes = {name: _sizes(topics[name], its) for name, its in before.items() if name in topics}
    return transfers(before, after, sizes=sizes, brokers=brokers)


def before_of(cluster: Cluster) -> dict[str, Assignment]:
    """Where replicas are, by topic; of partitions that are on their way, where they are going."""
    return {topic.name: topic.destination for topic in cluster.topics}


def planned(placements: Sequence[Placement]) -> dict[str, Assignment]:
    """Where a plan has them; a topic whose partition ids have gaps is several placements, one after another."""
    found = {}
    for name, group in groupby(placements, key=lambda placement: placement.topic):
        parts = [placement.assignment for placement in group]
        width = max(part.replicas.shape[1] for part in parts)
        rows = np.full((sum(len(part.partition_ids) for part in parts), width), NO_REPLICA, np.int32)
        start = 0
        for part in parts:
            rows[start : start + len(part.partition_ids), : part.replicas.shape[1]] = part.replicas
            start += len(part.partition_ids)
        found[name] = Assignment(np.concatenate([part.partition_ids for part in parts]), rows)
    return found


def brokers_of(head: PlanHead | NewPlan, cluster: Cluster) -> tuple[Broker, ...]:
    """The cluster's brokers, and those that the plan adds."""
    added: Any = head.request["add_brokers"]
    return (*cluster.brokers, *(Broker(broker["id"], broker["rack"]) for broker in added))


def _sizes(topic: Topic, before: Assignment) -> Int64s:
    """The sizes of these partitions of a topic; one that it has not got yet is empty."""
    if np.array_equal(topic.partition_ids, before.partition_ids):
        return topic.size_bytes
    sizes = np.zeros(len(before.partition_ids), np.int64)
    rows = np.searchsorted(topic.partition_ids, before.partition_ids)
    is_there = np.isin(before.partition_ids, topic.partition_ids)
    sizes[is_there] = topic.size_bytes[rows[is_there]]
    return sizes
