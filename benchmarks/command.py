"""The command and the imports: whole processes, beside an interpreter that does nothing."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import Floor, Result, interleaved

RUNS = 5
COMMANDS = {
    "rackplan --help": [str(Path(sys.executable).with_name("rackplan")), "--help"],
    "import app.main": [sys.executable, "-c", "import app.main"],
}
NOTHING = [sys.executable, "-c", ""]


def run() -> Iterator[Result]:
    """Wall time from start to exit."""
    calls: dict[str, Callable[[], object]] = {name: partial(_finish, command) for name, command in COMMANDS.items()}
    times = interleaved(calls | {"nothing": partial(_finish, NOTHING)}, runs=RUNS, warm_ups=1)
    for name in COMMANDS:
        yield Result(
            name="start a process",
            parameters={"command": name},
            times=times[name],
            floor=Floor("starting Python", times["nothing"]),
            is_in_process=False,
        )


def _finish(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
