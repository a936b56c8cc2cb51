"""JSON documents read strictly: every rejection names the path (`partitions/3/replicas`) and its line.

The document is parsed once, fast. The text is scanned again for the line only if something in it is rejected.
"""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import orjson

from app.core.model import INT32_MAX
from app.errors import FieldPath
from app.errors.requests import MalformedText
from app.formats.syntax.lines import LOG_LINE, first_repeated, is_topic_name, rejection, shown
from app.formats.syntax.unique_json import RepeatedMember, members_of, position_of_repeated, require_unique

_BLANK = re.compile(r"[ \t\r\n]*")
_NOTHING: frozenset[str] = frozenset()
_SHOWN_CHARACTERS = 249
_LONG = 1 << 16
_WHITESPACE = " \t\r\n"
_PARSED: ContextVar[dict[str, object] | None] = ContextVar("parsed", default=None)


@contextmanager
def parsed_once() -> Iterator[None]:
    """Parse each long document once for as long as the context lasts: its content decides which reader takes it."""
    token = _PARSED.set({})
    try:
        yield
    finally:
        _PARSED.reset(token)


def parsed(text: str) -> object:
    """The value of a JSON text, which no caller changes. Raises `orjson.JSONDecodeError`."""
    known = _PARSED.get()
    if known is None or len(text) < _LONG:
        return orjson.loads(text)
    key = text.strip(_WHITESPACE)
    if key not in known:
        known[key] = orjson.loads(text)
    return known[key]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed JSON text. `what` names it in rejections; the other methods check the value at `path`.

    `lines_before` is the number of lines before it, if it is a part of a longer text.
    """

    text: str
    what: str
    root: object
    lines_before: int = 0

    @classmethod
    def parse(cls, text: str, what: str, *, lines_before: int = 0) -> "Document":
        """Parse the text, or raise `MalformedText` with the line at which it stops being JSON."""
        try:
            root = parsed(text)
            require_unique(text, members_of(root))
            return cls(text, what, root, lines_before)
        except RepeatedMember as repeated:
            line = lines_before + text.count("\n", 0, position_of_repeated(text)) + 1
            raise rejection(line, expected=f"{what} with each member once", actual=repeated.msg) from None
        except orjson.JSONDecodeError as error:
            line = lines_before + text.count("\n", 0, error.pos) + 1
            raise rejection(line, expected=f"{what} as JSON", actual=f"{error.msg} (column {error.colno})") from None

    def reject(self, path: FieldPath, *, expected: str, actual: str) -> MalformedText:
        """The rejection of the value at `path`."""
        # An unknown key may be of any length.
        place = "/".join([str(step)[:_SHOWN_CHARACTERS] for step in path]) or "the document"
        line = self.lines_before + _line_of(self.text, path)
        return MalformedText(
            f"{place}: expected {expected}, found {actual}", line=line, expected=expected, document_path=place
        )

    def _mismatch(self, value: object, path: FieldPath, expected: str) -> MalformedText:
        """The rejection of a value of another kind, or of an object without the key at the end of `path`."""
        parent: Any = self.root
        with suppress(LookupError, TypeError):  # a path into another document
            for step in path[:-1]:
                parent = parent[step]
            if value is None and isinstance(parent, dict) and path[-1] not in parent:
                return self.reject(path[:-1], expected=f"the key {path[-1]!r}", actual=_keys(parent))
        return self.reject(path, expected=expected, actual=_kind(value))

    def members(
        self, value: object, path: FieldPath, *, required: Collection[str], optional: Collection[str] = _NOTHING
    ) -> dict[str, object]:
        """An object that has every required key and no key beyond these and the optional ones."""
        values = self.mapping(value, path)
        missing = [key for key in required if key not in values]
        if missing:
            raise self.reject(path, expected=f"the key {missing[0]!r}", actual=_keys(values))
        if len(values) > len(required):
            for key in values:
                if key not in required and key not in optional:
                    known = ", ".join([*required, *optional])
                    raise self.reject((*path, key), expected=f"only the keys {known}", actual=f"the key {shown(key)}")
        return values

    def mapping(self, value: object, path: FieldPath) -> dict[str, object]:
        """An object, whatever its keys."""
        if not isinstance(value, dict):
            raise self._mismatch(value, path, "an object")
        return value

    def array(self, value: object, path: FieldPath) -> list[object]:
        if not isinstance(value, list):
            raise self._mismatch(value, path, "an array")
        return value

    def string(self, value: object, path: FieldPath) -> str:
        if not isinstance(value, str):
            raise self._mismatch(value, path, "a string")
        return value

    def number(self, value: object, path: FieldPath) -> float:
        """A finite number of 0 or more."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise self._mismatch(value, path, "a number of 0 or more")
        return float(value)

    def boolean(self, value: object, path: FieldPath) -> bool:
        """True or false."""
        if not isinstance(value, bool):
            raise self._mismatch(value, path, "true or false")
        return value

    def integer(self, value: object, path: FieldPath, *, least: int = 0, most: int = INT32_MAX) -> int:
        """A whole number within bounds; by default the range of ids."""
        # JSON's true and false are ints to Python, and a number past 64 bits arrives as a float.
        if type(value) is not int or not least <= value <= most:
            raise self._mismatch(value, path, f"a whole number from {least} to {most}")
        return value

    def topic_name(self, value: object, path: FieldPath) -> str:
        """A name that Kafka takes for a topic."""
        name = self.string(value, path)
        if not is_topic_name(name):
            raise self.reject(path, expected="a topic name", actual=shown(name))
        return name

    def replicas(self, value: object, path: FieldPath) -> tuple[int, ...]:
        """Broker ids, at least one and none twice."""
        if not self.array(value, path):
            raise self.reject(path, expected="at least one broker id", actual="an empty array")
        return self.distinct(value, path, "broker")

    def distinct(self, value: object, path: FieldPath, noun: str) -> tuple[int, ...]:
        """Numbers from 0 to 2147483647, none twice; `noun` names their kind."""
        checked = tuple([self.integer(number, (*path, i)) for i, number in enumerate(self.array(value, path))])
        if len(set(checked)) < len(checked):
            raise self.reject(path, expected=f"each {noun} once", actual=f"{noun} {first_repeated(checked)} twice")
        return checked

    def version_one(self, members: dict[str, object]) -> None:
        """The key `version` is 1 or missing, which Kafka takes for 1."""
        version = members.get("version", 1)
        if type(version) is not int or version != 1:
            raise self.reject(("version",), expected="version 1", actual=_kind(version))


def each_document(text: str, what: str, *, lines_before: int = 0) -> Iterator[Document]:
    """The JSON documents of a text, one after another, with blanks and log lines between them.

    Parameters
    ----------
    lines_before : the number of lines before the text, if it is a part of a longer one.

    Raises
    ------
    MalformedText
        A document, or the text after one, is no JSON; names the line.
    """
    scan = json.JSONDecoder(strict=False).raw_decode
    text = "\n".join(["" if LOG_LINE.match(line) else line for line in text.split("\n")])
    start = _skip_blank(text, 0)
    lines_before += text.count("\n", 0, start)
    is_one = is_json(text)  # which takes a quarter of the scanner's time
    while start < len(text):
        try:
            end = len(text) if is_one else scan(text, start)[1]
        except (ValueError, RecursionError):
            # The strict parser describes the error.
            end = len(text)
        yield Document.parse(text[start:end], what, lines_before=lines_before)
        following = _skip_blank(text, end)
        lines_before += text.count("\n", start, following)
        start = following


def is_json(text: str) -> bool:
    """Whether a text is one JSON document."""
    try:
        parsed(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _kind(value: object) -> str:
    if isinstance(value, str):
        return f"the string {shown(value)}"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return json.dumps(value)


def _keys(members: dict[str, object]) -> str:
    return f"the keys {shown(', '.join(members))}" if members else "an empty object"


def _line_of(text: str, path: FieldPath) -> int:
    """The line of the value at `path`, or of the deepest part of the path that can be found."""
    start = _skip_blank(text, 0)
    try:
        for step in path:
            start = _start_of(text, start, step)
    except (ValueError, IndexError, RecursionError):
        # Numbers of thousands of digits and very deep nesting are more than the standard scanner takes; the
        # rejection then names the line of the part that contains them.
        pass
    return text.count("\n", 0, start) + 1


def _start_of(text: str, start: int, step: str | int) -> int:
    """The offset of the member or item `step` in the object or array at `start`."""
    scan = json.JSONDecoder(strict=False).raw_decode
    position, index = _skip_blank(text, start + 1), 0
    while text[position] not in "]}":
        key: object = index
        if text[start] == "{":
            key, position = scan(text, position)
            position = _skip_blank(text, _skip_blank(text, position) + 1)
        if key == step:
            return position
        _, position = scan(text, position)
        position = _skip_blank(text, position)
        if text[position] == ",":
            position = _skip_blank(text, position + 1)
        index += 1
    raise IndexError


def _skip_blank(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position
