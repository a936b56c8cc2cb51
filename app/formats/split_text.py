"""A text that consists of several others, split line by line.

In each part the lines of the others are blank, so that a line keeps its number. A JSON document goes as a whole to the
part of its first line; its contents are not examined.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from json import JSONDecoder

from app.formats.lines import numbered

# Not any brace: a group may be called {team}.
_DOCUMENT = re.compile(r'\s*\{\s*(?:["}]|$)')


@dataclass(frozen=True, slots=True)
class Mark:
    """What a line says.

    Parameters
    ----------
    part : whose lines start here; None if those of the part before continue.
    belongs : whether this line is one of them; command lines and sentences between two tables are of no part.
    """

    part: str | None = None
    belongs: bool = True


@dataclass(frozen=True, slots=True)
class Split:
    """The parts that were found, and the first line (number and content) before all of them that is of none."""

    parts: Mapping[str, str]
    stray: tuple[int, str] | None


def split(text: str, mark: Callable[[str, int], Mark]) -> Split:
    """Hand each line to its part.

    Parameters
    ----------
    mark : says of a line's content, and of the offset in the text at which it starts, what it marks.
    """
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    parts: list[str | None] = [None] * len(lines)
    documents = _Documents(text)
    current: str | None = None
    stray: tuple[int, str] | None = None
    taken = 0
    for line, content in numbered(text):
        if line <= taken:
            continue
        begins = starts_document(content)
        # The braces in a broken document begin no other; its reader rejects it.
        line_mark = Mark() if begins and documents.is_broken else mark(content, starts[line - 1])
        current = line_mark.part or current
        if line_mark.belongs and current is None:
            stray = stray or (line, content)
        elif line_mark.belongs:
            taken = documents.last_line(line, starts[line - 1]) if begins and line_mark.part else line
            parts[line - 1 : taken] = [current] * (taken - line + 1)
    present = {part for part in parts if part is not None}
    return Split({part: _blanked(lines, parts, part) for part in present}, stray)


def starts_document(content: str) -> bool:
    """Whether a JSON object starts with this line."""
    return _DOCUMENT.match(content) is not None


class _Documents:
    """The ends of the JSON documents of a text. After a broken one the search ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._scan = JSONDecoder(strict=False).raw_decode
        self.is_broken = False

    def last_line(self, line: int, start: int) -> int:
        """The last line of the document that starts on this line, or this line if it is broken."""
        start = self._text.index("{", start)
        try:
            _, end = self._scan(self._text, start)
        except (ValueError, RecursionError):
            self.is_broken = True
            return line
        return line + self._text.count("\n", start, end)


def _blanked(lines: list[str], parts: list[str | None], part: str) -> str:
    return "\n".join([line if owner == part else "" for line, owner in zip(lines, parts, strict=True)])
