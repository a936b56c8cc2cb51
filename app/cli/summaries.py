"""An answer of the API as a person reads it on a terminal: tables and sentences in place of JSON."""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import typer

from app.cli.output import hand_over, table
from app.errors.quotation import escaped
from app.formats.syntax.quantities import byte_size, counted

_MOST_ROWS = 40
"""The most rows that a table shows; those that it leaves out are counted below it."""


def deliver(document: bytes, output: Path | None, *, as_json: bool) -> None:
    """Write a JSON document to a file or print it; on a terminal a summary, unless JSON is required.

    Raises `OutputNotWritable`.
    """
    if output is None and not as_json and sys.stdout.isatty():
        show(document)
    else:
        hand_over(document, output)


def show(document: bytes) -> None:
    """Print a summary of a plan, or of placed keys: moves, replicas, violations and warnings."""
    answer: Mapping[str, Any] = orjson.loads(document)
    if "partitioners" in answer:
        _keys(answer)
        return
    _print(f"{answer['title']} · {answer['hash'][:12]}")
    _print(answer["summary"])
    if "movement" in answer:
        _reassignment(answer)
    elif "topics" in answer:
        _replicas(answer["topics"])
    if isinstance(assignment := answer.get("assignment"), Mapping):
        rows = [(member, _assigned(assigned)) for member, assigned in assignment.items()]
        _table(("member", "assignment"), rows, of="member")
    if "schedule" in answer:
        _table(("from", "consumers"), [(each["from"], each["consumers"]) for each in answer["schedule"]], of="step")
    violations(answer.get("violations", ()))
    warnings(answer.get("warnings", ()))


def _reassignment(answer: Mapping[str, Any]) -> None:
    """Print the brokers and batches of a reassignment, and how to get its files."""
    brokers = [
        (
            one["broker"],
            one["rack"],
            _change(one["replicas_before"], one["replicas_after"], str),
            _change(one["leaders_before"], one["leaders_after"], str),
            _change(one["bytes_before"], one["bytes_after"], byte_size),
        )
        for one in answer["movement"]
    ]
    _table(("broker", "rack", "replicas", "leaders", "bytes"), brokers, of="broker")
    has_log_dirs = any(batch.get("log_dir_moves") for batch in answer["batches"])
    within = ("between directories", "copied there") if has_log_dirs else ()
    batches = [
        (
            number,
            batch["count"],
            batch["moved_replicas"],
            byte_size(batch["moved_bytes"]),
            *((batch["log_dir_moves"], byte_size(batch["log_dir_moved_bytes"])) if has_log_dirs else ()),
            _duration(batch["seconds"]),
        )
        for number, batch in enumerate(answer["batches"], start=1)
    ]
    _table(("batch", "partitions", "replicas", "copied", *within, "takes"), batches, of="batch")
    if batches:
        _print("--export reassignment: the file for kafka-reassign-partitions; --export batches: an archive of all")


def _change(before: int | None, after: int | None, write: Callable[[int], str]) -> str:
    """A value before and after; once, if it does not change."""
    texts = ["–" if value is None else write(value) for value in (before, after)]
    return texts[0] if texts[0] == texts[1] else " → ".join(texts)


def _duration(seconds: float | None) -> str:
    return "" if seconds is None else str(timedelta(seconds=round(seconds)))


def violations(found: Sequence[Mapping[str, Any]]) -> None:
    """Print violations as a table, if there are any."""
    if found:
        rows = [(one.get("severity"), one["code"], one.get("topic"), one["detail"]) for one in found]
        table(("severity", "violation", "topic", "detail"), rows)


def warnings(found: Sequence[Mapping[str, Any]]) -> None:
    """Print warnings, a line each."""
    for one in found:
        _print(f"warning: {one['code']}: {one['detail']}")


def _replicas(topics: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (topic["name"], partition, ",".join(map(str, replicas)))
        for topic in topics
        for partition, replicas in enumerate(topic["replicas"], start=topic["first_partition_id"])
    ]
    _table(("topic", "partition", "replicas"), rows, of="partition")


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, of: str) -> None:
    if rows:
        table(headings, rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        _print(f"… and {counted(len(rows) - _MOST_ROWS, of)} more; --json has all")


def _assigned(assigned: Any) -> str:
    if not isinstance(assigned, Mapping):
        return str(assigned)
    return "  ".join(f"{name}: {' '.join(map(str, ids))}" for name, ids in assigned.items())


def _keys(answer: Mapping[str, Any]) -> None:
    rows = [
        (one["partitioner"], one["skew"]["max_over_mean"], one["skew"]["gini"], one["without_key"])
        for one in answer["partitioners"]
    ]
    table(("partitioner", "max/mean", "gini", "without key"), rows, title=f"{answer['keys']} keys")


def _print(line: str) -> None:
    typer.echo(escaped(line))
