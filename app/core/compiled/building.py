"""Compile all loops that the cache lacks, in parallel processes.

The unit of work is a family of modules, those that share subroutines: these are compiled once, as part of a process,
and not stored. The longest family begins first.
"""

import gc
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Container
from importlib import import_module
from typing import IO

from app.core.compiled import entries, sources

Progress = Callable[[int, int, str, float], None]
"""Is called after each loop: how many are done, of how many, the loop's name, and the seconds that it took."""

_SERVE = "from app.core.compiled.building import serve; serve()"
_LOOKS_EVERY_S = 0.2


class CompilationFailed(Exception):
    """A process that compiles loops ended before it was done."""


def uncompiled() -> list[str]:
    """The dotted names of all loops that the cache lacks; imports neither numba nor numpy."""
    names = (f"{module}.{name}" for module in sources.kernels() for name in sources.loops_of(module))
    return [name for name in names if entries.read(name) is None]


def compile_all(
    processes: int | None = None,
    on_progress: Progress | None = None,
    *,
    stop: threading.Event | None = None,
    niceness: int = 0,
) -> int:
    """Compile all loops that the cache lacks and store them; the number of loops that were compiled.

    Parameters
    ----------
    processes : how many work in parallel; by default one a processor.
    on_progress : is called in this thread after each loop.
    stop : ends the work early, within some tenths of a second, and without an error.
    niceness : how much other processes come first, 0 to 19.

    Raises
    ------
    CompilationFailed
        A process has died or could not compile a loop. Loops that others have stored remain.
    """
    missing = uncompiled()
    if not missing:
        return 0
    if processes is None:
        processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with _Pool(min(processes, len(missing)), niceness) as pool:
        _Work(missing, on_progress or (lambda *_: None)).run(pool, stop or threading.Event())
    entries.remove_other_environments()
    return len(missing)


def load_all(stop: threading.Event) -> None:
    """Load every loop into this process, so that no call has to; `stop` ends the work early."""
    for module in sources.kernels():
        for name in sources.loops_of(module):
            if stop.is_set():
                return
            _prepare(module, name)


class _Work:
    """The families ahead and in progress."""

    def __init__(self, missing: Container[str], on_progress: Progress) -> None:
        self._on_progress = on_progress
        self._ahead = []
        for family in sources.families():
            names = [f"{module}.{name}" for module in family for name in sources.loops_of(module)]
            if lacking := [name for name in names if name in missing]:
                self._ahead.append(lacking)
        self._done, self._total = 0, sum(map(len, self._ahead))

    def run(self, pool: "_Pool", stop: threading.Event) -> None:
        """Keep all processes busy until every loop is done."""
        while self._done < self._total and not stop.is_set():
            for process in pool.idle():
                if self._ahead:
                    process.begin(self._ahead.pop(0))
            for process in pool.reporting():
                for name, seconds in process.reports():
                    self._done += 1
                    self._on_progress(self._done, self._total, name, seconds)


class _Process:
    """A process that compiles the loops it is given; it ends when this process does."""

    def __init__(self, niceness: int) -> None:
        self.ahead: list[str] = []
        self._unread = b""
        self._popen = subprocess.Popen(  # noqa: S603 — our own module
            [sys.executable, "-c", _SERVE, str(niceness)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    @property
    def output(self) -> IO[bytes]:
        """The pipe of its results."""
        assert self._popen.stdout is not None  # noqa: S101 — it is a pipe
        return self._popen.stdout

    def begin(self, loops: list[str]) -> None:
        """Let it compile loops, one after another."""
        assert self._popen.stdin is not None  # noqa: S101 — it is a pipe
        self.ahead = loops
        try:
            self._popen.stdin.write("".join(f"{name}\n" for name in loops).encode())
            self._popen.stdin.flush()
        except BrokenPipeError:
            raise CompilationFailed(f"the process that was to compile {loops[0]} has ended") from None

    def reports(self) -> list[tuple[str, float]]:
        """Read which loops it has compiled since, and the seconds of each."""
        written = os.read(self.output.fileno(), 2**16)
        if not written:
            raise CompilationFailed(f"the process that compiled {self.ahead[0]} has ended")
        *lines, self._unread = (self._unread + written).split(b"\n")
        done = [(name, float(seconds)) for name, seconds in (line.decode().split() for line in lines)]
        self.ahead = self.ahead[len(done) :]
        return done

    def end(self) -> None:
        """Kill it: stored loops are complete."""
        self._popen.kill()
        self._popen.communicate()


class _Pool:
    """Processes that compile."""

    def __init__(self, count: int, niceness: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._processes = [_Process(niceness) for _ in range(count)]
        for process in self._processes:
            self._selector.register(process.output, selectors.EVENT_READ, process)

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for process in self._processes:
            process.end()

    def idle(self) -> list[_Process]:
        """The processes that have nothing to compile."""
        return [process for process in self._processes if not process.ahead]

    def reporting(self) -> list[_Process]:
        """The processes that have written something; waits for a moment if none has."""
        return [key.data for key, _ in self._selector.select(_LOOKS_EVERY_S)]


def serve() -> None:
    """Compile the loops that standard input names, one a line, and write a line with the seconds after each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which then ends this process
    os.nice(int(sys.argv[1]))
    gc.set_threshold(100_000, 20, 100)  # a tenth less time, since numba allocates much and little of it is garbage
    names: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_until_closed, args=(names,), daemon=True).start()
    while True:
        module, _, name = names.get().rpartition(".")
        if name not in sources.loops_of(module):
            raise ValueError(f"{module} has no compiled loop {name}")
        began = time.perf_counter()
        _prepare(module, name)
        os.write(1, f"{module}.{name} {time.perf_counter() - began:.3f}\n".encode())


def _prepare(module: str, name: str) -> None:
    """Load a loop, or compile and store it."""
    getattr(import_module(module), name).prepare()


def _read_until_closed(names: "queue.SimpleQueue[str]") -> None:
    """End this process at once when the one that started it has ended, however that was."""
    for line in sys.stdin:
        names.put(line.strip())
    os._exit(1)
