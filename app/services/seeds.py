"""Seeds that nobody chose: they come from the request, so that the same request gets the same answer."""

from collections.abc import Mapping
from hashlib import sha256

import orjson

from app.errors import Json

SEED_BITS = 48
"""A drawn seed has as many bits as java.util.Random keeps of one; JSON readers hold it exactly."""


def digest(canonical: Mapping[str, Json]) -> bytes:
    """The SHA-256 of a request that has nothing left to guess; the order of its fields does not count."""
    return sha256(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS)).digest()


def drawn_seed(canonical: Mapping[str, Json]) -> int:
    """The first `SEED_BITS` bits of the request's own hash."""
    return int.from_bytes(digest(canonical)[: SEED_BITS // 8])
