"""Return freed memory to the system after requests that needed much of it.

The C library keeps what was freed for later allocations: a service that has answered one request of a million
partitions would stay several times as large as it was.
"""

import ctypes
import gc
import sys
import time

import psutil
from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

_GROWTH_BYTES = 64 * 2**20
"""Growth of the resident memory since the last return that is worth another one, which takes some 50 ms."""


_LOOKS_EVERY_S = 0.1


class FreedMemory:
    """Return freed memory after a request if the process has grown by more than 64 MB since the last time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._process = psutil.Process()
        self._resident = self._resident_bytes()
        self._looks_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
        if scope["type"] != "http" or time.monotonic() < self._looks_at:
            return
        self._looks_at = time.monotonic() + _LOOKS_EVERY_S
        if self._resident_bytes() > self._resident + _GROWTH_BYTES:
            self._resident = self._resident_bytes()  # requests that end meanwhile need not do the same
            await to_thread.run_sync(_return_freed)
            self._resident = self._resident_bytes()

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
