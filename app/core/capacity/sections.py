"""Read the sections of a scenario, JSON → records; field names are as in `POST /v1/sweeps`.

Every reader takes a section's value, None if the scenario omits it. It raises `ImpossibleValue` for an invalid value
and `ConflictingFields` for values that contradict each other, with a path that begins at the scenario.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.core.capacity import scenario
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Float64s, Topic
from app.core.sweeps.fields import Fields, Record, as_integer, as_list, field_names, impossible, read_record
from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields, LimitExceeded

TOPIC_FIELDS = field_names(scenario.TopicLoad)
CURRENT_RETENTION_FIELDS = ("retained_bytes", "retained_bytes_per_partition", "retention_s")
"""The fields that state a topic's current retention; a topic has at most one of them."""
LOCAL_RETENTION_FIELDS = ("local_retention_s", "local_retention_bytes")
"""The fields that only topics with `remote_storage` have."""
_CONFIGS = {
    "retention_s": ("retention.ms", 1000.0),
    "retention_bytes": ("retention.bytes", 1.0),
    "local_retention_s": ("local.retention.ms", 1000.0),
    "local_retention_bytes": ("local.retention.bytes", 1.0),
    "segment_bytes": ("segment.bytes", 1.0),
}

_TOPOLOGY_FIELDS = ("racks", "brokers_per_rack")


def read_topology(value: Json) -> scenario.Topology:
    """Racks, and the number of brokers in each or by rack."""
    fields = Fields(value, ("topology",), known=_TOPOLOGY_FIELDS)
    path = fields.at("racks")
    racks = as_list(fields.raw("racks"), path)
    names = [Fields({"rack": rack}, (*path, index), known=("rack",)).text("rack") for index, rack in enumerate(racks)]
    for index, rack in enumerate(names):
        if rack in names[:index]:
            raise ConflictingFields(f"rack {rack} is listed twice", path=(*path, index), value=rack)
    counts, path = fields.raw("brokers_per_rack"), fields.at("brokers_per_rack")
    if not isinstance(counts, Mapping):
        return scenario.Topology(dict.fromkeys(names, as_integer(counts, path, minimum=1)))
    if set(counts) != set(names):
        detail = f"brokers_per_rack counts the brokers of {', '.join(counts)}; the racks are {', '.join(names)}"
        raise ConflictingFields(detail, path=path)
    return scenario.Topology({rack: as_integer(counts[rack], (*path, rack), minimum=1) for rack in names})


def read_multiplier(value: Json) -> int:
    """The factor by which every topic's partitions are multiplied."""
    return 1 if value is None else as_integer(value, ("partitions_multiplier",), minimum=1)


def read_failures(value: Json) -> tuple[str, ...]:
    """Of `FAILURE_CLASSES`, in that order; `none` is always included."""
    named, known = set[str](), scenario.FAILURE_CLASSES
    for index, name in enumerate([] if value is None or value == [] else as_list(value, ("failures",))):
        if not isinstance(name, str) or name not in known:
            raise impossible(f"a failure class is needed, of {', '.join(known)}", name, ("failures", index))
        named.add(name)
    return tuple(name for name in known if name in named or name == "none")


def read_targets(value: Json) -> Mapping[str, float]:
    """The share of each resource that may be used."""
    fields = Fields({} if value is None else value, ("targets",), known=scenario.RESOURCES)
    given = [name for name in scenario.RESOURCES if fields.raw(name) is not None]
    return {name: fields.number(name, above=0, maximum=1.0) for name in given}


def read_restart(value: Json) -> scenario.RestartRules | None:
    """The rules of a rolling restart; None if the scenario has none."""
    return None if value is None else read_record(scenario.RestartRules, value, ("restart",))


def read_topics(value: Json) -> tuple[scenario.TopicLoad, ...]:
    """The topics, before their partitions are multiplied."""
    topics = tuple(_read_topic(entry, ("topics", index)) for index, entry in enumerate(as_list(value, ("topics",))))
    seen: set[str] = set()
    for index, topic in enumerate(topics):
        if topic.name in seen:
            detail = f"topic {topic.name} is listed twice"
            raise ConflictingFields(detail, path=("topics", index, "name"), value=topic.name)
        seen.add(topic.name)
    return topics


def _read_topic(value: Json, path: FieldPath) -> scenario.TopicLoad:
    if isinstance(value, Mapping) and value.get("peak_ingress_bytes_per_s") is None:
        value = {**value, "peak_ingress_bytes_per_s": value.get("ingress_bytes_per_s")}
    topic = read_record(scenario.TopicLoad, value, path)
    _require_topic(topic, path)
    return topic


def _require_topic(topic: scenario.TopicLoad, path: FieldPath) -> None:
    for name in LOCAL_RETENTION_FIELDS:
        local, retained = getattr(topic, name), getattr(topic, name.removeprefix("local_"))
        if local is not None and not topic.remote_storage:
            detail = f"topic {topic.name} has no remote_storage, so that it has no {name} beside its retention"
            raise ConflictingFields(detail, path=(*path, name), value=local)
        if local is not None and retained is not None and local > retained:
            detail = f"topic {topic.name} has a {name} of {local:g}, above its retention of {retained:g}"
            raise ConflictingFields(detail, path=(*path, name), value=local, maximum=retained)
    given = [name for name in CURRENT_RETENTION_FIELDS if getattr(topic, name) is not None]
    if len(given) > 1:
        detail = f"topic {topic.name} has both {given[0]} and {given[1]}; what is retained now is one of them"
        raise ConflictingFields(detail, path=(*path, given[0]))
    if not given and topic.retention_bytes is None:
        known = f"{', '.join(CURRENT_RETENTION_FIELDS)} or retention_bytes"
        detail = f"topic {topic.name} states nothing of its retention; one is needed of {known}"
        raise ConflictingFields(detail, path=(*path, "retained_bytes"))
    least, factor = topic.min_insync_replicas, topic.replication_factor
    if least > factor:
        detail = f"topic {topic.name} needs {least} replicas in sync and has {factor}; at least {least} lift it"
        raise ConflictingFields(detail, path=(*path, "min_insync_replicas"), value=least, maximum=factor)
    peak, mean = topic.peak_ingress_bytes_per_s, topic.ingress_bytes_per_s
    if peak < mean:
        detail = f"topic {topic.name} has an ingress of {peak:g} bytes/s at its peak and {mean:g} on average"
        raise ConflictingFields(detail, path=(*path, "peak_ingress_bytes_per_s"), value=peak, minimum=mean)
    _require_lengths(topic, path)


def _require_lengths(topic: scenario.TopicLoad, path: FieldPath) -> None:
    for name, what in (("partition_weights", "weights"), ("retained_bytes_per_partition",) * 2):
        numbers = getattr(topic, name)
        if isinstance(numbers, np.ndarray) and numbers.ndim and len(numbers) != topic.partitions:
            number, partitions = len(numbers), topic.partitions
            detail = f"{number} {what} are given for {partitions} partitions"
            raise ConflictingFields(detail, path=(*path, name), value=number, partitions=partitions)


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of a scenario: its fields, none if it is not an object, and its reader."""

    fields: tuple[str, ...]
    read: Callable[[Json], Any]

    @classmethod
    def of(cls, name: str, record: type[Record], absent: Mapping[str, Json] | None = None) -> "_Section":
        """A section that is a record of fields; `absent` is its value if a scenario omits it, None if it must not."""
        return cls(field_names(record), lambda value: read_record(record, absent if value is None else value, (name,)))


_SECTIONS = {
    "topology": _Section(_TOPOLOGY_FIELDS, read_topology),
    "broker_profile": _Section.of("broker_profile", scenario.BrokerProfile),
    "topics": _Section((), read_topics),
    "partitions_multiplier": _Section((), read_multiplier),
    "placement": _Section.of("placement", scenario.PlacementPolicy, {}),
    "clients": _Section.of("clients", scenario.Clients, {}),
    "traffic": _Section.of("traffic", scenario.TrafficGrowth, {}),
    "failures": _Section((), read_failures),
    "targets": _Section(scenario.RESOURCES, read_targets),
    "prices": _Section.of("prices", scenario.Prices, {}),
    "rereplication": _Section.of("rereplication", scenario.Rereplication, {"throttle_bytes_per_s": 0.0}),
    "restart": _Section(field_names(scenario.RestartRules), read_restart),
}
SECTION_FIELDS: Mapping[str, tuple[str, ...]] = {name: each.fields for name, each in _SECTIONS.items()}
"""Every section of a scenario and its fields; none if the section is not an object."""
READERS: Mapping[str, Callable[[Json], Any]] = {name: each.read for name, each in _SECTIONS.items()}
"""The reader of each section."""

CONTRADICTING = ("topology", "topics", "partitions_multiplier", "clients", "restart")
"""The sections that `require_consistent` compares."""
MOST_BROKERS = 10_000
MOST_REPLICAS = 50_000_000
"""Of one scenario. A larger one would exhaust the memory of an executor, which scores other scenarios as well."""


def require_consistent(
    topology: scenario.Topology,
    topics: Sequence[scenario.TopicLoad],
    clients: scenario.Clients,
    rules: scenario.RestartRules | None,
    multiplier: int,
) -> None:
    """Raise `ConflictingFields` if sections contradict each other, `LimitExceeded` if the scenario is too large.

    Parameters
    ----------
    topics : before their partitions are multiplied, since the product may be too large for memory.
    """
    brokers = sum(topology.brokers_per_rack.values())
    if brokers > MOST_BROKERS:
        detail = f"a scenario has {brokers} brokers; the limit is {MOST_BROKERS}"
        raise LimitExceeded(detail, path=("topology", "brokers_per_rack"), value=brokers, maximum=MOST_BROKERS)
    if rules is not None and (rules.controllers or 0) > brokers:
        detail, value = f"{rules.controllers} brokers are controllers; {brokers} given", rules.controllers
        raise ConflictingFields(detail, path=("restart", "controllers"), value=value, maximum=brokers)
    for index, topic in enumerate(topics):
        if (factor := topic.replication_factor) > brokers:
            detail = f"replication factor {factor} of topic {topic.name} needs as many brokers; {brokers} given"
            path = ("topics", index, "replication_factor")
            raise ConflictingFields(detail, path=path, value=factor, maximum=brokers)
    replicas = multiplier * sum(topic.partitions * topic.replication_factor for topic in topics)
    if replicas > MOST_REPLICAS:
        detail = f"a scenario has {replicas} replicas; the limit is {MOST_REPLICAS}"
        raise LimitExceeded(detail, path=("topics",), value=replicas, maximum=MOST_REPLICAS)
    for name in ("producer_share_per_rack", "consumer_share_per_rack"):
        for rack in getattr(clients, name) or ():
            if rack not in topology.brokers_per_rack:
                detail = f"{name} names rack {rack}; the racks are {', '.join(topology.racks)}"
                raise ConflictingFields(detail, path=("clients", name, rack), value=rack)


@dataclass(frozen=True, slots=True, eq=False)
class IngressSeries:
    """Samples of the ingress of a topic, or of one of its partitions.

    Parameters
    ----------
    partition : None if the series is of the whole topic.
    times : (samples,) float64 seconds; 0 if the time is unknown. bytes_per_s : (samples,) float64.
    """

    topic: str
    partition: int | None
    times: Float64s
    bytes_per_s: Float64s


@dataclass(frozen=True, slots=True)
class TopicIngress:
    """Ingress of a topic in bytes/s: mean, peak, and the mean of each partition, empty if it is not known."""

    mean: float
    peak: float
    by_partition: Mapping[int, float]


def ingress(series: Sequence[IngressSeries]) -> dict[str, TopicIngress]:
    """Add up the series of each topic, which may come from several brokers, sample time by sample time.

    A series without a sample at a time of another series counts as 0 then: when a leader moves, its series ends on one
    broker and begins on another. So the mean is over all times, and the peak is the largest sum at one of them.
    """
    times = np.unique(np.concatenate([samples.times for samples in series])) if series else np.empty(0)
    totals: dict[str, Float64s] = {}
    by_partition: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for samples in series:
        total = totals.setdefault(samples.topic, np.zeros(len(times)))
        np.add.at(total, np.searchsorted(times, samples.times), samples.bytes_per_s)
        if samples.partition is not None:
            by_partition[samples.topic][samples.partition] += float(samples.bytes_per_s.sum()) / len(times)
    return {
        topic: TopicIngress(mean, max(mean, float(total.max())), dict(by_partition[topic]))
        for topic, total in totals.items()
        for mean in [float(total.mean())]
    }


def configured_retention(topic: Topic) -> dict[str, float]:
    """Retention of a tiered topic as fields of a scenario; without those that are unknown, or negative: unlimited."""
    stated = {field: (topic.configs.get(name, ""), unit) for field, (name, unit) in _CONFIGS.items()}
    return {field: int(text) / unit for field, (text, unit) in stated.items() if text.isdecimal() and len(text) < 19}


def topic_document(topic: Topic, measured: TopicIngress | None, stated: Mapping[str, Json]) -> dict[str, Json]:
    """A topic of a scenario as JSON: measured values, overridden by `stated` ones that are not None.

    The replication factor is the largest of any partition after a reassignment in progress has ended. If retention is
    not stated, each partition retains as many bytes as its largest replica has on disk. Bytes are spread over
    partitions as measured by partition, else as the bytes on disk are.

    Of a topic with remote storage, the bytes on disk are a part of those retained: its configurations state retention,
    if they limit it.

    `ingress_bytes_per_s` is absent if it is neither measured nor stated; retention is absent if it is not stated and
    sizes are unknown.
    """
    ids, sizes = topic.partition_ids, topic.size_bytes
    counts = (topic.replicas != NO_REPLICA).sum(axis=1) - (topic.removing != NO_REPLICA).sum(axis=1)
    entry: dict[str, Json] = {
        "name": topic.name,
        "partitions": len(ids),
        "replication_factor": int(counts.max(initial=1)),
    }
    weights = sizes
    if measured is not None:
        if stated.get("ingress_bytes_per_s") is None:
            entry |= {"ingress_bytes_per_s": measured.mean, "peak_ingress_bytes_per_s": measured.peak}
        if measured.by_partition:
            weights = np.array([measured.by_partition.get(partition, 0.0) for partition in ids.tolist()])
    if (weights >= 0).all() and weights.sum() > 0:
        entry["partition_weights"] = weights.tolist()
    is_unstated = all(stated.get(name) is None for name in CURRENT_RETENTION_FIELDS)
    if topic.has_remote_storage:
        left_out = {"retention_s"} if not is_unstated else set()
        left_out |= set(LOCAL_RETENTION_FIELDS) if stated.get("remote_storage") is False else set()
        known = configured_retention(topic).items()
        entry |= {"remote_storage": True, **{name: value for name, value in known if name not in left_out}}
    if (sizes != UNKNOWN_SIZE).all() and is_unstated and not {"retention_s", "retention_bytes"}.intersection(entry):
        entry["retained_bytes_per_partition"] = sizes.tolist()
    if topic.min_insync_replicas is not None:
        entry["min_insync_replicas"] = min(topic.min_insync_replicas, int(counts.max(initial=1)))
    return entry | {name: value for name, value in stated.items() if value is not None}
