"""Documents of the service as objects: attributes by the generated annotations, converted when they are first read."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

_HINTS: dict[type[Any], dict[str, Any]] = {}
RecordT = TypeVar("RecordT", bound="Record")


class Record:
    """A document of the service.

    Documented fields are attributes. `raw` is the document as it was received: a field that this version of the client
    does not know is there, and is not an error. A field that the service left out is None.
    """

    raw: Mapping[str, Any]

    def __init__(self, raw: Mapping[str, Any]) -> None:
        vars(self)["raw"] = raw

    if not TYPE_CHECKING:  # for which a field that is not annotated is an error

        def __getattr__(self, name: str) -> Any:
            hint = _hints(type(self)).get(name)
            if hint is None:
                detail = f"{type(self).__name__} has no field {name!r}; `raw` is the whole document"
                raise AttributeError(detail, name=name)
            value = converted(self.raw.get(name.removesuffix("_")), hint)
            vars(self)[name] = value
            return value

    def __getitem__(self, name: str) -> Any:
        """A field of the document as it was received; raises KeyError."""
        return self.raw[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable", name=name)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable", name=name)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash((type(self), str(self.raw.get("id"))))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_hints(type(self))})

    def __repr__(self) -> str:
        shown = [f"{name}={self.raw[name]!r}" for name in _scalars(self.raw)]
        return f"{type(self).__name__}({', '.join(shown)})"


def _scalars(raw: Mapping[str, Any]) -> Iterator[str]:
    """The fields that a line has room for."""
    return (name for name, value in raw.items() if value is not None and not isinstance(value, dict | list))


def _hints(record: type[Record]) -> dict[str, Any]:
    """The annotations of the fields of a document, evaluated once."""
    if record not in _HINTS:
        hints = get_type_hints(record)
        _HINTS[record] = {name: hint for name, hint in hints.items() if not name.startswith("_") and name != "raw"}
    return _HINTS[record]


def converted(value: Any, hint: Any) -> Any:
    """A value of a document as its annotation says, or unchanged if it is not what the annotation says."""
    if isinstance(value, dict):
        return _converted_object(value, hint)
    if isinstance(value, list):
        items = next((get_args(each)[0] for each in _members(hint) if get_origin(each) is list), Any)
        return value if items is Any else [converted(item, items) for item in value]
    if isinstance(value, str) and datetime in _members(hint):
        with suppress(ValueError):
            return datetime.fromisoformat(value)
    return value


def _converted_object(value: dict[str, Any], hint: Any) -> Any:
    members = _members(hint)
    records = [each for each in members if isinstance(each, type) and issubclass(each, Record)]
    if records:
        return best_fit(value, records)(value)
    values = next((get_args(each)[1] for each in members if get_origin(each) is dict), Any)
    return value if values is Any else {name: converted(member, values) for name, member in value.items()}


def best_fit(raw: Mapping[str, Any], records: Sequence[type[RecordT]]) -> type[RecordT]:
    """Of several documents the one that has most of the fields of `raw`, and fewest others."""
    if len(records) == 1:
        return records[0]

    def fit(record: type[Record]) -> tuple[int, int]:
        hints = _hints(record)
        known = sum(name in hints and _allows(hints[name], value) for name, value in raw.items())
        return known, -len(hints)

    return max(records, key=fit)


def _allows(hint: Any, value: object) -> bool:
    """Whether a field that has one of several constants has one of them."""
    members = _members(hint)
    return not members or get_origin(members[0]) is not Literal or value in get_args(members[0])


@cache
def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
