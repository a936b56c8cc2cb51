"""Messages of Kafka's protocol that the admin client lacks, each defined by a JSON file of its name.

A file has the fields of every version, in the form of Kafka's own definitions. The client finds the class of an answer
by the number of its request. This module needs the extra `kafka`.

Source: KIP-848 (ConsumerGroupDescribe), KIP-932 (ShareGroupDescribe), KIP-1071, KIP-1331 and KIP-1357
(StreamsGroupDescribe).
"""

from collections.abc import Mapping
from types import new_class
from typing import Any

from kafka.protocol.api_message import ApiMessage


def _describing(direction: str) -> Mapping[str, Any]:
    names = {kind: f"{kind.title()}GroupDescribe{direction}" for kind in ("consumer", "share", "streams")}
    return {kind: new_class(name, (ApiMessage,), {"load_json": __name__}) for kind, name in names.items()}


REQUESTS = _describing("Request")
"""The requests that describe groups, by the type of the groups."""
RESPONSES = _describing("Response")
"""Their answers. The client refers to the classes weakly."""
