"""The log directories of a broker, with what is in them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.model import NO_LOG_DIR, UNKNOWN_SIZE, Cluster


@dataclass(frozen=True, slots=True)
class DirectoryRow:
    """A log directory: bytes of its file system as far as they are known, and its replicas with their bytes."""

    path: str
    total_bytes: int | None
    usable_bytes: int | None
    is_offline: bool
    replicas: int
    bytes: int

    @property
    def share(self) -> float | None:
        """The share of the file system that is in use; None if its size is unknown."""
        if not self.total_bytes:
            return None
        used = self.bytes if self.usable_bytes is None else self.total_bytes - self.usable_bytes
        return used / self.total_bytes


def directories(cluster: Cluster, broker: int) -> Sequence[DirectoryRow]:
    """The log directories of a broker; empty if they are unknown. Complexity: O(replicas of the cluster)."""
    listed = cluster.log_dirs.get(broker, ())
    replicas, sizes = np.zeros(len(listed), np.int64), np.zeros(len(listed), np.int64)
    for topic in cluster.topics if listed else ():
        if topic.log_dirs is None:
            continue
        rows, columns = np.nonzero((topic.replicas == broker) & (topic.log_dirs != NO_LOG_DIR))
        at = topic.log_dirs[rows, columns]
        np.add.at(replicas, at, 1)
        np.add.at(sizes, at, np.where(topic.size_bytes[rows] == UNKNOWN_SIZE, 0, topic.size_bytes[rows]))
    return [
        DirectoryRow(each.path, each.total_bytes, each.usable_bytes, each.is_offline, int(count), int(size))
        for each, count, size in zip(listed, replicas, sizes, strict=True)
    ]
