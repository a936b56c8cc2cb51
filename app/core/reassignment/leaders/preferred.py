"""Preferred leaders in replica lists, and partitions that another replica leads.

Kafka moves leadership to the first replica of the list if a preferred election is requested
(`kafka-leader-election.sh --election-type preferred`) or, with `auto.leader.rebalance.enable`, periodically; that
replica has to be in sync.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Topic


def with_leader_first(replicas: Int32s, leaders: Int32s) -> Int32s:
    """Move each partition's leader to the front of its replica list; the others keep their order, padding goes to the
    end.

    Parameters
    ----------
    replicas : (partitions, widest) int32, padded with `NO_REPLICA` anywhere.
    leaders : (partitions,) int32; one that is no replica of its partition, or `NO_LEADER`, leaves the order unchanged.
    """
    rank = np.where(replicas == NO_REPLICA, 2, np.where(replicas == leaders[:, None], 0, 1))
    ordered: Int32s = np.take_along_axis(replicas, np.argsort(rank, axis=1, kind="stable"), axis=1)
    return ordered


def is_led_by_another(topic: Topic) -> NDArray[np.bool_]:
    """(partitions,) bool: partitions that another replica than the preferred one leads, or none."""
    is_other: NDArray[np.bool_] = topic.leaders != _preferred(topic)
    return is_other


def awaits_election(topic: Topic) -> NDArray[np.bool_]:
    """(partitions,) bool: those that a preferred election would correct now, since the first replica is in sync."""
    in_sync: NDArray[np.bool_] = (topic.isr == _preferred(topic)[:, None]).any(axis=1)
    return is_led_by_another(topic) & in_sync


def _preferred(topic: Topic) -> Int32s:
    """(partitions,) int32 first replicas; `NO_REPLICA` never is an in-sync replica, nor the first of a list."""
    return topic.replicas[:, 0] if topic.replicas.shape[1] else np.full(len(topic.leaders), NO_REPLICA, np.int32)
