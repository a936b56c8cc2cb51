"""How long a request is expected to wait for a slot, from how long others have taken.

The wait is that of list scheduling: the requests in slots end after what is expected to remain of each, and those that
wait begin in their order, each in the slot that is free first. It depends on what is ahead of a request alone.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

_WEIGHT = 0.2
"""Weight of the newest request in the mean of its class: the mean is that of some nine requests."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is known of a request before it is served.

    Parameters
    ----------
    kind, magnitude : its class; requests of one class take similar times. There are few classes.
    prior_s : the time in a slot that is expected before a request of the class has been served, in seconds.
    """

    kind: str
    magnitude: int
    prior_s: float


UNKNOWN = Work("", 0, 0.05)
"""Of a request of which nothing is known."""


class Durations:
    """Seconds in a slot by class: an exponentially weighted mean."""

    def __init__(self) -> None:
        self._means: dict[tuple[str, int], float] = {}

    def add(self, work: Work, seconds: float) -> None:
        """Note that a request of the class took so long."""
        earlier = self._means.get((work.kind, work.magnitude), seconds)
        self._means[work.kind, work.magnitude] = earlier + _WEIGHT * (seconds - earlier)

    def expected_s(self, work: Work) -> float:
        """The time in a slot that is expected of a request of the class."""
        return self._means.get((work.kind, work.magnitude), work.prior_s)


def remaining_s(expected_s: float, age_s: float) -> float:
    """What is expected to remain of a request of this age: the rest of its expected time, at least its age.

    A request that has outlasted its expectation is expected to take as long again.
    """
    return max(expected_s - age_s, age_s)


def wait_s(remaining: Iterable[float], waiting: Iterable[float]) -> float:
    """The time until a request that arrives last begins.

    Parameters
    ----------
    remaining : what remains of each slot's request, in seconds; 0 of an idle slot. There is a slot.
    waiting : the times in a slot that are expected of those that wait, in their order.
    """
    free = list(remaining)
    heapq.heapify(free)
    for seconds in waiting:
        heapq.heapreplace(free, free[0] + seconds)
    return free[0]
