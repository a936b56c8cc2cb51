"""A small cluster as the Kafka tools print it, for those who have no text at hand."""

from collections.abc import Mapping
from types import MappingProxyType

_BROKERS = "".join(
    f"kafka-{broker}.example:9092 (id: {broker} rack: {rack} isFenced: false) -> (\n"
    for broker, rack in ((101, "az-a"), (102, "az-a"), (103, "az-b"), (104, "az-b"), (105, "az-c"), (106, "az-c"))
)
_REPLICAS = ("101,103,105", "103,105,102", "105,102,104", "102,104,106", "104,106,101", "106,101,103")
_TOPICS = (
    "Topic: payments\tTopicId: 5m9Zq0sYQ1yX0mVb3oVnJw\tPartitionCount: 6\tReplicationFactor: 3\tConfigs: \n"
) + "".join(
    f"\tTopic: payments\tPartition: {partition}\tLeader: {replicas[:3]}\tReplicas: {replicas}\tIsr: {replicas}"
    "\tElr: \tLastKnownElr: \n"
    for partition, replicas in enumerate(_REPLICAS)
)

EXAMPLE: Mapping[str, str] = MappingProxyType(
    {
        "cluster": "example",
        "brokers_text": _BROKERS,
        "topics_text": _TOPICS,
        "log_dirs_text": "",
        "topic": "orders",
        "partitions": "12",
        "replication_factor": "3",
        "algorithm": "admin_utils",
        "rack_mode": "",
        "seed": "",
    }
)
"""What the form of the first plan holds then."""
