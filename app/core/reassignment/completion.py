"""Reassignments that Kafka never completes, by the rule of each release.

A reassignment of a partition is complete when the controller drops its removed replicas. Until then the partition has
both lists. New replicas join the ISR by fetching from the leader; a replica on a broker that is down never does.

Source: `PartitionReassignmentReplicas.maybeCompleteReassignment` of Apache Kafka 3.5 to 4.4, and before
`PartitionChangeBuilder.completeReassignmentIfNeeded`; `KafkaController.isReassignmentComplete` with ZooKeeper.
"""

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from app.core.kafka_versions import Controller, KafkaVersion, controller_of
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.replica_lists import not_among

REQUIRES_TARGETS_SINCE = KafkaVersion(3, 8)
"""With KRaft, all target replicas have to be in the ISR (KAFKA-15665); with ZooKeeper they always had to."""
TOLERATES_KEPT_SINCE = KafkaVersion(4, 3)
"""Replicas that are kept may be out of the ISR, unless fewer are added than removed (KAFKA-19975)."""


class CompletionRule(Enum):
    """The replicas that have to be in the ISR before Kafka completes a reassignment."""

    ADDED = "all that are added, and any target replica"
    TARGET = "all target replicas"
    ADDED_UNLESS_FEWER = "all that are added; all target replicas if fewer are added than removed"


def completion_rule(version: KafkaVersion, reported: Controller | None = None) -> CompletionRule:
    """The rule of a release.

    Parameters
    ----------
    reported : the kind of controller; None if it is unknown. Between 3.3 and 3.7 it is then taken to be ZooKeeper's,
        whose rule is the stricter one.
    """
    if version >= TOLERATES_KEPT_SINCE:
        return CompletionRule.ADDED_UNLESS_FEWER
    controller = reported or controller_of(str(version))
    if version >= REQUIRES_TARGETS_SINCE or controller != "kraft":
        return CompletionRule.TARGET
    return CompletionRule.ADDED


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """Reassignments that never complete.

    Parameters
    ----------
    waits : (rows,) bool, a target replica is on a broker that is down, which the rule requires in the ISR.
    has_no_source : (rows,) bool, no in-sync replica is on a live broker, so that no other replica can join the ISR.
    """

    waits: Bools = field(repr=False)
    has_no_source: Bools = field(repr=False)


def keeps_only_behind(current: Int32s, target: Int32s, isr: Int32s, is_live: Bools) -> Bools:
    """(rows,) bool: nothing is copied, and no replica that is in sync on a live broker stays, though there is one.

    Parameters
    ----------
    current, target, isr, is_live : as in `incomplete`.
    """
    in_sync = np.where(np.append(is_live, False)[isr], isr, np.int32(NO_REPLICA))
    is_safe = not_among(target, current) | ((target != NO_REPLICA) & ~not_among(target, in_sync))
    return np.asarray((in_sync != NO_REPLICA).any(axis=1) & ~is_safe.any(axis=1), np.bool_)


def incomplete(current: Int32s, target: Int32s, isr: Int32s, is_live: Bools, rule: CompletionRule) -> Incomplete:
    """Find the reassignments that never complete unless a broker that is down returns.

    A live replica that is out of the ISR is expected to join it while the partition has a leader.

    Parameters
    ----------
    current, target : (rows, any width) int32 positions of brokers, padded with `NO_REPLICA`. Replicas that a running
        reassignment adds or removes are among the current ones.
    isr : (rows, any width) int32 positions, those of replicas that reassignments before have added included.
    is_live : (brokers,) bool.

    Examples
    --------
    Broker 2 is down; a fourth replica is added:

    >>> lists = [np.array([row], np.int32) for row in ([0, 1, 2], [0, 1, 2, 3], [0, 1])]
    >>> is_live = np.array([True, True, False, True])
    >>> [bool(incomplete(*lists, is_live, rule).waits[0]) for rule in CompletionRule]
    [False, True, False]
    """
    live = np.append(is_live, False)  # the padding is -1, which indexes the last entry
    has_source = np.asarray(live[isr].any(axis=1), np.bool_)
    is_target = target != NO_REPLICA
    joins = np.where(has_source[:, None], live[target], is_target & ~not_among(target, isr))
    is_added = not_among(target, current)
    n_added, n_removed = is_added.sum(axis=1), not_among(current, target).sum(axis=1)
    all_join = ~(is_target & ~joins).any(axis=1)
    completes = ~(is_added & ~joins).any(axis=1) & joins.any(axis=1)
    if rule is CompletionRule.TARGET:
        completes = all_join
    elif rule is CompletionRule.ADDED_UNLESS_FEWER:
        completes &= all_join | (n_added >= n_removed)
    # Another order of the same replicas is no reassignment: it takes effect at once.
    never = (n_added + n_removed > 0) & ~completes
    return Incomplete(never & has_source, never & ~has_source)


@dataclass(frozen=True, slots=True, eq=False)
class CompletionRules:
    """What decides which lists of the partitions of a problem Kafka completes.

    Parameters
    ----------
    in_sync, leaving : (rows, any width) int32 positions of replicas in the ISR, and of those that a running
        reassignment removes, padded with `NO_REPLICA`.
    is_live : (brokers,) bool. rule : of the release.
    """

    in_sync: Int32s = field(repr=False)
    leaving: Int32s = field(repr=False)
    is_live: Bools = field(repr=False)
    rule: CompletionRule

    def incomplete(self, rows: Int64s, before: Int32s, after: Int32s) -> Incomplete:
        """The lists that never complete, of (lists,) int64 rows in the order in which they are requested.

        before, after : (lists, widest) int32 positions.
        """
        # Live replicas that steps have added need no place here: they are copied from one that is in sync now.
        in_sync, leaving = self.in_sync[rows], self.leaving[rows]
        # Replicas that a running reassignment removes are there in the first step of their partition.
        is_later = np.ones(len(rows), np.bool_)
        is_later[np.unique(rows, return_index=True)[1]] = False
        leaving[is_later] = NO_REPLICA
        return incomplete(np.concatenate([before, leaving], axis=1), after, in_sync, self.is_live, self.rule)
