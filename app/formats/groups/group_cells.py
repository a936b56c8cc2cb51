"""The cells of the tables of groups: how each kind is read from what is printed."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Generic, NamedTuple, TypeVar

from app.core.recorded import TopicPartitions
from app.formats.groups import group_tables
from app.formats.groups.group_tables import MAY_BE_EMPTY, Layout
from app.formats.syntax.lines import is_topic_name, rejection, shown, whole_number, whole_numbers

MISSING = "-"
_COORDINATOR = re.compile(r".*:-?[0-9]+ +\(-?[0-9]{1,10}\)")
_INT64 = re.compile(r"0|-?[1-9][0-9]{0,18}")
_INT64_LIMIT = 2**63


def text(cell: str, _: int, __: str) -> str:
    """Any text."""
    return cell


def optional_text(cell: str, _: int, __: str) -> str | None:
    """Any text, or `-`."""
    return None if cell == MISSING else cell


def instance_id(cell: str, _: int, __: str) -> str | None:
    """A text, or nothing."""
    return cell or None


def count(cell: str, line: int, column: str) -> int:
    """A number from 0."""
    number = whole_number(cell)
    if number is None:
        raise rejection(line, expected=f"a number from 0 to 2147483647 under {column}", actual=shown(cell))
    return number


def optional_count(cell: str, line: int, column: str) -> int | None:
    """A number from 0, or `-`."""
    return None if cell == MISSING else count(cell, line, column)


def optional_int64(cell: str, line: int, column: str) -> int | None:
    """A number of 64 bits, or `-`."""
    if cell == MISSING:
        return None
    number = int(cell) if _INT64.fullmatch(cell) else _INT64_LIMIT
    if not -_INT64_LIMIT <= number < _INT64_LIMIT:
        raise rejection(line, expected=f"a number of 64 bits or - under {column}", actual=shown(cell))
    return number


def topic(cell: str, line: int, column: str) -> str | None:
    """A topic's name, or `-`."""
    if cell != MISSING and not is_topic_name(cell):
        raise rejection(line, expected=f"a topic name or - under {column}", actual=shown(cell))
    return None if cell == MISSING else cell


def coordinator(cell: str, line: int, column: str) -> str:
    """`host:port  (id)`."""
    if not _COORDINATOR.fullmatch(cell):
        raise rejection(line, expected=f"`host:port  (id)` under {column}", actual=shown(cell))
    return cell


def assignment(cell: str, line: int, column: str) -> tuple[TopicPartitions, ...]:
    """Topics with their partitions in either form, or `-`."""
    if cell == MISSING:
        return ()
    in_brackets = cell.endswith(")")
    assigned: list[TopicPartitions] = []
    for part in cell.split("), " if in_brackets else ";"):
        topic, mark, numbers = part.removesuffix(")").partition("(" if in_brackets else ":")
        partitions = whole_numbers(numbers)
        if not mark or not partitions or not is_topic_name(topic):
            expected = f"`orders:0,1;payments:2` or `orders(0,1), payments(2)` under {column}"
            raise rejection(line, expected=expected, actual=shown(part))
        assigned.append(TopicPartitions(topic, partitions))
    return tuple(assigned)


def share_assignment(cell: str, line: int, column: str) -> tuple[TopicPartitions, ...]:
    """`orders:0,1;payments:2`, or nothing; in early 4.0 `orders:0,orders:1,payments:2`."""
    by_topic: dict[str, list[int]] = {}
    for part in cell.split(";") if cell else ():
        topic = ""
        for item in part.split(","):
            name, colon, number = item.rpartition(":")
            topic = name if colon else topic
            partition = whole_number(number)
            if partition is None or not is_topic_name(topic):
                expected = f"`orders:0,1;payments:2` under {column}"
                raise rejection(line, expected=expected, actual=shown(item))
            by_topic.setdefault(topic, []).append(partition)
    return tuple([TopicPartitions(topic, tuple(partitions)) for topic, partitions in by_topic.items()])


class Cell(NamedTuple):
    """The field that a column's cells are read into, and how."""

    field: str
    read: Callable[[str, int, str], object]


Record = TypeVar("Record", bound=NamedTuple)


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
    record : has the fields of a row's cells.
    cells : by column; other columns are not read.
    required : the columns that every header has; see `group_tables.is_header`.
    may_be_empty : the columns whose cells may be empty.
    """

    record: type[Record]
    cells: Mapping[str, Cell]
    required: tuple[str, ...]
    may_be_empty: frozenset[str] = MAY_BE_EMPTY


def read(text: str, form: TableForm[Record]) -> tuple[Section[Record], ...]:
    """Read the tables of one form; an empty text has none. Raises `MalformedText` as `group_tables.read` does."""
    sections = []
    for table in group_tables.read(text, required=form.required, may_be_empty=form.may_be_empty):
        values: dict[str, Iterable[object]] = {}
        for column, contents in zip(table.layout, zip(*table.rows, strict=True), strict=False):
            if (cell := form.cells.get(column.name)) is not None:
                values[cell.field] = _values(cell, column.name, contents, table.lines)
        missing = form.record._field_defaults
        fields = [values.get(name, repeat(missing.get(name))) for name in form.record._fields]
        records = tuple(map(form.record._make, zip(*fields, strict=False))) if table.rows else ()
        sections.append(Section(records, table.layout, tuple(table.lines)))
    return tuple(sections)


def _values(cell: Cell, column: str, contents: Sequence[str], lines: Sequence[int]) -> Iterable[object]:
    """The values of a column's cells; each content is read once."""
    first = dict(zip(reversed(contents), reversed(lines), strict=True))
    read = {content: cell.read(content, line, column) for content, line in reversed(first.items())}
    return map(read.__getitem__, contents)
