"""The JSON that `kafka-leader-election --path-to-json-file` takes: whose leader is to be elected anew.

    {"partitions":[{"topic":"orders","partition":0},{"topic":"orders","partition":1}]}

With `--election-type preferred` the first replica of each becomes the leader, if it is in sync. The key `version` is
read if it is 1, as the tool's predecessor wrote it, and not written. Kafka ignores keys that it does not know; a
misspelt one is rejected here.

Source: `LeaderElectionCommand` of Apache Kafka, `parseReplicaElectionData`.
"""

from collections.abc import Iterable

import orjson

from app.core.jvm.hashes import TopicPartition
from app.errors import FieldPath
from app.formats.syntax.documents import Document


def read(text: str) -> tuple[TopicPartition, ...]:
    """Read the partitions in their order.

    Raises
    ------
    MalformedText
        The text is no JSON, of another version or shape, has unknown keys, a name that is no topic's, a negative
        partition, or names a partition twice (which Kafka's tool rejects as well); names the place, `partitions/3`.
    """
    document = Document.parse(text, "a leader election")
    members = document.members(document.root, (), required=("partitions",), optional=("version",))
    document.version_one(members)
    partitions: dict[TopicPartition, None] = {}
    for i, value in enumerate(document.array(members["partitions"], ("partitions",))):
        partition = _partition(document, value, ("partitions", i))
        if partition in partitions:
            actual = f"{partition[0]}-{partition[1]} again"
            raise document.reject(("partitions", i), expected="each partition once", actual=actual)
        partitions[partition] = None
    return tuple(partitions)


def write(partitions: Iterable[TopicPartition]) -> str:
    """Print the document on one compact line."""
    rows = [{"topic": topic, "partition": partition} for topic, partition in partitions]
    return orjson.dumps({"partitions": rows}).decode() + "\n"


def _partition(document: Document, value: object, path: FieldPath) -> TopicPartition:
    members = document.members(value, path, required=("topic", "partition"))
    topic = document.topic_name(members["topic"], (*path, "topic"))
    return topic, document.integer(members["partition"], (*path, "partition"))
