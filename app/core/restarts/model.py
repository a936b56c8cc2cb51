"""The problem of restart waves, its answer, and the bounds that prove it."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s

NO_SLACK_LIMIT = 1 << 62
"""Slack of a broker whose load is not limited."""
Reason: TypeAlias = Literal["pairs", "partition", "controllers", "size", "search"]
"""What proves a number of waves: brokers that exclude each other pairwise, a partition, the quorum of controllers, the
size of waves, or a search of all waves."""


@dataclass(frozen=True, slots=True, eq=False)
class RestartProblem:
    """Brokers to restart, and what holds in every wave.

    Hard: at most `most` brokers in a wave; at most the cap of a partition of its in-sync brokers; at most `most_voters`
    controllers; brokers of one group alone; no broker above its slack when the wave's leaders are elsewhere, unless
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

    is_up: NDArray[np.bool_]
    in_sync: Int32s = field(repr=False)
    min_isr: Int64s = field(repr=False)
    leaders: Int32s = field(repr=False)
    group_of: Int32s
    is_voter: NDArray[np.bool_]
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

    A larger wave never gives a remaining broker less, so that limits that hold for a wave hold for its subsets.
    """

    def __init__(self, problem: RestartProblem) -> None:
        self._problem = problem
        self._limited = np.flatnonzero((problem.slack < NO_SLACK_LIMIT).any(axis=0))
        self.is_limited = len(self._limited) > 0
        order = np.argsort(problem.leaders, kind="stable") if self.is_limited else np.zeros(0, np.int64)
        self._lists, self._gain = problem.in_sync[order], problem.gain[np.ix_(order, self._limited)]
        bounds = np.searchsorted(problem.leaders[order], np.arange(len(problem.is_up) + 1)).tolist()
        self._led = [slice(*of_broker) for of_broker in pairwise(bounds)]
        self._known: dict[frozenset[int], bool] = {}

    def _added(self, wave: list[int]) -> Int64s:
        """(brokers, limited) int64 load of limited resources that brokers get while a wave is down."""
        is_up = np.append(self._problem.is_up, False)  # the padding is -1, which indexes the last entry
        is_up[wave] = False
        lists, gain = (
            np.concatenate([rows[self._led[broker]] for broker in wave]) for rows in (self._lists, self._gain)
        )
        may_lead = is_up[lists]
        is_led = may_lead.any(axis=1)
        elected = np.take_along_axis(lists, may_lead.argmax(axis=1)[:, None], axis=1)[is_led, 0]
        sums = [np.bincount(elected, weights=column, minlength=len(is_up) - 1) for column in gain[is_led].T]
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
