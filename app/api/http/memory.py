"""Return freed memory to the system after requests that needed much of it.

The C library keeps freed memory for later allocations: a service that has answered one request of a million
partitions would stay several times as large as it was.
"""

import ctypes
import gc
import math
import sys
import time
from collections.abc import Callable

import psutil
from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

_GROWTH_BYTES = 64 * 2**20
"""Growth of the resident memory since the last return that is worth another one, which takes some 50 ms."""


_LOOKS_EVERY_S = 0.1
_AGAIN_AFTER_S = 30.0
"""Memory in use at the last return, such as responses that clients were reading, may be free after this time."""


class FreedMemory:
    """Return freed memory after a request if the process has grown by more than 64 MB since the last time.

    If more than that is still in use then, the first request after `_AGAIN_AFTER_S` does so once more.
    """

    def __init__(self, app: ASGIApp, clock: Callable[[], float] = time.monotonic) -> None:
        self._app, self._clock = app, clock
        self._process = psutil.Process()
        # Resident bytes after the last return, and after the last one that was not tried again.
        self._returned = self._usual = self._resident_bytes()
        self._looks_at = 0.0
        self._again_at = math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
        now = self._clock()
        if scope["type"] != "http" or now < self._looks_at:
            return
        self._looks_at = now + _LOOKS_EVERY_S
        resident = self._resident_bytes()
        has_grown = resident > self._returned + _GROWTH_BYTES
        if has_grown or now >= self._again_at:
            self._returned, self._again_at = resident, math.inf  # requests that end meanwhile need not do the same
            await to_thread.run_sync(_return_freed)
            self._returned = self._resident_bytes()
            if has_grown and self._returned > self._usual + _GROWTH_BYTES:
                self._again_at = now + _AGAIN_AFTER_S
            else:
                self._usual = self._returned

    def _resident_bytes(self) -> int:
        resident: int = self._process.memory_info().rss
        return resident


def _return_freed() -> None:
    gc.collect()
    if "pyarrow" in sys.modules:  # else it has allocated nothing; importing it takes long
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
