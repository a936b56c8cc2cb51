"""`rackplan call`: any operation of the API by its id; `rackplan snapshots`, and changes of plans."""

import json
from pathlib import Path
from typing import Any

import typer

from app.cli import service
from app.cli.output import hand_over, read_input
from app.cli.service_commands import Found, address, raw
from app.errors.quotation import suggestion
from app.errors.requests import ConflictingFields


def call(operation: str, arguments: list[str] | None, body: Path | None, output: Path | None, url: str | None) -> None:
    """Call any operation of the API. The output is its JSON, a line for each item of a list, or its file."""
    from app.cli import planning  # noqa: PLC0415 — few of these commands need the core

    stated: Any = {} if body is None else planning.read_json(body, "body")
    named = dict(_argument(text) for text in arguments or ())
    with service.connected(address(url)) as client:
        known = service.operations()
        if operation not in known:
            detail = f"there is no operation {operation}{suggestion(operation, known)}"
            raise ConflictingFields(detail, path=("operation",), value=operation)
        method = getattr(client, operation)
        try:
            answer = method(stated, **named) if operation == "create_sweep" else method(**stated, **named)
        except (TypeError, ValueError) as wrong:
            raise typer.BadParameter(str(wrong), param_hint=operation) from None
        hand_over(service.written(answer), output)


def _argument(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise typer.BadParameter(f"{text} is not NAME=VALUE", param_hint="arguments")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def create_snapshot(client: Any, files: list[Path] | None, cluster: str | None, kafka_version: str | None) -> Found:
    """Store the output of Kafka's tools, or the file of `rackplan snapshot`, as a snapshot."""
    from app.cli import planning  # noqa: PLC0415 — few of these commands need the core

    stated = {"cluster": cluster, "kafka_version": kafka_version}
    named = {name: value for name, value in stated.items() if value is not None}
    contents = [read_input(file) for file in files or ()]
    if len(contents) == 1 and contents[0].lstrip().startswith(b"{"):
        request: Any = planning.json_of(contents[0].decode(), "snapshot")
        return raw(client.create_snapshot(**{**request, **named}))
    return raw(client.create_snapshot(texts=contents, **named))


def approve_plan(client: Any, plan_id: str) -> Found:
    """Approve a plan: its status becomes `approved`. `plans update` sets another."""
    return raw(client.update_plan(plan_id, status="approved"))


def update_plan(client: Any, plan_id: str, status: str | None, notes: str | None, label: list[str] | None) -> Found:
    """Change the status, notes and labels of a plan."""
    pairs = [text.partition("=") for text in dict.fromkeys(label or ())]
    labels = {name: value or None for name, _, value in pairs}
    if len(labels) < len(pairs):
        raise typer.BadParameter("a label has one value, and one of these has two", param_hint="--label")
    stated = {"status": status, "notes": notes, "labels": labels or None}
    return raw(client.update_plan(plan_id, **{name: value for name, value in stated.items() if value is not None}))
