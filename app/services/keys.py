"""Which partition each key goes to, in which client; what another partition count does to that, and how even it is."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from app.core.keys.agreement import Disagreement, disagreements
from app.core.keys.model import Keys, keys_of
from app.core.keys.partitioners import PARTITIONERS, WITHOUT_KEY, Partitioner, partition
from app.core.keys.resize import Resize, resize
from app.core.keys.serializers import string_keys
from app.core.keys.skew import HeavyKey, Skew, heaviest, skew
from app.core.model import Int32s
from app.errors import MalformedKey

HEAVIEST = 20
"""How many of the heaviest keys are named."""


class Encoding(StrEnum):
    """How the request writes keys: what the producer's serialiser makes of them is what is hashed."""

    UTF8 = "utf8"
    BASE64 = "base64"
    INT32 = "int32"
    INT64 = "int64"


@dataclass(frozen=True, slots=True)
class KeysRequest:
    """Keys to place; None is a record without key. `partitioners` are names in `PARTITIONERS`."""

    keys: Sequence[str | int | None]
    encoding: Encoding
    partitioners: Sequence[str]
    partitions: int
    compare_partitions: Sequence[int] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PlacedKeys:
    """One partitioner's answer.

    `partition_by_key` is (keys,) int32, `WITHOUT_KEY` where the record is placed by the policy `null_keys`; another
    negative number is one that the client's arithmetic gives and the client then refuses.
    """

    partitioner: str
    partition_by_key: Int32s
    without_key: int
    null_keys: str | None
    skew: Skew
    resizes: Sequence[Resize]


@dataclass(frozen=True, slots=True, eq=False)
class KeysAnswer:
    """What every partitioner makes of the keys, and where they differ."""

    keys: int
    partitions: int
    placed: Sequence[PlacedKeys]
    heaviest_keys: Sequence[HeavyKey]
    disagreements: Sequence[Disagreement]


def place_keys(request: KeysRequest) -> KeysAnswer:
    """Say where the keys go.

    Raises
    ------
    MalformedKey : a key is not what its encoding says; names it.
    InvalidPartitions : a number of partitions is not positive.
    """
    keys = _serialised(request)
    answers = [_placed(PARTITIONERS[name], keys, request) for name in request.partitioners]
    return KeysAnswer(
        keys=len(keys),
        partitions=request.partitions,
        placed=answers,
        heaviest_keys=heaviest(keys, most=HEAVIEST),
        disagreements=disagreements({answer.partitioner: answer.partition_by_key for answer in answers}),
    )


def _placed(partitioner: Partitioner, keys: Keys, request: KeysRequest) -> PlacedKeys:
    placed = partition(partitioner, keys, request.partitions)
    return PlacedKeys(
        partitioner=partitioner.name,
        partition_by_key=placed,
        without_key=int(np.count_nonzero(placed == WITHOUT_KEY)),
        null_keys=partitioner.null_keys,
        skew=skew(placed, request.partitions),
        resizes=[
            resize(
                placed,
                partition(partitioner, keys, count),
                partitions_before=request.partitions,
                partitions_after=count,
            )
            for count in request.compare_partitions
        ],
    )


def _serialised(request: KeysRequest) -> Keys:
    if request.encoding is Encoding.UTF8:
        for index, key in enumerate(request.keys):
            if isinstance(key, int):
                raise _malformed(index, key, "a string")
        return string_keys(key for key in request.keys if not isinstance(key, int))
    serialise = _of_base64 if request.encoding is Encoding.BASE64 else _of_number
    return keys_of(
        [None if key is None else serialise(index, key, request.encoding) for index, key in enumerate(request.keys)]
    )


def _of_base64(index: int, key: str | int, _: Encoding) -> bytes:
    if isinstance(key, str):
        try:
            return b64decode(key, validate=True)
        except (Base64Error, ValueError):
            pass
    raise _malformed(index, key, "base64")


def _of_number(index: int, key: str | int, encoding: Encoding) -> bytes:
    """As Java's serialisers write it: big-endian, two's complement."""
    length = 4 if encoding is Encoding.INT32 else 8
    try:
        return int(key).to_bytes(length, "big", signed=True)
    except (ValueError, OverflowError):
        raise _malformed(index, key, f"a signed number of {8 * length} bits") from None


def _malformed(index: int, key: str | int, expected: str) -> MalformedKey:
    return MalformedKey(f"key {index} is not {expected}: {str(key)[:80]!r}", path=("keys", index), value=key)
