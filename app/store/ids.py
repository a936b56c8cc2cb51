"""Ids that sort by time: UUID version 7."""

from secrets import randbits
from time import time_ns
from uuid import UUID


def uuid7() -> UUID:
    """A new UUIDv7: 48 bits of Unix milliseconds, then 74 random ones. Source: RFC 9562, section 5.7."""
    milliseconds = time_ns() // 1_000_000
    return UUID(int=milliseconds << 80 | 7 << 76 | randbits(12) << 64 | 2 << 62 | randbits(62))
