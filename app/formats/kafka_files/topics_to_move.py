"""The JSON that names topics to `kafka-reassign-partitions --generate --topics-to-move-json-file`.

    {"version":1,"topics":[{"topic":"orders"},{"topic":"payments"}]}

Source: `ReassignPartitionsCommand` of Apache Kafka, `parseTopicsData`.
"""

from app.formats.syntax.documents import Document


def read(text: str) -> tuple[str, ...]:
    """Read the topics' names in their order.

    Raises
    ------
    MalformedText
        The text is no JSON, of another version or shape, has unknown keys, or names a topic twice (which Kafka's
        tool rejects as well).
    """
    document = Document.parse(text, "topics to move")
    members = document.members(document.root, (), required=("topics",), optional=("version",))
    document.version_one(members)
    topics: dict[str, None] = {}
    for i, value in enumerate(document.array(members["topics"], ("topics",))):
        path = ("topics", i)
        topic = document.topic_name(document.members(value, path, required=("topic",))["topic"], (*path, "topic"))
        if topic in topics:
            raise document.reject(path, expected="each topic once", actual=f"topic {topic!r} again")
        topics[topic] = None
    return tuple(topics)
