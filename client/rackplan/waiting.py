"""Waiting for jobs and sweeps, with progress."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator
from datetime import datetime
from itertools import count
from typing import Any, Protocol, TypeAlias, TypeVar

from rackplan.exchange import exchange
from rackplan.flows import Flow, Item, Items, Line, Pause, Request, Session, Step
from rackplan.problems import JobCancelled, JobFailed, ServiceUnavailable

_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _GROWTH = 0.1, 1.0, 1.3


class Running(Protocol):
    """A job or a sweep."""

    id: str
    kind: str
    state: Any
    error: Any
    finished_at: datetime | None


RunningT = TypeVar("RunningT", bound=Running)
Progress: TypeAlias = bool | Callable[[Any], object]
"""True prints to stderr; a function gets the job or sweep whenever it was looked at."""


def wait(
    running: RunningT, refreshed: Callable[[], Flow[RunningT]], *, timeout: float | None, progress: Progress
) -> Generator[Step, Any, RunningT]:
    """Wait until a job or a sweep has succeeded, and return it as it is then.

    It is looked at every second, at first more often.

    Raises
    ------
    JobFailed, JobCancelled
        It has ended otherwise.
    TimeoutError
        It has not ended after `timeout` seconds. It goes on.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    show = _printer() if progress is True else progress or (lambda _: None)
    show(running)
    for pause_s in (min(_FIRST_PAUSE_S * _GROWTH**number, _LONGEST_PAUSE_S) for number in count()):
        if running.finished_at is not None:
            return _succeeded(running)
        if deadline is not None:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise TimeoutError(f"{running.kind} {running.id} is {running.state} after {timeout:g} s; it goes on")
            pause_s = min(pause_s, left_s)  # noqa: PLW2901 -- the last one is shorter
        yield Pause(pause_s)
        running = yield from refreshed()
        show(running)
    raise AssertionError("it is looked at until it ends")


def follow(session: Session, path: str, parse: Callable[[Any], RunningT]) -> Items[RunningT]:
    """The states of a job or a sweep as the service sends them, until it has ended."""
    request = Request("GET", path, headers={"Accept": "text/event-stream"}, is_stream=True)
    while True:
        response = yield from exchange(session, request)
        try:
            while (line := (yield Line(response))) is not None:
                if line.startswith("data:"):
                    running = parse(json.loads(line.removeprefix("data:")))
                    yield Item(running)
                    if running.finished_at is not None:
                        return
        except ServiceUnavailable:
            pass  # the connection broke; the next one begins with the current state
        yield Pause(_LONGEST_PAUSE_S)


def _succeeded(running: RunningT) -> RunningT:
    if running.state == "failed":
        error = running.error
        raise JobFailed(error.raw if hasattr(error, "raw") else error or {})
    if running.state == "cancelled":
        raise JobCancelled(f"{running.kind} {running.id} was cancelled")
    return running


def _printer() -> Callable[[Any], None]:
    """Prints one line to stderr that replaces itself on a terminal; elsewhere one for each state."""
    is_terminal = sys.stderr.isatty()
    last = ""

    def show(running: Any) -> None:
        nonlocal last
        if is_terminal:
            end = "\n" if running.finished_at is not None else ""
            sys.stderr.write(f"\r{_line(running)}\x1b[K{end}")
        elif running.state != last:
            sys.stderr.write(f"{_line(running)}\n")
        sys.stderr.flush()
        last = running.state

    return show


def _line(running: Any) -> str:
    """A job or a sweep in one line: what it is, its state, and how far it is if it says so."""
    words = [f"{running.kind} {running.id}: {running.state}"]
    raw = running.raw
    if step := raw.get("progress"):
        words.append(f"step {step['steps_done'] + 1} of {step['steps']}: {step['step']}")
    if raw.get("scenarios"):
        words.append(f"{raw.get('done', 0):,} of {raw['scenarios']:,} scenarios")
    if raw.get("rate_per_s"):
        words.append(f"{raw['rate_per_s']:,.1f}/s")
    if raw.get("seconds_left") is not None and running.finished_at is None:
        words.append(f"{raw['seconds_left']:,.0f} s left")
    return ", ".join(words)
