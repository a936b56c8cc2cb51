"""How large a request is, before it is parsed: its expected time in a slot, and whether it needs one."""

import itertools
import math
import re
import zlib
from contextlib import suppress
from typing import Any, Final

import orjson

from app.formats.syntax.lines import MAX_DECOMPRESSED_BYTES
from app.services.plans.kinds import KINDS
from app.slots.admission import Work

PLAN_PATHS = frozenset(f"/v1/plans/{kind}" for kind in KINDS)
_PARTITIONS = re.compile(rb'"partitions"\s{0,8}:\s{0,8}(\d{1,9})')
_SEARCHED_BYTES = 64 * 1024
"""Beginning of a body that is searched for numbers of partitions: takes less than a millisecond."""
_BYTES_OF_A_PARTITION = 32
_MOST = 2**22
GZIP: Final = b"\x1f\x8b\x08"
_COMPRESSED = re.compile(rb"(?:\A|\r\n\r\n)" + GZIP)
"""The beginning of a compressed body or of a part of a form."""
_OF_GZIP = 16 + zlib.MAX_WBITS
_PIECE_BYTES, _MOST_TEXTS = 16 * 1024, 64
SMALL_OPERATION: Final = "POST /v1/plans/replicas"
"""The operation whose requests state their work in the body, all other fields than these being absent."""
SMALL_BYTES: Final = 8 * 1024
"""Bytes of the largest body that may be the request for a small plan."""
_FIELDS = frozenset({"brokers", "algorithm", "rack_mode", "seed", "topics", "labels"})
_MOST_REPLICAS, _MOST_SORTED = 120, 64
"""Replicas, and brokers × topics: each topic sorts the brokers into racks anew. The largest small plan takes 2 ms."""
_LEAST_S, _PER_S = 0.02, 1_000_000
"""Seconds that the smallest request takes in a slot, and partitions a second beyond that."""


def work_of(method: str, path: str, body: bytes) -> Work:
    """The class of a request: the kind of plan, if any, and the power of 4 of its partitions or bytes.

    A body with compressed texts takes up to 0.2 s: a thread has to measure it.
    """
    stated = sum(map(int, _PARTITIONS.findall(body, 0, _SEARCHED_BYTES)))
    size = min(stated + (len(body) + _unpacked_bytes(body)) // _BYTES_OF_A_PARTITION, _MOST)
    return Work(path if path in PLAN_PATHS else method, size.bit_length() // 2, _LEAST_S + size / _PER_S)


def _unpacked_bytes(body: bytes) -> int:
    """Bytes that decompression adds to gzip-compressed texts: the body, or parts of a form."""
    starts = (found.end() - len(GZIP) for found in _COMPRESSED.finditer(body))
    return sum(max(0, _unpacked_from(body, start)) for start in itertools.islice(starts, _MOST_TEXTS))


def _unpacked_from(body: bytes, start: int) -> int:
    """Bytes of the text that is compressed from a place on, beyond those until the end of the body, up to a limit.

    A text may consist of several members. Bytes after it that are not compressed are left for the operation to reject.
    """
    total, unpacking = 0, zlib.decompressobj(_OF_GZIP)
    with suppress(zlib.error):
        for place in range(start, len(body), _PIECE_BYTES):
            piece = body[place : place + _PIECE_BYTES]
            while piece and total < MAX_DECOMPRESSED_BYTES:
                total += len(unpacking.decompress(piece))
                piece = unpacking.unused_data
                if unpacking.eof:
                    unpacking = zlib.decompressobj(_OF_GZIP)
    return total - (len(body) - start)


def is_small(method: str, path: str, body: bytes) -> bool:
    """Whether a request is for a plan of so little work that a thread makes it, which cannot be stopped.

    A body's statement is a bound only if it is read as the operation reads it: as JSON, with integers as integers.
    """
    if f"{method} {path}" != SMALL_OPERATION or len(body) > SMALL_BYTES:
        return False
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(document, dict) or not _FIELDS.issuperset(document) or document.get("seed") is None:
        return False
    if document.get("algorithm") not in (None, "striped"):
        return False
    brokers, topics = document.get("brokers"), document.get("topics")
    return (
        isinstance(brokers, list)
        and isinstance(topics, list)
        and len(topics) * len(brokers) <= _MOST_SORTED
        and sum(map(_replicas, topics)) <= _MOST_REPLICAS
    )


def _replicas(topic: Any) -> float:
    """The replicas of a topic of a body; infinity if it does not state them."""
    if not isinstance(topic, dict):
        return math.inf
    partitions, factor = topic.get("partitions"), topic.get("replication_factor")
    if not isinstance(partitions, int) or not isinstance(factor, int) or min(partitions, factor) < 1:
        return math.inf
    return partitions * factor
