"""Strategies of the tests of formats: names, ids, replica lists, real captures and broken copies of them."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import strategies as st

from app.core.model import INT32_MAX, Int32s, Placement, padded
from app.errors.requests import MalformedText
from app.formats.snapshots.assembly import Assembled, assemble
from app.formats.snapshots.pasted import Upload

Source = TypeVar("Source", str, bytes)
SAMPLES = Path(__file__).parents[1] / "samples"

topic_names = st.from_regex(r"[a-zA-Z0-9._-]{1,20}", fullmatch=True).filter(lambda name: name not in (".", ".."))
# Of all zeros is the id that Kafka has for none.
topic_ids = st.from_regex(r"[A-Za-z0-9_-]{21}[AQgw]", fullmatch=True).filter(lambda topic_id: topic_id.strip("A") != "")
broker_ids = st.one_of(st.integers(0, 300), st.integers(0, INT32_MAX))
replica_lists = st.lists(broker_ids, min_size=1, max_size=5, unique=True).map(tuple)
# Parts of one line that are neither cut off at its ends nor taken for something else.
line_texts = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x24F, exclude_categories=["C", "Z"]), max_size=12)


@st.composite
def placements(draw: st.DrawFn) -> list[Placement]:
    """Some topics' placements; rows may be of unequal length."""
    topics = draw(st.lists(topic_names, unique=True, max_size=4))
    return [
        Placement(topic, draw(st.integers(0, 1000)), padded(draw(st.lists(replica_lists, max_size=6))))
        for topic in topics
    ]


def sample(name: str) -> str:
    """A real capture's text."""
    return (SAMPLES / name).read_text(encoding="utf-8")


def assembled(name: str, **texts: str) -> Assembled:
    """The cluster of texts that are given under the names of the parts of a form."""
    return assemble(name, [Upload(text, part, part) for part, text in texts.items()])


@st.composite
def broken(draw: st.DrawFn, text: str) -> str:
    """A text with some of it cut off, cut out, repeated, overwritten or inserted."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.one_of(st.integers(start, min(len(text), start + 40)), st.just(len(text))))
        filling = draw(
            st.one_of(st.just(""), st.text(max_size=8), st.sampled_from(LIKELY), st.just(text[start:end] * 2))
        )
        text = text[:start] + filling + text[end:]
    return text


LIKELY = [
    "\t",
    "\n",
    "\r\n",
    " ",
    ":",
    ",",
    "-1",
    "9" * 30,
    "9" * 5000,
    "null",
    "[]",
    "{}",
    "true",
    "1.5",
    '"',
    "none",
    "é",
    "\0",
]


def rejection_of(read: Callable[[Source], object], source: Source) -> MalformedText | None:
    """How a reader rejects a text or bytes, or None where it reads them; any other failure passes through."""
    try:
        read(source)
    except MalformedText as rejection:
        return rejection
    return None


def reads_or_rejects(read: Callable[[str], object], text: str) -> None:
    """The law of every reader: it reads, or raises `MalformedText` with a line of the text and the expected content."""
    rejection = rejection_of(read, text)
    if rejection is not None:
        assert rejection.line is not None
        assert 1 <= rejection.line <= text.count("\n") + 1
        assert rejection.expected
        assert rejection.expected in rejection.detail


def rejected(read: Callable[[str], object], text: str) -> MalformedText:
    """The rejection of a text that must be rejected."""
    with pytest.raises(MalformedText) as caught:
        read(text)
    return caught.value


def matrix(rows: list[list[int]]) -> Int32s:
    """Rows of one length as an array."""
    return np.array(rows, dtype=np.int32)
