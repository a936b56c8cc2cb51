"""The formats that `rackplan decode` prints, by name. Imports nothing, so that the command's help is fast.

decoding.py has the reader of each.
"""

from enum import StrEnum


class WireFormat(StrEnum):
    """A format of Kafka's bytes or texts; `summary` describes it in one line."""

    summary: str

    def __new__(cls, name: str, summary: str) -> "WireFormat":
        member = str.__new__(cls, name)
        member._value_ = name
        member.summary = summary
        return member

    REGISTRATION = "registration", "a broker's registration in ZooKeeper, JSON, versions 1 to 5"
    BROKER = "broker", "one broker of UpdateMetadata v2: id, endpoints and rack (KIP-36)"
    TOPIC_METADATA = "topic-metadata", "the body of a TopicMetadata response, version 1: brokers with racks, topics"
    UPDATE_METADATA = "update-metadata", "the body of an UpdateMetadata request, version 2: partitions, live brokers"
    SUBSCRIPTION = "subscription", "a consumer's subscription, ConsumerProtocolSubscription v0 to v3, with rack"
    ASSIGNMENT = "assignment", "a consumer's assignment, ConsumerProtocolAssignment v0 to v3"
    STREAMS_SUBSCRIPTION_INFO = (
        "streams-subscription-info",
        "the user data of a Streams client's subscription, v1 to v11, with client tags",
    )
    STREAMS_ASSIGNMENT_INFO = "streams-assignment-info", "the user data of a Streams client's assignment, v1 to v11"


class ByteEncoding(StrEnum):
    """How bytes are given. `auto` is hexadecimal or base64 if the input consists of it, else raw."""

    AUTO = "auto"
    RAW = "raw"
    HEX = "hex"
    BASE64 = "base64"
