"""The JSON that `kafka-leader-election --path-to-json-file` takes.

The key `version` is accepted if it is 1, as the tool's predecessor wrote it. Kafka ignores keys that it does not know;
a misspelt one is rejected here.
"""

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


def _partition(document: Document, value: object, path: FieldPath) -> TopicPartition:
    members = document.members(value, path, required=("topic", "partition"))
    topic = document.topic_name(members["topic"], (*path, "topic"))
    return topic, document.integer(members["partition"], (*path, "partition"))
