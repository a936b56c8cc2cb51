"""Where a command's answer goes."""

import sys
from pathlib import Path

from app.errors import OutputNotWritable


def hand_over(document: bytes, output: Path | None) -> None:
    """Write a document to a file, or print it where there is none. Raises `OutputNotWritable`."""
    if output is None:
        sys.stdout.buffer.write(document)
        return
    try:
        output.write_bytes(document)
    except OSError as refused:
        raise OutputNotWritable(str(refused)) from None
