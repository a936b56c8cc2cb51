"""The processes of the slots, in lanes: such as one for requests that compute, and one for requests that read.

A process is forked from the server process of `multiprocessing`, which has imported the application and loaded the
compiled loops: this takes some tens of milliseconds and shares their memory. A process that was stopped, or has ended,
is replaced (`docs/decisions/0074-slots-are-processes-of-the-standard-library.md`).
"""

import asyncio
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Event
from typing import Any

import orjson
import structlog

from app.errors.access import ProcessLost
from app.slots import server
from app.slots.admission import ANYONE, UNKNOWN, Admission, Caller, Capacity, Occupancy, Work
from app.slots.process import BUFFERED_BYTES, receive, send
from app.store.database import has_input

UNKNOWN_EXIT_CODE = 255
"""Exit code of a process that was killed together with the server that forked it, which alone knows the code."""
NO_PROCESS = "no process can be started"
"""The state of a pool whose last start of a process has failed."""
_POLLING_S = 0.1
_FORKED_WITHIN_S = 10.0
_ENDS_WITHIN_S = 2.0
_RECOVERS_AFTER_S = 1.0


class SlotEnded(Exception):
    """The process ended before it answered."""


@dataclass(eq=False, slots=True)
class Slot:
    """A process, and the connection to it; it serves one call at a time. After `stop` it is not used again."""

    process: BaseProcess
    connection: Connection
    is_usable: bool = True

    async def call(self, head: bytes, body: bytes) -> tuple[dict[str, Any], bytes]:
        """The answer of the process: a head, which crosses as JSON, and a body. Nothing is unpickled.

        The process is killed if the call is cancelled, as at a deadline. Raises `SlotEnded`.
        """
        is_answered = False
        try:
            if len(body) <= BUFFERED_BYTES:  # an idle process has read all before, so that this does not block
                send(self.connection, head, body)
            else:
                await asyncio.to_thread(send, self.connection, head, body)
            await self._readable()
            written, content = receive(self.connection)
            noted: dict[str, Any] = orjson.loads(written)
            is_answered = not noted.pop("is_last")
        except (EOFError, OSError):
            raise SlotEnded from None
        finally:
            if not is_answered:
                self.stop()
        return noted, content

    async def _readable(self) -> None:
        """Wait for the beginning of the answer: a thread that waits for it takes 0.1 ms of processor time a call."""
        loop, begins = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.connection, begins.set)
        try:
            await begins.wait()
        finally:
            loop.remove_reader(self.connection)
            os.set_blocking(self.connection.fileno(), True)  # uvloop has made it non-blocking

    @property
    def is_idle(self) -> bool:
        """Whether the process of a slot without a call waits for one: else its connection is closed."""
        return not has_input(self.connection)

    def stop(self) -> None:
        """Kill the process, whatever it does. Postgres rolls its transaction back, since the connection is lost."""
        self.is_usable = False
        self.process.kill()

    async def end(self) -> str:
        """How the process has ended whose connection is closed: words that follow `the process`."""
        await asyncio.to_thread(self.process.join, _ENDS_WITHIN_S)
        return ending(self.process.exitcode)


def ending(exit_code: int | None) -> str:
    """Words for the exit code of a process: killed by the system, crashed, or ended."""
    if exit_code is None:
        return "closed its connection"
    if exit_code == -signal.SIGKILL:
        return "was killed (SIGKILL), as the system does if memory runs out"
    if exit_code < 0:
        return f"crashed ({signal.Signals(-exit_code).name})"
    return f"ended with exit code {exit_code}"


class Lane:
    """Slots for requests of one purpose, and the queue of those that wait. Belongs to one event loop."""

    def __init__(self, capacity: Capacity, start: Callable[[], Awaitable[Slot]]) -> None:
        self.admission = Admission(capacity)
        self._processes = capacity.concurrent
        self._idle: deque[Slot] = deque()
        self._start = start

    @asynccontextmanager
    async def slot(self, work: Work = UNKNOWN, caller: Caller = ANYONE) -> AsyncIterator[Slot]:
        """Occupy a slot for the duration of the context. Raises `ServiceBusy` as `Admission.slot` does."""
        async with self.admission.slot(work, caller):
            slot = self._usable() or await self._start()
            try:
                yield slot
            finally:
                if slot.is_usable:
                    self._idle.append(slot)

    async def fill(self) -> None:
        """Start the processes ahead of the first requests."""
        for _ in range(self._processes):
            self._idle.append(await self._start())

    def _usable(self) -> Slot | None:
        while self._idle:
            slot = self._idle.popleft()
            if slot.is_idle:
                return slot
            slot.stop()
        return None


class Pool:
    """All slots of a service. `start` begins to start them, `close` kills them.

    Parameters
    ----------
    target : is called in each process with its connection and `arguments`.
    preloaded : modules that are imported once, in the process from which the others are forked.
    lanes : the processes of each lane, and its queue.
    """

    def __init__(
        self,
        target: Callable[..., None],
        arguments: Sequence[Any],
        *,
        preloaded: Sequence[str],
        lanes: Mapping[str, Capacity],
    ) -> None:
        self._scratch = server.scratch()
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(preloaded))
        self._target, self._arguments = target, tuple(arguments)
        self._starting = ThreadPoolExecutor(1, thread_name_prefix="start slots")
        self._started: set[Slot] = set()
        self._filling: asyncio.Task[None] | None = None
        self._recovering: asyncio.Task[None] | None = None
        self._is_failing = False
        self.early = 0  # requests that are served without a slot, since the processes have not been started yet
        self.lanes = {name: Lane(capacity, self._start) for name, capacity in lanes.items()}

    @property
    def occupancy(self) -> Mapping[str, Occupancy]:
        """Each lane's slots and queue now."""
        return {name: lane.admission.occupancy for name, lane in self.lanes.items()}

    @property
    def is_ready(self) -> bool:
        """Whether the processes have been started, which takes some seconds."""
        return self._filling is not None and self._filling.done()

    @property
    def state(self) -> str:
        """How many processes there are, in words."""
        if not self.is_ready:
            return "starting; requests are served in threads"
        if self._is_failing:
            return NO_PROCESS
        alive = sum(slot.is_usable and slot.process.is_alive() for slot in self._started)
        return f"{alive} of {sum(each.slots for each in self.occupancy.values())} processes"

    def start(self, is_prepared: Event) -> None:
        """Begin to start the processes once the service is prepared, without waiting for them.

        Before that, and while early requests are served, these have the processor to themselves; loops may not be
        compiled yet.
        """
        self._filling = asyncio.create_task(self._fill(is_prepared))
        self._recovering = asyncio.create_task(self._recover())

    async def _fill(self, is_prepared: Event) -> None:
        yields_until = time.monotonic() + 3.0  # requests may follow one another without a pause
        while not is_prepared.is_set() or (self.early and time.monotonic() < yields_until):
            await asyncio.sleep(_POLLING_S)
        for lane in self.lanes.values():
            await lane.fill()

    async def _recover(self) -> None:
        """Try to start a process while none can be started: a service that is not ready gets no requests that would."""
        while True:
            await asyncio.sleep(_RECOVERS_AFTER_S)
            if self._is_failing:
                with suppress(ProcessLost):
                    (await self._start()).stop()

    def close(self) -> None:
        """Kill every process."""
        for task in (self._filling, self._recovering):
            if task is not None:
                task.cancel()
        for slot in self._started:
            slot.stop()
        self._starting.shutdown(wait=False, cancel_futures=True)

    async def _start(self) -> Slot:
        starting = self._starting.submit(self._forked)
        starting.add_done_callback(self._note_start)
        try:
            slot = await asyncio.wrap_future(starting)
        except BaseException:
            starting.add_done_callback(_abandon)
            raise
        self._started = {slot for slot in self._started if slot.is_usable}
        self._started.add(slot)
        return slot

    def _note_start(self, starting: Future[Slot]) -> None:
        """Note whether a process could be started, also if the request that needed it has left meanwhile."""
        if starting.cancelled():
            return
        failure = starting.exception()
        self._is_failing = failure is not None
        if failure is not None:
            structlog.get_logger().error("slot.not_started", detail=repr(failure.__cause__ or failure))

    def _forked(self) -> Slot:
        """A new process. A request that is cancelled meanwhile leaves it to this thread.

        If it closed the other end of the connection before that was sent, another file of the same number would be sent
        in its place, or none: then the server that forks ends, with all processes that it has forked.
        """
        ours, theirs = self._context.Pipe()
        with theirs:
            # Not a fork of this process, whose threads would not come along with their locks.
            process = self._context.Process(target=self._target, args=(theirs, *self._arguments), daemon=True)
            ends = time.monotonic() + _FORKED_WITHIN_S
            while True:
                try:
                    process.start()
                except BrokenPipeError:  # the process has ended already, as its connection shows
                    return Slot(process, ours)
                except (EOFError, OSError) as failure:
                    # The server that forks was killed, its socket is gone, or this process has too many files. The
                    # server is started anew as soon as the system has ended it.
                    if time.monotonic() > ends:
                        raise ProcessLost("no process can be started that would serve the request") from failure
                    server.end_if_unreachable()
                    time.sleep(_POLLING_S)
                else:
                    return Slot(process, ours)


def _abandon(starting: Future[Slot]) -> None:
    """End a process that no request waits for."""
    if not starting.cancelled() and starting.exception() is None:
        starting.result().stop()
