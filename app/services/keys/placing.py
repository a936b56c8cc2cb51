"""The partition of each key in each client, its skew, and the effect of another partition count.

Keys are hashed as the producer's serialiser writes them, by the encoding of the request.

"""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Annotated, Literal, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import Field

from app.core.jvm import JavaRandom
from app.core.kafka_versions import release_of
from app.core.keys.model import Keys, keys_of
from app.core.keys.partitioners import (
    PARTITIONERS,
    WITHOUT_KEY,
    Disagreement,
    Partitioner,
    disagreements,
    partition,
    place_null_keys,
    require_partitions,
)
from app.core.keys.resize import Resize, resize
from app.core.keys.skew import heaviest, skew
from app.core.model import Int32s, Int64s
from app.errors.every import MalformedKey
from app.services.bodies import ABSENT, AnswerRecord, ListOf, Read, RequestRecord
from app.services.fields import ONE, ONE_OR_SEVERAL, SEVERAL, Int32, RequestedRelease, known_name
from app.services.keys import null_keys as nulls
from app.services.limits import Limits
from app.services.plans.pipeline import releases_of
from app.services.plans.record import KafkaReleases

Written: TypeAlias = str | int
"""A key in a request. Numbers may be written as strings of digits, since many JSON readers hold 53 bits only."""

_NUMBER = re.compile(r"-?[0-9]+")
_MOST_SHOWN = 80


class Encoding(StrEnum):
    """How a request writes keys."""

    UTF8 = "utf8"
    BASE64 = "base64"
    INT32 = "int32"
    INT64 = "int64"


def read_keys(written: Sequence[Written | None], encoding: Encoding) -> Keys:
    """The bytes that are hashed; None is a record without key.

    Raises
    ------
    MalformedKey : a key does not match its encoding; names it.
    """
    name, serialise = _ENCODINGS[encoding]
    serialised: list[bytes | None] = []
    for index, key in enumerate(written):
        try:
            serialised.append(None if key is None else serialise(key))
        except (ValueError, OverflowError, Base64Error):
            shown = str(key)[:_MOST_SHOWN]
            raise MalformedKey(
                f"key {index} is not {name}: {shown!r}",
                path=("keys", index),
                value=key if isinstance(key, int) else shown,
                expected=name,
            ) from None
    return keys_of(serialised)


def _of_text(key: Written) -> bytes:
    # Java's serialiser writes `?` for a lone surrogate; clients of other languages refuse it or write U+FFFD.
    if isinstance(key, int):
        raise ValueError
    return key.encode()


def _of_base64(key: Written) -> bytes:
    if isinstance(key, int):
        raise ValueError
    return b64decode(key, validate=True)


def _of_number(key: Written, *, length: int) -> bytes:
    """As Java's serialisers write it: big-endian, two's complement."""
    # Python's own reading takes spaces, underscores and other scripts' digits.
    if isinstance(key, str) and not _NUMBER.fullmatch(key):
        raise ValueError
    return int(key).to_bytes(length, "big", signed=True)


_ENCODINGS: Mapping[Encoding, tuple[str, Callable[[Written], bytes]]] = {
    Encoding.UTF8: ("a string of Unicode characters", _of_text),
    Encoding.BASE64: ("base64", _of_base64),
    Encoding.INT32: ("a signed number of 32 bits", partial(_of_number, length=4)),
    Encoding.INT64: ("a signed number of 64 bits", partial(_of_number, length=8)),
}


HEAVIEST = 20
"""The most heavy keys that are named."""


PartitionerName = Annotated[
    str, known_name("partitioner", PARTITIONERS), Field(json_schema_extra={"enum": list(PARTITIONERS)})
]
Count = Annotated[Int32, Field(le=nulls.MOST_PARTITIONS, json_schema_extra={"minimum": 1})]


@dataclass(frozen=True, kw_only=True)
class KeysRequest(RequestRecord, schema="PlaceKeysRequest"):
    """Keys and partitioners. A key that is null is a record without key."""

    keys: Annotated[ListOf[Written | None], Field(min_length=1, fail_fast=True)]
    """Keys in any order, repeated ones included; null is a record without key."""
    encoding: Annotated[Encoding, Read(Literal["utf8", "base64", "int32", "int64"], Encoding)] = Encoding.UTF8
    """Numbers are hashed as Java's serialisers write them, big-endian; so are strings of digits."""
    partitioners: Annotated[
        Sequence[str],
        Read(
            Annotated[
                Annotated[PartitionerName, ONE]
                | Annotated[list[PartitionerName], Field(min_length=1, max_length=len(PARTITIONERS)), SEVERAL],
                ONE_OR_SEVERAL,
            ],
            lambda names: [names] if isinstance(names, str) else list(dict.fromkeys(names)),
        ),
        Field(
            validation_alias="partitioner",
            description="One or several; a duplicate is ignored. "
            + "; ".join(f"`{one.name}`: {one.summary}" for one in PARTITIONERS.values()),
            json_schema_extra={"default": "murmur2"},
        ),
    ] = field(default_factory=lambda: ["murmur2"])
    partitions: Count
    """Number of partitions of the topic."""
    compare_partitions: Annotated[ListOf[Count], Field(max_length=32)] = field(default_factory=list)
    """Other partition counts: the keys that change partition. Records without key never count as moved."""
    kafka_version: RequestedRelease = None
    null_keys: nulls.NullKeys | None = None
    """Place records without key by the policy of each partitioner. If it is missing, they have no partition and no
    load."""


class KeySkew(AnswerRecord, schema="SkewDocument"):
    """The skew of the keys. `gini` is 0 if all partitions have the same load, and near 1 if one has all of it."""

    per_partition: Annotated[Int64s, Read(list[int], list)]
    """Number of records by partition id."""
    max_over_mean: float
    """Records of the fullest partition divided by the mean; 1 if all are equal."""
    gini: float
    """Gini coefficient of the partitions' records, from 0 (all equal) towards 1 (all in one)."""


class PlacedKeys(AnswerRecord, schema="PlacedKeysDocument"):
    """The placement of one partitioner.

    The policy `null_keys` places records that have no key for the partitioner: their partition is null unless the
    request has `null_keys`. The skew counts every record that has a partition; resizes count only records with a key.
    """

    partitioner: str
    """Name of the partitioner."""
    partition_by_key: Annotated[Int32s | list[int | None], Read(list[int | None], list)]
    """Partition id of each of `keys`, in their order; null for a record without a partition."""
    # Another negative number is one that the client's arithmetic gives and the client then refuses.
    without_key: int
    """Number of records without key."""
    null_keys: str | None
    """Policy that places records without key; null if the partitioner hashes them as an empty key."""
    kafka: KafkaReleases | None
    """The releases of Kafka's Java client whose default this is; null if the requested one is not among them, and for
    other clients."""
    cross_rack: nulls.CrossRackBytes | None
    """Bytes by the rack of the leader; `cross_rack_otherwise`: bytes across racks with `rack_aware` the other way.
    Null if the racks of leaders are unknown."""
    skew: KeySkew
    """Balance of records over partitions."""
    resizes: ListOf[Resize]
    """Effect of each of `compare_partitions`, in their order."""


class HeavyKeyRecords(AnswerRecord, schema="HeavyKeyDocument"):
    """A frequent key, identified by the index of its first occurrence in the request."""

    first_index: int
    """Index in `keys` of the first record with this key, from 0."""
    weight: int
    """Number of records with this key."""
    share: float
    """Share of these in all records."""


class KeysAnswer(AnswerRecord, schema="KeysDocument", kw_only=True):
    """The answer of every partitioner, and the keys on which they differ."""

    keys: int
    """Number of records."""
    partitions: int
    """Number of partitions of the topic."""
    seed: int | None = ABSENT
    """The source of randomness of records without key; present if the request has `null_keys`."""
    partitioners: list[PlacedKeys]
    """Placement by each partitioner, in the order of the request."""
    heaviest_keys: list[HeavyKeyRecords]
    """The most frequent keys, most records first."""
    disagreements: ListOf[Disagreement]
    """Each pair of partitioners, and the keys on which they differ."""


def place_keys(request: KeysRequest, limits: Limits) -> KeysAnswer:
    """Place the keys.

    Raises
    ------
    UnsupportedKafkaVersion
    LimitExceeded : more keys × partitioners × partition counts than the limit.
    InvalidPartitions : a number of partitions is not positive.
    MalformedKey : a key does not match its encoding; names it.
    UnknownPartition, DuplicatePartition, ConflictingFields, QueueSizesOverflow : `null_keys` is inconsistent.
    """
    placements = len(request.keys) * len(request.partitioners) * (1 + len(request.compare_partitions))
    limits.check_number("key_placements", placements, path=("keys",))
    release_of(request.kafka_version, None)
    require_partitions(request.partitions, path=("partitions",))
    for index, count in enumerate(request.compare_partitions):
        require_partitions(count, path=("compare_partitions", index))
    keys = read_keys(request.keys, request.encoding)
    sender = None
    if request.null_keys is not None:
        sender = nulls.producer(request.null_keys, keys, request.partitions, request.kafka_version)
    by_key = {name: partition(PARTITIONERS[name], keys, request.partitions) for name in request.partitioners}
    return KeysAnswer(
        keys=len(keys),
        partitions=request.partitions,
        seed=ABSENT if sender is None else sender.seed,
        partitioners=[
            _placed(PARTITIONERS[name], keys, partitions, request, sender) for name, partitions in by_key.items()
        ],
        heaviest_keys=[*map(HeavyKeyRecords.of, heaviest(keys, most=HEAVIEST))],
        # The partition of a record without key is random, so that clients neither agree nor disagree.
        disagreements=disagreements(by_key),
    )


def to_json(answer: KeysAnswer) -> bytes:
    """The document of an answer."""
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


def _cross_rack(
    partitioner: Partitioner, by_key: Int32s, partitions: Int32s, sender: nulls.Producer
) -> nulls.CrossRackBytes | None:
    """Bytes by the rack of their leader, and bytes across racks if the partitioner is rack-aware the other way."""
    if sender.leaders is None:
        return None
    in_rack = None if sender.view.in_rack is not None else (sender.leaders == nulls.IN_RACK)[sender.view.candidates()]
    view = replace(sender.view, in_rack=in_rack)
    other = place_null_keys(partitioner, by_key, sender.record_bytes, view, random=JavaRandom(sender.seed))
    unknown, cross_rack, in_own = _bytes_by_rack(partitions, sender, sender.leaders)
    return nulls.CrossRackBytes(
        in_own, cross_rack, unknown, _bytes_by_rack(other, sender, sender.leaders)[nulls.CROSS_RACK]
    )


def _bytes_by_rack(partitions: Int32s, sender: nulls.Producer, leaders: NDArray[np.int8]) -> list[int]:
    """Bytes to leaders that are `UNKNOWN`, `CROSS_RACK` and `IN_RACK`; a refused partition is unknown."""
    is_placed = (partitions >= 0) & (partitions < len(leaders))
    kinds = np.where(is_placed, leaders[np.where(is_placed, partitions, 0)], nulls.UNKNOWN)
    return [
        int(sender.record_bytes[kinds == kind].sum(dtype=np.int64))
        for kind in (nulls.UNKNOWN, nulls.CROSS_RACK, nulls.IN_RACK)
    ]


def _placed(
    partitioner: Partitioner, keys: Keys, by_key: Int32s, request: KeysRequest, sender: nulls.Producer | None
) -> PlacedKeys:
    partitions, replays = by_key, partitioner.replays
    if sender is not None:
        random = JavaRandom(sender.seed)
        partitions = place_null_keys(partitioner, by_key, sender.record_bytes, sender.view, random=random)
    return PlacedKeys(
        partitioner=partitioner.name,
        partition_by_key=_or_null(partitions),
        without_key=int(np.count_nonzero(by_key == WITHOUT_KEY)),
        null_keys=partitioner.null_keys,
        kafka=releases_of(None if replays is None else replays.holds, release_of(request.kafka_version, None)),
        cross_rack=None if sender is None else _cross_rack(partitioner, by_key, partitions, sender),
        skew=KeySkew.of(skew(partitions, request.partitions)),
        resizes=[
            resize(
                by_key,
                partition(partitioner, keys, count),
                partitions_before=request.partitions,
                partitions_after=count,
            )
            for count in request.compare_partitions
        ],
    )


def _or_null(partitions: Int32s) -> Int32s | list[int | None]:
    """As JSON writes it; most often every key has a partition, and the array is written as it is."""
    if not (partitions == WITHOUT_KEY).any():
        return partitions
    return [None if partition == WITHOUT_KEY else partition for partition in partitions.tolist()]
