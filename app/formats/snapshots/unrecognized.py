"""What texts that describe no cluster look like, and what to run or to call instead."""

import re
from collections.abc import Sequence
from importlib.resources import files

from app.formats.syntax.lines import says_something, shown

EXPECTED = (
    "what kafka-topics --describe, kafka-broker-api-versions, kafka-log-dirs --describe or "
    "kafka-consumer-groups --describe prints"
)
_FIRST_LINES = 4
_KINDS = files("app.formats.snapshots").joinpath("unrecognized.txt").read_text(encoding="utf-8")
"""What a text looks like and what to do then, `<-`, the patterns of its line. The first two may be in a log."""
_ENTRIES = [entry.split(" <-", 1) for entry in re.split(r"\n(?! )", _KINDS.strip())]
_LOOKS_LIKE = {
    words: re.compile("|".join(map(str.strip, patterns.strip().split("\n")))) for words, patterns in _ENTRIES
}
_FAILED = dict(list(_LOOKS_LIKE.items())[:2])


def first_hint(text: str) -> tuple[int, str]:
    """The line of a text, from 1, that says what it looks like, and the line with that; else its first line."""
    lines = text.strip().split("\n", 50)
    hints = [_hint(lines[at:]) for at in range(len(lines))]
    order = sorted(range(len(lines)), key=lambda at: not says_something(lines[at]))
    at = next((at for at in order if hints[at]), 0)
    return text[: len(text) - len(text.lstrip())].count("\n") + at + 1, shown(lines[at].rstrip()) + hints[at]


def _hint(lines: Sequence[str]) -> str:
    """What a text looks like by its first lines, and what to do then, as the end of a sentence; empty if unknown.

    JSON may have its first key on a line of its own.
    """
    marks = _LOOKS_LIKE if says_something(lines[0]) else _FAILED
    first = " ".join([line.strip() for line in lines[:_FIRST_LINES]]) if lines[0].startswith("{") else lines[0]
    return next((f"; this looks like {words}" for words, mark in marks.items() if mark.match(first[:1000])), "")
