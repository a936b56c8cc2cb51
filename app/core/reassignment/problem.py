"""The problem of a reassignment: brokers by position, partitions by row, and nothing left to look up.

Conflicts of a problem: its constraints that no placement was found to satisfy together.

A stage raises a conflict, or, if the problem relaxes conflicts, lists it and goes on without the constraint.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s, LogDirectory
from app.core.reassignment.batches.execution import Cordons
from app.core.reassignment.batches.model import BatchLimits, BrokerDisks
from app.core.reassignment.completion import CompletionRules
from app.core.reassignment.log_dirs.integer_model import PackingConflict
from app.core.reassignment.log_dirs.model import LogDirProblem
from app.core.reassignment.model import NO_LIMIT, Balance, Deadline, KnownSets, MovementProblem
from app.core.reassignment.parts import ProblemPart
from app.core.reassignment.resource_problem import Goal, Limits, ResourceLoads, ResourcePlacement
from app.core.reassignment.solvers.flow.per_topic import TopicBalance
from app.core.replica_lists import not_among, per_broker


@dataclass(frozen=True, slots=True, eq=False)
class LogDirTable:
    """Disks of brokers. Disk i < brokers has the replicas of broker i in unknown directories; the others are
    directories, broker by broker.

    Parameters
    ----------
    directories : by broker position. first : (brokers,) int64 disk of the first one, or −1 if they are unknown.
    total_bytes : (disks,) int64, 0 if unknown. max_bytes : usable at any time, `NO_LIMIT` if unknown.
    may_receive, is_drained, is_offline : (disks,) bool.
    before : (rows, widest) int32 disks of the scope's replicas now; padding is −1. used_bytes : (disks,) int64 of all.
    base_bytes : (disks,) int64 of what cannot move: topics outside the scope, and replicas in offline directories.
    """

    directories: Mapping[int, Sequence[LogDirectory]]
    first: Int64s = field(repr=False)
    total_bytes: Int64s = field(repr=False)
    max_bytes: Int64s = field(repr=False)
    may_receive: Bools = field(repr=False)
    is_drained: Bools = field(repr=False)
    is_offline: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    used_bytes: Int64s = field(repr=False)
    base_bytes: Int64s = field(repr=False)
    balance: Balance

    def disks_of(self, broker: int) -> slice:
        """The directories of a broker by position; it has some."""
        first = int(self.first[broker])
        return slice(first, first + len(self.directories[broker]))

    def over_limit(self) -> Iterator[tuple[int, LogDirectory, int]]:
        """The position of the broker, the directory and the disk of each one that has more bytes than its limit."""
        for broker in sorted(self.directories):
            for disk, directory in enumerate(self.directories[broker], int(self.first[broker])):
                if self.used_bytes[disk] > self.max_bytes[disk]:
                    yield broker, directory, disk

    def limit_of_brokers(self) -> Int64s:
        """(brokers,) int64 bytes that the directories of a broker may have together; `NO_LIMIT` if they are unknown."""
        most = np.full(len(self.first), NO_LIMIT, np.int64)
        for broker in self.directories:
            disks = self.disks_of(broker)
            may_have = ~(self.is_drained[disks] | self.is_offline[disks])
            limits = np.where(may_have, np.maximum(self.max_bytes[disks], self.base_bytes[disks]), 0)
            most[broker] = min(sum(limits.tolist()), NO_LIMIT)
        return most

    @property
    def paths(self) -> tuple[str, ...]:
        """Of all directories, as disks are numbered."""
        return tuple([one.path for broker in sorted(self.directories) for one in self.directories[broker]])

    @property
    def disks(self) -> BrokerDisks:
        """For batches."""
        return BrokerDisks(self.used_bytes, self.max_bytes, self.paths)


GOAL_OF = {"count": "replicas", "bytes": "disk", "throughput": "nic_in"}
"""By the load that replicas are balanced by: the resource that it is."""
SEARCH_SHARE = 0.7
"""Of the time until the deadline, a search over resources; the rest is for the bound on the movement."""


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaObjective:
    """The load that replicas are balanced by.

    Parameters
    ----------
    by : its name. balance : the band. load : (rows,) int64 of one replica; 1 each for counts.
    base_load : (brokers,) int64 of replicas outside the scope.
    """

    by: str
    balance: Balance
    load: Int64s = field(repr=False)
    base_load: Int64s = field(repr=False)

    def loads(self, replicas: Int32s) -> Int64s:
        """(brokers,) int64 load of every broker with (rows, widest) int32 positions."""
        return self.base_load + per_broker(replicas, len(self.base_load), self.load)


@dataclass(frozen=True, slots=True, eq=False)
class PreferredRacks:
    """The ranks of brokers by the racks that are preferred for leaders.

    Parameters
    ----------
    rank : (lists, brokers) int32, the place of the broker's rack in each distinct list of racks, or `lengths` of it.
    lengths : (lists,) int64 number of racks in the list.
    list_of : (rows,) int32 index of the partition's list; −1 without any.
    """

    rank: Int32s = field(repr=False)
    lengths: Int64s = field(repr=False)
    list_of: Int32s = field(repr=False)

    def of_replicas(self, replicas: Int32s, rows: Int64s) -> Int32s:
        """(len(rows), width) int32 rank of each replica, 0 for partitions without a list."""
        listed = self.list_of[rows]
        return np.where(listed[:, None] < 0, 0, self.rank[np.maximum(listed, 0)[:, None], replicas]).astype(np.int32)

    def led(self, leaders: Int32s) -> tuple[int, int, int]:
        """How many partitions are led in the first rack of their list, in another one, and in none of them."""
        has_list = (self.list_of >= 0) & (leaders != NO_REPLICA)
        lists = self.list_of[has_list]
        rank = self.rank[lists, leaders[has_list]]
        first, elsewhere = int(np.count_nonzero(rank == 0)), int(np.count_nonzero(rank == self.lengths[lists]))
        return first, len(lists) - first - elsewhere, elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class TopicMinimums:
    """Topics with a minimum number of leaders on each broker.

    Parameters
    ----------
    least : (topics,) int64. brokers : (brokers,) bool, those that lead as many.
    topic_of : (rows,) int32 index of the partition's topic among them; −1 for others.
    """

    least: Int64s
    brokers: Bools = field(repr=False)
    topic_of: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class LeaderObjective:
    """The load that leaders are balanced by.

    Parameters
    ----------
    by, balance : as for replicas. load : (rows,) int64 of leading. base_load : (brokers,) int64 outside the scope.
    preferred, minimums : constraints on leaders; None without any.
    spread : (rows,) int64 index of the partition's topic among those whose leaders are spread before all others, −1 for
        others; None without any.
    moves_replicas : whether replicas may move to reach the band.
    fewest_changes : whether the fewest leader changes then come before the fewest bytes.
    frees_moved : whether leaders of partitions of which replicas move may change with `KEEP`.
    may_lead : (brokers,) bool. evacuates : whether leaders are taken away from brokers.
    counts_actual : whether a change is one of the actual leader, not of the preferred one.
    """

    by: str
    balance: Balance
    load: Int64s = field(repr=False)
    base_load: Int64s = field(repr=False)
    frees_moved: bool
    moves_replicas: bool
    fewest_changes: bool
    may_lead: Bools = field(repr=False)
    evacuates: bool
    counts_actual: bool
    preferred: PreferredRacks | None
    minimums: TopicMinimums | None
    spread: Int64s | None = field(default=None, repr=False)

    def loads(self, replicas: Int32s) -> Int64s:
        """(brokers,) int64 load of every broker as the preferred leader of (rows, widest) int32 positions."""
        return self.base_load + per_broker(replicas[:, :1], len(self.base_load), self.load)


@dataclass(frozen=True, slots=True, eq=False)
class ResourceObjective:
    """Goals within limits; replicas and leaders are placed together.

    Parameters
    ----------
    priorities : the goals, the most important first; those of one entry are reached jointly. Without any, brokers are
        brought below their limits, and nothing else changes.
    loads : what each row loads on brokers.
    leads_afterwards : whether leaders are chosen after the replicas, by constraints of their own.
    """

    priorities: tuple[tuple[Goal, ...], ...]
    loads: ResourceLoads = field(repr=False)
    leads_afterwards: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BatchRules:
    """What one batch may do.

    Parameters
    ----------
    heat : (rows,) int64 ingress rate of a partition, or its bytes if no rate is reported.
    size_bytes : (rows,) int64 bytes that a new replica copies, or `UNKNOWN_SIZE`.
    disks : used and available bytes by broker; None if disks are not limited.
    cordons : that Kafka enforces while batches run.
    is_barred, rack_of, leaders : as of `ReassignedPartitions`.
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
    leaders: Int32s = field(repr=False)


def without_deadline() -> float:
    """Infinite seconds that remain."""
    return inf


Conflict = TypeVar("Conflict", bound="Infeasible")


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
    max_moved_bytes : the budget; None without a budget. has_trade_off : whether movement against balance is tabulated.
    known_sets : of the cluster, if no others may be opened.
    sets_of_width : of each part, by replication factor, (sets, factor) int32 positions of the sets that its partitions
        are on, instead of a balance of brokers; None if they may be on any. leaders_only : whether no replica may move.
    relaxes : whether a conflict is relaxed instead of rejected.
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
    known_sets: KnownSets | None = None
    sets_of_width: Sequence[Mapping[int, Int32s]] | None = None
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

    def relax(self, conflict: Conflict) -> Conflict:
        """The conflict, which is listed. Raises it unless the problem relaxes conflicts."""
        if not self.relaxes:
            raise conflict
        return conflict

    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.remaining_s() <= 0

    def ends_search(self) -> Deadline:
        """Whether the time of a search that begins now has passed: `SEARCH_SHARE` of the time until the deadline."""
        left = (1 - SEARCH_SHARE) * self.remaining_s()
        return lambda: left < inf and self.remaining_s() <= left


class Infeasible(Exception):
    """No placement was found within the constraints of a problem; each subclass is about one of them."""


@dataclass(eq=False)
class BudgetConflict(Infeasible):
    """The budget of movement is too small.

    Parameters
    ----------
    least : bytes that the placement with the least movement that was found moves. lower_bound : on the bytes.
    """

    least: int
    lower_bound: int


@dataclass(eq=False)
class SetsConflict(Infeasible):
    """No placement on known replica sets was found. rows : int64 partitions that would be on others."""

    rows: Int64s


@dataclass(eq=False)
class EvacuationConflict(Infeasible):
    """Partitions have no replica on a broker that may lead. rows : int64."""

    rows: Int64s


@dataclass(eq=False)
class MinimumsConflict(Infeasible):
    """Topics lead fewer partitions on brokers than their minimums.

    Parameters
    ----------
    short : (topics, brokers) int64 leaders that are missing. brokers : (brokers,) bool, those that have the minimums.
    """

    short: Int64s
    brokers: Bools


@dataclass(eq=False)
class LimitsConflict(Infeasible):
    """A placement over resources exceeds hard limits.

    Parameters
    ----------
    placement : whose excess has the conflicts that are proven. columns : the resources whose limits it exceeds.
    """

    placement: ResourcePlacement
    columns: tuple[int, ...]


@dataclass(eq=False)
class ClosedLogDirs(Infeasible):
    """Replicas arrive at a broker, and none of its log directories may receive.

    Parameters
    ----------
    broker : its position. arriving : the number of replicas.
    """

    broker: int
    arriving: int


@dataclass(eq=False)
class FullLogDirs(Infeasible):
    """The replicas of a broker, by position, do not fit in its log directories.

    Parameters
    ----------
    rows : (replicas,) int64 partitions of the replicas of `problem`. packing : a conflict among them.
    """

    broker: int
    rows: Int64s
    problem: LogDirProblem
    packing: PackingConflict
