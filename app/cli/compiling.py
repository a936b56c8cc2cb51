"""`rackplan compile`: compile the loops of the core when the software is installed, so that no request waits for it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from app.core.compiled.building import Progress, compile_all, uncompiled

_LINES = 10
"""Lines of progress, if the output is not a terminal."""


def compile_loops(processes: int | None) -> None:
    """Compile what the cache lacks, and say how much and how long.

    Raises
    ------
    CompilationFailed : a process that compiles has ended.
    """
    missing = len(uncompiled())
    if not missing:
        typer.echo("all loops are compiled")
        return
    started = time.monotonic()
    with _bar(missing) if sys.stdout.isatty() else _lines(missing, started) as on_progress:
        compiled = compile_all(processes, on_progress)
    typer.echo(f"{compiled} loops compiled in {time.monotonic() - started:.0f} s")


@contextmanager
def _bar(total: int) -> Iterator[Progress]:
    """A progress bar with the loop that was compiled last and the time that is left."""

    with typer.progressbar(length=total, label=f"compiling {total} loops") as bar:

        def show(_: int, __: int, name: str, ___: float) -> None:
            bar.label = f"compiled {name.rpartition('.')[2]}"
            bar.update(1)

        yield show


@contextmanager
def _lines(total: int, started: float) -> Iterator[Progress]:
    """A line now and then."""
    typer.echo(f"compiling {total} loops …")

    def write(done: int, total: int, _: str, __: float) -> None:
        if done * _LINES // total > (done - 1) * _LINES // total:
            typer.echo(f"  {done} of {total}, {time.monotonic() - started:.0f} s")

    yield write
