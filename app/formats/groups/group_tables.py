"""Tables as the tools of consumer, share and Streams groups print them: a header of column names, then rows, padded
with blanks; one a group.

    ⏎
    GROUP           TOPIC           PARTITION  CURRENT-OFFSET  …
    billing         orders          23         1550            …

The columns depend on Kafka's version, so they are read from the header. A row is cut at the offsets of the header's
names, which preserves a blank in a group's name and an empty cell. If the blanks were lost on a web page, it is cut at
its blanks. Lines of prose about a group's state between the tables are ignored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from app.formats.syntax.lines import rejection, says_something, shown
from app.formats.syntax.odd_names import resembling

_NAME = re.compile(r"COORDINATOR \(ID\)|\S+")
_COLUMN = re.compile(r"COORDINATOR \(ID\)|#PARTITIONS|#MEMBERS|[A-Z]+(?:-[A-Z]+)*")
_COORDINATOR = "COORDINATOR (ID)"
_HOST_AND_ID = re.compile(r":-?\d{1,10} +\(")
_WORD = re.compile(r"\S+")
_PROSE = re.compile(
    r"(?:Consumer|Share|Error: Streams) group '(?P<group>.*)' "
    r"(?:has no active members|is rebalancing|has no offset information)\.\s*$"
)
_NUMERIC = frozenset(
    [f"{name}-EPOCH" for name in ("CURRENT", "LEADER", "MEMBER", "TARGET")]
    + ["PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "START-OFFSET", "LAG", "#PARTITIONS", "#MEMBERS"]
)
_LONG_WORD = 5
_NUMBER = re.compile(r"-?\d{0,19}")
_CELL = re.compile(r"\S*:-?[0-9]+ +\([^()\s]*\)(?!\S)|\S+")
# A group without members has no assignment strategy, and the tool prints just that.
MAY_BE_EMPTY = frozenset({"GROUP-INSTANCE-ID", "CLIENT-ID", "ASSIGNMENT-STRATEGY"})
_KNOWN = _NUMERIC | MAY_BE_EMPTY | {"GROUP", "TOPIC", "CONSUMER-ID", "HOST", "STATE", "MEMBER", "PROCESS"}
_MAY_HOLD_BLANKS = frozenset({"ASSIGNMENT", "ASSIGNMENTS", "CURRENT-ASSIGNMENT", "TARGET-ASSIGNMENT"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name, and to how many characters its cells are padded; 0 for none."""

    name: str
    width: int


Layout: TypeAlias = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A header and its rows: the line of each, from 1, and its cell in each column."""

    layout: Layout
    lines: list[int] = field(default_factory=list)
    rows: list[Sequence[str]] = field(default_factory=list)


def read(text: str, *, required: Sequence[str], may_be_empty: frozenset[str] = MAY_BE_EMPTY) -> tuple[Table, ...]:
    """Cut a text into tables and their cells.

    Parameters
    ----------
    required : names that every header has; by the first and the last one a header is known.
    may_be_empty : the columns whose cells may be empty.

    Raises
    ------
    MalformedText
        A line is neither header nor row nor known prose, a header lacks a column or has one twice, a row is cut off.
    """
    tables: list[Table] = []
    row: re.Pattern[str] | None = None
    position = line = 0
    while position < len(text):
        line += 1
        if row is not None and (usual := row.match(text, position)) is not None:
            tables[-1].rows.append(usual.groups())
            tables[-1].lines.append(line)
            position = usual.end()
            continue
        end = text.find("\n", position)
        content = text[position : end if end >= 0 else None].removesuffix("\r")
        position = end + 1 or len(text)
        if not says_something(content) or prose(content):
            continue
        if is_header(content, required):
            tables.append(Table(_layout(line, content, required)))
            row = usual_row(content)
        elif not tables:
            raise rejection(line, expected=f"a header ({', '.join(required)})", actual=shown(content))
        else:
            tables[-1].rows.append(_cells(line, content.rstrip(), tables[-1].layout, may_be_empty))
            tables[-1].lines.append(line)
    return tuple(tables)


def is_header(content: str, required: Sequence[str]) -> bool:
    """Whether a line is a table's header, even one that lacks some of the required names."""
    # This check decides most lines of a long text.
    if required[-1] not in content or "_OFFSET" in content:  # as kafkactl names its columns
        return False
    names = _NAME.findall(content)
    return required[-1] in names and any(name in names for name in required[:-1])


def prose(content: str) -> re.Match[str] | None:
    """The match of a sentence that the tool prints between its tables, whose first group is the name of a group."""
    return _PROSE.match(content)


@lru_cache(maxsize=64)
def usual_row(header: str) -> re.Pattern[str] | None:
    """The pattern of a line below a header, as nearly all are: of one word a cell, each where its name starts.

    None if the header has no column of numbers, so that other lines may match.
    """
    names = list(_NAME.finditer(header))
    if _NUMERIC.isdisjoint(name[0] for name in names) or names[0].start() or _COORDINATOR in header:
        return None
    cells = [r"([0-9]{1,19}+|-(?:[0-9]{1,19}+)?)" if name[0] in _NUMERIC else r"(\S++)" for name in names]
    if names[-1][0] in _MAY_HOLD_BLANKS:
        cells[-1] = r"(\S++(?: \S++)*+)"
    starts = [f" ++(?<=\n.{{{name.start()}}})" for name in names[1:]]
    row = "".join([f"{before}{cell}" for before, cell in zip(["", *starts], cells, strict=True)]) + " *+\n"
    return re.compile(row)


def usual_rows(header: str) -> re.Pattern[str] | None:
    """The pattern of any number of such lines."""
    row = usual_row(header)
    return None if row is None else re.compile(f"(?:{row.pattern})++")


def may_be_row(content: str, header: str) -> bool:
    """Whether a line may be a row of the table with that header, perhaps one that is cut off.

    Its cells begin where the names of the header do, or there are numbers where those have to be. A sentence that
    follows a table has neither.
    """
    columns = list(_NAME.finditer(header))
    if _is_aligned(content, columns):
        return True
    names, words = [column.group() for column in columns], content.split()
    if _COORDINATOR in names:
        return _HOST_AND_ID.search(content) is not None
    most = len(words) if not _MAY_HOLD_BLANKS.isdisjoint(names[-1:]) else len(names) + 1
    return len(names) - 1 <= len(words) <= most and not _NUMERIC.isdisjoint(names) and _has_numbers(names, words)


def _is_aligned(content: str, columns: Sequence[re.Match[str]]) -> bool:
    """Whether two cells at least begin where columns do; if cells are missing, those before the last have no blanks."""
    starts = [column.start() for column in columns if column.start() < len(content)]
    cells = [content[start:end].strip() for start, end in zip(starts, [*starts[1:], None][: len(starts)], strict=True)]
    names = [column.group() for column in columns]
    if len(cells) < 2 or any(
        cell and content[at - 1 : at + 1].strip() != content[at] for at, cell in zip(starts[1:], cells[1:], strict=True)
    ):
        return False
    whole = [cell for name, cell in zip(names, cells[:-1], strict=False) if name != _COORDINATOR]
    return _has_numbers(names, cells) and (len(cells) == len(names) or " " not in "".join(whole))


def _has_numbers(names: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether half of the cells in columns of numbers are numbers, as far as they are there, and at most one a word."""
    numeric = [cell for name, cell in zip(names, cells, strict=False) if name in _NUMERIC]
    numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in numeric)
    words = [word for cell in numeric if (word := cell.strip(",.:;!?")).isalpha()]
    return 2 * numbers >= len(numeric) and len("".join(words)) < _LONG_WORD


def _layout(line: int, content: str, required: Sequence[str]) -> Layout:
    matches = list(_NAME.finditer(content))
    names = [match.group() for match in matches]
    for name in required:
        if name not in names:
            raise rejection(line, expected=f"the column {name} in the header", actual=shown(" ".join(names)))
    if len(set(names)) < len(names):
        raise rejection(line, expected="each column once", actual=shown(" ".join(names)))
    odd = (name for name in names if not _COLUMN.fullmatch(name) or resembling(name, _KNOWN) is not None)
    if (other := next(odd, None)) is not None:
        raise rejection(line, expected="a header on a line of its own, of names of columns", actual=shown(other))
    starts = [match.start() for match in matches]
    if starts[0]:
        raise rejection(line, expected="a header from the start of its line", actual=shown(content))
    # The last column is padded if the header has blanks after its name.
    last = 0 if len(content) == matches[-1].end() else len(content) - starts[-1]
    widths = [after - before - 1 for before, after in pairwise(starts)]
    return tuple([Column(name, width) for name, width in zip(names, [*widths, last], strict=True)])


def _cells(line: int, content: str, layout: Layout, may_be_empty: frozenset[str]) -> Sequence[str]:
    cells = _cut_by_header(content, layout, may_be_empty) or _cut_at_blanks(content, layout)
    # A row of CSV that has lost a quotation mark is one cell, or several with all others in one.
    if cells is None or content.count('","') >= max(2, len(layout) - 2):
        expected = f"{len(layout)} cells ({', '.join([column.name for column in layout])})"
        raise rejection(line, expected=expected, actual=shown(content))
    return cells


def _cut_by_header(content: str, layout: Layout, may_be_empty: frozenset[str]) -> Sequence[str] | None:
    """The cells at the offsets of their names; None if a cell is not there."""
    cells: list[str] = []
    start = 0
    if layout[-1].name in _MAY_HOLD_BLANKS & may_be_empty:
        content = content.ljust(sum(column.width + 1 for column in layout[:-1]))  # the blanks before it were trimmed
    for position, column in enumerate(layout):
        is_last = position == len(layout) - 1
        end = len(content) if is_last else start + column.width
        cell = content[start:end].rstrip(" ")
        reaches = len(content) >= start
        if not reaches or cell.startswith(" ") or not (cell or column.name in may_be_empty):
            return None
        # Cells run into each other in a row that is joined with the next one, or has a sign between its columns.
        if column.name != _COORDINATOR and ("  " in cell or (" " in cell and column.name == "HOST")):
            return None
        if not is_last and content[end : end + 1] not in ("", " "):
            return None
        cells.append(cell)
        start = end + 1
    return cells


def _cut_at_blanks(content: str, layout: Layout) -> Sequence[str] | None:
    """The cells if there is one run of characters for each; a last one that lists partitions may have blanks."""
    matches = list((_CELL if _COORDINATOR in [column.name for column in layout] else _WORD).finditer(content))
    last = len(layout) - 1
    cells = [match.group() for match in matches]
    if len(matches) > last and layout[last].name in _MAY_HOLD_BLANKS:
        cells[last:] = [content[matches[last].start() :].rstrip()]
    return cells if len(cells) == len(layout) else None
