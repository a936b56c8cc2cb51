"""User data of sticky assignors."""

from collections.abc import Iterable

import numpy as np

from app.core.groups.model import Owned
from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import STRING
from app.core.model import Int32s
from app.errors.kafka import KafkaError
from tests.formats.writers import generated_bytes as generated
from tests.kafka_refusals import NotSerializable

NO_GENERATION = -1


def write_sticky(owned: Iterable[Owned], *, generation_id: int | None) -> bytes:
    """Write a sticky assignor's user data: topics in the order of the HashMap that Kafka groups them in.

    Raises
    ------
    NotSerializable
        There is no generation, which the newer form must have; or a topic's name is longer than 32767 bytes.
    """
    if generation_id is None:
        message = "Missing value for field 'generation' which has no default value."
        kafka = KafkaError("SchemaException", f"Error computing size for field 'generation': {message}")
        raise NotSerializable("sticky user data needs a generation", kafka=kafka)
    by_topic: JavaHashMap[str, list[Int32s]] = JavaHashMap(STRING)
    for entry in owned:
        # Kafka asks for the topic's list once a partition, and asking alone may let the map grow.
        for partitions in (entry.partitions[:1], entry.partitions[1:]):
            if len(partitions):
                by_topic.compute_if_absent(entry.topic, list).append(partitions)
    entries = [Owned(topic, np.concatenate(parts)) for topic, parts in by_topic.items()]
    return generated.topic_partitions(entries) + generated.int32(generation_id)


def write_cooperative(generation_id: int | None) -> bytes:
    """Write a cooperative sticky assignor's user data; None is written as −1."""
    return generated.int32(NO_GENERATION if generation_id is None else generation_id)
