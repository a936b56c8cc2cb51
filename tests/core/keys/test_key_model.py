"""Keys as buffers, and the output of Java's serialisers."""

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.keys.model import Keys, keys_of
from tests.core.keys.serializers import int32_keys, int64_keys, string_keys, uuid_keys

DATA = np.frombuffer(b"abcdef", np.uint8)


@given(st.lists(st.none() | st.binary(max_size=9), max_size=20))
def test_keys_given_one_by_one_come_back(values: list[bytes | None]) -> None:
    keys = keys_of(values)
    assert [keys[index] for index in range(len(keys))] == values
    assert keys.lengths.tolist() == [len(value or b"") for value in values]


@pytest.mark.parametrize(
    ("offsets", "is_null"),
    [
        ([0, 7], None),
        ([-1, 3], None),
        ([0, 3, 2], None),
        ([], None),
        ([0, 3, 6], [True]),
    ],
)
def test_offsets_that_point_elsewhere_are_rejected(offsets: list[int], is_null: list[bool] | None) -> None:
    """The compiled loops read where the offsets say."""
    with pytest.raises(ValueError, match=r"offsets|null flags"):
        Keys(DATA, np.array(offsets, np.int64), None if is_null is None else np.array(is_null))


@pytest.mark.parametrize("data", [DATA.view(np.int8), DATA[::2], DATA.reshape(2, 3)])
def test_bytes_that_do_not_lie_in_a_row_are_rejected(data: np.ndarray) -> None:
    with pytest.raises(ValueError, match="contiguous"):
        Keys(data, np.array([0, 1], np.int32))


def test_offsets_of_another_kind_are_rejected() -> None:
    with pytest.raises(ValueError, match="int32 or int64"):
        Keys(DATA, np.array([0, 1], np.uint8))  # type: ignore[arg-type] # rejected


def test_java_serialisers() -> None:
    """StringSerializer, IntegerSerializer, LongSerializer, UUIDSerializer."""
    strings = string_keys(["é", "", None, "\ud800"])
    assert [strings[index] for index in range(4)] == [b"\xc3\xa9", b"", None, b"?"]
    numbers = int32_keys(np.array([1, -2], np.int32))
    assert [numbers[0], numbers[1]] == [b"\0\0\0\1", b"\xff\xff\xff\xfe"]
    longs = int64_keys(np.array([1, -(2**63)], np.int64))
    assert [longs[0], longs[1]] == [b"\0\0\0\0\0\0\0\1", b"\x80\0\0\0\0\0\0\0"]
    uuids = uuid_keys([UUID(int=10), None])
    assert [uuids[0], uuids[1]] == [b"00000000-0000-0000-0000-00000000000a", None]
