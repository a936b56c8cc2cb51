"""The preferred order: the leader stands first in its partition's replica list, and should lead.

Kafka moves leadership to the first replica when a preferred election is asked for (`kafka-leader-election.sh
--election-type preferred`) or, with `auto.leader.rebalance.enable`, by itself; the first has to be in sync for that.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Topic


def led_by(replicas: Int32s, leaders: Int32s) -> Int32s:
    """Bring each partition's leader to the front; the others follow as they stood, and padding goes to the end.

    Parameters
    ----------
    replicas : (partitions, widest) int32, padded with `NO_REPLICA` anywhere.
    leaders : (partitions,) int32; one that is no replica of its partition, or `NO_LEADER`, leaves the order as it is.
    """
    rank = np.where(replicas == NO_REPLICA, 2, np.where(replicas == leaders[:, None], 0, 1))
    ordered: Int32s = np.take_along_axis(replicas, np.argsort(rank, axis=1, kind="stable"), axis=1)
    return ordered


def is_led_by_another(topic: Topic) -> NDArray[np.bool_]:
    """(partitions,) bool: partitions that another replica leads than the preferred one, or none at all."""
    is_other: NDArray[np.bool_] = topic.leaders != _preferred(topic)
    return is_other


def awaits_election(topic: Topic) -> NDArray[np.bool_]:
    """(partitions,) bool: those of them that a preferred election would mend now, their first replica being in sync."""
    in_sync: NDArray[np.bool_] = (topic.isr == _preferred(topic)[:, None]).any(axis=1)
    return is_led_by_another(topic) & in_sync


def _preferred(topic: Topic) -> Int32s:
    """(partitions,) int32; `NO_REPLICA` is never among the in-sync ones that count, nor a partition's first."""
    return topic.replicas[:, 0] if topic.replicas.shape[1] else np.full(len(topic.leaders), NO_REPLICA, np.int32)
