"""Hash many keys: one loop over two buffers a hash.

Kernels take the keys' bytes and offsets and fill (keys,) int32. Indices are unsigned, which lets four loads of a byte
become one of a word; a signed index would be looked at for being negative first.
"""

import numpy as np

from app.core.compiled.arrays import Bytes, Int32Vector, Offsets, UInt32Matrix
from app.core.compiled.loops import compiled, inlined, subroutine

_M = np.uint32(0x5BD1E995)
_SEED = np.uint32(0x9747B28C)
_WORDS_AT_ONCE = 8
_KEYS_AT_ONCE = 64
_FNV_BASIS = np.uint32(0x811C9DC5)
_FNV_PRIME = np.uint32(0x01000193)


@inlined
def _word(data: Bytes, position: int) -> np.uint32:
    """Four bytes from there, the lowest first."""
    at = np.uint64(position)
    low = np.uint32(data[at]) | (np.uint32(data[at + np.uint64(1)]) << np.uint32(8))
    high = (np.uint32(data[at + np.uint64(2)]) << np.uint32(16)) | (np.uint32(data[at + np.uint64(3)]) << np.uint32(24))
    return np.uint32(low | high)


@inlined
def _mixed(hashed: np.uint32, word: np.uint32) -> np.uint32:
    mixed = np.uint32(word * _M)
    mixed = np.uint32(mixed ^ (mixed >> np.uint32(24)))
    return np.uint32(np.uint32(hashed * _M) ^ np.uint32(mixed * _M))


@inlined
def _finished(hashed: np.uint32) -> np.uint32:
    avalanche = np.uint32(hashed ^ (hashed >> np.uint32(13)))
    avalanche = np.uint32(avalanche * _M)
    return np.uint32(avalanche ^ (avalanche >> np.uint32(15)))


@subroutine
def _murmur2_of_one(data: Bytes, start: int, length: int) -> np.uint32:
    hashed = np.uint32(_SEED ^ np.uint32(length))
    words_end = start + (length & ~3)
    position = start
    while position < words_end:
        hashed = _mixed(hashed, _word(data, position))
        position += 4
    remaining = length & 3
    if remaining:
        tail = np.uint32(0)
        for index in range(remaining):
            tail = np.uint32(tail | (np.uint32(data[np.uint64(position + index)]) << np.uint32(8 * index)))
        hashed = np.uint32(np.uint32(hashed ^ tail) * _M)
    return _finished(hashed)


@inlined
def _with_tail(hashed: np.uint32, word: np.uint32, length: np.uint32) -> np.uint32:
    """Take the last incomplete word in, if there is one, and finish."""
    remaining = np.uint32(length & np.uint32(3))
    mask = np.uint32((np.uint32(1) << np.uint32(8 * remaining)) - np.uint32(1))
    # Times one where there is no tail: a product costs less than a guess.
    factor = np.uint32(np.uint32(1) + (np.uint32(0x5BD1E994) if remaining else np.uint32(0)))
    return _finished(np.uint32(np.uint32(hashed ^ np.uint32(word & mask)) * factor))


@subroutine
def _murmur2_of_short(data: Bytes, start: int, length: int) -> np.uint32:
    hashed = np.uint32(_SEED ^ np.uint32(length))
    words = length >> 2
    for word in range(_WORDS_AT_ONCE):
        mixed = _mixed(hashed, _word(data, start + 4 * word))
        hashed = mixed if word < words else hashed
    return _with_tail(hashed, _word(data, start + 4 * words), np.uint32(length))


@compiled
def murmur2(data: Bytes, offsets: Offsets, hashes: Int32Vector) -> None:
    """Kafka's murmur2.

    A key of up to 32 bytes always goes through eight words, of which those past its end are computed and dropped, and
    its last bytes are masked out of a ninth: a processor guesses how often a loop goes round, keys of mixed lengths
    prove it wrong, and each wrong guess costs more than the words.

    So keys of mixed lengths take the same steps, and 64 of them take each step together: their words are laid out side
    by side first, which vector instructions need. Where one of the 64 is longer, or lies so near the end of the buffer
    that nine words from its start are not all there, they go one by one.
    """
    keys = len(hashes)
    readable = len(data) - 4 * (_WORDS_AT_ONCE + 1)
    words = np.empty((_WORDS_AT_ONCE + 1, _KEYS_AT_ONCE), np.uint32)
    lengths = np.empty(_KEYS_AT_ONCE, np.uint32)
    for first in range(0, keys, _KEYS_AT_ONCE):
        lanes = min(_KEYS_AT_ONCE, keys - first)
        longest = 0
        for lane in range(lanes):
            length = int(offsets[first + lane + 1]) - int(offsets[first + lane])
            lengths[lane] = np.uint32(length)
            longest = max(longest, length)
        last_start = int(offsets[first + lanes - 1])
        if lanes == _KEYS_AT_ONCE and longest <= 4 * _WORDS_AT_ONCE and last_start <= readable:
            for lane in range(_KEYS_AT_ONCE):
                start = int(offsets[first + lane])
                for word in range(_WORDS_AT_ONCE):
                    words[word, lane] = _word(data, start + 4 * word)
                words[_WORDS_AT_ONCE, lane] = _word(data, start + int(lengths[lane] & np.uint32(0xFFFFFFFC)))
            for lane in range(_KEYS_AT_ONCE):
                hashed = np.uint32(_SEED ^ lengths[lane])
                whole = np.uint32(lengths[lane] >> np.uint32(2))
                for word in range(_WORDS_AT_ONCE):
                    mixed = _mixed(hashed, words[word, lane])
                    hashed = mixed if np.uint32(word) < whole else hashed
                hashes[first + lane] = np.int32(_with_tail(hashed, words[_WORDS_AT_ONCE, lane], lengths[lane]))
        else:
            for key in range(first, first + lanes):
                start = int(offsets[key])
                length = int(offsets[key + 1]) - start
                is_short = length <= 4 * _WORDS_AT_ONCE and start <= readable
                hashed = _murmur2_of_short(data, start, length) if is_short else _murmur2_of_one(data, start, length)
                hashes[key] = np.int32(hashed)


@compiled
def fnv1a(data: Bytes, offsets: Offsets, hashes: Int32Vector) -> None:
    """FNV-1a of 32 bits."""
    for key in range(len(hashes)):
        hashed = _FNV_BASIS
        for position in range(offsets[key], offsets[key + 1]):
            hashed = np.uint32(np.uint32(hashed ^ np.uint32(data[np.uint64(position)])) * _FNV_PRIME)
        hashes[key] = np.int32(hashed)


@compiled
def crc32(data: Bytes, offsets: Offsets, table: UInt32Matrix, hashes: Int32Vector) -> None:
    """CRC-32 as zlib's; `table` is (4, 256): the remainder of a byte followed by 0, 1, 2, 3 zero bytes."""
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


@inlined
def _product(factor: np.uint32) -> np.uint32:
    """A JavaScript product's low 32 bits, as the next exclusive-or takes them: a double keeps the highest 53 only."""
    return np.uint32(np.int64(np.float64(np.int32(factor)) * np.float64(0x5BD1E995)))


@compiled
def kafkajs_murmur2(data: Bytes, offsets: Offsets, hashes: Int32Vector) -> None:
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
        remaining = length & 3
        if remaining:
            for index in range(remaining):
                at = np.uint64(start + (length & ~3) + index)
                hashed = np.uint32(hashed ^ (np.uint32(data[at]) << np.uint32(8 * index)))
            hashed = _product(hashed)
        hashed = np.uint32(hashed ^ (hashed >> np.uint32(13)))
        hashed = _product(hashed)
        hashes[key] = np.int32(np.uint32(hashed ^ (hashed >> np.uint32(15))))
