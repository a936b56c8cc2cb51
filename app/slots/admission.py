"""Admission control: how many requests are served concurrently, how many wait, and when one is rejected.

A request is rejected when it arrives or not at all: what it would wait is estimated from what is ahead of it
(`expectation`), and it is rejected if that is longer than the limit. No request is rejected while a slot is idle.

A request that needs the database, or a thread for long, has to be admitted first. It is admitted when its body has been
read, so that slow senders delay no other request. From then on the order is the same for every request: slot, thread,
connection. There are at least as many threads and connections as slots (`Settings` checks it), so that no request waits
for one of the three while it has another.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.errors.access import ServiceBusy
from app.slots.expectation import UNKNOWN, Durations, Work, remaining_s, wait_s

_LONGEST_RETRY_S = 60


@dataclass(frozen=True, slots=True)
class Capacity:
    """Limits of admission.

    Parameters
    ----------
    concurrent : requests that are served at the same time.
    queued : requests that wait for one of these to end.
    queue_s : longest wait of a request, in seconds: what was expected may be wrong.
    expected_s : longest expected wait with which a request is admitted, in seconds.
    """

    concurrent: int
    queued: int
    queue_s: float
    expected_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Slots that there are and that are occupied, requests that wait for one, and what another one would wait."""

    slots: int
    occupied: int
    queued: int
    expected_wait_s: float


class Admission:
    """Admits requests in the order of their arrival. Belongs to one event loop.

    Parameters
    ----------
    clock : seconds since any moment, never less than before.
    """

    def __init__(self, capacity: Capacity, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._clock = capacity, clock
        self._slots = asyncio.Semaphore(capacity.concurrent)
        self._durations = Durations()
        # In the order of their arrival.
        self._waiting: dict[object, Work] = {}
        self._waiting_of: Counter[Work] = Counter()
        self._served: dict[object, tuple[Work, float]] = {}

    @property
    def occupancy(self) -> "Occupancy":
        """The slots and the queue now."""
        return Occupancy(self._capacity.concurrent, len(self._served), len(self._waiting), self.expected_wait_s)

    @property
    def expected_wait_s(self) -> float:
        """What a request that arrived now is expected to wait, in seconds; 0 if a slot is idle."""
        if not self._slots.locked():
            return 0.0
        return wait_s(self._remaining_s(), map(self._durations.expected_s, self._waiting.values()))

    def _remaining_s(self) -> list[float]:
        """What is expected to remain of each slot's request."""
        now, expected_s = self._clock(), self._durations.expected_s
        passed_on = [0.0] * (self._capacity.concurrent - len(self._served))
        return passed_on + [remaining_s(expected_s(work), now - began) for work, began in self._served.values()]

    def _is_short(self) -> bool:
        """Whether the mean time until a slot is free is within the limit, and the shortest, the expected wait, too.

        It is computed from the classes of the requests that wait; the expected wait takes a step for each of them.
        """
        waiting_s = sum(self._durations.expected_s(work) * count for work, count in self._waiting_of.items())
        return sum(self._remaining_s()) + waiting_s <= self._capacity.expected_s * self._capacity.concurrent

    def check(self) -> None:
        """Raise `ServiceBusy` if a request that arrived now would be rejected."""
        if not self._slots.locked():
            return
        if len(self._waiting) >= self._capacity.queued:
            raise self._busy(f"{len(self._waiting)} more wait, which is the limit", self.expected_wait_s)
        if self._is_short():
            return
        expected_s = self.expected_wait_s
        if expected_s > self._capacity.expected_s:
            limit = f"the limit is {self._capacity.expected_s:g} s"
            raise self._busy(f"another one would wait for some {expected_s:.1f} s; {limit}", expected_s)

    @asynccontextmanager
    async def slot(self, work: Work = UNKNOWN) -> AsyncIterator[None]:
        """Occupy a slot for the duration of the context.

        Raises
        ------
        ServiceBusy
            The queue is full, the expected wait is too long, or no slot became free in time.
        """
        if self._slots.locked():
            await self._wait(work)
        else:
            await self._slots.acquire()
        request, began = object(), self._clock()
        self._served[request] = work, began
        is_whole = False
        try:
            yield
            is_whole = True
        finally:
            del self._served[request]
            seconds = self._clock() - began
            # The time of one that was stopped says something only if it is longer than what was expected.
            if is_whole or seconds > self._durations.expected_s(work):
                self._durations.add(work, seconds)
            self._slots.release()

    async def _wait(self, work: Work) -> None:
        self.check()
        request = object()
        self._waiting[request] = work
        self._waiting_of[work] += 1
        try:
            async with asyncio.timeout(self._capacity.queue_s):
                await self._slots.acquire()
        except TimeoutError:
            reason = f"none of them ended within {self._capacity.queue_s:g} s"
            raise self._busy(reason, self.expected_wait_s) from None
        finally:
            del self._waiting[request]
            self._waiting_of[work] -= 1
            if not self._waiting_of[work]:
                del self._waiting_of[work]

    def _busy(self, reason: str, expected_s: float) -> ServiceBusy:
        """The rejection; it is to be tried again when what is ahead of it is expected to have begun."""
        concurrent = self._capacity.concurrent
        return ServiceBusy(
            f"{concurrent} requests are being served and {reason}; try again",
            limit=concurrent,
            retry_after_s=min(max(1, math.ceil(expected_s)), _LONGEST_RETRY_S),
        )
