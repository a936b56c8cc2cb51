"""The current state of a cluster: numbers of unavailable, fragile or unbalanced partitions and brokers."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.measures import tally_kernel as kernel
from app.core.measures.tally import Tally, tally
from app.core.model import NO_LEADER, NO_REPLICA, UNKNOWN_SIZE, Cluster, Int32s, Int64s, Topic

Bools: TypeAlias = NDArray[np.bool_]
STATES = (
    *("offline", "under_replicated", "not_rack_safe", "not_preferred", "reassigning", "illegal"),
    *("under_min_isr", "at_min_isr", "min_isr_unknown"),
)
"""The states of partitions that `ClusterHealth` counts."""


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
    factors = [_lengths(topic.replicas) for topic in cluster.topics]
    return ClusterHealth(
        **{name: int(np.count_nonzero(state)) for name, state in _states(cluster, counts).items()},
        replicas=sum(int(factor.sum()) for factor in factors),
        bytes=sum(
            int((topic.size_bytes * factor)[topic.size_bytes != UNKNOWN_SIZE].sum())
            for topic, factor in zip(cluster.topics, factors, strict=True)
        ),
        unknown_sizes=sum(int(np.count_nonzero(topic.size_bytes == UNKNOWN_SIZE)) for topic in cluster.topics),
        fenced_brokers=sum(broker.fenced for broker in cluster.brokers),
        replica_skew=_skew(per_broker[:, 1]),
        leader_skew=_skew(per_broker[:, 0]),
    )


def partition_states(cluster: Cluster) -> dict[str, Bools]:
    """(partitions,) bool of each state that `ClusterHealth` counts, by its name there; topics in their order.

    Complexity: O(replicas).
    """
    return _states(cluster, tally({topic.name: topic.assignment for topic in cluster.topics}, cluster.known_brokers))


def _states(cluster: Cluster, counts: Tally) -> dict[str, Bools]:
    by_topic = [_states_of(topic, faults) for topic, faults in zip(cluster.topics, counts.faults, strict=True)]
    return {name: np.concatenate([np.zeros(0, np.bool_), *(each[name] for each in by_topic)]) for name in STATES}


def _states_of(topic: Topic, faults: NDArray[np.uint8]) -> dict[str, Bools]:
    in_sync, least = _lengths(topic.isr), topic.min_insync_replicas or 0
    return {
        "offline": np.asarray(topic.leaders == NO_LEADER, np.bool_),
        "under_replicated": in_sync < _lengths(topic.replicas),
        "not_rack_safe": (faults & kernel.TOO_FEW_RACKS) != 0,
        "not_preferred": topic.awaits_election,
        "reassigning": topic.is_moving,
        "illegal": (faults & (kernel.NO_REPLICAS | kernel.DUPLICATE_REPLICA)) != 0,
        "under_min_isr": in_sync < least,
        "at_min_isr": (in_sync == least) & (least > 0),
        "min_isr_unknown": np.full(len(in_sync), least == 0),
    }


def _lengths(replicas: Int32s) -> Int64s:
    return np.asarray(np.count_nonzero(replicas != NO_REPLICA, axis=1), np.int64)


def _skew(numbers: Int64s) -> float:
    """The largest number over the mean."""
    return round(float(numbers.max() / numbers.mean()), 4) if numbers.any() else 0.0
