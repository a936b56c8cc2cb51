"""XXH3, the 64-bit hash of the xxHash family with seed 0.

Short inputs (up to 240 bytes) are mixed in whole; of longer ones, eight lanes accumulate stripes of 64 bytes, and are
scrambled after each block of 1,024. What a stripe adds to the lanes does not depend on the lanes, so that all stripes
of all blocks are computed at once here, and only the scrambling is sequential.

Source: the specification of XXH3 in the documentation of xxHash (`doc/xxhash_spec.md`).
"""

import struct

import numpy as np
from numpy.typing import NDArray

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_MASK = 2**64 - 1
_P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_MIX_1, _MIX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_LANES = (_P32[2], *_P64[:4], _P32[1], _P64[4], _P32[0])
_STRIPE, _BLOCK = 64, 1024
_SWAPPED = [1, 0, 3, 2, 5, 4, 7, 6]


def xxh3_64(data: bytes) -> int:
    """The hash of the bytes: 0 … 2⁶⁴ − 1. O(bytes).

    Examples
    --------
    >>> hex(xxh3_64(b""))
    '0x2d06800538d394c2'
    """
    length = len(data)
    if length <= 16:
        return _up_to_16(data)
    if length <= 128:
        return _up_to_128(data)
    if length <= 240:
        return _up_to_240(data)
    return _long(data)


def _up_to_16(data: bytes) -> int:
    length = len(data)
    if length > 8:
        low = _u64(data, 0) ^ _u64(_SECRET, 24) ^ _u64(_SECRET, 32)
        high = _u64(data, length - 8) ^ _u64(_SECRET, 40) ^ _u64(_SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(length + swapped + high + _folded(low, high))
    if length >= 4:
        keyed = (_u32(data, length - 4) + (_u32(data, 0) << 32)) ^ _u64(_SECRET, 8) ^ _u64(_SECRET, 16)
        keyed ^= _rotated(keyed, 49) ^ _rotated(keyed, 24)
        keyed = keyed * _MIX_2 & _MASK
        keyed = (keyed ^ ((keyed >> 35) + length)) * _MIX_2 & _MASK
        return keyed ^ (keyed >> 28)
    if length:
        combined = data[0] << 16 | data[length >> 1] << 24 | data[-1] | length << 8
        return _avalanche_64(combined ^ _u32(_SECRET, 0) ^ _u32(_SECRET, 4))
    return _avalanche_64(_u64(_SECRET, 56) ^ _u64(_SECRET, 64))


def _up_to_128(data: bytes) -> int:
    length = len(data)
    total = length * _P64[0]
    for index in range((length - 1) // 32 + 1):
        total += _mixed(data, 16 * index, 32 * index) + _mixed(data, length - 16 * (index + 1), 32 * index + 16)
    return _avalanche(total)


def _up_to_240(data: bytes) -> int:
    length = len(data)
    total = _avalanche(length * _P64[0] + sum(_mixed(data, 16 * index, 16 * index) for index in range(8)))
    total += sum(_mixed(data, 16 * index, 16 * (index - 8) + 3) for index in range(8, length // 16))
    return _avalanche(total + _mixed(data, length - 16, 136 - 17))


def _long(data: bytes) -> int:
    length = len(data)
    n_blocks = (length - 1) // _BLOCK
    n_stripes = (length - 1 - n_blocks * _BLOCK) // _STRIPE
    keys = np.stack([_words(_SECRET, 8 * stripe, 8) for stripe in range(_BLOCK // _STRIPE)])
    blocks = _words(data, 0, n_blocks * _BLOCK // 8).reshape(n_blocks, _BLOCK // _STRIPE, 8)
    last_block = _words(data, n_blocks * _BLOCK, n_stripes * 8).reshape(n_stripes, 8)
    last_stripe = _words(data, length - _STRIPE, 8)[None]
    lanes = np.array(_LANES, np.uint64)
    scramble = _words(_SECRET, 128, 8)
    for added in _added(blocks, keys):
        lanes += added
        lanes ^= lanes >> np.uint64(47)
        lanes ^= scramble
        lanes *= np.uint64(_P32[0])
    lanes += _added(last_block[None], keys[:n_stripes])[0]
    lanes += _added(last_stripe[None], _words(_SECRET, 121, 8)[None])[0]
    merged: list[int] = lanes.tolist()
    total = length * _P64[0]
    for lane in range(0, 8, 2):
        low, high = merged[lane] ^ _u64(_SECRET, 11 + 8 * lane), merged[lane + 1] ^ _u64(_SECRET, 19 + 8 * lane)
        total += _folded(low, high)
    return _avalanche(total)


def _added(blocks: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """What the stripes of each block add to the lanes: (blocks, 8) of (blocks, stripes, 8) words."""
    keyed = blocks ^ keys
    products = (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> np.uint64(32))
    sums: NDArray[np.uint64] = (products + blocks[:, :, _SWAPPED]).sum(axis=1, dtype=np.uint64)
    return sums


def _words(data: bytes, start: int, count: int) -> NDArray[np.uint64]:
    return np.frombuffer(data, "<u8", count, start).astype(np.uint64)


def _mixed(data: bytes, start: int, secret: int) -> int:
    """16 bytes, keyed and folded."""
    low, high = struct.unpack_from("<2Q", data, start)
    low_key, high_key = struct.unpack_from("<2Q", _SECRET, secret)
    return _folded(low ^ low_key, high ^ high_key)


def _folded(left: int, right: int) -> int:
    """The halves of the 128-bit product, combined by exclusive or."""
    product = left * right
    return (product & _MASK) ^ (product >> 64)


def _avalanche(value: int) -> int:
    value &= _MASK
    value = (value ^ (value >> 37)) * _MIX_1 & _MASK
    return value ^ (value >> 32)


def _avalanche_64(value: int) -> int:
    """The last step of the older XXH64."""
    value = (value ^ (value >> 33)) * _P64[1] & _MASK
    value = (value ^ (value >> 29)) * _P64[2] & _MASK
    return value ^ (value >> 32)


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _u64(data: bytes, start: int) -> int:
    return int.from_bytes(data[start : start + 8], "little")


def _u32(data: bytes, start: int) -> int:
    return int.from_bytes(data[start : start + 4], "little")
