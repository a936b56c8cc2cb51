"""The input and output of commands."""

import sys
from pathlib import Path

import typer

from app.errors.machine import OutputNotWritable


def read_input(file: Path) -> bytes:
    """The content of a file, or standard input if the path is `-`; a usage error if the file cannot be read."""
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as unreadable:
        raise typer.BadParameter(str(unreadable), param_hint="file") from None


def hand_over(document: bytes, output: Path | None) -> None:
    """Write a document to a file, or print it if there is none. Raises `OutputNotWritable`."""
    if output is None:
        sys.stdout.buffer.write(document)
        return
    try:
        output.write_bytes(document)
    except OSError as refused:
        raise OutputNotWritable(str(refused)) from None
