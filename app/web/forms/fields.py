"""Values of the fields of forms, as people type them."""

from collections.abc import Mapping
from math import isfinite, nan
from typing import Any

import orjson


def whole(word: str, field: str, problems: dict[str, str]) -> int:
    """A whole number, or 0 with a problem of the field."""
    if word.isascii() and word.isdigit() and len(word) < 11:
        return int(word)
    problems[field] = f"Enter whole numbers; {word[:100]!r} is none."
    return 0


def number(typed: Mapping[str, str], field: str, problems: dict[str, str]) -> float | None:
    """A number; None if the field is empty, or with a problem of it."""
    text = typed.get(field, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = nan
    if isfinite(value):
        return value
    problems[field] = f"Enter a number; {text[:100]!r} is none."
    return None


def words(typed: Mapping[str, str], field: str) -> list[str]:
    """The words of a field, between blanks and commas."""
    return typed.get(field, "").replace(",", " ").split()


def lines(typed: Mapping[str, str], field: str) -> list[str]:
    """The lines of a field that are not blank."""
    return [line.strip() for line in typed.get(field, "").splitlines() if line.strip()]


def pairs(typed: Mapping[str, str], field: str, problems: dict[str, str], *, write: str) -> dict[str, str]:
    """The lines `name=value` of a field. One without `=` is a problem, which says what to write instead."""
    found: dict[str, str] = {}
    for line in lines(typed, field):
        name, is_given, value = line.partition("=")
        if not is_given:
            problems[field] = f"Write {write}; {line[:100]!r} has no =."
        else:
            found[name.strip()] = value.strip()
    return found


def more(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """Further fields of a request, as a JSON object; empty with a problem if it is none."""
    text = typed.get("more", "").strip()
    if not text:
        return {}
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError as malformed:
        problems["more"] = f"This is no JSON: {malformed}."
        return {}
    if not isinstance(read, dict):
        problems["more"] = 'Enter a JSON object, such as {"topics": ["orders"]}.'
        return {}
    return read


def joined(body: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The further fields win; objects in both are joined."""
    return body | {
        name: {**body[name], **value} if isinstance(value, dict) and isinstance(body.get(name), dict) else value
        for name, value in more.items()
    }
