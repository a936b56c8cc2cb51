"""What a misspelt name was meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches

_LEAST_SIMILARITY = 0.7
_MOST_CHARACTERS = 100


def suggestion(name: str, known: Iterable[str]) -> str:
    """The known name that is most like this one, as the end of a message: `; did you mean 'topics'?`; else empty."""
    # The comparison takes time in proportion to the product of the lengths.
    if len(name) > _MOST_CHARACTERS:
        return ""
    by_lower = {one.lower(): one for one in known}
    closest = get_close_matches(name.lower(), by_lower, n=1, cutoff=_LEAST_SIMILARITY)
    return f"; did you mean {by_lower[closest[0]]!r}?" if closest else ""
