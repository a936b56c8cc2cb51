"""Bytes that the process which listens holds for clients: bodies of requests for slots, and responses of slots.

A slot is free once it has answered, however slowly the client reads: what clients have not read is bounded here.
"""

from collections.abc import Callable

import structlog

from app.errors.access import ServiceBusy

MOST_BYTES = 256 * 2**20
"""Bytes of bodies that are received or sent at the same time."""


class Buffers:
    """The buffers of all requests. Belongs to one event loop."""

    def __init__(self) -> None:
        self._held = 0
        # Those that may be ended, by what ends them, the oldest first.
        self._endings: dict[Buffer, Callable[[], object]] = {}

    def of_request(self) -> "Buffer":
        """A buffer without bytes."""
        return Buffer(self)

    def change(self, count: int) -> None:
        """Add bytes, or subtract them if `count` is negative.

        If they are too many, requests of which the clients have yet to read the response are ended, the oldest first.
        Raises `ServiceBusy` if there are none.
        """
        while count > 0 and self._held + count > MOST_BYTES and self._endings:
            self._end(next(iter(self._endings)))
        if count > 0 and self._held + count > MOST_BYTES:
            detail = f"bodies of {self._held} bytes are being received or sent; the limit is {MOST_BYTES}; try again"
            raise ServiceBusy(detail, limit=MOST_BYTES)
        self._held += count

    def may_end(self, buffer: "Buffer", end: Callable[[], object] | None) -> None:
        """Note how the request of a buffer is ended if its bytes are needed; None if it may not be."""
        if end is None:
            self._endings.pop(buffer, None)
        else:
            self._endings[buffer] = end

    def _end(self, buffer: "Buffer") -> None:
        end = self._endings[buffer]
        structlog.get_logger().warning("response.dropped", bytes=buffer.held)
        buffer.release_all()
        end()


class Buffer:
    """The bytes that are held for one request."""

    def __init__(self, all_buffers: Buffers) -> None:
        self._all = all_buffers
        self.held = 0

    def hold(self, count: int) -> None:
        """Hold more bytes. Raises `ServiceBusy` if too many are held for all requests."""
        self._all.change(count)
        self.held += count

    def release(self, count: int) -> None:
        """Release bytes, unless all were released before."""
        count = min(count, self.held)
        self._all.change(-count)
        self.held -= count

    def release_all(self) -> None:
        """Release what is left: nothing needs it."""
        self.release(self.held)
        self._all.may_end(self, None)

    def end_on_demand(self, end: Callable[[], object]) -> None:
        """Let `end` be called, after which nothing needs the bytes, if others need the memory."""
        self._all.may_end(self, end)
