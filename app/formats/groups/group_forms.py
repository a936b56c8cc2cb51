"""Tables of groups as records: a form says which columns there are, and how their cells become the fields of a record.

A table is read by its own header and remembers it, so that it is written again as it was; a table without a header of
its own is written as the newest tool prints it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from app.formats.groups import group_tables
from app.formats.groups.group_cells import MISSING, Cell
from app.formats.groups.group_tables import MAY_BE_EMPTY, Layout, Row

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Section(Generic[Record]):
    """A group's table.

    Parameters
    ----------
    layout : the columns as printed; None for those of the newest tool.
    lines : the line of each row, from 1; empty if it was not read.
    """

    rows: tuple[Record, ...]
    layout: Layout | None = None
    lines: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class TableForm(Generic[Record]):
    """One form of a table.

    Parameters
    ----------
    record : makes a row's record of the fields of its cells.
    cells : by column.
    required : the columns that every header has; see `group_tables.is_header`.
    widths : the columns of the newest tool for some rows, with the least width of each.
    growing : the columns that are as wide as their longest cell.
    may_be_empty : the columns whose cells may be empty.
    after_blank_line : whether the tool prints an empty line before each table.
    """

    record: Callable[..., Record]
    cells: Mapping[str, Cell]
    required: tuple[str, ...]
    widths: Callable[[Sequence[Record]], Mapping[str, int]]
    growing: tuple[str, ...]
    may_be_empty: frozenset[str] = MAY_BE_EMPTY
    after_blank_line: bool = True


def read(text: str, form: TableForm[Record]) -> tuple[Section[Record], ...]:
    """Read the tables of one form; an empty text has none. Raises `MalformedText` as `group_tables.read` does."""
    tables = group_tables.read(text, required=form.required, may_be_empty=form.may_be_empty)
    return tuple(
        [
            Section(tuple([_record(row, form) for row in rows]), layout, tuple([row.line for row in rows]))
            for layout, rows in [(table.layout, table.rows) for table in tables]
        ]
    )


def _record(row: Row, form: TableForm[Record]) -> Record:
    fields: dict[str, object] = {}
    others: list[tuple[str, str]] = []
    for column, content in row.cells.items():
        known = form.cells.get(column)
        if known is None:
            others.append((column, content))
        else:
            fields[known.field] = known.read(content, row.line, column)
    return form.record(**fields, others=tuple(others))


def write(sections: Iterable[Section[Record]], form: TableForm[Record]) -> str:
    """Print the tables as the tool does, each in the layout with which it was read."""
    tables = []
    for section in sections:
        layout = section.layout
        names = form.widths(section.rows) if layout is None else {column.name: 0 for column in layout}
        rows = [_cells(record, form, names) for record in section.rows]
        tables.append((group_tables.fitting(names, rows, growing=form.growing) if layout is None else layout, rows))
    return group_tables.write(tables, after_blank_line=form.after_blank_line)


def _cells(record: Record, form: TableForm[Record], columns: Iterable[str]) -> dict[str, str]:
    others: dict[str, str] = dict(getattr(record, "others", ()))
    cells = {}
    for column in columns:
        known = form.cells.get(column)
        cells[column] = others.get(column, MISSING) if known is None else known.print(getattr(record, known.field))
    return cells
