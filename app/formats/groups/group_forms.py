"""Tables of groups as records: a form says how the cells of its columns become the fields of a record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from app.formats.groups import group_tables
from app.formats.groups.group_cells import Cell
from app.formats.groups.group_tables import MAY_BE_EMPTY, Layout

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Section(Generic[Record]):
    """A group's table.

    Parameters
    ----------
    layout : the columns as printed; None if it was not read.
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
    cells : by column; other columns are not read.
    required : the columns that every header has; see `group_tables.is_header`.
    may_be_empty : the columns whose cells may be empty.
    """

    record: Callable[..., Record]
    cells: Mapping[str, Cell]
    required: tuple[str, ...]
    may_be_empty: frozenset[str] = MAY_BE_EMPTY


def read(text: str, form: TableForm[Record]) -> tuple[Section[Record], ...]:
    """Read the tables of one form; an empty text has none. Raises `MalformedText` as `group_tables.read` does."""
    sections = []
    for table in group_tables.read(text, required=form.required, may_be_empty=form.may_be_empty):
        records = [
            form.record(
                **{
                    cell.field: cell.read(content, row.line, column)
                    for column, content in row.cells.items()
                    if (cell := form.cells.get(column)) is not None
                }
            )
            for row in table.rows
        ]
        sections.append(Section(tuple(records), table.layout, tuple([row.line for row in table.rows])))
    return tuple(sections)
