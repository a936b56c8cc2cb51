"""The state of a cluster in a few numbers: what is unavailable, fragile or unbalanced now."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.measures import tally_kernel as kernel
from app.core.measures.tally import tally
from app.core.model import NO_LEADER, NO_REPLICA, UNKNOWN_SIZE, Cluster, Int32s, Int64s


@dataclass(frozen=True, slots=True)
class ClusterHealth:
    """Counts of partitions, and the balance of the listed brokers."""

    offline: int
    """Partitions without a leader."""
    under_replicated: int
    """Partitions with fewer in-sync replicas than replicas."""
    not_rack_safe: int
    """Partitions that span fewer racks than they could; a broker that is down and of unknown rack may be in any."""
    not_preferred: int
    """Partitions whose leader a preferred election would change."""
    reassigning: int
    """Partitions that are being reassigned."""
    illegal: int
    """Partitions without replicas, or with a broker twice. A broker that is not listed is down, and legal."""
    replicas: int
    """Replicas of all partitions."""
    bytes: int
    """Bytes of all replicas whose size is known."""
    unknown_sizes: int
    """Partitions of unknown size."""
    fenced_brokers: int
    """Listed brokers that are fenced."""
    replica_skew: float
    """Replicas of the broker that has most, over the mean of the listed brokers; 0 without replicas."""
    leader_skew: float
    """Preferred leaders of the broker that has most, over the mean of the listed brokers; 0 without leaders."""
    under_min_isr: int | None = None
    """Partitions with fewer in-sync replicas than `min.insync.replicas`, to which producers with `acks=all` cannot
    write; null in a snapshot that an earlier release stored."""
    at_min_isr: int | None = None
    """Partitions with exactly as many in-sync replicas as `min.insync.replicas`; null likewise."""
    min_isr_unknown: int | None = None
    """Partitions whose `min.insync.replicas` is unknown, which neither of these counts; null likewise."""


def cluster_health(cluster: Cluster) -> ClusterHealth:
    """Count a cluster as it is. Complexity: O(replicas)."""
    counts = tally({topic.name: topic.assignment for topic in cluster.topics}, cluster.known_brokers)
    listed = {broker.id for broker in cluster.brokers}
    per_broker = counts.per_broker[[broker.id in listed for broker in counts.brokers]]
    illegal = kernel.NO_REPLICAS | kernel.DUPLICATE_REPLICA
    factors = [_lengths(topic.replicas) for topic in cluster.topics]
    return ClusterHealth(
        offline=sum(_count(topic.leaders == NO_LEADER) for topic in cluster.topics),
        under_replicated=sum(
            _count(_lengths(topic.isr) < factor) for topic, factor in zip(cluster.topics, factors, strict=True)
        ),
        not_rack_safe=sum(_count(faults & kernel.TOO_FEW_RACKS) for faults in counts.faults),
        not_preferred=sum(_count(topic.awaits_election) for topic in cluster.topics),
        reassigning=sum(_count(topic.is_moving) for topic in cluster.topics),
        illegal=sum(_count(faults & illegal) for faults in counts.faults),
        replicas=sum(int(factor.sum()) for factor in factors),
        bytes=sum(
            int((topic.size_bytes * factor)[topic.size_bytes != UNKNOWN_SIZE].sum())
            for topic, factor in zip(cluster.topics, factors, strict=True)
        ),
        unknown_sizes=sum(_count(topic.size_bytes == UNKNOWN_SIZE) for topic in cluster.topics),
        fenced_brokers=sum(broker.fenced for broker in cluster.brokers),
        replica_skew=_skew(per_broker[:, 1]),
        leader_skew=_skew(per_broker[:, 0]),
        **_by_min_isr(cluster),
    )


def _by_min_isr(cluster: Cluster) -> dict[str, int]:
    known = [(_lengths(topic.isr), least) for topic in cluster.topics if (least := topic.min_insync_replicas)]
    partitions = sum(len(topic.partition_ids) for topic in cluster.topics)
    return {
        "under_min_isr": sum(_count(in_sync < least) for in_sync, least in known),
        "at_min_isr": sum(_count(in_sync == least) for in_sync, least in known),
        "min_isr_unknown": partitions - sum(len(in_sync) for in_sync, _ in known),
    }


def _lengths(replicas: Int32s) -> Int64s:
    return np.asarray(np.count_nonzero(replicas != NO_REPLICA, axis=1), np.int64)


def _count(mask: NDArray[np.generic]) -> int:
    return int(np.count_nonzero(mask))


def _skew(numbers: Int64s) -> float:
    """The largest number over the mean."""
    return round(float(numbers.max() / numbers.mean()), 4) if numbers.any() else 0.0
