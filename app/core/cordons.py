"""Cordoned brokers (KIP-1066): which there are, and what Kafka rejects because of them.

A broker is cordoned if all its log directories are. Since 4.3 the controller places no new partition there of its own
accord. Since 4.3.2 it also rejects replica lists of callers (topics, partitions, reassignments) that contain a cordoned
broker, even if the broker has the replica already and keeps it.

Source: KIP-1066; KAFKA-20832 for replica lists of callers.
"""

from app.core.kafka_versions import KafkaVersion
from app.core.model import Cluster

CORDONS_SINCE = KafkaVersion(4, 3)
"""The first release that has `cordoned.log.dirs`."""
LISTS_CHECKED_SINCE = KafkaVersion(4, 3, 2)
"""The first release that rejects the replica lists of callers that contain a cordoned broker."""


def cordoned_brokers(cluster: Cluster) -> frozenset[int]:
    """The ids of the brokers whose log directories are all cordoned."""
    return frozenset(broker for broker, cordon in cluster.cordons.items() if cordon.is_whole)
