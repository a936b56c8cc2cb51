"""Topics as a cluster has them, and the bytes/s that somebody measured, as a scenario's topics.

What the caller says of a topic wins over what was measured of it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.capacity.topic_reading import RETAINED_NOW
from app.core.capacity.workload import Float64s
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Topic
from app.errors import Json


@dataclass(frozen=True, slots=True, eq=False)
class IngressSeries:
    """What producers wrote to a topic, or to one partition of it, from time to time.

    Parameters
    ----------
    partition : None where it is of the whole topic.
    times : (samples,) float64 seconds; 0 where nobody said when. bytes_per_s : (samples,) float64.
    """

    topic: str
    partition: int | None
    times: Float64s
    bytes_per_s: Float64s


@dataclass(frozen=True, slots=True)
class TopicIngress:
    """What producers write to a topic, on average and at most, in bytes/s; and to which partition how much of it.

    `by_partition` is empty where nobody told partitions apart.
    """

    mean: float
    peak: float
    by_partition: Mapping[int, float]


def ingress(series: Sequence[IngressSeries]) -> dict[str, TopicIngress]:
    """Add up what several brokers, or several series, say of a topic at the same time.

    A series that says nothing at one of the times of all had nothing then: a leader that moves ends its series on one
    broker and begins another elsewhere. So the mean is over all times, and the peak is the largest sum at one of them.
    """
    times = np.unique(np.concatenate([its.times for its in series])) if series else np.empty(0)
    totals: dict[str, Float64s] = {}
    by_partition: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for its in series:
        total = totals.setdefault(its.topic, np.zeros(len(times)))
        np.add.at(total, np.searchsorted(times, its.times), its.bytes_per_s)
        if its.partition is not None:
            by_partition[its.topic][its.partition] += float(its.bytes_per_s.sum()) / len(times)
    return {
        topic: TopicIngress(mean, max(mean, float(total.max())), dict(by_partition[topic]))
        for topic, total in totals.items()
        for mean in [float(total.mean())]
    }


def topic_document(topic: Topic, measured: TopicIngress | None, said: Mapping[str, Json]) -> dict[str, Json]:
    """A topic of a scenario as JSON: measured, but for what is said.

    Its replication factor is the largest that a partition has, once a reassignment on the way has ended. Where nothing
    is said of what it retains, each partition retains what its largest replica has on disk. Its bytes are spread as
    they were measured by partition, else as those on disk are.

    `ingress_bytes_per_s` is missing where it was neither measured nor said, and what is retained where neither sizes
    are known nor anything is said.
    """
    ids, sizes = topic.partition_ids, topic.size_bytes
    counts = (topic.replicas != NO_REPLICA).sum(axis=1) - (topic.removing != NO_REPLICA).sum(axis=1)
    found: dict[str, Json] = {
        "name": topic.name,
        "partitions": len(ids),
        "replication_factor": int(counts.max(initial=1)),
    }
    weights = sizes
    if measured is not None:
        if said.get("ingress_bytes_per_s") is None:
            found |= {"ingress_bytes_per_s": measured.mean, "peak_ingress_bytes_per_s": measured.peak}
        if measured.by_partition:
            weights = np.array([measured.by_partition.get(partition, 0.0) for partition in ids.tolist()])
    if (weights >= 0).all() and weights.sum() > 0:
        found["partition_weights"] = weights.tolist()
    if (sizes != UNKNOWN_SIZE).all() and all(said.get(name) is None for name in RETAINED_NOW):
        found["retained_bytes_per_partition"] = sizes.tolist()
    return found | {name: value for name, value in said.items() if value is not None}
