"""Subscriptions and assignments of the consumer protocol."""

from app.core.jvm.hashes import utf16_order
from app.errors.kafka import KafkaError
from app.formats.groups.consumer_protocol import NEWEST_VERSION, Assignment, Subscription
from app.formats.syntax.generated_bytes import grouped
from tests.formats.writers import generated_bytes as generated
from tests.kafka_refusals import NotSerializable


def write_subscription(subscription: Subscription) -> bytes:
    """Write a member's metadata as Kafka's client does: topics sorted, owned partitions sorted by topic and number.

    Fields that the version lacks are left out; a version above `NEWEST_VERSION` is written as that.

    Raises
    ------
    NotSerializable
        The version is below 0, or a string is longer than 32767 bytes.
    """
    version = _checked(subscription.version, "subscription")
    topics = sorted(subscription.topics, key=utf16_order)
    fields = [
        generated.int16(version),
        generated.int32(len(topics)),
        *[generated.string(topic, "topics element") for topic in topics],
        generated.nullable_bytes(subscription.user_data),
    ]
    if version >= 1:
        fields.append(generated.topic_partitions(generated.sorted_grouped(subscription.owned)))
    if version >= 2:
        generation_id = subscription.generation_id
        fields.append(generated.int32(-1 if generation_id is None or generation_id < 0 else generation_id))
    if version >= 3:
        fields.append(generated.nullable_string(subscription.rack_id, "rackId"))
    return b"".join(fields)


def write_assignment(assignment: Assignment) -> bytes:
    """Write a member's assignment as Kafka's leader does: one entry a topic, in order of first appearance.

    Raises
    ------
    NotSerializable
        The version is below 0, or a topic's name is longer than 32767 bytes.
    """
    version = _checked(assignment.version, "assignment")
    partitions = generated.topic_partitions(grouped(assignment.partitions))
    return generated.int16(version) + partitions + generated.nullable_bytes(assignment.user_data)


def _checked(version: int, part: str) -> int:
    if version < 0:
        detail = f"the protocol's versions start at 0; {version} given"
        raise NotSerializable(
            detail, kafka=KafkaError("SchemaException", f"Unsupported {part} version: {version}"), version=version
        )
    return min(version, NEWEST_VERSION)
