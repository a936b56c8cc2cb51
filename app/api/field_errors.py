"""What is wrong with the fields of a request, one by one: pydantic's findings as problems word them."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from app.errors import FieldPath, Json
from app.errors.quotation import quoted


def field_error(error: Mapping[str, Any], body: object) -> dict[str, Json]:
    """One of pydantic's errors: where, what, the value as it came and the limit that it passes."""
    where, *path = error["loc"]
    if where == "body":
        place = pointer(_within(body, path, is_missing=error["type"] == "missing"))
    else:
        place = f"#{where}{pointer(tuple(path))}"
    value = error.get("input")
    told: dict[str, Json] = {"pointer": place, "detail": error["msg"]}
    # JSON has no word for NaN and the infinities, which Python's parser takes all the same.
    is_json = isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    if is_json and len(str(value)) <= 200:
        told["value"] = value
        told["detail"] = f"{error['msg']}; {value!r} given"
    limits = {
        name: limit
        for name, limit in error.get("ctx", {}).items()
        if isinstance(limit, bool | int | float | str) and name != "error"  # the detail says that one
    }
    return told | ({"limits": limits} if limits else {})


def first_of(field_errors: Sequence[Mapping[str, Json]], *, total: int) -> str:
    """The first of them in a line, and how many more there are of `total`."""
    first = field_errors[0] if field_errors else {"pointer": "", "detail": "the request is not valid"}
    more = f" (and {total - 1} more)" if total > 1 else ""
    return f"{quoted(str(first['pointer'])) or 'the body'}: {first['detail']}{more}"


def pointer(path: FieldPath) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _within(body: object, path: Sequence[str | int], *, is_missing: bool) -> FieldPath:
    """The part of a path that the body has: pydantic puts the names of a union's branches between.

    All of it where the body is not known, as when an operation reads it by itself.
    """
    if body is None:
        return tuple(path)
    found: list[str | int] = []
    for position, part in enumerate(path):
        is_last = position == len(path) - 1
        if isinstance(body, Mapping) and (part in body or (is_missing and is_last)):
            body = body.get(part)
        elif isinstance(body, list) and isinstance(part, int) and part < len(body):
            body = body[part]
        else:
            continue
        found.append(part)
    return tuple(found)
