"""Names in a text in which a sign was replaced, as far as the names beside them or the known ones show it."""

import re
from collections.abc import Iterable

_SIGNS = re.compile(r"[\w.:/@$-]*")


def odd_name(root: object) -> str | None:
    """The first name of a field that no tool prints; None without any.

    It has a sign that no name has, or one sign that differs from a name that all other objects of its list have and its
    own object lacks.
    """
    values = [root]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            if (odd := next((name for name in value if not _SIGNS.fullmatch(str(name))), None)) is not None:
                return str(odd)
            values += [one for one in value.values() if isinstance(one, dict | list)]
        elif isinstance(value, list):
            objects = [one for one in value if isinstance(one, dict)]
            if (odd := _odd_among(set(map(frozenset, objects)))) is not None:
                return odd
            values += objects or [one for one in value if isinstance(one, list)]
    return None


def _odd_among(shapes: set[frozenset[str]]) -> str | None:
    """The odd name in one of the sets of names that the objects of a list have."""
    if len(shapes) < 2:
        return None
    for shape in shapes:
        others = shapes - {shape}
        lacking = frozenset.intersection(*others) - shape
        for name in sorted(shape.difference(*others)) if lacking else ():
            if resembling(name, lacking) is not None:
                return name
    return None


def resembling(name: str, names: Iterable[str]) -> str | None:
    """The first of the names that differs from a name in one sign; None without any."""
    for known in names:
        if len(known) == len(name) and sum(map(str.__ne__, known, name)) == 1:
            return known
    return None
