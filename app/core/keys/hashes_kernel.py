"""Hash many keys: one loop over two buffers a hash.

Kernels take the keys' bytes and offsets and fill (keys,) int32. Indices are unsigned, which lets four loads of a byte
become one of a word; a signed index would be looked at for being negative first.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.keys.model import Bytes, Offsets
from app.core.model import Int32s

_M = np.uint32(0x5BD1E995)
_SEED = np.uint32(0x9747B28C)
_WORDS_AT_ONCE = 8
_FNV_BASIS = np.uint32(0x811C9DC5)
_FNV_PRIME = np.uint32(0x01000193)


@njit(nogil=True, inline="always")
def _word(data: Bytes, position: int) -> np.uint32:
    """Four bytes from there, the lowest first."""
    at = np.uint64(position)
    low = np.uint32(data[at]) | (np.uint32(data[at + np.uint64(1)]) << np.uint32(8))
    high = (np.uint32(data[at + np.uint64(2)]) << np.uint32(16)) | (np.uint32(data[at + np.uint64(3)]) << np.uint32(24))
    return np.uint32(low | high)


@njit(nogil=True, inline="always")
def _mixed(hashed: np.uint32, word: np.uint32) -> np.uint32:
    mixed = np.uint32(word * _M)
    mixed = np.uint32(mixed ^ (mixed >> np.uint32(24)))
    return np.uint32(np.uint32(hashed * _M) ^ np.uint32(mixed * _M))


@njit(nogil=True, inline="always")
def _finished(hashed: np.uint32) -> np.uint32:
    avalanche = np.uint32(hashed ^ (hashed >> np.uint32(13)))
    avalanche = np.uint32(avalanche * _M)
    return np.uint32(avalanche ^ (avalanche >> np.uint32(15)))


@njit(cache=True, nogil=True)
def _murmur2_of_one(data: Bytes, start: int, length: int) -> np.uint32:
    hashed = np.uint32(_SEED ^ np.uint32(length))
    words_end = start + (length & ~3)
    position = start
    while position < words_end:
        hashed = _mixed(hashed, _word(data, position))
        position += 4
    left = length & 3
    if left:
        tail = np.uint32(0)
        for index in range(left):
            tail = np.uint32(tail | (np.uint32(data[np.uint64(position + index)]) << np.uint32(8 * index)))
        hashed = np.uint32(np.uint32(hashed ^ tail) * _M)
    return _finished(hashed)


@njit(cache=True, nogil=True)
def murmur2(data: Bytes, offsets: Offsets, hashes: Int32s) -> None:
    """Kafka's murmur2.

    A key of up to 32 bytes always goes through eight words, of which those past its end are computed and dropped, and
    its last bytes are masked out of a ninth: a processor guesses how often a loop goes round, keys of mixed lengths
    prove it wrong, and each wrong guess costs more than the words.
    """
    readable = len(data) - 4 * (_WORDS_AT_ONCE + 1)
    for key in range(len(hashes)):
        start = int(offsets[key])
        length = int(offsets[key + 1]) - start
        if length <= 4 * _WORDS_AT_ONCE and start <= readable:
            hashed = np.uint32(_SEED ^ np.uint32(length))
            words = length >> 2
            for word in range(_WORDS_AT_ONCE):
                mixed = _mixed(hashed, _word(data, start + 4 * word))
                hashed = mixed if word < words else hashed
            left = length & 3
            mask = np.uint32((np.uint32(1) << np.uint32(8 * left)) - np.uint32(1))
            tail = np.uint32(_word(data, start + 4 * words) & mask)
            # Times one where there is no tail: a product costs less than a guess.
            factor = np.uint32(np.uint32(1) + (np.uint32(0x5BD1E994) if left else np.uint32(0)))
            hashes[key] = np.int32(_finished(np.uint32(np.uint32(hashed ^ tail) * factor)))
        else:
            hashes[key] = np.int32(_murmur2_of_one(data, start, length))


@njit(cache=True, nogil=True)
def fnv1a(data: Bytes, offsets: Offsets, hashes: Int32s) -> None:
    """FNV-1a of 32 bits."""
    for key in range(len(hashes)):
        hashed = _FNV_BASIS
        for position in range(offsets[key], offsets[key + 1]):
            hashed = np.uint32(np.uint32(hashed ^ np.uint32(data[np.uint64(position)])) * _FNV_PRIME)
        hashes[key] = np.int32(hashed)


@njit(cache=True, nogil=True)
def crc32(data: Bytes, offsets: Offsets, table: NDArray[np.uint32], hashes: Int32s) -> None:
    """CRC-32 as zlib's; `table` is (4, 256): what a byte followed by 0, 1, 2, 3 zero bytes leaves."""
    for key in range(len(hashes)):
        position, end = int(offsets[key]), int(offsets[key + 1])
        state = np.uint32(0xFFFFFFFF)
        while position + 4 <= end:
            state = np.uint32(state ^ _word(data, position))
            first = np.uint32(table[3, state & np.uint32(255)] ^ table[2, (state >> np.uint32(8)) & np.uint32(255)])
            second = np.uint32(table[1, (state >> np.uint32(16)) & np.uint32(255)] ^ table[0, state >> np.uint32(24)])
            state = np.uint32(first ^ second)
            position += 4
        while position < end:
            state = np.uint32(
                table[0, (state ^ np.uint32(data[np.uint64(position)])) & np.uint32(255)] ^ (state >> np.uint32(8))
            )
            position += 1
        hashes[key] = np.int32(np.uint32(state ^ np.uint32(0xFFFFFFFF)))


@njit(nogil=True, inline="always")
def _product(factor: np.uint32) -> np.uint32:
    """A JavaScript product's low 32 bits, as the next exclusive-or takes them: a double keeps the highest 53 only."""
    return np.uint32(np.int64(np.float64(np.int32(factor)) * np.float64(0x5BD1E995)))


@njit(cache=True, nogil=True)
def kafkajs_murmur2(data: Bytes, offsets: Offsets, hashes: Int32s) -> None:
    """murmur2 as KafkaJS computed it before its version 2: in doubles, and with the last bytes read twice."""
    for key in range(len(hashes)):
        start = int(offsets[key])
        length = int(offsets[key + 1]) - start
        hashed = np.uint32(_SEED ^ np.uint32(length))
        position = 0
        while position < length:  # one round more than there are whole words, its missing bytes 0
            word = np.uint32(0)
            for index in range(min(4, length - position)):
                word = np.uint32(word | (np.uint32(data[np.uint64(start + position + index)]) << np.uint32(8 * index)))
            word = _product(word)
            word = np.uint32(word ^ (word >> np.uint32(24)))
            hashed = np.uint32(_product(hashed) ^ _product(word))
            position += 4
        left = length & 3
        if left:
            for index in range(left):
                at = np.uint64(start + (length & ~3) + index)
                hashed = np.uint32(hashed ^ (np.uint32(data[at]) << np.uint32(8 * index)))
            hashed = _product(hashed)
        hashed = np.uint32(hashed ^ (hashed >> np.uint32(13)))
        hashed = _product(hashed)
        hashes[key] = np.int32(np.uint32(hashed ^ (hashed >> np.uint32(15))))
