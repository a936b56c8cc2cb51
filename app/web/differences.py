"""How two documents differ, field by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

MOST_FIELDS = 100
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class DifferingField:
    """A field that differs, as a path with dots, and its values as JSON; empty where one has no such field."""

    path: str
    first: str
    second: str


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[DifferingField]:
    """The first fields that differ, in the order of the documents; lists are compared whole."""
    return list(islice(_differing("", first, second), MOST_FIELDS))


def _differing(path: str, first: object, second: object) -> Iterator[DifferingField]:
    if isinstance(first, dict) and isinstance(second, dict):
        for name in dict.fromkeys([*first, *second]):
            yield from _differing(f"{path}.{name}" if path else str(name), first.get(name), second.get(name))
    elif first != second:
        yield DifferingField(path, _written(first), _written(second))


def _written(value: object) -> str:
    text = "" if value is None else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
