"""The hashes: as their definitions say, key by key, and as the clients' own code answered."""

import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.keys.hashes import crc32, fnv1a, kafkajs_murmur2, murmur2
from app.core.keys.model import Keys, Offsets, keys_of

MASK = 0xFFFFFFFF
keys = st.lists(st.binary(max_size=90), max_size=40)


def murmur2_of(key: bytes) -> int:
    """murmur2 by its definition, unsigned: words, the rest, the avalanche."""
    m = 0x5BD1E995
    hashed = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        word = int.from_bytes(key[at : at + 4], "little") * m & MASK
        word = (word ^ word >> 24) * m & MASK
        hashed = (hashed * m & MASK) ^ word
    if key[whole:]:
        hashed = (hashed ^ int.from_bytes(key[whole:], "little")) * m & MASK
    hashed = (hashed ^ hashed >> 13) * m & MASK
    return hashed ^ hashed >> 15


def fnv1a_of(key: bytes) -> int:
    hashed = 0x811C9DC5
    for byte in key:
        hashed = (hashed ^ byte) * 0x01000193 & MASK
    return hashed


def unsigned(hashes: np.ndarray) -> list[int]:
    """A hash's bits as C, Go and Ruby see them."""
    assert hashes.dtype == np.int32
    seen: list[int] = hashes.view(np.uint32).tolist()
    return seen


@given(keys)
@example([b"x" * length for length in range(80)])
def test_hashes_of_many_keys_are_those_of_each(values: list[bytes]) -> None:
    """One buffer for all: no key's hash depends on the bytes before or behind it, nor on where the buffer ends."""
    many = keys_of(values)
    assert unsigned(murmur2(many)) == [murmur2_of(value) for value in values]
    assert unsigned(fnv1a(many)) == [fnv1a_of(value) for value in values]
    assert unsigned(crc32(many)) == [zlib.crc32(value) for value in values]
    alone = [keys_of([value]) for value in values]
    assert kafkajs_murmur2(many).tolist() == [kafkajs_murmur2(one).item() for one in alone]


@given(st.lists(st.binary(max_size=32), min_size=1, max_size=12), st.integers(60, 300), st.integers(0, 300))
def test_keys_hashed_together_are_hashed_as_each_alone(values: list[bytes], count: int, longer_at: int) -> None:
    """64 short keys take each step together, the last ones and those beside a longer key go one by one."""
    many = (values * count)[:count]
    assert unsigned(murmur2(keys_of(many))) == [murmur2_of(value) for value in many]
    many.insert(longer_at, b"longer than eight words, all of them")
    assert unsigned(murmur2(keys_of(many))) == [murmur2_of(value) for value in many]


@pytest.mark.parametrize("array", [pa.array(["21", "foobar", "", None, "abc"]), pa.array([b"21", b"foobar"])])
def test_arrow_buffers_are_hashed_where_they_lie(array: pa.Array) -> None:
    """A sliced array's offsets start past 0; nothing is copied but the offsets' view."""
    for some, wide in ((array, False), (array.slice(1), False), (array.cast(pa.large_binary()), True)):
        _, offsets, data = some.buffers()
        entries = slice(some.offset, some.offset + len(some) + 1)
        starts: Offsets = (
            np.frombuffer(offsets, np.int64)[entries] if wide else np.frombuffer(offsets, np.int32)[entries]
        )
        many = Keys(np.frombuffer(data, np.uint8), starts)
        assert np.shares_memory(many.data, np.frombuffer(data, np.uint8))
        assert unsigned(murmur2(many)) == [murmur2_of(value or b"") for value in some.cast(pa.binary()).to_pylist()]


def test_worked_examples() -> None:
    """The Java client's results for the keys of its own test."""
    values = [b"21", b"foobar", b"a-little-bit-long-string", b"abc", b""]
    assert murmur2(keys_of(values)).tolist() == [-973932308, -790332482, -985981536, 479470107, 275646681]


def test_fnv1a_of_go() -> None:
    """Go's hash/fnv; and the key that once made Sarama's partition negative, whose hash has only the sign bit."""
    assert unsigned(fnv1a(keys_of([b"", b"a", b"foobar"]))) == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]
    assert fnv1a(keys_of([b"1468509572224"])).tolist() == [-(2**31)]


def test_kafkajs_before_2_is_not_kafkas() -> None:
    """KafkaJS issue 357: one key, two hashes; doubles lose the low bits of a product."""
    key = keys_of([b"100:48069"])
    assert kafkajs_murmur2(key).tolist() == [1713501762]
    assert murmur2(key).tolist() == [1009543857]
    numbers = [b"0", b"1", b"2187", b"78125", b"10000000", b"105413504"]
    answered = [272173970, 1311020360, -2081355488, -677491393, -1778616326, -109398538]
    assert kafkajs_murmur2(keys_of(numbers)).tolist() == answered
