"""Hashes of requests, and the seeds derived from them: the same request without a seed gets the same answer."""

from collections.abc import Mapping
from hashlib import sha256

import orjson

from app.errors import Json

SEED_BITS = 48
"""A derived seed has as many bits as java.util.Random uses of one; JSON readers represent it exactly."""


def digest(canonical: Mapping[str, Json]) -> bytes:
    """The SHA-256 of a canonical request; the order of its fields does not count."""
    return sha256(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS)).digest()


def seed_of(request_digest: bytes) -> int:
    """The first `SEED_BITS` bits of a request's digest."""
    return int.from_bytes(request_digest[: SEED_BITS // 8])
