"""`rackplan snapshot` and `rackplan watch`: a running cluster, read with an admin client if that is installed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from app.cli import watching
from app.cli.output import hand_over
from app.core.kafka_versions import normal_release
from app.errors.machine import ExtraNotInstalled
from app.errors.quotation import escaped
from app.formats.snapshots import snapshot_json


def snapshot(output: Path | None, **cluster: Any) -> None:
    """Read a running cluster, without changing it, and write the JSON of `POST /v1/snapshots`."""
    hand_over(_reader(**cluster)(), output)


def watch(every: str, once: bool, folder: Path | None, url: str | None, **cluster: Any) -> None:
    """Store a snapshot of a running cluster at each change, in a folder or on a service."""
    every_s = watching.seconds(every)
    read = _reader(**cluster)
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
    cluster_name: str | None,
    brokers_version: str | None,
    properties: list[str] | None,
    properties_file: Path | None,
    timeout: float,
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
    configured = live_client.properties(properties or (), properties_file)
    stated = normal_release(brokers_version)

    def read() -> bytes:
        taken = live.take(bootstrap, name=cluster_name, properties=configured, timeout_s=timeout)
        read = taken.cluster if stated is None else replace(taken.cluster, kafka_version=stated)
        for caution in taken.cautions:
            typer.echo(f"rackplan: {escaped(caution)}", err=True)
        return snapshot_json.write(read) + b"\n"

    return read
