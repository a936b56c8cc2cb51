"""Counts and bytes in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.syntax.quantities import byte_size, counted, known_size

UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]


@pytest.mark.parametrize(
    ("size_bytes", "written"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (12_882_912, "12.3 MiB"), ((1 << 20) - 1, "1.0 MiB")],
)
def test_bytes_are_written_in_their_largest_unit(size_bytes: int, written: str) -> None:
    assert byte_size(size_bytes) == written


@given(st.integers(0, 2**70))
def test_what_is_written_is_what_was_meant_to_a_twentieth(size_bytes: int) -> None:
    number, unit = byte_size(size_bytes).split()
    assert float(number) * 1024 ** UNITS.index(unit) == pytest.approx(size_bytes, rel=0.05)
    assert float(number) < 1024 or unit == UNITS[-1]


def test_an_unknown_size_is_stated() -> None:
    assert known_size(5, replicas=3, unknown=0) == "5 B"
    assert known_size(5, replicas=3, unknown=2) == "≥ 5 B"
    assert known_size(0, replicas=3, unknown=3) == "size unknown"
    assert known_size(0, replicas=0, unknown=0) == "0 B"


def test_one_is_singular() -> None:
    assert (counted(1, "broker"), counted(0, "broker"), counted(1234, "broker")) == (
        "1 broker",
        "0 brokers",
        "1,234 brokers",
    )
