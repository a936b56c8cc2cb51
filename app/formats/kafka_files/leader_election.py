"""The JSON that `kafka-leader-election --path-to-json-file` takes: whose leader is to be elected anew.

    {"partitions":[{"topic":"orders","partition":0},{"topic":"orders","partition":1}]}

With `--election-type preferred` the first replica of each becomes the leader, if it is in sync. The key `version`,
which the tool's predecessor wrote, is left out.

Source: `LeaderElectionCommand` of Apache Kafka, `parseReplicaElectionData`.
"""

from collections.abc import Iterable

import orjson

from app.core.jvm.hashes import TopicPartition


def write(partitions: Iterable[TopicPartition]) -> str:
    """Print the document on one compact line."""
    rows = [{"topic": topic, "partition": partition} for topic, partition in partitions]
    return orjson.dumps({"partitions": rows}).decode() + "\n"
