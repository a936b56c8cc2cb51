"""Read the topics of a scenario, JSON → records."""

from collections.abc import Mapping

import numpy as np

from app.core.capacity.scenario import TopicLoad
from app.core.sweeps.fields import as_list, field_names, read_record
from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields

TOPIC_FIELDS = field_names(TopicLoad)
CURRENT_RETENTION_FIELDS = ("retained_bytes", "retained_bytes_per_partition", "retention_s")
"""The fields that state what a topic retains now; a topic has at most one of them."""


def read_topics(value: Json) -> tuple[TopicLoad, ...]:
    """The topics, before their partitions are multiplied."""
    topics = tuple(_read_topic(entry, ("topics", index)) for index, entry in enumerate(as_list(value, ("topics",))))
    seen: set[str] = set()
    for index, topic in enumerate(topics):
        if topic.name in seen:
            raise ConflictingFields(
                f"topic {topic.name} is listed twice", path=("topics", index, "name"), value=topic.name
            )
        seen.add(topic.name)
    return topics


def _read_topic(value: Json, path: FieldPath) -> TopicLoad:
    if isinstance(value, Mapping) and value.get("peak_ingress_bytes_per_s") is None:
        value = {**value, "peak_ingress_bytes_per_s": value.get("ingress_bytes_per_s")}
    topic = read_record(TopicLoad, value, path)
    _require_topic(topic, path)
    return topic


def _require_topic(topic: TopicLoad, path: FieldPath) -> None:
    given = [name for name in CURRENT_RETENTION_FIELDS if getattr(topic, name) is not None]
    if len(given) > 1:
        raise ConflictingFields(
            f"topic {topic.name} has both {given[0]} and {given[1]}; what is retained now is one of them",
            path=(*path, given[0]),
        )
    if not given and topic.retention_bytes is None:
        raise ConflictingFields(
            f"topic {topic.name} states nothing of its retention; one is needed of "
            f"{', '.join(CURRENT_RETENTION_FIELDS)} or retention_bytes",
            path=(*path, "retained_bytes"),
        )
    if topic.min_insync_replicas > topic.replication_factor:
        raise ConflictingFields(
            f"topic {topic.name} needs {topic.min_insync_replicas} replicas in sync and has {topic.replication_factor}",
            path=(*path, "min_insync_replicas"),
            value=topic.min_insync_replicas,
            maximum=topic.replication_factor,
        )
    if topic.peak_ingress_bytes_per_s < topic.ingress_bytes_per_s:
        raise ConflictingFields(
            f"topic {topic.name} has an ingress of {topic.peak_ingress_bytes_per_s:g} bytes/s at its peak and "
            f"{topic.ingress_bytes_per_s:g} on average",
            path=(*path, "peak_ingress_bytes_per_s"),
            value=topic.peak_ingress_bytes_per_s,
            minimum=topic.ingress_bytes_per_s,
        )
    for name, what in (("partition_weights", "weights"), ("retained_bytes_per_partition",) * 2):
        numbers = getattr(topic, name)
        if isinstance(numbers, np.ndarray) and len(numbers) != topic.partitions:
            raise ConflictingFields(
                f"{len(numbers)} {what} are given for {topic.partitions} partitions",
                path=(*path, name),
                value=len(numbers),
                partitions=topic.partitions,
            )
