"""Which brokers lead instead of those of a wave, and whether they can carry it."""

from itertools import pairwise

import numpy as np

from app.core.model import Int64s
from app.core.restarts.model import NO_SLACK_LIMIT, RestartProblem


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
