"""Numbers as people read them: never better than they are."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.words import counted, number, share, since

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@given(st.integers(0, 5_000_000), st.integers(1, 5_000_000))
def test_a_share_says_all_only_where_it_is_all_and_none_only_where_it_is_none(part: int, extra: int) -> None:
    whole = part + extra
    assert share(part / whole) != "100 %"
    assert (share(part / whole) == "0 %") == (part == 0)
    assert share(1.0) == "100 %"


@given(st.integers(1, 999))
def test_tenths_of_a_per_cent_survive_the_float(tenths: int) -> None:
    """The measures compute 1 - crowded / partitions, which is seldom the nearest float of the share."""
    assert share(1 - (1000 - tenths) / 1000) == f"{tenths / 10:.1f} %"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (8 / 9, "88.9 %"),
        (2 / 3, "66.7 %"),
        (0.9999, "99.9 %"),
        (1e-9, "0.1 %"),
        (0.5, "50.0 %"),
        (1.2, "120.0 %"),
        (12.5, "1,250.0 %"),
    ],
)
def test_shares_are_rounded(value: float, words: str) -> None:
    assert share(value) == words


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(hours=2, minutes=59), "2 hours ago"),
        (timedelta(days=40), "40 days ago"),
    ],
)
def test_a_moment_is_in_its_largest_unit(ago: timedelta, words: str) -> None:
    assert since(NOW - ago, NOW) == words


def test_numbers_have_thousands_and_nouns_their_plural() -> None:
    assert [number(1_000_000), number(5.0), number(16 / 3)] == ["1,000,000", "5", "5.3"]
    assert [counted(1, "rack"), counted(0, "rack"), counted(1200, "rack")] == ["1 rack", "0 racks", "1,200 racks"]
