"""32-bit hashes of keys, as clients compute them, for many keys at once.

Every function takes `Keys` and returns (keys,) int32: the hash as Java's `int`. A record without key gets the hash of
the empty key, which `partitioners` replaces.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.core.keys import hashes_kernel as kernel
from app.core.keys.model import Bytes, Keys
from app.core.model import Int32s


def murmur2(keys: Keys) -> Int32s:
    """Kafka's murmur2, seed 0x9747b28c: `Utils.murmur2` of the Java client, and most clients that follow it.

    Some 100 million keys of 16–32 bytes a second and thread. Source: `org.apache.kafka.common.utils.Utils`.
    """
    return _by_block(keys, kernel.murmur2)


def fnv1a(keys: Keys) -> Int32s:
    """FNV-1a of 32 bits: Sarama, goka, and librdkafka's `fnv1a`. Source: Fowler, Noll, Vo; `hash/fnv` of Go."""
    return _by_block(keys, kernel.fnv1a)


def crc32(keys: Keys) -> Int32s:
    """CRC-32 (IEEE 802.3, as zlib's): librdkafka's `consistent`, ruby-kafka. Its partition takes it as unsigned."""
    table = _crc32_table()
    return _by_block(keys, lambda data, offsets, hashes: kernel.crc32(data, offsets, table, hashes))


def kafkajs_murmur2(keys: Keys) -> Int32s:
    """The murmur2 of KafkaJS up to 1.16, today's `LegacyPartitioner`: not Kafka's.

    It multiplies in JavaScript's doubles, which drop low bits of products past 2⁵³, and its loop runs once more over
    the last incomplete word. Source: KafkaJS, issue 357.
    """
    return _by_block(keys, kernel.kafkajs_murmur2)


def _by_block(keys: Keys, loop: Callable[[Bytes, NDArray[np.int64], Int32s], None]) -> Int32s:
    hashes = np.empty(len(keys), np.int32)
    for part, offsets in keys.blocks():
        loop(keys.data, offsets, hashes[part])
    return hashes


def _crc32_table() -> NDArray[np.uint32]:
    """(4, 256): the remainder of each byte, followed by 0 … 3 zero bytes."""
    remainders = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        remainders = (remainders >> np.uint32(1)) ^ (np.uint32(0xEDB88320) * (remainders & np.uint32(1)))
    rows = [remainders]
    for _ in range(3):
        rows.append((rows[-1] >> np.uint32(8)) ^ remainders[rows[-1] & np.uint32(255)])
    return np.array(rows, np.uint32)
