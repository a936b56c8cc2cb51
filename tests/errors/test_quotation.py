"""Text from outside in a message is bounded, printable and still recognisable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Failure
from app.errors.quotation import (
    CONTEXT_CHARACTERS,
    CONTEXT_ITEMS,
    DETAIL_CHARACTERS,
    bounded,
    detail_of,
    document_of,
    escaped,
    quoted,
)
from app.errors.requests import MalformedText
from tests.profiles import costly

texts = st.text(st.characters(exclude_categories=()))


@given(texts, st.integers(2, 300))
def test_a_quotation_is_printable_and_no_longer_than_its_limit(text: str, limit: int) -> None:
    shown = quoted(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    assert shown.encode().decode() == shown


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=200))
def test_a_short_printable_text_is_quoted_as_it_is(text: str) -> None:
    assert quoted(text) == escaped(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31m", r"\x9b31m"),
        ("file\u202etxt.exe", r"file\u202etxt.exe"),
        ("a\u2028b", r"a\u2028b"),
        ("\ud800", r"\ud800"),
        ("größe → 1 µs", "größe → 1 µs"),
    ],
)
def test_what_acts_on_a_terminal_is_written_as_an_escape(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_line_end_may_remain() -> None:
    assert escaped("a\nb\x1b", keep="\n") == "a\nb\\x1b"


@costly()
@given(st.recursive(texts | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_a_context_of_short_texts_stays_as_it_is(context: object) -> None:
    assert bounded(context) == context  # type: ignore[arg-type] # JSON, as the strategy makes it


def test_a_context_is_cut_where_it_repeats_much() -> None:
    cut = bounded({"x" * 5_000: ["y" * 5_000] * 5_000, "brokers": list(range(5_000))})
    assert isinstance(cut, dict)
    (name, names), (_, brokers) = cut.items()
    assert len(name) == CONTEXT_CHARACTERS
    assert len(names) == CONTEXT_ITEMS
    assert {len(item) for item in names} == {CONTEXT_CHARACTERS}
    assert len(brokers) == 5_000, "numbers are no text"


def test_a_failure_leaves_the_service_bounded() -> None:
    failure: Failure = MalformedText("\x1b[2J" + "x" * 10_000, line=7, value="y" * 10_000)
    document = document_of(failure)
    assert document["code"] == "malformed_text"
    assert document["line"] == 7
    assert len(str(document["value"])) == CONTEXT_CHARACTERS
    assert document["detail"] == detail_of(failure)
    assert len(detail_of(failure)) == DETAIL_CHARACTERS
    assert detail_of(failure).startswith(r"line 7: \x1b[2Jxxx")
