"""Messages of Kafka's protocol that the admin client lacks, each defined by a JSON file of its name.

A file has the fields of every version, in the form of Kafka's own definitions. The client finds the class of an answer
by the number of its request. This module needs the extra `kafka`.

Source: KIP-848 (ConsumerGroupDescribe), KIP-932 (ShareGroupDescribe), KIP-1071, KIP-1331 and KIP-1357
(StreamsGroupDescribe).
"""

from types import new_class
from typing import Any

from kafka.protocol.api_message import ApiMessage


def _defined(name: str) -> Any:
    return new_class(name, (ApiMessage,), {"load_json": __name__})


ConsumerGroupDescribeRequest = _defined("ConsumerGroupDescribeRequest")
ConsumerGroupDescribeResponse = _defined("ConsumerGroupDescribeResponse")
ShareGroupDescribeRequest = _defined("ShareGroupDescribeRequest")
ShareGroupDescribeResponse = _defined("ShareGroupDescribeResponse")
StreamsGroupDescribeRequest = _defined("StreamsGroupDescribeRequest")
StreamsGroupDescribeResponse = _defined("StreamsGroupDescribeResponse")
