"""Failures of Kafka's code that tests alone raise, with what they write or predict beside the service."""

from app.errors.kafka import KafkaRefuses


class ListedTwice(KafkaRefuses):
    """Kafka's reassignment tool gets a broker or a topic twice."""

    title = "A broker or a topic is listed twice"


class TopicToMoveMissing(KafkaRefuses):
    """Kafka's reassignment tool gets a topic that does not exist."""

    title = "A topic to reassign does not exist"


class InvalidStandbyReplicas(KafkaRefuses):
    """The coordinator's setting `num.standby.replicas` is missing or not an integer."""

    title = "The number of standbys is invalid"


class NotSerializable(KafkaRefuses):
    """Kafka cannot serialise the value: a negative version, or a string longer than its length field allows."""

    title = "Kafka cannot serialise this value"
