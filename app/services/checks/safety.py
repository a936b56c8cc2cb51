"""Reassignments that Kafka accepts and that leave partitions less safe, or that it never completes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.kafka_versions import KafkaVersion
from app.core.measures.lowered_factors import LoweredFactors, factors_of, lowered_factors
from app.core.measures.tally import positions_of
from app.core.measures.violations import NAMED_PARTITIONS, Violation
from app.core.model import NO_REPLICA, Assignment, Cluster, Int32s, Topic
from app.core.reassignment import completion_rule, incomplete
from app.core.replica_lists import not_among
from app.services.cautions import Caution
from app.services.reassignment.reports.completion import no_source_detail, waits_detail


def safety_of(
    cluster: Cluster, after: Mapping[str, Assignment], version: KafkaVersion, *, allow_lower_factor: bool
) -> tuple[list[Violation], list[Caution]]:
    """Violations of a reassignment beside those of its placement, by topic, and warnings.

    Parameters
    ----------
    allow_lower_factor : whether lower replication factors are warnings.
    """
    found = list(below_min_isr(cluster, after))
    cautions: list[Caution] = []
    brokers = _Brokers.of(cluster)
    for name, assignment in after.items():
        topic = cluster.topic(name)
        if topic is None:
            continue
        found += _completion(cluster, topic, assignment, brokers, version)
        lowered = _lowered(topic, assignment)
        if len(lowered.rows) and allow_lower_factor:
            cautions.append(Caution("factor_lowered", lowered.detail(name), topics=(name,)))
        elif len(lowered.rows):
            detail = f'{lowered.detail(name)}; "allow_lower_factor": true allows it'
            found.append(_violation("factor_lowered", "fragile", topic, assignment, lowered.rows, detail))
    return found, cautions


def below_min_isr(cluster: Cluster, after: Mapping[str, Assignment]) -> Iterator[Violation]:
    """Partitions with fewer replicas than `min.insync.replicas`, of topics for which it is known."""
    for topic in cluster.topics:
        assignment, least = after.get(topic.name), topic.min_insync_replicas
        if assignment is None or least is None:
            continue
        factors = factors_of(assignment.replicas)
        if (rows := np.flatnonzero(factors < least)).size:
            detail = (
                f"{len(rows)} of {len(factors)} partitions of {topic.name} have fewer replicas, down to "
                f"{factors[rows].min()}, than min.insync.replicas={least}: Kafka rejects writes with acks=all; more "
                "replicas lift it, or a lower min.insync.replicas"
            )
            yield _violation("below_min_isr", "illegal", topic, assignment, rows, detail)


@dataclass(frozen=True, slots=True, eq=False)
class _Brokers:
    """(brokers,) ids, ascending, of those that are listed or have replicas, and whether each is up."""

    ids: Int32s
    is_live: NDArray[np.bool_]

    @classmethod
    def of(cls, cluster: Cluster) -> "_Brokers":
        known = sorted(cluster.known_brokers, key=lambda broker: broker.id)
        ids = np.array([broker.id for broker in known], np.int32)
        return cls(ids, np.array([not broker.fenced for broker in known], np.bool_))

    def positions(self, lists: Int32s) -> Int32s:
        found = positions_of(lists, self.ids)
        return np.where(found == len(self.ids), np.int32(NO_REPLICA), found)


def _completion(
    cluster: Cluster, topic: Topic, assignment: Assignment, brokers: _Brokers, version: KafkaVersion
) -> Iterator[Violation]:
    rows = np.searchsorted(topic.partition_ids, assignment.partition_ids)
    current, target = brokers.positions(topic.replicas[rows]), brokers.positions(assignment.replicas)
    in_sync = brokers.positions(np.column_stack([topic.leaders, topic.isr])[rows])
    rule = completion_rule(version, cluster.reported_controller)
    found = incomplete(current, target, in_sync, brokers.is_live, rule)
    is_live = np.append(brokers.is_live, False)
    count = f"of {len(rows)} partitions of {topic.name}"
    if (waiting := np.flatnonzero(found.waits)).size:
        lists = target[waiting]
        down = np.unique(brokers.ids[lists[~is_live[lists] & (lists != NO_REPLICA)]]).tolist()
        detail = waits_detail(f"{len(waiting)} {count}", version, down)
        yield _violation("waits_for_offline_replica", "illegal", topic, assignment, waiting, detail)
    if (sourceless := np.flatnonzero(found.has_no_source)).size:
        detail = no_source_detail(f"{len(sourceless)} {count}")
        yield _violation("no_in_sync_replica", "illegal", topic, assignment, sourceless, detail)
    live_in_sync = np.where(is_live[in_sync], in_sync, np.int32(NO_REPLICA))
    loses = is_live[in_sync].any(axis=1) & ~(~not_among(target, live_in_sync) & (target != NO_REPLICA)).any(axis=1)
    if (losing := np.flatnonzero(loses & ~not_among(target, current).any(axis=1))).size:
        detail = (
            f"{len(losing)} {count} keep replicas that are out of sync, and none of those that are in sync on live "
            "brokers; a list that keeps one of these is safe"
        )
        yield _violation("last_in_sync_replica_removed", "fragile", topic, assignment, losing, detail)


def _lowered(topic: Topic, assignment: Assignment) -> LoweredFactors:
    rows = np.searchsorted(topic.partition_ids, assignment.partition_ids)
    before = topic.destination.replicas
    factors = factors_of(before)
    factors[rows] = factors_of(assignment.replicas)
    return lowered_factors(before[rows], assignment.replicas, largest_of_topic=int(factors.max(initial=0)))


def _violation(
    code: str, severity: str, topic: Topic, assignment: Assignment, rows: NDArray[np.intp], detail: str
) -> Violation:
    named = tuple(assignment.partition_ids[rows[:NAMED_PARTITIONS]].tolist())
    return Violation(code, severity, topic.name, len(rows), named, detail)
