"""Names in a text in which a sign was replaced, as far as the names beside them or the known ones show it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import chain

_LETTERS = re.compile(r"[A-Za-z_-]{3,}")
_SIGNS = re.compile(r"[\w.:/@$-]*")


def odd_name(root: object, known: Collection[str] = ()) -> str | None:
    """The first name of a field that no tool prints; None without any.

    It has a sign that no name has, or one sign that differs from a known name (in lower case, without `_`), or from a
    name that it stands for in one of several objects of the same place: the items of lists, and what is under the same
    names in them.
    """
    places = [[root]]
    while places:
        values = places.pop()
        objects = [value for value in values if isinstance(value, dict)]
        shapes = [shape for shape, _ in reversed(Counter(map(frozenset, objects)).most_common())]
        names = sorted(frozenset[str]().union(*shapes))
        if (odd := next(filter(partial(_is_odd, known), names), None) or _odd_among(shapes)) is not None:
            return odd
        inner = [[one[name] for one in objects if isinstance(one.get(name), dict | list)] for name in names]
        places += filter(None, [*inner, [*chain.from_iterable(value for value in values if isinstance(value, list))]])
    return None


def _is_odd(known: Collection[str], name: str) -> bool:
    return _SIGNS.fullmatch(name) is None or resembling(name.lower().replace("_", ""), known) is not None


def _odd_among(shapes: Sequence[frozenset[str]]) -> str | None:
    """A name that is in one of the sets in place of one that is in all others, all else being equal.

    The sets are in ascending order of how often they are there.
    """
    for shape in shapes if len(shapes) > 1 else ():
        others = [other for other in shapes if other != shape]
        for name in shape.difference(*others):
            known = resembling(name, filter(_LETTERS.fullmatch, frozenset.intersection(*others) - shape))
            if known is not None and shape - {name} | {known} in others:
                return name
    return None


def resembling(name: str, names: Iterable[str]) -> str | None:
    """The first of the names that differs from a name in one sign; None without any."""
    for known in names:
        if len(known) == len(name) and sum(map(str.__ne__, known, name)) == 1:
            return known
    return None
