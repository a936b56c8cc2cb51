"""Which brokers lead instead of those of a wave, and whether they can carry it."""

import numpy as np

from app.core.model import Int64s
from app.core.restarts.model import NO_SLACK_LIMIT, RestartProblem


class Election:
    """The leaders of a wave's partitions go to the first in-sync replica of their list that is up, as Kafka elects.

    A larger wave never gives a remaining broker less, so that limits that hold for a wave hold for its subsets.
    """

    def __init__(self, problem: RestartProblem) -> None:
        self._problem = problem
        self._rows = np.argsort(problem.leaders, kind="stable")
        self._starts = np.searchsorted(problem.leaders[self._rows], np.arange(len(problem.is_up) + 1))
        self.is_limited = bool((problem.slack < NO_SLACK_LIMIT).any())
        self._known: dict[frozenset[int], bool] = {}

    def added(self, wave: list[int]) -> Int64s:
        """(brokers, resources) int64 load that brokers get while a wave is down."""
        problem = self._problem
        led = [self._rows[self._starts[broker] : self._starts[broker + 1]] for broker in wave]
        rows = np.concatenate([np.zeros(0, np.int64), *led])
        is_up = np.append(problem.is_up, False)  # the padding is -1, which indexes the last entry
        is_up[wave] = False
        may_lead = is_up[problem.in_sync[rows]]
        elected = np.take_along_axis(problem.in_sync[rows], may_lead.argmax(axis=1)[:, None], axis=1)[:, 0]
        is_led = may_lead.any(axis=1)
        added = np.zeros_like(problem.slack)
        np.add.at(added, elected[is_led], problem.gain[rows[is_led]])
        return added

    def fits(self, wave: list[int]) -> bool:
        """Whether every broker that gets a leader stays within its slack."""
        if not self.is_limited:
            return True
        key = frozenset(wave)
        if key not in self._known:
            added = self.added(wave)
            self._known[key] = not ((added > 0) & (added > self._problem.slack)).any()
        return self._known[key]
