"""An answer of the API as a person reads it on a terminal: tables and sentences in place of JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import typer

from app.cli.tables import table
from app.errors.quotation import escaped

_MOST_ROWS = 40
"""The most partitions that a table shows; it counts those that it leaves out."""


def show(document: bytes) -> None:
    """Print what a plan, or placed keys, says: what moves, where replicas are, violations and warnings."""
    answer: Mapping[str, Any] = orjson.loads(document)
    if "partitioners" in answer:
        _keys(answer)
        return
    _say(f"{answer['kind']} plan of {answer['cluster'] or 'brokers'} · {answer['hash'][:12]}")
    if (certificate := answer.get("certificate")) is not None:
        proof = "proven minimum" if certificate["optimal"] else f"gap {certificate['gap']:.1%}"
        _say(f"moves {certificate['moved_replicas']} replicas, {certificate['moved_bytes']:,} bytes ({proof})")
    if batches := answer.get("batches"):
        rows = [
            (number, len(batch["partitions"]), batch["moved_replicas"], batch["moved_bytes"])
            for number, batch in enumerate(batches, start=1)
        ]
        table(("batch", "partitions", "replicas", "bytes"), rows)
    if "topics" in answer:
        _replicas(answer["topics"])
    if isinstance(assignment := answer.get("assignment"), Mapping):
        table(("member", "assignment"), [(member, _assigned(assigned)) for member, assigned in assignment.items()])
    violations(answer.get("violations", ()))
    warnings(answer.get("warnings", ()))


def violations(found: Sequence[Mapping[str, Any]]) -> None:
    """Print violations as a table, if there are any."""
    if found:
        rows = [(one.get("severity"), one["code"], one.get("topic"), one["detail"]) for one in found]
        table(("severity", "violation", "topic", "detail"), rows)


def warnings(found: Sequence[Mapping[str, Any]]) -> None:
    """Print warnings, a line each."""
    for one in found:
        _say(f"warning: {one['code']}: {one['detail']}")


def _replicas(topics: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (topic["name"], partition, ",".join(map(str, replicas)))
        for topic in topics
        for partition, replicas in enumerate(topic["replicas"], start=topic["first_partition_id"])
    ]
    table(("topic", "partition", "replicas"), rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        _say(f"… and {len(rows) - _MOST_ROWS} more partitions; --json has all")


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


def _say(line: str) -> None:
    typer.echo(escaped(line))
