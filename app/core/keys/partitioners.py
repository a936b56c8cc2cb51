"""Every partitioner by name: the source of the API, the docs and the sweeps.

A name covers records with and without a key. If a partitioner uses the key, the answer is one partition; if it takes a
record to have no key, the answer depends on earlier records: `null_keys` is the name of the policy, and
`place_null_keys` replays it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from app.core.jvm import JavaRandom
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.keys import folds, hashes
from app.core.keys.model import Flags, Keys
from app.core.keys.null_keys import NULL_KEY_POLICIES, ProducerView
from app.core.model import INT32_MAX, Int32s
from app.errors import FieldPath
from app.errors.kafka import InvalidPartitions, KafkaError

WITHOUT_KEY = -(2**31)
"""The answer for a record that has no key for this partitioner; no client's arithmetic gives this number."""

PartitionKeys: TypeAlias = Callable[[Keys, int], Int32s]
"""(keys, number of partitions) → (keys,) int32. The answer for records without key is ignored."""


@dataclass(frozen=True, slots=True)
class Partitioner:
    """A partitioner and its policy for records without key.

    Parameters
    ----------
    partition : partitions by key.
    null_keys : the name of the policy for records without key; None if they are hashed as an empty key.
    empty_is_null : whether an empty key counts as none.
    replays : the class of Kafka's own client and the releases in which it is the default; None of other clients.
    """

    name: str
    summary: str
    partition: PartitionKeys
    null_keys: str | None
    empty_is_null: bool = False
    replays: Replayed | None = None

    def without_key(self, keys: Keys) -> Flags:
        """(keys,) bool: the records that this partitioner places by its policy instead of their key."""
        none = np.zeros(len(keys), np.bool_)
        if self.null_keys is None:
            return none
        without = none if keys.is_null is None else keys.is_null
        return without | (keys.lengths == 0) if self.empty_is_null else without


def partition(partitioner: Partitioner, keys: Keys, partitions: int) -> Int32s:
    """The partition of each key. O(bytes of the keys).

    Returns
    -------
    (keys,) int32: 0 … partitions − 1; `WITHOUT_KEY` for a record without key; another negative number if the client's
    own arithmetic gives one, in which case the client does not send the record (`folds.of_abs`).

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
    partitions_of_keys = np.asarray(partitioner.partition(keys, partitions), np.int32)
    if partitions_of_keys.shape != (len(keys),):
        raise ValueError(f"{partitioner.name} answers {partitions_of_keys.shape} for {len(keys)} keys")
    without_key = partitioner.without_key(keys)
    return np.where(without_key, np.int32(WITHOUT_KEY), partitions_of_keys) if without_key.any() else partitions_of_keys


def require_partitions(partitions: int, *, path: FieldPath) -> None:
    """Raise `InvalidPartitions` unless 1 ≤ partitions ≤ 2³¹ − 1; `path` is the field of the number."""
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
    partitioner: Partitioner, key_partitions: Int32s, record_bytes: Int32s, view: ProducerView, *, random: JavaRandom
) -> Int32s:
    """Place the records without key by the partitioner's policy; all others keep their partition.

    Only these records count towards a batch. In a producer, records with a key that go to the same partition share the
    batch, and fill it earlier.

    Parameters
    ----------
    key_partitions : (keys,) int32 as `partition` gave it for `view.partitions`.
    record_bytes : (keys,) int32 bytes of every record, those with a key included.

    Returns
    -------
    (keys,) int32, without `WITHOUT_KEY`; the argument itself if every record has a key.
    """
    is_null = key_partitions == WITHOUT_KEY
    if partitioner.null_keys is None or not is_null.any():
        return key_partitions
    result = key_partitions.copy()
    result[is_null] = NULL_KEY_POLICIES[partitioner.null_keys].place(record_bytes[is_null], view, random=random)
    return result


def hashed(hash_keys: Callable[[Keys], Int32s], fold: Callable[[Int32s, int], Int32s]) -> PartitionKeys:
    """A partitioner that hashes the key and folds the hash to a partition."""

    def partition_keys(keys: Keys, partitions: int) -> Int32s:
        return fold(hash_keys(keys), partitions)

    return partition_keys


def _ignoring_keys(keys: Keys, _: int) -> Int32s:
    return np.full(len(keys), WITHOUT_KEY, np.int32)


_MURMUR2 = hashed(hashes.murmur2, folds.of_positive)
_CRC32 = hashed(hashes.crc32, folds.of_unsigned)
_FNV1A = hashed(hashes.fnv1a, folds.abs_of_remainder)

_SOURCE = "org.apache.kafka.clients.producer.internals."

_REGISTERED = {
    partitioner.name: partitioner
    for partitioner in (
        Partitioner(
            "murmur2_round_robin",
            "Java 0.8.2 to 2.3: murmur2, without key in turn",
            _MURMUR2,
            "round_robin",
            replays=Replayed(_SOURCE + "DefaultPartitioner", KafkaRange("0.8.2", "2.3")),
        ),
        Partitioner(
            "murmur2_sticky",
            "Java 2.4 to 3.2: murmur2, without key a batch each",
            _MURMUR2,
            "sticky_batch",
            replays=Replayed(_SOURCE + "DefaultPartitioner", KafkaRange("2.4", "3.2")),
        ),
        Partitioner(
            "murmur2_adaptive",
            "Java since 3.3: murmur2, without key by queue sizes",
            _MURMUR2,
            "adaptive",
            replays=Replayed(_SOURCE + "BuiltInPartitioner", KafkaRange("3.3", "4.4")),
        ),
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
    """Add a partitioner before the service starts.

    Raises
    ------
    ValueError
        The name exists, or the policy for records without key is not in `NULL_KEY_POLICIES`.
    """
    if partitioner.name in _REGISTERED:
        raise ValueError(f"there is a partitioner {partitioner.name!r} already")
    if partitioner.null_keys is not None and partitioner.null_keys not in NULL_KEY_POLICIES:
        raise ValueError(f"{partitioner.null_keys!r} is none of {', '.join(NULL_KEY_POLICIES)}")
    _REGISTERED[partitioner.name] = partitioner
