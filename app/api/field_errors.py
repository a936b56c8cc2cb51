"""Convert the validation errors of pydantic to the field errors of a problem document."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from app.errors import FieldPath, Json
from app.errors.quotation import quoted


def field_error(error: Mapping[str, Any], body: object) -> dict[str, Json]:
    """One field error: pointer, detail, the value as it was received and the limits that it violates."""
    where, *path = error["loc"]
    if where == "body":
        place = pointer(_within(body, path, is_missing=error["type"] == "missing"))
    else:
        place = f"#{where}{pointer(tuple(path))}"
    value = error.get("input")
    document: dict[str, Json] = {"pointer": place, "detail": error["msg"]}
    # JSON has neither NaN nor infinities, but Python's parser accepts them.
    is_json = isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    if is_json and len(str(value)) <= 200:
        document["value"] = value
        document["detail"] = f"{error['msg']}; {value!r} given"
    limits = {
        name: limit
        for name, limit in error.get("ctx", {}).items()
        if isinstance(limit, bool | int | float | str) and name != "error"  # that is in the detail
    }
    return document | ({"limits": limits} if limits else {})


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
