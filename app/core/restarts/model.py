"""The problem of restart waves, its answer, and the bounds that prove it."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s

NO_SLACK_LIMIT = 1 << 62
"""Slack of a broker whose load is not limited."""
Reason: TypeAlias = Literal["pairs", "partition", "controllers", "size", "search"]
"""What proves a number of waves: brokers that exclude each other pairwise, a partition, the quorum of controllers, the
size of waves, or a search of all waves."""


@dataclass(frozen=True, slots=True, eq=False)
class RestartProblem:
    """Brokers to restart, and what holds in every wave.

    Hard: at most `most` brokers in a wave; at most the cap of a partition of its in-sync brokers; at most `most_voters`
    controllers; brokers of one group alone; no broker above its slack when the wave, or a part of it, is down, unless
    a broker breaks that alone, which is then restarted alone. Goal: the fewest waves.

    Parameters
    ----------
    is_up : (brokers,) bool, the brokers that are restarted; the others are down and in no wave.
    in_sync : (rows, widest) int32 positions of in-sync replicas on brokers that are up, in list order, padded on the
        right with `NO_REPLICA`.
    min_isr : (rows,) int64 `min.insync.replicas`. leaders : (rows,) int32 positions, or `NO_LEADER`.
    group_of : (brokers,) int32; brokers of different groups are never in one wave.
    is_voter : (brokers,) bool, controllers of the quorum. most_voters : of them in a wave, at least 1.
    most : brokers of a wave at most, at least 1.
    gain : (rows, resources) int64 >= 0, what a broker gets that becomes the leader of a row.
    slack : (brokers, resources) int64, what a broker may get; `NO_SLACK_LIMIT` if it is not limited.
    """

    is_up: Bools
    in_sync: Int32s = field(repr=False)
    min_isr: Int64s = field(repr=False)
    leaders: Int32s = field(repr=False)
    group_of: Int32s
    is_voter: Bools
    most_voters: int
    most: int
    gain: Int64s = field(repr=False)
    slack: Int64s = field(repr=False)

    @property
    def sizes(self) -> Int64s:
        """(rows,) int64 number of in-sync replicas."""
        return np.asarray((self.in_sync != NO_REPLICA).sum(axis=1), np.int64)

    @property
    def caps(self) -> Int64s:
        """(rows,) int64 in-sync brokers of a partition that may be in one wave.

        While these are down, the partition keeps a leader and `min.insync.replicas` in sync. The number is 1 for a
        partition that cannot keep them during any restart.
        """
        sizes = self.sizes
        return np.asarray(np.maximum(1, np.minimum(sizes - self.min_isr, sizes - 1)), np.int64)


@dataclass(frozen=True, slots=True)
class WaveBound:
    """A proof that some brokers need a number of waves.

    Parameters
    ----------
    brokers : positions. row : of the partition, if `reason` is one; else None.
    """

    reason: Reason
    waves: int
    brokers: tuple[int, ...]
    row: int | None = None


@dataclass(frozen=True, slots=True)
class RestartWaves:
    """A schedule.

    Parameters
    ----------
    waves : the positions of each wave, ascending. Waves of a group are adjacent.
    bounds : proofs about brokers that never share a wave with those of another proof, so that their waves add up.
    alone : brokers that break a limit even if they are restarted alone.
    """

    waves: tuple[tuple[int, ...], ...]
    bounds: tuple[WaveBound, ...]
    alone: tuple[int, ...] = ()

    @property
    def lower_bound(self) -> int:
        """No schedule has fewer waves."""
        return sum(bound.waves for bound in self.bounds)


class Election:
    """The leaders of a wave's partitions go to the first in-sync replica of their list that is up, as Kafka elects.

    The brokers of a wave do not stop at the same moment, so that limits hold for every subset of it. A broker that is
    still up gets the most if all others of the wave are down.
    """

    def __init__(self, problem: RestartProblem) -> None:
        self._problem = problem
        lists = problem.in_sync
        others = np.where(lists == problem.leaders[:, None], NO_REPLICA, lists)
        row, column = np.nonzero(others != NO_REPLICA)
        largest = np.zeros_like(problem.slack)  # if a broker leads all partitions that it has
        np.add.at(largest, others[row, column], problem.gain[row])
        self._limited = np.flatnonzero(((largest > 0) & (largest > problem.slack)).any(axis=0))
        self.is_limited = len(self._limited) > 0
        order = np.argsort(problem.leaders, kind="stable") if self.is_limited else np.zeros(0, np.int64)
        self._lists, self._leaders = problem.in_sync[order], problem.leaders[order]
        self._gain = problem.gain[np.ix_(order, self._limited)]
        bounds = np.searchsorted(problem.leaders[order], np.arange(len(problem.is_up) + 1)).tolist()
        self._led = [*pairwise(bounds)]
        self._known: dict[frozenset[int], bool] = {}

    def _added(self, wave: list[int]) -> Int64s:
        """(brokers, limited) int64 load of limited resources that each broker gets at most while it is up."""
        is_down = np.zeros(len(self._problem.is_up) + 1, np.bool_)  # the padding is -1, which indexes the last entry
        is_down[wave] = True
        led = np.concatenate([np.arange(*self._led[broker]) for broker in wave])
        lists, gain = self._lists[led], self._gain[led]
        is_behind_down = np.ones(lists.shape, np.bool_)
        is_behind_down[:, 1:] = np.logical_and.accumulate(is_down[lists], axis=1)[:, :-1]
        may_lead = is_behind_down & (lists != NO_REPLICA) & (lists != self._leaders[led, None])
        row, _ = np.nonzero(may_lead)
        sums = [np.bincount(lists[may_lead], column[row], len(is_down) - 1) for column in gain.T]
        return np.asarray(np.rint(np.stack(sums, axis=1)), np.int64)

    def fits(self, wave: list[int]) -> bool:
        """Whether every broker that gets a leader stays within its slack."""
        if not self.is_limited:
            return True
        key = frozenset(wave)
        if key not in self._known:
            added = self._added(wave)
            self._known[key] = not ((added > 0) & (added > self._problem.slack[:, self._limited])).any()
        return self._known[key]
