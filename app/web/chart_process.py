"""Charts are drawn by a process that ends when it has had nothing to do for a while.

The engine is a browser's interpreter of scripts: it takes 60 to 150 MB, and never returns them. The process starts with
the first chart, in a second, and saves the service this memory.
"""

import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Literal, cast

import orjson

IDLE_S = 60.0
"""Seconds without a chart after which the process ends."""
DRAWN_WITHIN_S = 30.0
"""A chart that takes longer is given up, and the process with it."""
_SCRIPT = Path(__file__).with_name("chart_engine.py")


class ChartFailed(Exception):
    """The engine rejected the chart, or gave up: a fault of the service."""


class ChartProcess:
    """The engine in a process of its own, which is started when it is needed. Charts wait for each other."""

    def __init__(self, *, idle_s: float = IDLE_S, drawn_within_s: float = DRAWN_WITHIN_S) -> None:
        self._idle_s, self._drawn_within_s = idle_s, drawn_within_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._idle: threading.Timer | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process; None if it does not run."""
        process = self._process
        return None if process is None else process.pid

    def draw(self, kind: Literal["svg", "png", "script"], content: object) -> bytes:
        """Draw a chart, or make the script that draws charts in browsers.

        Raises
        ------
        ChartFailed : the engine rejects the content, ends, or takes longer than `DRAWN_WITHIN_S`.
        """
        request = orjson.dumps([kind, content])
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            process = self._running()
            overdue = _after(self._drawn_within_s, process.kill)
            try:
                answer = _answer(process, request)
            except (OSError, struct.error) as failure:
                self._end()
                raise ChartFailed(f"the engine of charts has ended with status {process.returncode}") from failure
            finally:
                overdue.cancel()
            self._idle = _after(self._idle_s, self._end_if_idle)
        if answer[:1] != b"\1":
            raise ChartFailed(answer[1:].decode(errors="replace"))
        return answer[1:]

    def close(self) -> None:
        """End the process, whatever it draws; the next chart starts another."""
        if (process := self._process) is not None:
            process.kill()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            # It ends with this process, however this one ends, since its input does; Ctrl-C reaches it in no other way.
            self._process = subprocess.Popen(  # noqa: S603 -- our own script
                [sys.executable, "-P", _SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")},
            )
        return self._process

    def _end_if_idle(self) -> None:
        if self._lock.acquire(blocking=False):  # else a chart is being drawn, which starts the time anew
            try:
                self._end()
            finally:
                self._lock.release()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _after(seconds: float, do: Callable[[], None]) -> threading.Timer:
    """Do something later, unless it is cancelled or this process ends."""
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()
    return timer


def _answer(process: subprocess.Popen[bytes], request: bytes) -> bytes:
    requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)  # both are pipes
    requests.write(struct.pack(">I", len(request)) + request)
    requests.flush()
    (length,) = struct.unpack(">I", answers.read(4))
    answer = answers.read(length)
    if len(answer) < length:
        raise BrokenPipeError
    return answer


ENGINE = ChartProcess()
"""The one of this process."""
