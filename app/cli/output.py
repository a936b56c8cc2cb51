"""Where a command's input comes from, where its answer goes, and how it ends.

Exit codes: 0 success, 1 a failure, 2 an option or an input is wrong, 3 violations (see `docs/cli.md`).
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer
from orjson import dumps
from typer.exceptions import TyperException

from app.errors import Failure, Json
from app.errors.failure import Unprocessable
from app.errors.kafka import KafkaRefuses
from app.errors.machine import OutputNotWritable
from app.errors.quotation import escaped

FAILED, WRONG_INPUT, VIOLATIONS = 1, 2, 3


def read_input(file: Path) -> bytes:
    """The content of a file, or standard input if the path is `-`; a usage error if the file cannot be read."""
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as unreadable:
        raise typer.BadParameter(f"{file}: {unreadable.strerror}", param_hint="file") from None


def hand_over(document: bytes, output: Path | None) -> None:
    """Write a document to a file if one is given, else print it. Raises `OutputNotWritable`."""
    if output is None or str(output) == "-":
        sys.stdout.buffer.write(document)
        return
    try:
        output.write_bytes(document)
    except OSError as error:
        raise OutputNotWritable(str(error)) from None


def tell(sentence: str, facts: Mapping[str, object], *, as_json: bool) -> None:
    """Print a command's result as a sentence, or as a line of JSON."""
    typer.echo(dumps(facts).decode() if as_json else sentence)


def listed(texts: Iterable[str] | None) -> list[str]:
    """The values of a repeatable option, each of which may be several, separated by commas."""
    return [value for text in texts or () for part in text.split(",") if (value := part.strip())]


def fail(title: str, detail: str, context: Mapping[str, Json], *, code: int) -> NoReturn:
    """Print on standard error why a command fails, with Kafka's message and a way to resolve a conflict, and exit.

    Parameters
    ----------
    context : further fields of the problem: Kafka's own exception, `conflict` and `lifted_by` are printed.
    """
    lines = [f"rackplan: {title}: {detail}"]
    if exception := context.get("kafka_exception"):
        message = context.get("kafka_message")
        lines.append(f"  Kafka: {exception}" + (f": {message}" if message else ""))
    errors = context.get("errors")
    if isinstance(errors, Sequence) and len(errors) > 1:
        lines += [f"  {one.get('detail')}" for one in errors if isinstance(one, Mapping)]
    conflict, lifted_by = context.get("conflict"), context.get("lifted_by")
    if isinstance(conflict, Sequence):
        named = (one for one in conflict if isinstance(one, Mapping))
        lines += [f"  conflict: {one.get('constraint')}: {one.get('detail')}" for one in named]
    if isinstance(lifted_by, Sequence):
        lines += [f"  lifted by: {one}" for one in lifted_by]
    typer.echo("\n".join(escaped(line, keep="\n") for line in lines), err=True)
    raise SystemExit(code)


def fail_of_usage(wrong: TyperException) -> NoReturn:
    """End the command because of its options: help if none is given, else the failure and the command for help."""
    context: Any = getattr(wrong, "ctx", None)
    message = wrong.format_message().replace("Value error, ", "").rstrip(".")
    if context is None or message.startswith("Usage: "):
        typer.echo(message, err=True)
        raise SystemExit(wrong.exit_code)
    detail = f"{message}; `{context.command_path} --help` lists what it takes"
    fail("The command is not valid", detail, {}, code=wrong.exit_code)


def fail_with(failure: Failure) -> NoReturn:
    """End the command because of a failure: code 2 if the request is at fault, 1 otherwise."""
    code = WRONG_INPUT if isinstance(failure, Unprocessable) else FAILED
    context = dict(failure.context)
    if isinstance(failure, KafkaRefuses):
        context |= {"kafka_exception": failure.kafka.exception, "kafka_message": failure.kafka.message}
    fail(failure.title, failure.detail, context, code=code)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print rows below headings; columns of numbers are aligned to the right."""
    from rich import box  # noqa: PLC0415 — it takes 0.1 s, and few commands print tables
    from rich.console import Console  # noqa: PLC0415 — it takes 0.1 s, and few commands print tables
    from rich.table import Table  # noqa: PLC0415 — it takes 0.1 s, and few commands print tables
    from rich.text import Text  # noqa: PLC0415 — it takes 0.1 s, and few commands print tables

    written = [list(row) for row in rows]
    printed = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        numeric = all(isinstance(row[place], int | float | None) for row in written)
        printed.add_column(heading, justify="right" if numeric and written else "left", overflow="fold")
    for row in written:
        printed.add_row(*(Text("" if cell is None else escaped(str(cell))) for cell in row))
    # A log has no width: a row is then one line.
    console = Console() if sys.stdout.isatty() else Console(width=10_000)
    with console.capture() as captured:
        console.print(printed)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))
