"""The JSON that names topics to `kafka-reassign-partitions --generate`."""

from collections.abc import Iterable

import orjson


def write(topics: Iterable[str]) -> str:
    """Print the document on one compact line."""
    return orjson.dumps({"version": 1, "topics": [{"topic": topic} for topic in topics]}).decode() + "\n"
