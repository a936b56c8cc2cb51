"""Tables on a terminal, and in a log."""

import sys
from collections.abc import Iterable, Sequence

import typer

from app.errors.quotation import escaped


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print rows below headings; columns of numbers are aligned to the right."""
    from rich import box  # noqa: PLC0415 — it takes 0.1 s, and few commands print tables
    from rich.console import Console  # noqa: PLC0415 — as above
    from rich.table import Table  # noqa: PLC0415 — as above
    from rich.text import Text  # noqa: PLC0415 — as above

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
