"""Every partitioner by its name; the API, the docs and the sweeps read this and nothing else.

A name stands for what becomes of a key and of its absence. Where a partitioner goes by the key, the answer is one
partition; where it takes a record to have no key, the answer depends on what the client did before, and
`null_keys` says by which policy; `place_null_keys` replays it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from app.core.jvm import JavaRandom
from app.core.keys import folds, hashes
from app.core.keys.model import Flags, Keys
from app.core.keys.null_keys import NULL_KEY_POLICIES, ProducerView
from app.core.model import INT32_MAX, Int32s
from app.errors import FieldPath, InvalidPartitions, KafkaError

WITHOUT_KEY = -(2**31)
"""Stands for the partition of a record that has no key for this partitioner; no arithmetic gives this number."""

PartitionKeys: TypeAlias = Callable[[Keys, int], Int32s]
"""(keys, number of partitions) → (keys,) int32. What it says of records without key is not looked at."""


@dataclass(frozen=True, slots=True)
class Partitioner:
    """A partitioner and what goes with it.

    Parameters
    ----------
    null_keys : the name of the policy for records without key; None: they are hashed as an empty key.
    empty_is_null : an empty key counts as none.
    """

    name: str
    summary: str
    partition: PartitionKeys
    null_keys: str | None
    empty_is_null: bool = False

    def without_key(self, keys: Keys) -> Flags:
        """(keys,) bool: the records that this partitioner places by its policy instead of by their key."""
        none = np.zeros(len(keys), np.bool_)
        if self.null_keys is None:
            return none
        without = none if keys.is_null is None else keys.is_null
        return without | (keys.lengths == 0) if self.empty_is_null else without


def partition(partitioner: Partitioner, keys: Keys, partitions: int) -> Int32s:
    """Say which partition each key goes to.

    Returns
    -------
    (keys,) int32: 0 … partitions − 1; `WITHOUT_KEY` for a record without key; another negative number where the
    client's own arithmetic gives one, which it then refuses to send (`folds.of_abs`).

    Raises
    ------
    InvalidPartitions
        The number of partitions is not 1 … 2³¹ − 1.
    ValueError
        A registered partitioner answers with another number of partitions than there are keys.

    Examples
    --------
    >>> from app.core.keys.model import keys_of
    >>> partition(PARTITIONERS["murmur2"], keys_of([b"a", b"b", b"c"]), 12).tolist()
    [4, 8, 10]
    """
    require_partitions(partitions, path=("partitions",))
    placed = np.asarray(partitioner.partition(keys, partitions), np.int32)
    if placed.shape != (len(keys),):
        raise ValueError(f"{partitioner.name} answers {placed.shape} for {len(keys)} keys")
    without_key = partitioner.without_key(keys)
    return np.where(without_key, np.int32(WITHOUT_KEY), placed) if without_key.any() else placed


def require_partitions(partitions: int, *, path: FieldPath) -> None:
    """Raise `InvalidPartitions` unless a topic can have so many; `path` is the field that says so."""
    if not 1 <= partitions <= INT32_MAX:
        raise InvalidPartitions(
            f"a topic has 1 to {INT32_MAX} partitions; {partitions} given",
            kafka=KafkaError("ArithmeticException", "/ by zero"),
            path=path,
            value=partitions,
            minimum=1,
            maximum=INT32_MAX,
        )


def place_null_keys(
    partitioner: Partitioner, placed: Int32s, record_bytes: Int32s, view: ProducerView, *, random: JavaRandom
) -> Int32s:
    """Place the records that `partition` found without key, by the partitioner's own policy; the others stay.

    Only these records count towards a batch. In a producer, one with a key that goes to the same partition shares the
    batch, and fills it sooner.

    Parameters
    ----------
    placed : (keys,) int32 as `partition` gave it for `view.partitions`.
    record_bytes : (keys,) int32 bytes of every record, those with a key included.

    Returns
    -------
    (keys,) int32, without `WITHOUT_KEY`; the argument itself where every record has a key.
    """
    without = placed == WITHOUT_KEY
    if partitioner.null_keys is None or not without.any():
        return placed
    filled = placed.copy()
    filled[without] = NULL_KEY_POLICIES[partitioner.null_keys].place(record_bytes[without], view, random=random)
    return filled


def hashed(hash_keys: Callable[[Keys], Int32s], fold: Callable[[Int32s, int], Int32s]) -> PartitionKeys:
    """Hash, then fold: what almost every partitioner is."""

    def partition_keys(keys: Keys, partitions: int) -> Int32s:
        return fold(hash_keys(keys), partitions)

    return partition_keys


def _ignoring_keys(keys: Keys, _: int) -> Int32s:
    return np.full(len(keys), WITHOUT_KEY, np.int32)


_MURMUR2 = hashed(hashes.murmur2, folds.of_positive)
_CRC32 = hashed(hashes.crc32, folds.of_unsigned)
_FNV1A = hashed(hashes.fnv1a, folds.abs_of_remainder)

_REGISTERED = {
    partitioner.name: partitioner
    for partitioner in (
        Partitioner("murmur2_round_robin", "Java 0.8.2 to 2.3: murmur2, without key in turn", _MURMUR2, "round_robin"),
        Partitioner("murmur2_sticky", "Java 2.4 to 3.2: murmur2, without key a batch each", _MURMUR2, "sticky_batch"),
        Partitioner("murmur2_adaptive", "Java since 3.3: murmur2, without key by queue sizes", _MURMUR2, "adaptive"),
        Partitioner("murmur2_random", "librdkafka: murmur2, without key at random", _MURMUR2, "random"),
        Partitioner(
            "murmur2_random_available",
            "kafka-python and aiokafka: murmur2, without key at random where a leader is",
            _MURMUR2,
            "random_available",
        ),
        Partitioner("murmur2", "librdkafka: murmur2 of every record, without key as an empty one", _MURMUR2, None),
        Partitioner(
            "murmur2_abs",
            "murmur2 made positive by abs, as 0.8 and many since: other partitions for half the keys",
            hashed(hashes.murmur2, folds.of_abs),
            "round_robin_skipping",
        ),
        Partitioner(
            "murmur2_unsigned",
            "murmur2 taken as unsigned: KafkaEx before 1.0, Platformatic's client",
            hashed(hashes.murmur2, folds.of_unsigned),
            "random",
        ),
        Partitioner(
            "consistent_random",
            "librdkafka's default: CRC-32, without or with an empty key at random",
            _CRC32,
            "random",
            empty_is_null=True,
        ),
        Partitioner("consistent", "librdkafka: CRC-32 of every record, without key as an empty one", _CRC32, None),
        Partitioner("crc32_random", "ruby-kafka: CRC-32, without key at random", _CRC32, "random"),
        Partitioner("fnv1a_random", "Sarama's hash and librdkafka: FNV-1a, without key at random", _FNV1A, "random"),
        Partitioner("fnv1a", "librdkafka: FNV-1a of every record, without key as an empty one", _FNV1A, None),
        Partitioner("fnv1a_round_robin", "kafka-go's Hash: FNV-1a, without key in turn", _FNV1A, "round_robin"),
        Partitioner(
            "fnv1a_positive",
            "Sarama's reference hash: FNV-1a without its sign bit",
            hashed(hashes.fnv1a, folds.of_positive),
            "random",
        ),
        Partitioner(
            "kafkajs_legacy",
            "KafkaJS before 2: a murmur2 that is not Kafka's, without key in turn",
            hashed(hashes.kafkajs_murmur2, folds.of_positive),
            "round_robin",
        ),
        Partitioner("round_robin", "every record in turn, keys ignored", _ignoring_keys, "round_robin"),
        Partitioner("random", "every record at random, keys ignored", _ignoring_keys, "random"),
    )
}

PARTITIONERS: Mapping[str, Partitioner] = MappingProxyType(_REGISTERED)


def register(partitioner: Partitioner) -> None:
    """Add a partitioner of one's own, before the service starts.

    Raises
    ------
    ValueError
        The name is taken, or the policy for records without key is none of `NULL_KEY_POLICIES`.
    """
    if partitioner.name in _REGISTERED:
        raise ValueError(f"there is a partitioner {partitioner.name!r} already")
    if partitioner.null_keys is not None and partitioner.null_keys not in NULL_KEY_POLICIES:
        raise ValueError(f"{partitioner.null_keys!r} is none of {', '.join(NULL_KEY_POLICIES)}")
    _REGISTERED[partitioner.name] = partitioner
