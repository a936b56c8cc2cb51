"""Topics of a scenario from a snapshot and measured ingress. Stated values override measured ones."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.capacity.scenario import Float64s
from app.core.capacity.sections import CURRENT_RETENTION_FIELDS
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Topic
from app.errors import Json


@dataclass(frozen=True, slots=True, eq=False)
class IngressSeries:
    """Samples of what producers wrote to a topic, or to one of its partitions.

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


def topic_document(topic: Topic, measured: TopicIngress | None, stated: Mapping[str, Json]) -> dict[str, Json]:
    """A topic of a scenario as JSON: measured values, overridden by `stated` ones that are not None.

    The replication factor is the largest of any partition after a reassignment in progress has ended. If retention is
    not stated, each partition retains as many bytes as its largest replica has on disk. Bytes are spread over
    partitions as measured by partition, else as the bytes on disk are.

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
    if (sizes != UNKNOWN_SIZE).all() and all(stated.get(name) is None for name in CURRENT_RETENTION_FIELDS):
        entry["retained_bytes_per_partition"] = sizes.tolist()
    return entry | {name: value for name, value in stated.items() if value is not None}
