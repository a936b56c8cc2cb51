"""The load of each partition, and how many bytes brokers store: the topics of a scenario as arrays over all partitions.

A replica stores min(growing, most) bytes, where `growing` is proportional to traffic. So the bytes that a broker stores
are concave and piecewise linear in the factor by which traffic grows. Each Newton step from a point below the root ends
at the root of the tangent, which is no larger; the steps end when no partition reaches its upper bound in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.core.capacity import loads_kernel
from app.core.capacity.scenario import Float64s, TopicLoad
from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """All partitions, topic after topic.

    Parameters
    ----------
    bounds : (topics + 1,) int64; topic t is partitions bounds[t] … bounds[t + 1] − 1.
    peak_ingress : (partitions,) float64 bytes/s. fan_out, lagging_share, mean_to_peak : (topics,) float64.
    min_insync : (topics,) int32.
    growing_bytes : (partitions,) float64 bytes of a replica on disk now, without an upper bound; proportional to
        traffic, and infinite if retention is limited by size alone.
    most_bytes : (partitions,) float64 upper bound on the bytes of a replica on disk; infinite if there is none.
    """

    bounds: Int64s
    peak_ingress: Float64s
    fan_out: Float64s
    lagging_share: Float64s
    mean_to_peak: Float64s
    min_insync: Int32s
    growing_bytes: Float64s
    most_bytes: Float64s

    @property
    def traffic(self) -> tuple[Int64s, Float64s, Float64s, Float64s]:
        """The bounds, peak ingress, fan-out and lagging share, as the loops over partitions take them."""
        return self.bounds, self.peak_ingress, self.fan_out, self.lagging_share


def workload(topics: Sequence[TopicLoad]) -> Workload:
    """Spread each topic's bytes over its partitions by their weights."""
    shares = [partition_shares(topic) for topic in topics]
    on_disk = [_bytes_on_disk(topic, share) for topic, share in zip(topics, shares, strict=True)]
    return Workload(
        bounds=np.cumsum([0, *(topic.partitions for topic in topics)], dtype=np.int64),
        peak_ingress=np.concatenate(
            [share * topic.peak_ingress_bytes_per_s for topic, share in zip(topics, shares, strict=True)]
        ),
        fan_out=np.array([topic.consumer_groups for topic in topics], np.float64),
        lagging_share=np.array([topic.lagging_share for topic in topics], np.float64),
        mean_to_peak=np.array([_mean_to_peak(topic) for topic in topics], np.float64),
        min_insync=np.array([topic.min_insync_replicas for topic in topics], np.int32),
        growing_bytes=np.concatenate([growing for growing, _ in on_disk]),
        most_bytes=np.concatenate([most for _, most in on_disk]),
    )


def partition_shares(topic: TopicLoad) -> Float64s:
    """(partitions,) float64: each partition's share of its topic; they sum to 1."""
    weights = topic.partition_weights
    if isinstance(weights, float):
        weights = np.arange(1, topic.partitions + 1, dtype=np.float64) ** -weights
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _mean_to_peak(topic: TopicLoad) -> float:
    peak = topic.peak_ingress_bytes_per_s
    return topic.ingress_bytes_per_s / peak if peak > 0 else 0.0


def _bytes_on_disk(topic: TopicLoad, shares: Float64s) -> tuple[Float64s, Float64s]:
    """A topic's part of `growing_bytes` and `most_bytes`."""
    per_retained = 1 + topic.disk_headroom
    cap = np.inf if topic.retention_bytes is None else topic.retention_bytes * per_retained
    if topic.retained_bytes_per_partition is not None:
        growing = topic.retained_bytes_per_partition * per_retained
    elif topic.retained_bytes is not None:
        growing = shares * topic.retained_bytes * per_retained
    elif topic.retention_s is not None:
        growing = shares * (topic.ingress_bytes_per_s * topic.retention_s * per_retained)
    else:
        growing = np.full(topic.partitions, np.inf)
    return growing, np.full(topic.partitions, cap)


_SMALLEST_STEP = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class Storage:
    """Bytes on the disks of `brokers` brokers; `rows` are (partitions, widest) positions of brokers, padded."""

    rows: Int32s
    workload: Workload
    brokers: int

    @cached_property
    def stored_bytes(self) -> Float64s:
        """(brokers,) float64 bytes stored now."""
        growing, fixed, _ = self._at(1.0)
        return growing + fixed

    @cached_property
    def _without_traffic(self) -> tuple[Float64s, Float64s, bool]:
        """The start of every search, whatever the limit."""
        return self._at(0.0)

    def first_full(self, limit: float) -> tuple[float, int]:
        """The largest factor at which no broker stores more than `limit` bytes, and the first broker to reach it.

        0 if bytes that do not grow exceed the limit; infinite if it is never reached.
        """
        factor = 0.0
        while True:
            growing, fixed, caps_ahead = self._at(factor) if factor > 0 else self._without_traffic
            roots = np.where(fixed > limit, 0.0, np.inf)
            np.divide(limit - fixed, growing, out=roots, where=growing > 0)
            broker = int(roots.argmin())
            reached = max(0.0, float(roots[broker]))
            if not caps_ahead or not factor * _SMALLEST_STEP < reached < np.inf:
                return reached, broker
            factor = reached

    def _at(self, factor: float) -> tuple[Float64s, Float64s, bool]:
        growing, fixed = np.zeros(self.brokers), np.zeros(self.brokers)
        caps_ahead = loads_kernel.store(
            self.rows, self.workload.growing_bytes, self.workload.most_bytes, factor, growing, fixed
        )
        return growing, fixed, bool(caps_ahead)
