"""The argument of `--replica-assignment`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import padded
from app.formats.kafka_files.reassignment import write_replica_assignment
from tests.formats.readers.replica_assignment import read
from tests.formats.strategies import broken, broker_ids, matrix, reads_or_rejects, rejected


@st.composite
def assignments(draw: st.DrawFn) -> list[list[int]]:
    factor = draw(st.integers(1, 4))
    row = st.lists(broker_ids, min_size=factor, max_size=factor, unique=True)
    return draw(st.lists(row, min_size=1, max_size=8))


@given(assignments())
def test_what_is_written_reads_back(rows: list[list[int]]) -> None:
    found = read(write_replica_assignment(matrix(rows)))
    assert found.tolist() == rows
    assert found.dtype == np.int32


def test_a_worked_example() -> None:
    assert read("1:2,2:3").tolist() == [[1, 2], [2, 3]]
    assert write_replica_assignment(matrix([[101, 105], [104, 109]])) == "101:105,104:109"


def test_blanks_around_numbers_are_trimmed() -> None:
    assert read(" 1 : 2 ,\n 2:\t3\n").tolist() == [[1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("text", "line", "partition", "says"),
    [
        ("", 1, 0, "a broker id"),
        ("1:2,", 1, 1, "a broker id"),
        ("1:,2:3", 1, 0, "a broker id"),
        ("1:2,2:x", 1, 1, "found 'x'"),
        ("1:2,2:-3", 1, 1, "found '-3'"),
        ("1:2,2:2147483648", 1, 1, "a broker id"),
        ("1:2,\n2:2", 2, 1, "broker 2 twice"),
        ("1:2,\n\n2:3,\n4", 4, 2, "2 replicas for partition 2, as partition 0 has, found 1"),
        ("1:2;2:3", 1, 0, "found '2;2'"),
        ("1:1 2", 1, 0, "found '1 2'"),
    ],
)
def test_a_malformed_argument_is_named_by_line_and_partition(text: str, line: int, partition: int, says: str) -> None:
    rejection = rejected(read, text)
    assert rejection.line == line
    assert rejection.context["partition"] == partition
    assert says in rejection.detail


def test_what_the_argument_cannot_say_is_not_written() -> None:
    for rows in (padded([]), padded([[], []]), padded([[1, 2], [3]])):
        with pytest.raises(ValueError, match="same number of replicas"):
            write_replica_assignment(rows)


@given(st.text() | st.text("0123456789:, \n") | broken("1:2,2:3, 4 : 5,\n6:7"))
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)
