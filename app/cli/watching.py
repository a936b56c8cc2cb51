"""`rackplan watch`: a snapshot of a running cluster whenever its content has changed, in a folder or on a service.

This module needs the extra `kafka`.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import orjson
import typer

from app.cli.output import FAILED, fail
from app.errors.machine import ClusterUnreachable, OutputNotWritable
from app.errors.quotation import escaped

Store: TypeAlias = Callable[[bytes], str]
"""Stores a document; returns where it is. Raises `StoreUnavailable` if a later attempt may succeed."""

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_FIRST_PAUSE_S = 2.0
_NAME = "snapshot-*.json"


class StoreUnavailable(Exception):
    """The service does not answer, or not now."""


def seconds(text: str) -> float:
    """The seconds of a duration, such as `90`, `30s`, `5m` or `1h`; a usage error if malformed."""
    parsed = re.fullmatch(r"([1-9][0-9]{0,5})([smh]?)", text, re.ASCII)
    if parsed is None:
        raise typer.BadParameter(
            "a duration is a number of seconds, or of s, m or h: 90, 30s, 5m, 1h", param_hint="every"
        )
    return float(parsed[1]) * _UNITS[parsed[2]]


def watch(read: Callable[[], bytes], store: Store, *, last: str | None, every_s: float, is_once: bool) -> None:
    """Read a cluster every `every_s` seconds, and store it if its content differs from the last that was stored.

    A cluster or service that does not answer is tried again after a pause that doubles up to `every_s`.

    Parameters
    ----------
    read : the document of the cluster as it is now; raises `ClusterUnreachable`.
    last : hash of the document that was stored last, as by an earlier run; None if it is not known.
    is_once : read once; then a failure is raised.

    Raises `OutputNotWritable`, and with `is_once` the errors of `read`.
    """
    pause_s = min(_FIRST_PAUSE_S, every_s)
    while True:
        try:
            document = read()
            if (content := content_hash(document)) != last:
                typer.echo(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {store(document)}")
                last = content
        except (ClusterUnreachable, StoreUnavailable) as failed:
            if is_once:
                if isinstance(failed, StoreUnavailable):
                    fail("The service is not available", str(failed), {}, code=FAILED)
                raise
            typer.echo(f"rackplan: {escaped(str(failed))}; trying again in {pause_s:g} s", err=True)
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, every_s)
            continue
        if is_once:
            return
        pause_s = min(_FIRST_PAUSE_S, every_s)
        time.sleep(every_s)


def content_hash(document: bytes) -> str:
    """The hash of a document; equal clusters have equal documents."""
    return sha256(document).hexdigest()


def newest_in(folder: Path) -> str | None:
    """The hash of the newest snapshot in a folder; None if it has none."""
    files = sorted(folder.glob(_NAME))
    return content_hash(files[-1].read_bytes()) if files else None


def to_folder(folder: Path) -> Store:
    """Store documents as files, named by the time; a file is complete as soon as it has its name."""

    def store(document: bytes) -> str:
        file = folder / f"snapshot-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.json"
        part = file.with_suffix(".part")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(document)
            part.replace(file)
        except OSError as error:
            raise OutputNotWritable(str(error)) from None
        return str(file)

    return store


@contextmanager
def on_service(url: str) -> Iterator[Store]:
    """Store documents on a service; it stores equal ones once. The key is `RACKPLAN_KEY`."""
    import rackplan  # noqa: PLC0415 — most commands need no HTTP

    def store(document: bytes) -> str:
        try:
            snapshot = client.create_snapshot(**orjson.loads(document))
        except (rackplan.ServiceUnavailable, rackplan.ServerFailed, rackplan.TooManyRequests) as unavailable:
            raise StoreUnavailable(str(unavailable)) from None
        except rackplan.Problem as problem:
            fail(problem.title or "The service failed", problem.detail, problem.document, code=FAILED)
        return f"{url.rstrip('/')}/v1/snapshots/{snapshot['id']}"

    with rackplan.Client(url) as client:
        yield store
