"""The problem of a reassignment: brokers by position, partitions by row, and nothing left to look up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.batches.execution import Cordons
from app.core.reassignment.batches.model import BatchLimits, BrokerDisks
from app.core.reassignment.completion import CompletionRules
from app.core.reassignment.counts.destinations import TieBreaks
from app.core.reassignment.counts.per_topic import TopicBalance
from app.core.reassignment.log_dir_table import LogDirTable
from app.core.reassignment.model import MovementProblem
from app.core.reassignment.objectives import LeaderObjective, ReplicaObjective, ResourceObjective
from app.core.reassignment.parts import part_of
from app.core.reassignment.resources.model import Limits
from app.core.replica_lists import not_among

Bools = NDArray[np.bool_]
SEARCH_SHARE = 0.7
"""Of the time until the deadline, a search over resources; the rest is for the bound on the movement."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchRules:
    """What one batch may do.

    Parameters
    ----------
    heat : (rows,) int64 ingress rate of a partition, or its bytes if no rate is reported.
    size_bytes : (rows,) int64 or `UNKNOWN_SIZE`.
    disks : used and available bytes by broker; None if disks are not limited.
    cordons : that Kafka enforces while batches run.
    is_barred, rack_of : as of `ReassignedPartitions`.
    completion : which lists Kafka completes.
    """

    limits: BatchLimits
    heat: Int64s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    disks: BrokerDisks | None
    cordons: Cordons
    is_barred: Bools | None
    rack_of: Int32s | None
    completion: CompletionRules


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The partitions and brokers of a part.

    Parameters
    ----------
    name : of the broker set; None outside every set. rows : (part,) int64, ascending.
    brokers : (brokers,) bool, the brokers of the set. target : those whose loads are balanced; with `keep`, those that
        receive what has to move. floor_cap : (brokers,) int64 or None, as of `MovementProblem`.
    """

    name: str | None
    rows: Int64s = field(repr=False)
    brokers: Bools = field(repr=False)
    target: Bools = field(repr=False)
    floor_cap: Int64s | None = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ProblemPart:
    """A part of a problem. movement, ties, topics : as of the whole problem, of the rows of the share."""

    share: Share
    movement: MovementProblem
    ties: TieBreaks
    topics: TopicBalance | None

    @property
    def rows(self) -> Int64s:
        """(part,) int64 rows of the whole problem."""
        return self.share.rows


def parts_of(
    shares: Sequence[Share], movement: MovementProblem, ties: TieBreaks, topics: TopicBalance | None
) -> tuple[ProblemPart, ...]:
    """The part of each share."""
    if len(shares) == 1:
        return (ProblemPart(shares[0], movement, ties, topics),)
    return tuple(
        ProblemPart(
            share,
            replace(part_of(movement, share.rows, share.target), floor_cap=share.floor_cap),
            replace(ties, size_bytes=ties.size_bytes[share.rows], topic_of=ties.topic_of[share.rows]),
            None if topics is None else _topics_of(topics, share.rows),
        )
        for share in shares
    )


def _topics_of(topics: TopicBalance, rows: Int64s) -> TopicBalance:
    used, topic_of = np.unique(topics.topic_of[rows], return_inverse=True)
    return replace(
        topics,
        topic_of=topic_of.reshape(-1).astype(np.int64),
        topics=len(used),
        tolerance=tuple(topics.tolerance[topic] for topic in used.tolist()),
    )


def without_deadline() -> float:
    """Infinite seconds that remain."""
    return inf


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem:
    """A change of a cluster: brokers by position, partitions by row.

    Parameters
    ----------
    movement : the minimum-movement problem: eligible brokers, the rack rule, what each replica weighs.
    parts : which are placed and balanced each on its own. Without broker sets it is one of all rows.
    before : (rows, widest) int32 positions of the replicas as they are, padded with -1.
    is_ready : (rows, widest) bool, those that are in sync on live brokers.
    is_new : (rows,) bool, partitions that are yet to be created. topic_of : (rows,) int64 index of the topic.
    size_bytes : (rows,) int64 bytes of one replica, 0 if unknown.
    is_removed, is_offline, may_receive : (brokers,) bool, brokers that leave, that are down, that may get replicas.
    successor_of : (brokers,) int32 position of each broker's successor; its own if it is not replaced.
    topics, topic_leaders : the balance of each topic's replicas and leaders; None if these are not balanced.
    weights : (brokers,) int64; None if all weigh the same. `movement.share` has them unless leaders alone are planned.
    counts_bytes : whether `movement.weight` is bytes. pins : by row, the pinned positions in their order.
    replicas, leaders : what is balanced by count or one load. objective : over resources; None if replicas are placed
        before their leaders.
    limits : of brokers, in which a placement over resources is. log_dirs : the disks of replicas; None if the log
        directories of replicas are not chosen.
    batches : what one batch may do.
    max_moved_bytes : the budget; None if there is none. has_trade_off : whether movement against balance is tabulated.
    leaders_only : whether no replica may move. relaxes : whether a conflict is relaxed instead of rejected.
    remaining_s : the seconds until the deadline.
    """

    movement: MovementProblem
    parts: tuple[ProblemPart, ...]
    before: Int32s = field(repr=False)
    is_ready: Bools = field(repr=False)
    is_new: Bools = field(repr=False)
    topic_of: Int64s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    is_removed: Bools = field(repr=False)
    is_offline: Bools = field(repr=False)
    may_receive: Bools = field(repr=False)
    successor_of: Int32s = field(repr=False)
    topics: TopicBalance | None
    topic_leaders: TopicBalance | None
    weights: Int64s | None = field(repr=False)
    counts_bytes: bool
    pins: Mapping[int, Int64s]
    replicas: ReplicaObjective
    leaders: LeaderObjective
    objective: ResourceObjective | None
    limits: Limits
    log_dirs: LogDirTable | None
    batches: BatchRules
    max_moved_bytes: int | None
    has_trade_off: bool
    leaders_only: bool
    relaxes: bool
    remaining_s: Callable[[], float] = without_deadline

    @property
    def weights_of_leaders(self) -> Int64s | None:
        """(brokers,) int64 in proportion to which leaders by count are balanced; None if all brokers are alike."""
        return self.weights if self.leaders.by == "count" else None

    def ready(self, lists: Int32s, rows: Int64s | None = None) -> Bools:
        """(rows, width) bool: replicas of lists, of all or some rows, that Kafka can elect at the end."""
        behind = np.where(self.is_ready, NO_REPLICA, self.before)
        return not_among(lists, behind if rows is None else behind[rows])

    def as_ids(self, replicas: Int32s) -> Int32s:
        """(rows, widest) int32 positions as broker ids."""
        return np.append(self.movement.broker_ids, np.int32(NO_REPLICA))[replicas]

    def current_leaders(self) -> Int32s:
        """(rows,) int32 first broker of each list now, or its successor if it is replaced, which then is no change."""
        return np.asarray(np.append(self.successor_of, np.int32(NO_REPLICA))[self.before[:, 0]], np.int32)

    def changes_replicas(self, after: Int32s) -> Bools:
        """(rows,) bool, partitions whose replicas are others in (rows, width) int32 positions than they are."""
        lost, gained = not_among(self.before, after), not_among(after, self.before)
        return np.asarray(lost.any(axis=1) | gained.any(axis=1), np.bool_)

    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.remaining_s() <= 0

    def ends_search(self) -> Callable[[], bool]:
        """Whether the time of a search that begins now has passed: `SEARCH_SHARE` of the time until the deadline."""
        left = (1 - SEARCH_SHARE) * self.remaining_s()
        return lambda: left < inf and self.remaining_s() <= left
