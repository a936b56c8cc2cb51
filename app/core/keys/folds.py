"""Functions from a 32-bit hash to a partition, in which clients with the same hash can differ.

A hash is Java's signed `int`. A remainder has the sign of the dividend, as in C, Go and Java; so every client handles
negative hashes, in one of these ways:

    to_positive, then %      Java since 0.8.2, librdkafka's murmur2      h & 0x7fffffff
    abs, then %              0.8's way, and many a partitioner since     |h|, but −2³¹ stays negative
    %, then abs              Sarama, kafka-go, librdkafka's fnv1a        the same without that exception
    unsigned %               librdkafka's crc32, ruby-kafka              h + 2³² if negative

The first two agree on a negative hash only by chance: −5 becomes 2147483643 in one and 5 in the other.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s


def to_positive(hashes: Int32s) -> Int32s:
    """The hash without its sign bit: 0 … 2³¹ − 1."""
    positive: Int32s = hashes & np.int32(0x7FFFFFFF)
    return positive


def java_abs(hashes: Int32s) -> Int32s:
    """`Math.abs` of an `int`: −2³¹ has no positive counterpart and is returned unchanged."""
    absolute: Int32s = np.abs(hashes)
    return absolute


def of_positive(hashes: Int32s, partitions: int) -> Int32s:
    """`to_positive(h) % partitions`: 0 … partitions − 1."""
    return _remainders(to_positive(hashes).view(np.uint32), partitions)


def of_abs(hashes: Int32s, partitions: int) -> Int32s:
    """`abs(h) % partitions`.

    For the hash −2³¹ it is −(2³¹ mod partitions): below 0 unless `partitions` is a power of two. A client rejects such
    a record. (Kafka's own function in later versions of 0.8 returned 0 for −2³¹.)
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
    # numpy divides by a scalar with a multiplication, but computes each remainder with a division.
    quotients = dividends // np.uint32(partitions)
    quotients *= np.uint32(partitions)
    np.subtract(dividends, quotients, out=quotients)
    return quotients.view(np.int32)
