"""Read the topics of a scenario, JSON → records; field names are those of `POST /v1/sweeps`."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from app.core.capacity.scenario import TopicLoad
from app.core.sweeps.fields import Fields, as_list, as_number, impossible
from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields, ImpossibleValue

LARGEST_REPLICATION_FACTOR = 2**15 - 1
"""Kafka sends a replication factor as an int16."""
TOPIC_FIELDS = (
    "name",
    "partitions",
    "replication_factor",
    "min_insync_replicas",
    "ingress_bytes_per_s",
    "peak_ingress_bytes_per_s",
    "retained_bytes",
    "retained_bytes_per_partition",
    "retention_s",
    "retention_bytes",
    "disk_headroom",
    "consumer_groups",
    "lagging_share",
    "partition_weights",
)
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
    fields = Fields(value, path, known=TOPIC_FIELDS)
    partitions = fields.integer("partitions", minimum=1)
    ingress = fields.number("ingress_bytes_per_s")
    zipf, measured = _read_weights(fields.raw("partition_weights"), fields.at("partition_weights"), partitions)
    topic = TopicLoad(
        name=fields.text("name"),
        partitions=partitions,
        replication_factor=fields.integer("replication_factor", minimum=1, maximum=LARGEST_REPLICATION_FACTOR),
        min_insync_replicas=fields.integer("min_insync_replicas", 1, minimum=1),
        ingress_bytes_per_s=ingress,
        peak_ingress_bytes_per_s=fields.number("peak_ingress_bytes_per_s", ingress),
        retained_bytes=fields.number_or_none("retained_bytes"),
        retained_bytes_per_partition=_per_partition(fields, "retained_bytes_per_partition", partitions),
        retention_s=fields.number_or_none("retention_s"),
        retention_bytes=fields.number_or_none("retention_bytes"),
        disk_headroom=fields.number("disk_headroom", 0.0),
        consumer_groups=fields.number("consumer_groups", 0.0),
        lagging_share=fields.number("lagging_share", 0.0, maximum=1.0),
        zipf=zipf,
        measured_weights=measured,
    )
    _require_topic(topic, fields)
    return topic


def _require_topic(topic: TopicLoad, fields: Fields) -> None:
    given = [name for name in CURRENT_RETENTION_FIELDS if getattr(topic, name) is not None]
    if len(given) > 1:
        raise ConflictingFields(
            f"topic {topic.name} has both {given[0]} and {given[1]}; what is retained now is one of them",
            path=fields.at(given[0]),
        )
    if not given and topic.retention_bytes is None:
        raise ConflictingFields(
            f"topic {topic.name} states nothing of its retention; one is needed of "
            f"{', '.join(CURRENT_RETENTION_FIELDS)} or retention_bytes",
            path=fields.at("retained_bytes"),
        )
    if topic.min_insync_replicas > topic.replication_factor:
        raise ConflictingFields(
            f"topic {topic.name} needs {topic.min_insync_replicas} replicas in sync and has {topic.replication_factor}",
            path=fields.at("min_insync_replicas"),
            value=topic.min_insync_replicas,
            maximum=topic.replication_factor,
        )
    if topic.peak_ingress_bytes_per_s < topic.ingress_bytes_per_s:
        raise ConflictingFields(
            f"topic {topic.name} has an ingress of {topic.peak_ingress_bytes_per_s:g} bytes/s at its peak and "
            f"{topic.ingress_bytes_per_s:g} on average",
            path=fields.at("peak_ingress_bytes_per_s"),
            value=topic.peak_ingress_bytes_per_s,
            minimum=topic.ingress_bytes_per_s,
        )


def _read_weights(value: Json, path: FieldPath, partitions: int) -> tuple[float, NDArray[np.float64] | None]:
    """The exponent of the Zipf distribution, and the weights if they are given by partition."""
    if value is None or value == "uniform":
        return 0.0, None
    if isinstance(value, Mapping):
        return Fields(value, path, known=("zipf",)).number("zipf"), None
    if isinstance(value, str):
        raise impossible('"uniform", {"zipf": s} or a list with a weight a partition is needed', value, path)
    weights = _numbers_by_partition(value, path, partitions, "weights")
    if not 0 < weights.sum() < np.inf:
        raise ImpossibleValue("the weights need a finite sum above 0", path=path)
    return 0.0, weights


def _per_partition(fields: Fields, name: str, partitions: int) -> NDArray[np.float64] | None:
    value = fields.raw(name)
    return None if value is None else _numbers_by_partition(value, fields.at(name), partitions, name)


def _numbers_by_partition(value: Json, path: FieldPath, partitions: int, called: str) -> NDArray[np.float64]:
    numbers = np.array([as_number(number, (*path, index)) for index, number in enumerate(as_list(value, path))])
    if len(numbers) != partitions:
        raise ConflictingFields(
            f"{len(numbers)} {called} are given for {partitions} partitions",
            path=path,
            value=len(numbers),
            partitions=partitions,
        )
    return numbers
