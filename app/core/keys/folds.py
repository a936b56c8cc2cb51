"""From a 32-bit hash to a partition: where clients that share a hash still differ.

A hash is Java's signed `int`. A remainder takes the sign of what is divided, as in C, Go and Java; so every client
first does something about negative hashes, and not the same:

    to_positive, then %      Java since 0.8.2, librdkafka's murmur2      h & 0x7fffffff
    abs, then %              0.8's way, and many a partitioner since     |h|, but −2³¹ stays negative
    %, then abs              Sarama, kafka-go, librdkafka's fnv1a        the same without that exception
    unsigned %               librdkafka's crc32, ruby-kafka              h + 2³² where negative

The first two agree on no negative hash but by chance: −5 becomes 2147483643 here and 5 there.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s


def to_positive(hashes: Int32s) -> Int32s:
    """The hash without its sign bit: 0 … 2³¹ − 1."""
    positive: Int32s = hashes & np.int32(0x7FFFFFFF)
    return positive


def java_abs(hashes: Int32s) -> Int32s:
    """`Math.abs` of an `int`: −2³¹ has no positive counterpart and stays what it is."""
    absolute: Int32s = np.abs(hashes)
    return absolute


def of_positive(hashes: Int32s, partitions: int) -> Int32s:
    """`to_positive(h) % partitions`: 0 … partitions − 1."""
    return _remainders(to_positive(hashes).view(np.uint32), partitions)


def of_abs(hashes: Int32s, partitions: int) -> Int32s:
    """`abs(h) % partitions`.

    For the one hash −2³¹ it is −(2³¹ mod partitions): below 0 unless `partitions` is a power of two. A client refuses
    to send such a record. (The helper that Kafka itself had in its later 0.8 answered 0 for −2³¹.)
    """
    remainders: Int32s = np.fmod(java_abs(hashes), np.int32(partitions))
    return remainders


def abs_of_remainder(hashes: Int32s, partitions: int) -> Int32s:
    """`abs(h % partitions)`: 0 … partitions − 1, since no remainder is −2³¹."""
    remainders: Int32s = np.abs(np.fmod(hashes, np.int32(partitions)))
    return remainders


def of_unsigned(hashes: Int32s, partitions: int) -> Int32s:
    """`unsigned(h) % partitions`: 0 … partitions − 1."""
    return _remainders(hashes.view(np.uint32), partitions)


def _remainders(dividends: NDArray[np.uint32], partitions: int) -> Int32s:
    # numpy divides by one number with a multiplication, but takes a remainder with a division each.
    quotients = dividends // np.uint32(partitions)
    quotients *= np.uint32(partitions)
    np.subtract(dividends, quotients, out=quotients)
    return quotients.view(np.int32)
