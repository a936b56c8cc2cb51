"""What each partition takes in, gives out and keeps: the topics of a scenario as arrays over all partitions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.capacity.scenario import TopicLoad
from app.core.model import Int32s, Int64s

Float64s = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """All partitions, topic after topic.

    Parameters
    ----------
    bounds : (topics + 1,) int64; topic t is partitions bounds[t] … bounds[t + 1] − 1.
    peak_ingress : (partitions,) float64 bytes/s. fan_out, lagging_share, mean_to_peak : (topics,) float64.
    min_insync : (topics,) int32.
    growing_bytes : (partitions,) float64: what a replica has on disk now, if nothing caps it; it grows with traffic.
    most_bytes : (partitions,) float64: what a replica has on disk at most; infinite where nothing caps it. Where a size
        is all that limits retention, growing_bytes is infinite.
    """

    bounds: Int64s
    peak_ingress: Float64s
    fan_out: Float64s
    lagging_share: Float64s
    mean_to_peak: Float64s
    min_insync: Int32s
    growing_bytes: Float64s
    most_bytes: Float64s


def workload(topics: Sequence[TopicLoad]) -> Workload:
    """Spread each topic's bytes over its partitions by their weights."""
    shares = [partition_shares(topic) for topic in topics]
    kept = [_kept(topic, share) for topic, share in zip(topics, shares, strict=True)]
    return Workload(
        bounds=np.cumsum([0, *(topic.partitions for topic in topics)], dtype=np.int64),
        peak_ingress=np.concatenate(
            [share * topic.peak_ingress_bytes_per_s for topic, share in zip(topics, shares, strict=True)]
        ),
        fan_out=np.array([topic.consumer_groups for topic in topics], np.float64),
        lagging_share=np.array([topic.lagging_share for topic in topics], np.float64),
        mean_to_peak=np.array([_mean_to_peak(topic) for topic in topics], np.float64),
        min_insync=np.array([topic.min_insync_replicas for topic in topics], np.int32),
        growing_bytes=np.concatenate([growing for growing, _ in kept]),
        most_bytes=np.concatenate([most for _, most in kept]),
    )


def partition_shares(topic: TopicLoad) -> Float64s:
    """(partitions,) float64: each partition's share of its topic; they sum to 1."""
    if topic.measured_weights is not None:
        weights = topic.measured_weights
    else:
        weights = np.arange(1, topic.partitions + 1, dtype=np.float64) ** -topic.zipf
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _mean_to_peak(topic: TopicLoad) -> float:
    peak = topic.peak_ingress_bytes_per_s
    return topic.ingress_bytes_per_s / peak if peak > 0 else 0.0


def _kept(topic: TopicLoad, shares: Float64s) -> tuple[Float64s, Float64s]:
    """A topic's part of `growing_bytes` and `most_bytes`."""
    on_disk = 1 + topic.disk_headroom
    cap = np.inf if topic.retention_bytes is None else topic.retention_bytes * on_disk
    if topic.retained_bytes_per_partition is not None:
        growing = topic.retained_bytes_per_partition * on_disk
    elif topic.retained_bytes is not None:
        growing = shares * topic.retained_bytes * on_disk
    elif topic.retention_s is not None:
        growing = shares * (topic.ingress_bytes_per_s * topic.retention_s * on_disk)
    else:
        growing = np.full(topic.partitions, np.inf)
    return growing, np.full(topic.partitions, cap)
