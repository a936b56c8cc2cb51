"""The `rackplan` command.

A command imports its dependencies when it runs, so that `rackplan --help` is fast.

    registration.py   commands and their options, which options.json lists
    plan_commands.py  the commands `rackplan plan …`; plan_options.py: the fields of requests that their options become
    check_commands.py  `rackplan check`, `diff` and `decode`; checking.py: their work; gate_files.py: JUnit and SARIF
    planning.py       a plan of files, and the cluster that they describe; the partitions of the keys of a file
    compiling.py      `rackplan compile`
    database_commands.py  `rackplan keys`, `audit`, `migrate`, `backup` and `restore`
    bench_commands.py  `rackplan bench`
    service_commands.py  `rackplan sweep`, `jobs`, `plans`, `share`, `usage`, `ledger`; service.py: shared code
    api_commands.py   `rackplan call`, `rackplan snapshots`, and changes of plans
    serving.py        `rackplan serve`, and the database of the commands that need one
    unprivileged.py    drops root's rights
    worker_process.py  `rackplan worker`, and the restarts of a worker for as long as the service runs
    live_commands.py  `rackplan snapshot` and `watch`; watching.py: stores a snapshot at each change
    live.py, live_groups.py  a running cluster and its groups; live_client.py: its admin client
    messages/         messages of Kafka that the admin client lacks
    output.py         where a command's input comes from, where its answer goes, and exit codes
    summaries.py      a plan on a terminal
"""

import atexit
import gc
from typing import Annotated

import typer
from typer.exceptions import TyperException

from app import __version__
from app.cli.output import fail_of_usage, fail_with
from app.cli.registration import app
from app.errors import Failure
from app.errors.access import DatabaseUnavailable

__all__ = ["app", "main"]


def main() -> None:
    """Run the command; a failure is a line on standard error and an exit code."""
    # Python's last collections would look at all that was imported and read: 0.3 s after the plan of a large cluster.
    atexit.register(gc.freeze)
    try:
        raise SystemExit(app(prog_name="rackplan", standalone_mode=False))
    except TyperException as wrong:
        fail_of_usage(wrong)
    except DatabaseUnavailable as failure:
        reason, *_ = str(failure.__cause__ or failure.detail).splitlines()  # the driver's hints follow
        fail_with(DatabaseUnavailable(reason))
    except Failure as failure:
        fail_with(failure)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"rackplan {__version__}")
        raise typer.Exit
