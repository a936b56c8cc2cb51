"""Read the sections of a scenario, JSON → records; field names are those of `POST /v1/sweeps`.

Every reader takes a section's value, None if the scenario omits it. It raises `ImpossibleValue` for an invalid value
and `ConflictingFields` for values that contradict each other, with a path that begins at the scenario.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from app.core.capacity.scenario import (
    FAILURE_CLASSES,
    RESOURCES,
    BrokerProfile,
    Clients,
    PlacementPolicy,
    Prices,
    TopicLoad,
    Topology,
    TrafficGrowth,
)
from app.core.sweeps.fields import Fields, RecordT, as_integer, as_list, field_names, impossible, read_record
from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields, LimitExceeded

SECTION_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "topology": ("racks", "brokers_per_rack"),
        "broker_profile": field_names(BrokerProfile),
        "topics": (),
        "partitions_multiplier": (),
        "placement": field_names(PlacementPolicy),
        "clients": field_names(Clients),
        "traffic": field_names(TrafficGrowth),
        "failures": (),
        "targets": RESOURCES,
        "prices": field_names(Prices),
        "rereplication": ("throttle_bytes_per_s",),
    }
)
"""Every section of a scenario and its fields; none if the section is not an object."""
TOPIC_FIELDS = field_names(TopicLoad)
CURRENT_RETENTION_FIELDS = ("retained_bytes", "retained_bytes_per_partition", "retention_s")
"""The fields that state what a topic retains now; a topic has at most one of them."""


def _object(section: str, value: Json) -> Fields:
    return Fields(value, (section,), known=SECTION_FIELDS[section])


def _optional(record: type[RecordT], section: str, value: Json) -> RecordT:
    return read_record(record, {} if value is None else value, (section,))


def read_topology(value: Json) -> Topology:
    """Racks, and the number of brokers in each or by rack."""
    fields = _object("topology", value)
    path = fields.at("racks")
    racks = as_list(fields.raw("racks"), path)
    names = [Fields({"rack": rack}, (*path, index), known=("rack",)).text("rack") for index, rack in enumerate(racks)]
    for index, rack in enumerate(names):
        if rack in names[:index]:
            raise ConflictingFields(f"rack {rack} is listed twice", path=(*path, index), value=rack)
    counts, path = fields.raw("brokers_per_rack"), fields.at("brokers_per_rack")
    if not isinstance(counts, Mapping):
        return Topology(dict.fromkeys(names, as_integer(counts, path, minimum=1)))
    if set(counts) != set(names):
        raise ConflictingFields(
            f"brokers_per_rack counts the brokers of {', '.join(counts)}; the racks are {', '.join(names)}", path=path
        )
    return Topology({rack: as_integer(counts[rack], (*path, rack), minimum=1) for rack in names})


def read_profile(value: Json) -> BrokerProfile:
    """One broker; only `disk_bytes` is required."""
    return read_record(BrokerProfile, value, ("broker_profile",))


def read_multiplier(value: Json) -> int:
    """The factor by which every topic's partitions are multiplied."""
    return 1 if value is None else as_integer(value, ("partitions_multiplier",), minimum=1)


def read_placement(value: Json) -> PlacementPolicy:
    """The algorithm of `PLACEMENTS`, and its seed."""
    return _optional(PlacementPolicy, "placement", value)


def read_clients(value: Json) -> Clients:
    """The shares of clients by rack, and whether consumers read from followers."""
    return _optional(Clients, "clients", value)


def read_traffic(value: Json) -> TrafficGrowth:
    """Growth a month, of −100 % or more, and the horizon in months."""
    return _optional(TrafficGrowth, "traffic", value)


def read_failures(value: Json) -> tuple[str, ...]:
    """Of `FAILURE_CLASSES`, in that order; `none` is always included."""
    named = set[str]()
    for index, name in enumerate([] if value is None or value == [] else as_list(value, ("failures",))):
        if not isinstance(name, str) or name not in FAILURE_CLASSES:
            raise impossible(f"a failure class is needed, of {', '.join(FAILURE_CLASSES)}", name, ("failures", index))
        named.add(name)
    return tuple(name for name in FAILURE_CLASSES if name in named or name == "none")


def read_targets(value: Json) -> Mapping[str, float]:
    """The share of each resource that may be used."""
    fields = _object("targets", {} if value is None else value)
    return {name: fields.number(name, above=0, maximum=1.0) for name in RESOURCES if fields.raw(name) is not None}


def read_prices(value: Json) -> Prices:
    """Prices by the GiB."""
    return _optional(Prices, "prices", value)


def read_rereplication(value: Json) -> float:
    """The throttle in bytes/s; 0 if re-replication adds no load."""
    return 0.0 if value is None else _object("rereplication", value).number("throttle_bytes_per_s")


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


READERS: Mapping[str, Callable[[Json], object]] = MappingProxyType(
    {
        "topology": read_topology,
        "broker_profile": read_profile,
        "topics": read_topics,
        "partitions_multiplier": read_multiplier,
        "placement": read_placement,
        "clients": read_clients,
        "traffic": read_traffic,
        "failures": read_failures,
        "targets": read_targets,
        "prices": read_prices,
        "rereplication": read_rereplication,
    }
)
"""The reader of each section, to validate the values of an axis by themselves."""


MOST_BROKERS = 10_000
MOST_REPLICAS = 50_000_000
"""Of one scenario. A larger one would exhaust the memory of an executor, which scores other scenarios as well."""


def require_consistent(topology: Topology, topics: Sequence[TopicLoad], multiplier: int, clients: Clients) -> None:
    """Raise `ConflictingFields` if sections contradict each other, `LimitExceeded` if the scenario is too large.

    Parameters
    ----------
    topics : before their partitions are multiplied, since the product may be too large for memory.
    """
    brokers = sum(topology.brokers_per_rack.values())
    if brokers > MOST_BROKERS:
        raise LimitExceeded(
            f"a scenario has {brokers} brokers; the limit is {MOST_BROKERS}",
            path=("topology", "brokers_per_rack"),
            value=brokers,
            maximum=MOST_BROKERS,
        )
    for index, topic in enumerate(topics):
        if topic.replication_factor > brokers:
            raise ConflictingFields(
                f"replication factor {topic.replication_factor} of topic {topic.name} needs as many brokers; "
                f"{brokers} given",
                path=("topics", index, "replication_factor"),
                value=topic.replication_factor,
                maximum=brokers,
            )
    replicas = multiplier * sum(topic.partitions * topic.replication_factor for topic in topics)
    if replicas > MOST_REPLICAS:
        raise LimitExceeded(
            f"a scenario has {replicas} replicas; the limit is {MOST_REPLICAS}",
            path=("topics",),
            value=replicas,
            maximum=MOST_REPLICAS,
        )
    for name in ("producer_share_per_rack", "consumer_share_per_rack"):
        for rack in getattr(clients, name) or ():
            if rack not in topology.brokers_per_rack:
                raise ConflictingFields(
                    f"{name} names rack {rack}; the racks are {', '.join(topology.racks)}",
                    path=("clients", name, rack),
                    value=rack,
                )
