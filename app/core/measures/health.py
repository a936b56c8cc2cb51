"""The current state of a cluster: numbers of unavailable, fragile or unbalanced partitions and brokers."""

from dataclasses import dataclass

import numpy as np

from app.core.measures import tally_kernel as kernel
from app.core.measures.partition_table import min_isr_of_rows
from app.core.measures.tally import BrokerArrays, Tally, tally, tally_over
from app.core.model import NO_LEADER, UNKNOWN_SIZE, Bools, Cluster, Int64s, Topic
from app.core.replica_lists import factors_of, stacked

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
    every = _as_one_topic(cluster)
    counts = tally({"": every.assignment}, cluster.known_brokers)
    listed = {broker.id for broker in cluster.brokers}
    per_broker = counts.per_broker[[broker.id in listed for broker in counts.brokers]]
    factors, is_known = factors_of(every.replicas), every.size_bytes != UNKNOWN_SIZE
    return ClusterHealth(
        **{name: int(np.count_nonzero(state)) for name, state in _states(cluster, every, counts).items()},
        replicas=int(factors.sum()),
        bytes=int((every.size_bytes * factors)[is_known].sum()),
        unknown_sizes=int(np.count_nonzero(~is_known)),
        fenced_brokers=sum(broker.fenced for broker in cluster.brokers),
        replica_skew=_skew(per_broker[:, 1]),
        leader_skew=_skew(per_broker[:, 0]),
    )


def partition_states(cluster: Cluster, brokers: BrokerArrays) -> dict[str, Bools]:
    """(partitions,) bool of each state that `ClusterHealth` counts, by its name there; topics in their order.

    `brokers` are the known ones of the cluster. Complexity: O(replicas).
    """
    every = _as_one_topic(cluster)
    return _states(cluster, every, tally_over(brokers, {"": every.assignment}))


def _as_one_topic(cluster: Cluster) -> Topic:
    """The partitions of all topics below one another: 10,000 topics one by one take ten times as long."""
    topics = cluster.topics
    ids = np.concatenate([np.zeros(0, np.int32), *(topic.partition_ids for topic in topics)])
    leaders = np.concatenate([np.zeros(0, np.int32), *(topic.leaders for topic in topics)])
    sizes = np.concatenate([np.zeros(0, np.int64), *(topic.size_bytes for topic in topics)])
    replicas, isr, adding, removing = (
        stacked([getattr(topic, name) for topic in topics]) for name in ("replicas", "isr", "adding", "removing")
    )
    return Topic("", ids, replicas, leaders, isr, adding, removing, sizes)


def _states(cluster: Cluster, every: Topic, counts: Tally) -> dict[str, Bools]:
    (faults,), in_sync, least = counts.faults, factors_of(every.isr), min_isr_of_rows(cluster)
    return {
        "offline": np.asarray(every.leaders == NO_LEADER, np.bool_),
        "under_replicated": in_sync < factors_of(every.replicas),
        "not_rack_safe": (faults & kernel.TOO_FEW_RACKS) != 0,
        "not_preferred": every.awaits_election,
        "reassigning": every.is_moving,
        "illegal": (faults & (kernel.NO_REPLICAS | kernel.DUPLICATE_REPLICA)) != 0,
        "under_min_isr": in_sync < least,
        "at_min_isr": (in_sync == least) & (least > 0),
        "min_isr_unknown": least == 0,
    }


def _skew(numbers: Int64s) -> float:
    """The largest number over the mean."""
    return round(float(numbers.max() / numbers.mean()), 4) if numbers.any() else 0.0
