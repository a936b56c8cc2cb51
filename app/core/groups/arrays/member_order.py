"""The orders in which Kafka's assignors go through the members of a group."""

from collections.abc import Sequence

import numpy as np

from app.core.groups.model import Member
from app.core.jvm import hash_order
from app.core.jvm.hashes import string_hash_codes, utf16_order
from app.core.model import Int64s


def hash_ordered(texts: Sequence[str]) -> Int64s:
    """Where a HashMap's iteration finds distinct strings that were put into it as listed: (texts,) indices."""
    return hash_order(string_hash_codes(texts), order=_Utf16(texts))


def static_first(members: Sequence[Member]) -> Int64s:
    """Static members by instance id, then the others by member id: (members,) indices.

    Two members of one instance id stand in the order in which they are given.
    """

    def key(index: int) -> tuple[bool, bytes]:
        instance = members[index].group_instance_id
        return instance is None, utf16_order(members[index].id if instance is None else instance)

    return np.array(sorted(range(len(members)), key=key), np.int64)


class _Utf16(Sequence[bytes]):
    """Sort keys made only when asked for, which is where nine strings share a bin."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]  # nobody slices it
        return utf16_order(self._texts[index])
