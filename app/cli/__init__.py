"""The `rackplan` command.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.

    registration.py   functions as commands, whose options options.json lists
    plan_commands.py  the commands `rackplan plan …`; plan_options.py: the fields of requests that their options become
    check_commands.py  `rackplan check` and `rackplan diff`; checking.py: their work; gate_files.py: JUnit and SARIF
    planning.py       a plan of files, and the cluster that they describe; the partitions of the keys of a file
    compiling.py      `rackplan compile`
    key_commands.py   `rackplan keys`; audit_commands.py: `rackplan audit`; bench_commands.py: `rackplan bench`
    service_commands.py  `rackplan sweep`, `jobs`, `plans`, `share`, `usage`, `ledger`; service.py: shared code
    api_commands.py   `rackplan call`, `rackplan snapshots`, and changes of plans
    serving.py        `rackplan serve`, and the database of the commands that need one
    unprivileged.py    drops root's rights
    worker_process.py  the worker, and its restarts for as long as the service runs
    live.py           `rackplan snapshot`; live_client.py: its admin client; watching.py: `rackplan watch`
    live_groups.py    the groups of a running cluster
    messages/         messages of Kafka that the admin client lacks
    output.py         where a command's input comes from, where its answer goes, and exit codes
    summaries.py      a plan on a terminal
"""

import atexit
import gc
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from app import __version__
from app.cli import (  # noqa: F401 — they register their commands
    api_commands,
    audit_commands,
    bench_commands,
    check_commands,
    key_commands,
    plan_commands,
)
from app.cli.output import fail_of_usage, fail_with, hand_over, read_input, tell
from app.cli.registration import app, command
from app.errors import Failure
from app.errors.access import DatabaseUnavailable
from app.errors.machine import ExtraNotInstalled
from app.errors.quotation import escaped
from app.formats.syntax.wire_formats import ByteEncoding, WireFormat

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


@command("serve")
def serve(
    worker: bool = True,
    allow_root: bool = False,
    host: str | None = None,
    port: str | None = None,
    data_dir: str | None = None,
) -> None:
    """Serve the API and the pages. Without RACKPLAN_DATABASE_URL Postgres is embedded."""
    # Settings are read from the environment, by the worker and its processes as well.
    stated = {"RACKPLAN_HOST": host, "RACKPLAN_PORT": port, "RACKPLAN_DATA_DIR": data_dir}
    os.environ.update({name: value for name, value in stated.items() if value is not None})
    gc.disable()  # until all is imported: imports create no garbage
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring

    serving.serve(with_worker=worker, allow_root=allow_root)


@command("worker")
def worker(allow_root: bool = False) -> None:
    """Run jobs from the queue. RACKPLAN_DATABASE_URL is the address of its Postgres."""
    from app.cli import worker_process  # noqa: PLC0415 — see the module's docstring

    worker_process.become(allow_root=allow_root)


@command("migrate")
def migrate(revision: str = "head", as_json: bool = False) -> None:
    """Upgrade the schema of the database."""
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring
    from app.store import migrations  # noqa: PLC0415 — see the module's docstring

    with serving.database() as database:
        with database.engine.connect() as connection:
            before = migrations.current(connection)
        if revision not in ("head", "base", *migrations.revisions()):
            raise typer.BadParameter(f"there is no {revision}; the newest is {migrations.newest()}", param_hint="--to")
        if revision == "base":
            migrations.downgrade(database.engine, revision)
        else:
            migrations.upgrade(database.engine, revision)
        with database.engine.connect() as connection:
            after = migrations.current(connection)
    tell(f"schema: {before or 'none'} → {after or 'none'}", {"before": before, "after": after}, as_json=as_json)


@command("backup")
def backup(file: Path, as_json: bool = False) -> None:
    """Write a backup of the database to a file. The service may run meanwhile."""
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring
    from app.store import backup as backups  # noqa: PLC0415 — see the module's docstring

    with serving.database() as database:
        manifest = backups.write(database, file)
    rows, tables, size = manifest.rows, len(manifest.tables), file.stat().st_size
    facts = {"file": str(file), "rows": rows, "tables": tables, "schema": manifest.revision, "bytes": size}
    sentence = f"{file}: {rows} rows of {tables} tables, schema {manifest.revision}, {size} bytes"
    tell(sentence, facts, as_json=as_json)


@command("restore")
def restore(file: Path, overwrite: bool = False, as_json: bool = False) -> None:
    """Restore a backup into an empty database. It is migrated, and the hash of every plan and snapshot verified."""
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring
    from app.services import backups as restored  # noqa: PLC0415 — see the module's docstring
    from app.store import backup as backups  # noqa: PLC0415 — see the module's docstring
    from app.store import migrations  # noqa: PLC0415 — see the module's docstring

    with serving.database() as database:
        manifest = backups.restore(database, file, overwrite=overwrite)
        verified = restored.verify(database)
    rows, tables, before, after = manifest.rows, len(manifest.tables), manifest.revision, migrations.newest()
    facts = {"rows": rows, "tables": tables, "before": before, "after": after, "verified": verified}
    sentence = f"{rows} rows of {tables} tables, schema {before} → {after}; {verified} hashes of plans and snapshots"
    tell(f"{sentence} verified", facts, as_json=as_json)


@command("compile")
def compile_loops(processes: int | None = None, as_json: bool = False) -> None:
    """Compile the loops of the solvers. No request waits for it then; `make` and the images do it."""
    from app.cli import compiling  # noqa: PLC0415 — see the module's docstring

    compiling.compile_loops(processes, as_json=as_json)


@command("snapshot")
def snapshot(
    bootstrap: str,
    cluster_name: str | None = None,
    brokers_version: str | None = None,
    properties: list[str] | None = None,
    properties_file: Path | None = None,
    output: Path | None = None,
    timeout: float = 60,
) -> None:
    """Read a running cluster, without changing it. The output is the JSON of POST /v1/snapshots.

    With a service: rackplan snapshot --bootstrap HOST:PORT | curl --json @- http://127.0.0.1:8080/v1/snapshots
    """
    read = _reader(bootstrap, cluster_name, brokers_version, properties, properties_file, timeout)
    hand_over(read(), output)


@command("watch")
def watch(
    bootstrap: str,
    every: str = "5m",
    once: bool = False,
    folder: Path | None = None,
    url: str | None = None,
    cluster_name: str | None = None,
    brokers_version: str | None = None,
    properties: list[str] | None = None,
    properties_file: Path | None = None,
    timeout: float = 60,
) -> None:
    """Store a snapshot of a running cluster at each change. It is stored in a folder or on a service.

    The key of the service is RACKPLAN_KEY. The command goes on if the cluster or the service does not answer.
    """
    from app.cli import watching  # noqa: PLC0415 — see the module's docstring

    every_s = watching.seconds(every)
    read = _reader(bootstrap, cluster_name, brokers_version, properties, properties_file, timeout)
    if folder is not None:
        store, last = watching.to_folder(folder), watching.newest_in(folder)
        watching.watch(read, store, last=last, every_s=every_s, is_once=once)
    elif url is not None:
        with watching.on_service(url) as store:
            watching.watch(read, store, last=None, every_s=every_s, is_once=once)
    else:
        raise typer.BadParameter("either --folder or --url is required", param_hint="folder")


def _reader(
    bootstrap: str,
    cluster: str | None,
    kafka_version: str | None,
    properties: list[str] | None,
    properties_file: Path | None,
    timeout_s: float,
) -> Callable[[], bytes]:
    """A function that reads the cluster and returns its document; unreadable parts go to standard error.

    Raises `ExtraNotInstalled` if the admin client is not installed.
    """
    try:
        from app.cli import live, live_client  # noqa: PLC0415 — see the module's docstring
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "kafka":
            raise
        raise ExtraNotInstalled(
            "reading a running cluster requires kafka-python; `make kafka`, where Rackplan was installed, adds it"
        ) from None
    from app.core.kafka_versions import normal_release  # noqa: PLC0415 — see the module's docstring
    from app.formats.snapshots import snapshot_json  # noqa: PLC0415 — see the module's docstring

    configured = live_client.properties(properties or (), properties_file)
    stated = normal_release(kafka_version)

    def read() -> bytes:
        taken = live.take(bootstrap, name=cluster, properties=configured, timeout_s=timeout_s)
        read = taken.cluster if stated is None else replace(taken.cluster, kafka_version=stated)
        for caution in taken.cautions:
            typer.echo(f"rackplan: {escaped(caution)}", err=True)
        return snapshot_json.write(read) + b"\n"

    return read


@command(
    "decode",
    doc="Print bytes or texts of Kafka as JSON.\n\n"
    "If the input is malformed, the error names the byte offset. The formats:\n\n\b\n"
    + "\n".join(f"{one.value}: {one.summary}" for one in WireFormat),
)
def decode(
    wire_format: WireFormat,
    file: Path = Path("-"),
    encoding: ByteEncoding = ByteEncoding.AUTO,
    output: Path | None = None,
) -> None:
    """Print bytes or texts of Kafka as JSON."""
    from app.formats import decoding  # noqa: PLC0415 — see the module's docstring

    hand_over(decoding.as_json(wire_format, read_input(file), encoding), output)
