"""Compile all loops that the cache lacks, in parallel processes.

The unit of work is a module: its loops share what they call. A module is compiled after those whose loops it calls,
which it then loads from the cache; of those that may be compiled, the one with the longest way to the end comes first.
"""

import functools
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
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
        A process has died or could not compile a loop. What the others have stored remains.
    """
    missing: dict[str, list[str]] = {}
    for name in uncompiled():
        missing.setdefault(name.rpartition(".")[0], []).append(name)
    if not missing:
        return 0
    if processes is None:
        processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with _Pool(min(processes, len(missing)), niceness) as pool:
        _Work(missing, on_progress or (lambda *_: None)).run(pool, stop or threading.Event())
    entries.remove_other_environments()
    return sum(map(len, missing.values()))


def load_all(stop: threading.Event) -> None:
    """Load every loop into this process, so that no call has to; `stop` ends the work early."""
    for module in sources.kernels():
        for _, prepare in _preparations(module):
            if stop.is_set():
                return
            prepare()


class _Work:
    """The modules ahead and in progress."""

    def __init__(self, missing: Mapping[str, list[str]], on_progress: Progress) -> None:
        self._missing = missing
        self._on_progress = on_progress
        self._names = {name for names in missing.values() for name in names}
        self._done, self._total = 0, len(self._names)
        self._under = {module: sources.kernels_under(module) & missing.keys() for module in missing}
        self._ahead = sorted(missing, key=self._way_to_the_end, reverse=True)
        self._unfinished = set(missing)

    def run(self, pool: "_Pool", stop: threading.Event) -> None:
        """Keep all processes busy until every module is done."""
        while self._unfinished and not stop.is_set():
            for process in pool.idle():
                module = next((name for name in self._ahead if not self._under[name] & self._unfinished), None)
                if module is None:
                    break
                self._ahead.remove(module)
                process.begin(module)
            for process in pool.reporting():
                for name, seconds in process.reports():
                    if name in self._names:
                        self._done += 1
                        self._on_progress(self._done, self._total, name, seconds)
                    else:
                        self._unfinished.discard(name)

    @functools.lru_cache  # noqa: B019 — it lives as long as the work
    def _way_to_the_end(self, module: str) -> int:
        """How many loops are compiled one after another from this module on."""
        after = [self._way_to_the_end(other) for other in self._missing if module in self._under[other]]
        return len(self._missing[module]) + max(after, default=0)


class _Process:
    """A process that compiles the modules it is given; it ends when this process does."""

    def __init__(self, niceness: int) -> None:
        self.module: str | None = None
        self._unread = b""
        self._popen = subprocess.Popen(  # noqa: S603 — our own module
            [sys.executable, "-c", _SERVE, str(niceness)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    @property
    def output(self) -> IO[bytes]:
        """Where it writes what it has done."""
        assert self._popen.stdout is not None  # noqa: S101 — it is a pipe
        return self._popen.stdout

    def begin(self, module: str) -> None:
        """Let it compile a module."""
        assert self._popen.stdin is not None  # noqa: S101 — it is a pipe
        self.module = module
        try:
            self._popen.stdin.write(f"{module}\n".encode())
            self._popen.stdin.flush()
        except BrokenPipeError:
            raise CompilationFailed(f"the process that was to compile {module} has ended") from None

    def reports(self) -> list[tuple[str, float]]:
        """Read what it has done since: loops and modules by name, and the seconds of each."""
        written = os.read(self.output.fileno(), 2**16)
        if not written:
            raise CompilationFailed(f"the process that compiled {self.module} has ended")
        *lines, self._unread = (self._unread + written).split(b"\n")
        done = [(name, float(seconds)) for name, seconds in (line.decode().split() for line in lines)]
        if self.module in dict(done):
            self.module = None
        return done

    def end(self) -> None:
        """Kill it: what it has stored is complete."""
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
        """Those that have nothing to compile."""
        return [process for process in self._processes if process.module is None]

    def reporting(self) -> list[_Process]:
        """Those that have written something; waits for a moment if none has."""
        return [key.data for key, _ in self._selector.select(_LOOKS_EVERY_S)]


def serve() -> None:
    """Compile the modules that standard input names, one a line, and write a line after each loop and each module."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which then ends this process
    os.nice(int(sys.argv[1]))
    modules: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_until_closed, args=(modules,), daemon=True).start()
    while True:
        module = modules.get()
        if module not in sources.kernels():
            raise ValueError(f"{module} has no compiled loops")
        for name, prepare in _preparations(module):
            _report(name, prepare)
        _report(module, lambda: None)


def _preparations(module: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """The loops of a module: their dotted names, and what loads or compiles them."""
    imported = import_module(module)
    for name in sources.loops_of(module):
        yield f"{module}.{name}", getattr(imported, name).prepare


def _report(name: str, work: Callable[[], object]) -> None:
    began = time.perf_counter()
    work()
    os.write(1, f"{name} {time.perf_counter() - began:.3f}\n".encode())


def _read_until_closed(modules: "queue.SimpleQueue[str]") -> None:
    """End this process at once when the one that started it has ended, however that was."""
    for line in sys.stdin:
        modules.put(line.strip())
    os._exit(1)
