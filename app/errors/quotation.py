r"""How messages repeat text from outside: shortened to a stated length, and without characters that act on a terminal.

Control characters, line and paragraph separators, bidirectional controls and everything else that is not printable are
written as the escapes of a Python string (`\x1b`, `\u202e`), so that a message cannot forge a second line of a log,
move a cursor or reverse the text after it.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from app.errors.failure import Failure, Json

QUOTED_CHARACTERS = 200
"""Limit of the characters of one text from outside that a message quotes."""
DETAIL_CHARACTERS = 2_000
"""Limit of the characters of a whole message."""
CONTEXT_CHARACTERS = 1_000
"""Limit of the characters of a text in the context of a failure: every name that Kafka allows is whole."""
CONTEXT_ITEMS = 1_000
"""Limit of the items of a list of texts in the context of a failure."""


def escaped(text: str, *, keep: str = "") -> str:
    """The text with every character that is not printable written as an escape, except characters of `keep`."""
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text])


def quoted(text: str, limit: int = QUOTED_CHARACTERS) -> str:
    """The text escaped and cut to `limit` characters, the last of which is `…` if any is left out."""
    # An escape is longer than its character: the cut rest need not be escaped.
    written = escaped(text[: limit + 1])
    return written if len(written) <= limit else written[: limit - 1] + "…"


def bounded(value: Json) -> Json:
    """A context with its texts and lists of texts cut to their limits; numbers and shapes stay as they are."""
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, Mapping):
        return {_cut(name): bounded(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        has_text = any(isinstance(item, str) for item in value)
        return [bounded(item) for item in (value[:CONTEXT_ITEMS] if has_text else value)]
    return value


def detail_of(failure: Failure) -> str:
    """The detail of a failure as it leaves the service: escaped, and cut to `DETAIL_CHARACTERS`."""
    return quoted(failure.detail, DETAIL_CHARACTERS)


def document_of(failure: Failure) -> dict[str, Json]:
    """A failure as a JSON object: its bounded context, `code` and `detail`."""
    context = {name: bounded(value) for name, value in failure.context.items()}
    return {**context, "code": failure.code, "detail": detail_of(failure)}


def _cut(text: str) -> str:
    return text if len(text) <= CONTEXT_CHARACTERS else text[: CONTEXT_CHARACTERS - 1] + "…"


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
