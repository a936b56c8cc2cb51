"""Admission control: how many requests are served concurrently, how many wait, and when one is rejected.

The wait of a request is estimated at its arrival from the requests ahead of it, and it is rejected if that is longer
than the limit. No request is rejected while a slot is idle. Later requests of others may begin before it, since slots
are shared equally, so that its wait has a limit as well.

A request that needs the database, or a thread for long, has to be admitted first. It is admitted when its body has been
read, so that slow senders delay no other request. From then on every request takes in the same order: slot, thread,
connection. There are at least as many threads and connections as slots (`Settings` checks it), so that no request waits
for one of the three while it has another.

The wait follows from list scheduling: requests in slots end after their expected remaining time, and waiting ones
begin in their order, each in the slot that is free first. It depends on the requests ahead alone.
"""

import asyncio
import heapq
import itertools
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from app.errors.access import ServiceBusy

_WEIGHT = 0.2
"""Weight of the newest request in the mean of its class: the mean covers some nine requests."""


@dataclass(frozen=True, slots=True)
class Work:
    """A request before it is served.

    Parameters
    ----------
    kind, magnitude : its class; requests of one class take similar times. There are few classes.
    prior_s : the time in a slot that is expected before a request of the class has been served, in seconds.
    """

    kind: str
    magnitude: int
    prior_s: float


UNKNOWN = Work("", 0, 0.05)
"""The class of an unknown request."""


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
    """Expected remaining time of a request of this age: the rest of its expected time, at least its age.

    A request that has outlasted its expectation is expected to take as long again.
    """
    return max(expected_s - age_s, age_s)


def wait_s(remaining: Iterable[float], waiting: Iterable[float]) -> float:
    """The time until a request that arrives last begins.

    Parameters
    ----------
    remaining : of each slot's request, in seconds; 0 of an idle slot. There is a slot.
    waiting : the times in a slot that are expected of those that wait, in their order.
    """
    free = list(remaining)
    heapq.heapify(free)
    for seconds in waiting:
        heapq.heapreplace(free, free[0] + seconds)
    return free[0]


_LONGEST_RETRY_S = 60
_PACE_PER_S, _BURST_S, LONGEST_DELAY_S = 200, 0.25, 5.0
"""Of `Pace`. A rejection takes 0.6 ms of the event loop: 200 a second leave seven eighths of it to other requests."""
_MOST_CALLERS = 10_000
"""Teams and keys of which it is known when a request began last."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Limits of admission.

    Parameters
    ----------
    concurrent : requests that are served at the same time.
    queued : requests that wait for one of these to end.
    queue_s : longest wait of a request, in seconds: the estimate may be wrong.
    expected_s : longest expected wait with which a request is admitted, in seconds.
    """

    concurrent: int
    queued: int
    queue_s: float
    expected_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Occupancy:
    """All slots, occupied ones, requests that wait for one, and the expected wait of another."""

    slots: int
    occupied: int
    queued: int
    expected_wait_s: float


class Caller(NamedTuple):
    """The caller of a request: slots are shared equally among teams, and within a team among its keys."""

    team: str
    key: str


ANYONE = Caller("", "")
"""The caller of a request without a known one."""


@dataclass(frozen=True, eq=False, slots=True)
class _Waiting:
    """A request that waits; `begins` is set when a slot is passed on to it."""

    caller: Caller
    work: Work
    begins: asyncio.Future[None]


class Admission:
    """Admits requests in turns: of the teams, of the keys of each team, and by arrival. Belongs to one event loop.

    The next turn belongs to the team, and then to its key, that has waited longest since its last request began. If the
    queue is full, the newest request of the key that has most in it makes way for one of a key that has fewer.

    Parameters
    ----------
    clock : seconds since any moment, never less than before.
    """

    def __init__(self, capacity: Capacity, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._clock = capacity, clock
        self._free = capacity.concurrent
        self._durations = Durations()
        # In the order of their arrival.
        self._waiting: list[_Waiting] = []
        self._served: dict[object, tuple[Work, float]] = {}
        # When a request of a team or caller began last, as a number that only grows.
        self._begun: dict[str | Caller, int] = {}
        self._numbers = itertools.count(1)

    @property
    def occupancy(self) -> "Occupancy":
        """The slots and the queue now."""
        return Occupancy(self._capacity.concurrent, len(self._served), len(self._waiting), self.expected_wait_s)

    @property
    def expected_wait_s(self) -> float:
        """Expected wait of a request that arrives now and begins last, in seconds; 0 if a slot is idle."""
        return self._wait_s(self._waiting)

    def _wait_s(self, ahead: Iterable[_Waiting]) -> float:
        if self._free:
            return 0.0
        return wait_s(self._remaining_s(), (self._durations.expected_s(each.work) for each in ahead))

    def _remaining_s(self) -> list[float]:
        """Expected remaining time of each slot's request."""
        now, expected_s = self._clock(), self._durations.expected_s
        passed_on = [0.0] * (self._capacity.concurrent - len(self._served))
        return passed_on + [remaining_s(expected_s(work), now - began) for work, began in self._served.values()]

    def _in_turn(self, waiting: Iterable[_Waiting]) -> Iterator[_Waiting]:
        """Waiting requests in the order in which they are to begin."""
        of_team: dict[str, dict[Caller, list[_Waiting]]] = {}
        for each in waiting:
            of_team.setdefault(each.caller.team, {}).setdefault(each.caller, []).append(each)
        teams = [of_team[team] for team in sorted(of_team, key=self._last_begin)]
        return _alternating([_alternating([keys[key] for key in sorted(keys, key=self._last_begin)]) for keys in teams])

    def _last_begin(self, sender: str | Caller) -> int:
        return self._begun.get(sender, 0)

    def check(self, caller: Caller = ANYONE) -> None:
        """Raise `ServiceBusy` if a request of the caller that arrived now would be rejected."""
        self._checked(caller, UNKNOWN)

    def _checked(self, caller: Caller, work: Work) -> _Waiting | None:
        """The request that makes way for one that arrives now, if there has to be one. Raises `ServiceBusy`."""
        if self._free:
            return None
        last = _Waiting(caller, work, asyncio.get_running_loop().create_future())
        ahead = itertools.takewhile(lambda each: each is not last, self._in_turn([*self._waiting, last]))
        expected_s = self._wait_s(ahead)
        if expected_s > self._capacity.expected_s:
            limit = f"the limit is {self._capacity.expected_s:g} s"
            raise self._busy(f"another one would wait for some {expected_s:.1f} s; {limit}", expected_s)
        if len(self._waiting) < self._capacity.queued:
            return None
        patient = self._patient()
        waiting = Counter(each.caller for each in patient)
        most = max(waiting, key=waiting.__getitem__, default=caller)
        if waiting[most] > waiting[caller] + 1:
            return next(each for each in reversed(patient) if each.caller == most)
        raise self._busy(f"{len(self._waiting)} more wait, which is the limit", expected_s)

    @asynccontextmanager
    async def slot(self, work: Work = UNKNOWN, caller: Caller = ANYONE) -> AsyncIterator[None]:
        """Occupy a slot for the duration of the context.

        Raises
        ------
        ServiceBusy
            The queue is full, the expected wait is too long, or no slot became free in time.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(work, caller)
        request, began = object(), self._clock()
        self._served[request] = work, began
        for each in (caller.team, caller):
            self._begun.pop(each, None)
            self._begun[each] = next(self._numbers)
        while len(self._begun) > _MOST_CALLERS:
            del self._begun[next(iter(self._begun))]
        is_whole = False
        try:
            yield
            is_whole = True
        finally:
            del self._served[request]
            seconds = self._clock() - began
            # The time of one that was stopped says something only if it is longer than expected.
            if is_whole or seconds > self._durations.expected_s(work):
                self._durations.add(work, seconds)
            self._pass_on()

    def _pass_on(self) -> None:
        """Give a slot to the request whose turn it is, if one waits."""
        first = next(self._in_turn(self._patient()), None)
        if first is None:
            self._free += 1
        else:
            self._waiting.remove(first)
            first.begins.set_result(None)

    def _patient(self) -> list[_Waiting]:
        """Those that wait, without the ones whose clients have left and that have yet to leave the queue."""
        return [each for each in self._waiting if not each.begins.done()]

    async def _wait(self, work: Work, caller: Caller) -> None:
        makes_way = self._checked(caller, work)
        if makes_way is not None:
            self._waiting.remove(makes_way)
            reason = "requests of others that have fewer in the queue took its place"
            makes_way.begins.set_exception(self._busy(reason, self.expected_wait_s))
        request = _Waiting(caller, work, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        try:
            async with asyncio.timeout(self._capacity.queue_s):
                await request.begins
        except TimeoutError:
            self._leave(request)
            raise self._busy(f"none of them ended within {self._capacity.queue_s:g} s", self.expected_wait_s) from None
        except asyncio.CancelledError:
            self._leave(request)
            raise

    def _leave(self, request: _Waiting) -> None:
        """Leave the queue; a slot that was passed on meanwhile is passed on again."""
        if request in self._waiting:
            self._waiting.remove(request)
        elif request.begins.done() and not request.begins.cancelled() and request.begins.exception() is None:
            self._pass_on()

    def _busy(self, reason: str, expected_s: float) -> ServiceBusy:
        """The rejection; to be tried again when the requests ahead are expected to have begun."""
        concurrent = self._capacity.concurrent
        return ServiceBusy(
            f"{concurrent} requests are being served and {reason}; try again",
            limit=concurrent,
            retry_after_s=min(max(1, math.ceil(expected_s)), _LONGEST_RETRY_S),
        )


class Pace:
    """Delays that spread events: `_PACE_PER_S` a second, after a burst of `_BURST_S` times as many.

    Parameters
    ----------
    clock : seconds since any moment, never less than before.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_s = -math.inf

    def delay_s(self) -> float:
        """The delay of an event that arrives now, in seconds: at most `LONGEST_DELAY_S`."""
        now = self._clock()
        following = max(now - _BURST_S, self._next_s + 1 / _PACE_PER_S)
        self._next_s = min(following, now + LONGEST_DELAY_S)
        return max(0.0, self._next_s - now)


def _alternating(queues: Sequence[Iterable[_Waiting]]) -> Iterator[_Waiting]:
    """The first request of each queue in turn, then the second of each, and so on."""
    rounds = itertools.zip_longest(*queues)
    return (each for of_round in rounds for each in of_round if each is not None)
