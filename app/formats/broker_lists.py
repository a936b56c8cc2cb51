"""The brokers of a cluster from any text that lists them.

kafka-broker-api-versions    its output (broker_api_versions.py)
ZooKeeper registrations      versions 1 to 5 with their ids (registration_lists.py)
bytes of Kafka's protocol    the body of a TopicMetadata response v1 (topic_metadata.py) or of an UpdateMetadata
                             request v2 (update_metadata.py), as hexadecimal digits or in base64
"""

from app.core.model import Broker
from app.errors import Json, MalformedText
from app.formats import broker_api_versions, broker_binary, registration_lists, topic_metadata, update_metadata
from app.formats.byte_encodings import decoded, detect
from app.formats.lines import refusal
from app.formats.wire_formats import ByteEncoding


def read(text: str) -> tuple[Broker, ...]:
    """Read the brokers, by ascending id.

    Raises
    ------
    MalformedText
        The text is none of these, or a malformed one; names the line or the byte offset.
    """
    content = text.encode("utf-8")
    if detect(content) is not ByteEncoding.RAW:
        return _of_bytes(decoded(content))
    if registration_lists.is_list(text):
        return registration_lists.read(text)
    return broker_api_versions.brokers(broker_api_versions.read(text))


def _of_bytes(data: bytes) -> tuple[Broker, ...]:
    """The brokers of a response or a request. Both are read to their end, so bytes of one kind are not of the other."""
    try:
        return topic_metadata.brokers(topic_metadata.read_response(data))
    except MalformedText as malformed:
        as_response = malformed
    try:
        return broker_binary.brokers(update_metadata.read(data).live_brokers)
    except MalformedText as malformed:
        as_request = malformed
    raise refusal(
        None,
        expected="the body of a TopicMetadata response v1 or of an UpdateMetadata request v2",
        found=f"{len(data)} bytes of neither (as a response: {as_response.detail}; as a request: {as_request.detail})",
        byte=max((_byte(as_response), _byte(as_request))),
    )


def _byte(malformed: MalformedText) -> int:
    byte: Json = malformed.context["byte"]
    return byte if isinstance(byte, int) else 0
