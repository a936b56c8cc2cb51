"""Admission control: how many requests are served concurrently, how many wait, and when one is rejected.

A request that needs the database, or a thread for long, has to be admitted first. It is admitted when its body has been
read, so that slow senders delay no other request. From then on the order is the same for every request: slot, thread,
connection. There are at least as many threads and connections as slots (`Settings` checks it), so that no request waits
for one of the three while it has another.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.errors.access import ServiceBusy


@dataclass(frozen=True, slots=True)
class Capacity:
    """Limits of admission.

    Parameters
    ----------
    concurrent : requests that are served at the same time.
    queued : requests that wait for one of these to end.
    queue_s : longest wait of a request, in seconds.
    """

    concurrent: int
    queued: int
    queue_s: float


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Slots that there are and that are occupied, and requests that wait for one."""

    slots: int
    occupied: int
    queued: int


class Admission:
    """Admits requests in the order of their arrival. Belongs to one event loop."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._slots = asyncio.Semaphore(capacity.concurrent)
        self._queued = 0
        self._occupied = 0

    @property
    def occupancy(self) -> "Occupancy":
        """The slots and the queue now."""
        return Occupancy(self._capacity.concurrent, self._occupied, self._queued)

    def check(self) -> None:
        """Raise `ServiceBusy` if a request that arrived now would be rejected."""
        if self._slots.locked() and self._queued >= self._capacity.queued:
            raise self._busy(f"{self._queued} more wait, which is the limit")

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Occupy a slot for the duration of the context.

        Raises
        ------
        ServiceBusy
            The queue is full, or no slot became free in time.
        """
        if self._slots.locked():
            await self._wait()
        else:
            await self._slots.acquire()
        self._occupied += 1
        try:
            yield
        finally:
            self._occupied -= 1
            self._slots.release()

    async def _wait(self) -> None:
        self.check()
        capacity = self._capacity
        self._queued += 1
        try:
            async with asyncio.timeout(capacity.queue_s):
                await self._slots.acquire()
        except TimeoutError:
            raise self._busy(f"none of them ended within {capacity.queue_s:g} s") from None
        finally:
            self._queued -= 1

    def _busy(self, reason: str) -> ServiceBusy:
        concurrent = self._capacity.concurrent
        return ServiceBusy(f"{concurrent} requests are being served and {reason}; try again", limit=concurrent)
