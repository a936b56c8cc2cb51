"""JSON without repeated members: of `{"a": 1, "a": 2}` parsers take the last `a` silently, which hides a mistake.

`loads` rejects one. Faster parsers do not report it, so that parsed members are counted: every member of a text
has a `":`, and a repeated one is in the text once more than among the parsed members. If the numbers differ for any
reason, as if blanks are before the colons, the text is parsed again by `loads`.
"""

import json
import re
from collections import Counter
from typing import Any

import orjson

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]:]', re.DOTALL)
NOWHERE = -1
"""The position of a `RepeatedMember`: the parser states none."""


class RepeatedMember(json.JSONDecodeError):
    """An object has a member twice."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the member {json.dumps(name)[:251]} comes twice in one object", "", NOWHERE)


def loads(text: str | bytes) -> Any:
    """The value of a JSON text. Raises `json.JSONDecodeError`, of a repeated member `RepeatedMember`."""
    return json.loads(text, object_pairs_hook=_unique)


def require_unique(text: str | bytes, members: int) -> None:
    """Raise `RepeatedMember` if a text repeats a member. `members` is the number that its parser has kept."""
    if (text.count('":') if isinstance(text, str) else text.count(b'":')) == members:
        return
    try:
        loads(text)
    except RepeatedMember:
        raise
    except (ValueError, RecursionError):
        pass  # the fast parser takes more: a deeper document, a longer number


def position_of_repeated(text: str) -> int:
    """Offset at which the first repeated member of an object recurs, in a JSON text that has one."""
    objects: list[set[str]] = []
    last: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        if token[0] in "{[":
            objects.append(set())
        elif token[0] in "}]":
            objects.pop()
        elif token[0] == ":" and last is not None:
            name = json.loads(last[0])
            if name in objects[-1]:
                return last.start()
            objects[-1].add(name)
        last = token
    return 0


def members_of(value: object) -> int:
    """The number of members of all objects in a parsed value; −1 if it is too deep to be written."""
    try:
        return orjson.dumps(value).count(b'":')
    except TypeError:
        return -1


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise RepeatedMember(next(name for name, count in counts.items() if count > 1))
    return members
