"""Which client tags Kafka Streams refuses to start with: too many, too long.

They travel in every subscription, and so into the group's metadata; that is why they are limited. A listed tag that a
client lacks is refused by that client alone, if it lists the tag itself: others of the group may list fewer, so that it
is no failure here.

Source: KIP-708, `StreamsConfig` of Apache Kafka 4.0.
"""

from collections.abc import Sequence

from app.core.streams.model import StreamsClient, StreamsOptions
from app.errors import FieldPath, KafkaError, TagsBeyondLimits

MOST_TAGS = 5
LONGEST_KEY = 20
LONGEST_VALUE = 30
"""In UTF-16 units, as Java counts a string's length."""


def require_tags_within_limits(clients: Sequence[StreamsClient], options: StreamsOptions) -> None:
    """Refuse what Kafka refuses.

    Raises
    ------
    TagsBeyondLimits : more than `MOST_TAGS` tags are listed, or a client has more, or a key or a value is too long.
    """
    listed = options.rack_aware_assignment_tags
    if len(listed) > MOST_TAGS:
        _refuse(f"{len(listed)} tags in rack.aware.assignment.tags", MOST_TAGS, ("rack_aware_assignment_tags",))
    for place, client in enumerate(clients):
        path: FieldPath = ("clients", place, "client_tags")
        if len(client.client_tags) > MOST_TAGS:
            _refuse(f"client {client.process_id} has {len(client.client_tags)} tags", MOST_TAGS, path)
        for key, value in client.client_tags.items():
            for what, text, longest in (("key", key, LONGEST_KEY), ("value", value, LONGEST_VALUE)):
                if (length := len(text.encode("utf-16-le", "surrogatepass")) // 2) > longest:
                    detail = f"the {what} of tag {key!r} of client {client.process_id} has {length} characters"
                    _refuse(detail, longest, (*path, key))


def _refuse(detail: str, most: int, path: FieldPath) -> None:
    raise TagsBeyondLimits(f"{detail}; {most} are allowed", kafka=KafkaError("ConfigException"), path=path, most=most)
