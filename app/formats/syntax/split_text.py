"""A text that consists of several others, split line by line.

In each part the lines of the others are blank, so that a line keeps its number. A JSON document goes as a whole to one
part: its first line's, or the one that its contents determine.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from json import JSONDecoder
from typing import cast

import orjson

from app.formats.syntax.documents import parsed
from app.formats.syntax.lines import says_something

# Not any brace or bracket: a group may be called {team}, and a log line starts with [2026.
_DOCUMENT = re.compile(r'\s*(?:\{\s*(?:"|$|\}\s*$)|\[\s*(?:[\[{]|$|\]\s*$))')
# The first key of a document, and whether its value is an object.
_OPENING = re.compile(
    r'\s*(?P<document>(?P<array>\[)?)\s*(?:\{\s*(?:"(?P<key>(?:[^"\\]|\\.){0,249})"\s*:\s*(?P<object>\{)?)?)?'
)


@dataclass(frozen=True, slots=True)
class Mark:
    """The meaning of a line for the split.

    Parameters
    ----------
    part : whose lines start here; None if the previous part continues.
    belongs : whether this line is one of them; command lines and sentences between two tables are of no part.
    is_unknown : whether the line is of no part and of no shell, log or command either.
    rows : a pattern of any number of whole lines that continue `part`, which are taken at once.
    """

    part: str | None = None
    belongs: bool = True
    is_unknown: bool = False
    rows: re.Pattern[str] | None = None


UNKNOWN = Mark(belongs=False, is_unknown=True)


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a text.

    Parameters
    ----------
    skipped : the numbers of the lines that are of no part, ascending; blank ones do not count.
    unknown : the unknown ones among them; of an unknown JSON document the first line.
    """

    parts: Mapping[str, str]
    skipped: tuple[int, ...] = ()
    unknown: frozenset[int] = frozenset()


def split(
    text: str,
    mark: Callable[[str, str | None], Mark],
    *,
    document: Callable[[object], str | None],
    initial: str | None = None,
) -> Split:
    """Hand each line to its part.

    Parameters
    ----------
    mark : returns the mark of a line's content, given the part of the lines before it.
    document : names the part of a JSON document; None for `initial`, without which the document is unknown.
    initial : the part of the lines before the first that marks one.
    """
    lines = _Lines(text, initial)
    documents = _Documents(text)
    while lines.is_left:
        if lines.take_rows():
            continue
        line, content = lines.take()
        if not says_something(content):
            continue
        if not starts_document(content) or documents.broken is not None:  # the braces in it begin no other
            line_mark = mark(content, lines.current)
            if line_mark.is_unknown and documents.broken == lines.current is not None:
                line_mark = Mark()  # a line of the broken document, which its reader rejects
        else:
            last, value, end = documents.read(line, lines.start)
            part = document(value) or initial
            line_mark = UNKNOWN if part is None else Mark(part)
            if documents.broken is not None:
                documents.broken = part or ""
            lines.take_until(last, end)
        lines.give(line, line_mark)
    return lines.split()


class _Lines:
    """The lines of a text, in the order in which they are taken, and the part of each."""

    def __init__(self, text: str, initial: str | None) -> None:
        self._text = text
        self._lines = text.split("\n")
        self.current = initial
        self._rows: re.Pattern[str] | None = None
        self._blocks: list[tuple[str, int, int]] = []  # a part, the index of its first line and that after its last
        self._unknown: set[int] = set()
        self._cut: set[int] = set()  # lines with more behind a document than a prompt
        self._taken = self._next = 0  # lines, and the offset after them
        self.start = 0
        """The offset of the line that was taken last."""

    @property
    def is_left(self) -> bool:
        """Whether there is a line that was not taken."""
        return self._taken < len(self._lines)

    def take(self) -> tuple[int, str]:
        """The next line, its number from 1 and its content without its end."""
        line = self._lines[self._taken]
        self._taken += 1
        self.start, self._next = self._next, self._next + len(line) + 1
        return self._taken, line.removesuffix("\r")

    def take_until(self, line: int, end: int | None) -> None:
        """Take the lines after those that are taken, up to this one, of which a document may end at the offset `end`.

        A prompt may follow on the same line, which is dropped.
        """
        while self._taken < line:
            self.take()
        content = self._lines[line - 1]
        rest = "" if end is None else content[end - self.start :]
        if rest and not rest.lstrip().startswith(("{", "[{")):
            self._lines[line - 1] = content.removesuffix(rest)
            self._cut |= {line} if '"' in rest else set()

    def take_rows(self) -> bool:
        """Add the next lines to the current part if they are rows of it."""
        rows = self._rows.match(self._text, self._next) if self._rows is not None else None
        if rows is None:
            return False
        first, self._next = self._taken, rows.end()
        self._taken += self._text.count("\n", rows.start(), rows.end())
        self._add(first)
        return True

    def give(self, line: int, mark: Mark) -> None:
        """Hand the lines from this one to the last that was taken to a part."""
        if mark.part is not None:
            self.current, self._rows = mark.part, mark.rows
        if mark.belongs:
            self._add(line - 1)
        elif mark.is_unknown:
            self._unknown.add(line)

    def _add(self, first: int) -> None:
        if self.current is not None:
            self._blocks.append((self.current, first, self._taken))

    def split(self) -> Split:
        """The parts of the lines."""
        parts: dict[str, list[str]] = {}
        skipped: list[int] = []
        before = 0
        for part, first, end in [*self._blocks, ("", len(self._lines), 0)]:
            skipped += [number + 1 for number in range(before, first) if self._lines[number].strip()]
            before = end
            if part:
                if part not in parts:
                    parts[part] = [""] * len(self._lines)
                parts[part][first:end] = self._lines[first:end]
        skipped = sorted({*skipped, *self._cut})
        texts = {part: "\n".join(lines) for part, lines in parts.items()}
        return Split(texts, tuple(skipped), frozenset(self._unknown | self._cut))


def starts_document(content: str) -> bool:
    """Whether a JSON object or array starts with this line."""
    return _DOCUMENT.match(content) is not None


class _Documents:
    """The JSON documents of a text. After a broken one the search ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._scan = JSONDecoder(strict=False).raw_decode
        self.broken: str | None = None
        """The part of a broken document, an empty text if it is unknown; None if none is broken."""

    def read(self, line: int, start: int) -> tuple[int, object, int | None]:
        """The last line of the document that starts on this line, its value, and its end if it may be within that line.

        Of a broken one: this line, and its first keys without their values.
        """
        line_end = self._text.find("\n", start)
        try:
            return line, parsed(self._text[start : line_end if line_end >= 0 else None]), None
        except orjson.JSONDecodeError:
            return self._scanned(line, start)

    def _scanned(self, line: int, start: int) -> tuple[int, object, int | None]:
        """The same of a document of several lines, or with something after it; takes three times as long."""
        opening = cast("re.Match[str]", _OPENING.match(self._text, start))  # it matches any text
        try:
            value, end = self._scan(self._text, opening.start("document"))
        except (ValueError, RecursionError):
            self.broken = ""
            first: object = {opening["key"]: {} if opening["object"] else None} if opening["key"] else None
            return line, [first] if opening["array"] else first, None
        return line + self._text.count("\n", start, end), value, end
