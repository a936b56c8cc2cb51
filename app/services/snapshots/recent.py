"""The clusters that were stored or read last, so that plans and pages of one snapshot read it once."""

from collections import OrderedDict
from threading import Lock

from app.core.model import Cluster

MOST_PARTITIONS = 3_000_000
"""Partitions of all clusters that are kept, some 60 bytes each with three replicas. The newest is kept at any size."""


class RecentClusters:
    """Clusters by the hash of their content, which has the name; those used least recently are dropped first."""

    def __init__(self) -> None:
        self._clusters: OrderedDict[str, tuple[Cluster, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, content_hash: str) -> Cluster | None:
        """The cluster of this content, if it is kept."""
        with self._lock:
            if content_hash not in self._clusters:
                return None
            self._clusters.move_to_end(content_hash)
            return self._clusters[content_hash][0]

    def keep(self, content_hash: str, cluster: Cluster) -> None:
        """Keep a cluster, and drop others if they are too many."""
        with self._lock:
            self._clusters[content_hash] = cluster, sum(len(topic.partition_ids) for topic in cluster.topics)
            self._clusters.move_to_end(content_hash)
            while len(self._clusters) > 1 and sum(size for _, size in self._clusters.values()) > MOST_PARTITIONS:
                self._clusters.popitem(last=False)


RECENT = RecentClusters()
