"""Convert the validation errors of pydantic to the field errors of a problem document."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from pydantic import ValidationError

from app.errors import FieldPath, Json
from app.errors.quotation import quoted, suggestion
from app.services.bodies import request_fields

_QUOTED = re.compile(r"'([^']{1,100})'")
_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
"""A field that does not exist, in a model and in a dataclass."""
_NO_LIMITS = frozenset({"error", "class_name"})
"""Context of an error that is in its detail, or that is of Python alone."""
_OBJECT_EXPECTED = frozenset({"dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"})


def field_errors(errors: Iterable[Mapping[str, Any]], body: object) -> list[dict[str, Json]]:
    """The field errors of a body.

    A field that takes values of several types is validated as each of them. A type that the value does not have is
    reported only if the value is invalid in no other way.
    """
    documents = [(_is_of_type(error), _field_error(error, body)) for error in errors]
    invalid = {document["pointer"] for is_of_type, document in documents if is_of_type}
    return [document for is_of_type, document in documents if is_of_type or document["pointer"] not in invalid]


def _is_of_type(error: Mapping[str, Any]) -> bool:
    """Whether the value has a type that the field takes."""
    if error["type"] in {"literal_error", "enum"}:
        return isinstance(error["input"], str)
    return not error["type"].endswith("_type")


def within_body(invalid: ValidationError) -> Iterator[dict[str, Any]]:
    """The errors of a model that was validated outside a request, at their places in the body."""
    for error in invalid.errors(include_url=False):
        yield {**error, "loc": ("body", *error["loc"])}


def _field_error(error: Mapping[str, Any], body: object) -> dict[str, Json]:
    """One field error: pointer, detail, the value as it was received and the limits that it violates."""
    where, *path = error["loc"]
    if where == "body":
        place = pointer(_within(body, path, is_missing=error["type"] == "missing"))
    else:
        place = f"#{where}{pointer(tuple(path))}"
    value = error.get("input")
    document: dict[str, Json] = {"pointer": place}
    # JSON has neither NaN nor infinities, but Python's parser accepts them.
    is_json = isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    is_shown = is_json and len(str(value)) <= 200
    if is_shown:
        document["value"] = value
    given = f"; {value!r} given" if is_shown else ""
    document["detail"] = f"{_message(error, path)}{given}{_meant(error, body, path)}"
    limits = {
        name: limit
        for name, limit in error.get("ctx", {}).items()
        if isinstance(limit, bool | int | float | str) and name not in _NO_LIMITS
    }
    return document | ({"limits": limits} if limits else {})


def _message(error: Mapping[str, Any], path: Sequence[str | int]) -> str:
    name = str(path[-1] if path else error["loc"][0])
    if error["type"] == "missing":
        return f"{name} is required"
    if error["type"] in _UNKNOWN:
        return f"there is no field {quoted(name)} here"
    return "Input should be an object" if error["type"] in _OBJECT_EXPECTED else str(error["msg"])


def _meant(error: Mapping[str, Any], body: object, path: Sequence[str | int]) -> str:
    """The field, or the value of a field that takes few, that a misspelt one was meant to be."""
    if error["type"] in _UNKNOWN and path:
        given = None if body is None else _value_at(body, path[:-1])
        return suggestion(str(path[-1]), _further_fields(given)) if isinstance(given, Mapping) else ""
    value, expected = error.get("input"), error.get("ctx", {}).get("expected")
    if not isinstance(value, str) or not isinstance(expected, str):
        return ""
    return suggestion(value, _QUOTED.findall(expected))


def _further_fields(given: Mapping[str, object]) -> set[str]:
    """The fields that an object may have besides those given: of each request model that has most of these."""
    # Looked up one by one: `given` may have a million fields, of which a set would be made for each model.
    models = [*request_fields()]
    shared = [sum(name in given for name in fields) for fields in models]
    alike = (fields for fields, count in zip(models, shared, strict=True) if count == max(shared))
    return {name for fields in alike for name in fields if name not in given}


def _value_at(body: object, path: Sequence[str | int]) -> object:
    for part in _within(body, path, is_missing=False):
        body = body[part]  # type: ignore[index] # the body has the parts of the path
    return body


def first_of(field_errors: Sequence[Mapping[str, Json]], *, total: int) -> str:
    """The first field error as one line, and the number of further ones of `total`."""
    first = field_errors[0] if field_errors else {"pointer": "", "detail": "the request is not valid"}
    more = f" (and {total - 1} more)" if total > 1 else ""
    return f"{quoted(str(first['pointer'])) or 'the body'}: {first['detail']}{more}"


def pointer(path: FieldPath) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _within(body: object, path: Sequence[str | int], *, is_missing: bool) -> FieldPath:
    """The parts of a path that the body has: pydantic inserts the names of branches of unions.

    If the body is not known, because an operation reads it by itself, the whole path.
    """
    if body is None:
        return tuple(path)
    existing: list[str | int] = []
    for position, part in enumerate(path):
        is_last = position == len(path) - 1
        if isinstance(body, Mapping) and (part in body or (is_missing and is_last)):
            body = body.get(part)
        elif isinstance(body, list) and isinstance(part, int) and part < len(body):
            body = body[part]
        else:
            continue
        existing.append(part)
    return tuple(existing)
