"""Every partitioner by name: the source of the API, the docs and the sweeps. partitioners.json is the table of them.

A name covers records with and without a key. If a partitioner uses the key, the answer is one partition; if it takes a
record to have no key, the answer depends on earlier records: `null_keys` is the name of the policy, and
`place_null_keys` replays it.

Functions from a 32-bit hash to a partition, in which clients with the same hash can differ.

A hash is Java's signed `int`. A remainder has the sign of the dividend, as in C, Go and Java; so every client handles
negative hashes, in one of these ways:

    no sign bit, then %      Java since 0.8.2, librdkafka's murmur2      h & 0x7fffffff
    abs, then %              0.8's way, and many a partitioner since     |h|, but −2³¹ stays negative
    %, then abs              Sarama, kafka-go, librdkafka's fnv1a        the same without that exception
    unsigned %               librdkafka's crc32, ruby-kafka              h + 2³² if negative

The first two agree on a negative hash only by chance: −5 becomes 2147483643 in one and 5 in the other.

Keys that two partitioners send to different partitions.

Producers that disagree split a key's records over partitions: joins by partition miss records, and compaction keeps one
value for each producer.

Default partitioner of each client library: the source of the docs and the API.

Many applications configure another one: `partitioner.class`, librdkafka's `partitioner`, `createPartitioner` … Bindings
of librdkafka have its default: confluent-kafka-python, -go and -dotnet, node-rdkafka, rust-rdkafka, php-rdkafka.

Not included: Kafka's first, Scala producer, which uses the hashCode of the key object and not its bytes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.jvm import JavaRandom
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.keys import hashes
from app.core.keys.model import Flags, Keys
from app.core.keys.null_keys import NULL_KEY_POLICIES, ProducerView
from app.core.model import INT32_MAX, Int32s
from app.errors import FieldPath
from app.errors.kafka import InvalidPartitions, KafkaError


def of_positive(hashes: Int32s, partitions: int) -> Int32s:
    """The hash without its sign bit, modulo `partitions`: 0 … partitions − 1."""
    return _remainders((hashes & np.int32(0x7FFFFFFF)).view(np.uint32), partitions)


def of_abs(hashes: Int32s, partitions: int) -> Int32s:
    """`abs(h) % partitions`. As Java's `Math.abs`, numpy's leaves −2³¹, which has no positive counterpart.

    For the hash −2³¹ it is −(2³¹ mod partitions): below 0 unless `partitions` is a power of two. A client rejects such
    a record. (Kafka's own function in later versions of 0.8 returned 0 for −2³¹.)
    """
    return np.fmod(np.abs(hashes), np.int32(partitions))


def abs_of_remainder(hashes: Int32s, partitions: int) -> Int32s:
    """`abs(h % partitions)`: 0 … partitions − 1, since no remainder is −2³¹."""
    return np.abs(np.fmod(hashes, np.int32(partitions)))


def of_unsigned(hashes: Int32s, partitions: int) -> Int32s:
    """`unsigned(h) % partitions`: 0 … partitions − 1."""
    return _remainders(hashes.view(np.uint32), partitions)


def _remainders(dividends: NDArray[np.uint32], partitions: int) -> Int32s:
    # numpy divides by a scalar with a multiplication, but computes each remainder with a division.
    quotients = dividends // np.uint32(partitions)
    quotients *= np.uint32(partitions)
    np.subtract(dividends, quotients, out=quotients)
    return quotients.view(np.int32)


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


_HASHES: Mapping[str, Callable[[Keys], Int32s]] = {
    hash_keys.__name__: hash_keys for hash_keys in (hashes.murmur2, hashes.fnv1a, hashes.crc32, hashes.kafkajs_murmur2)
}
_FOLDS: Mapping[str, Callable[[Int32s, int], Int32s]] = {
    fold.__name__: fold for fold in (of_positive, of_abs, abs_of_remainder, of_unsigned)
}


def hashed(hash_name: str, fold_name: str) -> PartitionKeys:
    """A partitioner that hashes the key and folds the hash to a partition."""
    hash_keys, fold = _HASHES[hash_name], _FOLDS[fold_name]

    def partition_keys(keys: Keys, partitions: int) -> Int32s:
        return fold(hash_keys(keys), partitions)

    return partition_keys


def _ignoring_keys(keys: Keys, _: int) -> Int32s:
    return np.full(len(keys), WITHOUT_KEY, np.int32)


def _partitioner(row: Mapping[str, Any]) -> Partitioner:
    """The partitioner of a row of the table; without a hash it ignores keys."""
    replays = row.get("replays")
    return Partitioner(
        row["name"],
        row["summary"],
        hashed(row["hash"], row["fold"]) if "hash" in row else _ignoring_keys,
        row["null_keys"],
        row.get("empty_is_null", False),
        None if replays is None else Replayed(replays["source"], KafkaRange(replays["from"], replays["to"])),
    )


_TABLES = json.loads(files("app.core.keys").joinpath("partitioners.json").read_bytes())
_REGISTERED = {row["name"]: _partitioner(row) for row in _TABLES["partitioners"]}
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
        raise ValueError(f"{partitioner.null_keys!r} is not one of {', '.join(NULL_KEY_POLICIES)}")
    _REGISTERED[partitioner.name] = partitioner


PartitionsByName: TypeAlias = dict[str, Int32s]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two partitioners over the same keys and partition count."""

    first: str
    """Name of one partitioner."""
    second: str
    """Name of the other partitioner."""
    keys: int
    """Number of keys that both partition by key."""
    differing_keys: int
    """Number of these keys that are sent to different partitions."""
    differing_share: float
    """Share of these keys that are sent to different partitions; unrelated hashes differ on 1 − 1/partitions."""
    one_sided: int
    """Number of keys that only one of the two takes to be missing."""
    examples: tuple[int, ...]
    """Indices of the first differing or one-sided keys of the request."""


_MOST_EXAMPLES = 10


def disagreements(partitions: PartitionsByName) -> tuple[Disagreement, ...]:
    """Compare every pair of partitioners: by name, their (keys,) int32 partitions."""
    return tuple(_disagreement(first, second, partitions) for first, second in combinations(partitions, 2))


def _disagreement(first: str, second: str, partitions: PartitionsByName) -> Disagreement:
    of_first, of_second = partitions[first], partitions[second]
    first_is_null, second_is_null = of_first == WITHOUT_KEY, of_second == WITHOUT_KEY
    one_sided = first_is_null != second_is_null
    compared = ~first_is_null & ~second_is_null
    differing = compared & (of_first != of_second)
    keys, differing_keys = int(np.count_nonzero(compared)), int(np.count_nonzero(differing))
    return Disagreement(
        first=first,
        second=second,
        keys=keys,
        differing_keys=differing_keys,
        differing_share=differing_keys / keys if keys else 0.0,
        one_sided=int(np.count_nonzero(one_sided)),
        examples=tuple(np.flatnonzero(differing | one_sided)[:_MOST_EXAMPLES].tolist()),
    )


@dataclass(frozen=True, slots=True)
class Client:
    """A client library from one version to another.

    Parameters
    ----------
    since, until : the first and the last version with this default; None for the first and the current release.
    partitioner : a name in `PARTITIONERS`.
    source : a file of the library, an issue or a KIP.
    """

    library: str
    language: str
    since: str | None
    until: str | None
    partitioner: str
    source: str

    @property
    def versions(self) -> str:
        """The versions in words: `0.8.2 to 2.3`, `since 3.3`, `up to 0.9.0` or `all`."""
        if self.since is None:
            return "all" if self.until is None else f"up to {self.until}"
        return f"since {self.since}" if self.until is None else f"{self.since} to {self.until}"


CLIENTS: Sequence[Client] = [Client(**row) for row in _TABLES["clients"]]
