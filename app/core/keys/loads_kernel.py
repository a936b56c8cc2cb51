"""Add up what each partition gets: one pass over where the keys landed."""

from numba import njit

from app.core.keys.model import Offsets
from app.core.model import Int32s, Int64s


@njit(cache=True, nogil=True)
def add_loads(key_partitions: Int32s, offsets: Offsets, records: Int64s, key_bytes: Int64s) -> None:
    """Add each key to its partition's records and bytes; those of a negative partition go to index 0."""
    for key in range(len(key_partitions)):
        index = max(key_partitions[key], -1) + 1
        records[index] += 1
        key_bytes[index] += offsets[key + 1] - offsets[key]
