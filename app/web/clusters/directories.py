"""The log directories of a broker, with their contents."""

from collections.abc import Sequence

import numpy as np

from app.core.model import NO_LOG_DIR, UNKNOWN_SIZE, Cluster, LogDirectory


def directories(cluster: Cluster, broker: int) -> Sequence[tuple[LogDirectory, int, int]]:
    """The log directories of a broker with the number and the bytes of their replicas; empty if they are unknown.

    Complexity: O(replicas of the cluster).
    """
    listed = cluster.log_dirs.get(broker, ())
    replicas, sizes = np.zeros(len(listed), np.int64), np.zeros(len(listed), np.int64)
    for topic in cluster.topics if listed else ():
        if topic.log_dirs is None:
            continue
        rows, columns = np.nonzero((topic.replicas == broker) & (topic.log_dirs != NO_LOG_DIR))
        at = topic.log_dirs[rows, columns]
        np.add.at(replicas, at, 1)
        np.add.at(sizes, at, np.where(topic.size_bytes[rows] == UNKNOWN_SIZE, 0, topic.size_bytes[rows]))
    return list(zip(listed, replicas.tolist(), sizes.tolist(), strict=True))
