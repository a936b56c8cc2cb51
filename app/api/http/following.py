"""Follow a job or a sweep to its end: as server-sent events, or by a response that waits.

A request that follows has neither slot, thread nor connection between two looks, however long it waits: the operation
has returned, and only the sending of its response goes on. The looks of all requests share a few threads and as many
connections, which `Settings` spares for them.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Annotated, Any, TypeAlias

import orjson
from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.errors.access import DatabaseUnavailable
from app.errors.failure import NotFound
from app.slots.admission import Admission
from app.store.database import Database, UnitOfWork

_LONGEST_HEADER = 500
_LONGEST_DEADLINE_S = 2**31 - 1
"""Limit of the database's column; the service has limits of its own, which hold when the job runs."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences of a request that the service knows; others are ignored, as the RFC requires.

    Parameters
    ----------
    respond_async : whether the answer is to be a job.
    wait_s : how long the request waits for the end of a job or sweep, up to the service's limit; None if it does not.
    deadline_s : the longest time of the job or sweep from its first start; None if it is the service's limit.
    """

    respond_async: bool = False
    wait_s: int | None = None
    deadline_s: int | None = None

    @property
    def applied(self) -> str:
        """The value of `Preference-Applied`."""
        numbers = {"wait": self.wait_s, "deadline": self.deadline_s}
        stated = [f"{name}={number}" for name, number in numbers.items() if number is not None]
        return ", ".join([*(["respond-async"] if self.respond_async else []), *stated])


def parsed(header: str, *, longest_wait_s: int) -> Preferences:
    """Read the header. The first of several equal preferences counts; a time that is no whole number is ignored."""
    stated: dict[str, str] = {}
    for preference in header[:_LONGEST_HEADER].split(","):
        name, _, value = preference.split(";", 1)[0].partition("=")
        stated.setdefault(name.strip().lower(), value.strip().strip('"'))
    wait, deadline = _seconds(stated, "wait"), _seconds(stated, "deadline")
    return Preferences(
        "respond-async" in stated,
        None if wait is None else min(wait, longest_wait_s),
        None if not deadline else min(deadline, _LONGEST_DEADLINE_S),
    )


def _seconds(stated: dict[str, str], name: str) -> int | None:
    text = stated.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _stated(description: str) -> Any:
    """The dependency that reads the header, of which there may be several; the document has its description."""

    async def preferences(
        request: Request,
        prefer: Annotated[str | None, Header(description=description)] = None,  # noqa: ARG001 -- documents the header
    ) -> Preferences:
        longest_wait_s: int = request.app.state.limits.max_wait_seconds
        return parsed(", ".join(request.headers.getlist("prefer")), longest_wait_s=longest_wait_s)

    return Depends(preferences)


WaitPreference = Annotated[
    Preferences,
    _stated(
        "`wait=20`: answer when it has ended, after 20 seconds at the latest (RFC 7240). "
        "`deadline=600`: a sweep that is created fails if it takes longer, in seconds."
    ),
]
"""`Prefer: wait=…`, of a job or sweep."""
JobPreference = Annotated[
    Preferences,
    _stated(
        "`respond-async`: answer 202 with a job. `respond-async, wait=20`: answer as without it if the "
        "job ends within 20 seconds (RFC 7240). `deadline=600`: the job fails if it takes longer, in seconds."
    ),
]
"""`Prefer: respond-async, wait=…`, of a request that may become a job."""


POLL_EVERY_S, KEEP_ALIVE_S = 0.5, 15.0
_FIRST_POLL_S = 0.05
"""Most jobs are short: the time between two looks begins with this and doubles up to `POLL_EVERY_S`."""
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Observation:
    """A job or sweep at one moment.

    Parameters
    ----------
    document : its JSON, with `state` and `finished_at`.
    done : how far it is, in its own unit; the id of its event.
    version : differs between two observations if the difference is worth an event.
    """

    document: Mapping[str, object]
    done: int
    version: tuple[object, ...]

    @property
    def has_ended(self) -> bool:
        """Whether it is succeeded, failed or cancelled."""
        return self.document["finished_at"] is not None


Observe: TypeAlias = Callable[[UnitOfWork], Observation]
"""Looks at one job or sweep; raises a `NotFound` if it was deleted."""
Render: TypeAlias = Callable[[UnitOfWork, Observation], Response]


class Followers:
    """The requests of a service that follow something.

    Parameters
    ----------
    connections : how many of them look at the same time.
    is_ending : is set when the service stops; then no request is followed on.
    """

    def __init__(self, database: Database, admission: Admission, is_ending: Event, *, connections: int) -> None:
        self._database, self._admission, self._is_ending = database, admission, is_ending
        self._limiter = CapacityLimiter(connections)

    async def observations(self, observe: Observe, *, within_s: float | None = None) -> AsyncIterator[Observation]:
        """Look again and again until it has ended or was deleted, the time is up, or the service stops.

        At least one look is taken, and the last one when the time is up. A look without a database does not count.
        """
        ends = None if within_s is None else time.monotonic() + within_s
        pause_s = _FIRST_POLL_S
        is_last = False
        while not self._is_ending.is_set():
            try:
                observation = await to_thread.run_sync(self._look, observe, limiter=self._limiter)
                yield observation
                if observation.has_ended:
                    return
            except NotFound:
                return
            except DatabaseUnavailable:
                pause_s = POLL_EVERY_S
            if is_last:
                return
            left_s = pause_s if ends is None else ends - time.monotonic()
            is_last = left_s < pause_s
            await asyncio.sleep(max(0.0, min(pause_s, left_s)))
            pause_s = min(2 * pause_s, POLL_EVERY_S)

    async def render(self, render: Render, observation: Observation) -> Response:
        """Make the response of something that has ended, as a request of its own: with a slot, a thread, a connection.

        Raises `ServiceBusy`, and the errors of `render`.
        """

        def rendered() -> Response:
            with self._database.begin() as uow:
                return render(uow, observation)

        async with self._admission.slot():
            return await run_in_threadpool(rendered)

    def _look(self, observe: Observe) -> Observation:
        with self._database.begin() as uow:
            return observe(uow)


class AwaitedResponse(Response):
    """A response that waits, while it is sent, for the end of a job or sweep.

    Parameters
    ----------
    otherwise : the response if it has not ended in time, or was deleted. render : the response once it has ended.
    """

    def __init__(
        self, otherwise: Response, observe: Observe, render: Render, followers: Followers, preferences: Preferences
    ) -> None:
        super().__init__()
        self._otherwise, self._observe, self._render = otherwise, observe, render
        self._followers, self._preferences = followers, preferences

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._awaited(Request(scope, receive))
        response.headers["Preference-Applied"] = self._preferences.applied
        await response(scope, receive, send)

    async def _awaited(self, request: Request) -> Response:
        async for observation in self._followers.observations(self._observe, within_s=self._preferences.wait_s):
            if observation.has_ended:
                return await self._followers.render(self._render, observation)
            if await request.is_disconnected():
                break
        return self._otherwise


def awaited(
    request: Request, preferences: Preferences, otherwise: Response, *, observe: Observe, render: Render
) -> Response:
    """`otherwise`, or the result of `render` if the request prefers to wait and the end comes in time."""
    if preferences.wait_s is None:
        return otherwise
    return AwaitedResponse(otherwise, observe, render, request.app.state.followers, preferences)


def events(request: Request, observe: Observe) -> Response:
    """Server-sent events: `progress` when something has changed, and a last one named after the final state.

    A comment every 15 s keeps idle connections open.
    """
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    followers: Followers = request.app.state.followers
    return StreamingResponse(_events(followers, observe), media_type=EVENT_STREAM, headers=headers)


async def _events(followers: Followers, observe: Observe) -> AsyncIterator[bytes]:
    last: tuple[object, ...] | None = None
    written = time.monotonic()
    async for observation in followers.observations(observe):
        if observation.version != last:
            last, written = observation.version, time.monotonic()
            name = observation.document["state"] if observation.has_ended else "progress"
            data = orjson.dumps(observation.document, option=orjson.OPT_UTC_Z)
            yield f"event: {name}\nid: {observation.done}\ndata: ".encode() + data + b"\n\n"
        elif time.monotonic() - written >= KEEP_ALIVE_S:
            written = time.monotonic()
            yield b": still here\n\n"
