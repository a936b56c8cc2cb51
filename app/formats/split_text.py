"""A text that consists of several others, split line by line.

In each part the lines of the others are blank, so that a line keeps its number. A JSON document goes as a whole to one
part: that of its first line, or the one that its contents tell.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from json import JSONDecoder
from typing import cast

from app.formats.lines import numbered

# Not any brace or bracket: a group may be called {team}, and a log line starts with [2026.
_DOCUMENT = re.compile(r'\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[\[{\]]|$))')
# The first key of a document, and whether its value is an object.
_OPENING = re.compile(
    r'\s*(?P<document>(?P<array>\[)?)\s*(?:\{\s*(?:"(?P<key>(?:[^"\\]|\\.){0,249})"\s*:\s*(?P<object>\{)?)?)?'
)


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
    """The parts of a text.

    Parameters
    ----------
    stray : the first line (number and content) before all parts that is of none.
    skipped : the numbers of the lines that are of no part, ascending; blank ones do not count.
    """

    parts: Mapping[str, str]
    stray: tuple[int, str] | None
    skipped: tuple[int, ...] = ()


def split(
    text: str,
    mark: Callable[[str], Mark],
    *,
    document: Callable[[object], str | None],
    initial: str | None = None,
) -> Split:
    """Hand each line to its part.

    Parameters
    ----------
    mark : says of a line's content what it marks.
    document : names the part of a JSON document; None for the part in which it is.
    initial : the part of the lines before the first that marks one.
    """
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    parts: list[str | None] = [None] * len(lines)
    documents = _Documents(text)
    current = initial
    stray: tuple[int, str] | None = None
    taken = 0
    for line, content in numbered(text):
        if line <= taken:
            continue
        line_mark, taken = Mark(), line
        if starts_document(content):
            # The braces in a broken document begin no other; its reader rejects it.
            if not documents.is_broken:
                taken, value = documents.read(line, starts[line - 1])
                line_mark = Mark(document(value))
        else:
            line_mark = mark(content)
        current = line_mark.part or current
        if line_mark.belongs and current is None:
            stray = stray or (line, content)
        elif line_mark.belongs:
            parts[line - 1 : taken] = [current] * (taken - line + 1)
    present = {part for part in parts if part is not None}
    skipped = [line for line, part in enumerate(parts, start=1) if part is None and not _is_blank(lines[line - 1])]
    return Split({part: _blanked(lines, parts, part) for part in present}, stray, tuple(skipped))


def starts_document(content: str) -> bool:
    """Whether a JSON object or array starts with this line."""
    return _DOCUMENT.match(content) is not None


class _Documents:
    """The JSON documents of a text. After a broken one the search ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._scan = JSONDecoder(strict=False).raw_decode
        self.is_broken = False

    def read(self, line: int, start: int) -> tuple[int, object]:
        """The last line of the document that starts on this line, and its value.

        Of a broken one: this line, and its first keys without their values.
        """
        opening = cast("re.Match[str]", _OPENING.match(self._text, start))  # it matches any text
        try:
            value, end = self._scan(self._text, opening.start("document"))
        except (ValueError, RecursionError):
            self.is_broken = True
            first: object = {opening["key"]: {} if opening["object"] else None} if opening["key"] else None
            return line, [first] if opening["array"] else first
        return line + self._text.count("\n", start, end), value


def _is_blank(line: str) -> bool:
    return not line or line.isspace()


def _blanked(lines: list[str], parts: list[str | None], part: str) -> str:
    return "\n".join([line if owner == part else "" for line, owner in zip(lines, parts, strict=True)])
