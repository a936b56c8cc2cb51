"""Add up what each partition gets: one pass over where the keys landed."""

from numba import njit

from app.core.keys.model import Offsets
from app.core.model import Int32s, Int64s


@njit(cache=True, nogil=True)
def add_loads(placed: Int32s, offsets: Offsets, records: Int64s, key_bytes: Int64s) -> None:
    """Add each key to its partition's records and bytes; a negative partition's are kept at index 0."""
    for key in range(len(placed)):
        at = max(placed[key], -1) + 1
        records[at] += 1
        key_bytes[at] += offsets[key + 1] - offsets[key]
