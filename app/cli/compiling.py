"""`rackplan compile`: compile the loops of the core when the software is installed, so that no request waits for it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import typer

from app.cli.output import tell
from app.core.compiled.building import Progress, compile_all, uncompiled

_LINES = 10
"""Lines of progress, if the output is not a terminal."""


def compile_loops(processes: int | None, *, as_json: bool) -> None:
    """Compile missing loops, and print their number and the time; as JSON without progress.

    Raises
    ------
    CompilationFailed : a process that compiles has ended.
    """
    missing, started, compiled = len(uncompiled()), time.monotonic(), 0
    progress = nullcontext(None) if as_json else _bar(missing) if sys.stdout.isatty() else _lines(missing, started)
    if missing:
        with progress as on_progress:
            compiled = compile_all(processes, on_progress)
    seconds = time.monotonic() - started
    sentence = f"{compiled} loops compiled in {seconds:.0f} s" if missing else "all loops are compiled"
    tell(sentence, {"compiled": compiled, "seconds": round(seconds, 3)}, as_json=as_json)


@contextmanager
def _bar(total: int) -> Iterator[Progress]:
    """A progress bar with the seconds since the start and the loop that was compiled last.

    The time that is left is not stated: the longest loops are first, so that an estimate is several times too long.
    """
    started, latest = time.monotonic(), ""

    def state(_: int | None) -> str:
        return f"{time.monotonic() - started:.0f} s  {latest}"

    bar: Any  # its type has a parameter that only items have
    with typer.progressbar(
        length=total,
        label=f"compiling {total} loops",
        show_pos=True,
        show_percent=False,
        show_eta=False,
        width=30,
        item_show_func=state,  # behind the bar, which stays in its place whatever the length of the name
    ) as bar:

        def show(_: int, __: int, name: str, ___: float) -> None:
            nonlocal latest
            latest = name.rpartition(".")[2]
            bar.update(1)

        yield show
        latest = ""
        bar.update(0)


@contextmanager
def _lines(total: int, started: float) -> Iterator[Progress]:
    """A line now and then."""
    typer.echo(f"compiling {total} loops …")

    def write(done: int, total: int, _: str, __: float) -> None:
        if done * _LINES // total > (done - 1) * _LINES // total:
            typer.echo(f"  {done} of {total}, {time.monotonic() - started:.0f} s")

    yield write
