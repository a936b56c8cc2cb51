"""Failures of Kafka's code that tests alone raise, for texts and predictions made beside the service."""

from app.errors.kafka import KafkaRefuses


class ListedTwice(KafkaRefuses, title="A broker or a topic is listed twice"):
    """Kafka's reassignment tool gets a broker or a topic twice."""


class TopicToMoveMissing(KafkaRefuses, title="A topic to reassign does not exist"):
    """Kafka's reassignment tool gets a topic that does not exist."""


class InvalidStandbyReplicas(KafkaRefuses, title="The number of standbys is invalid"):
    """The coordinator's setting `num.standby.replicas` is missing or not an integer."""


class NotSerializable(KafkaRefuses, title="Kafka cannot serialise this value"):
    """Kafka cannot serialise the value: a negative version, or a string longer than its length field allows."""
