"""Add up the load of each partition in one pass over the keys."""

from app.core.compiled.arrays import Int32Vector, Int64Vector, Offsets
from app.core.compiled.loops import compiled


@compiled
def add_loads(key_partitions: Int32Vector, offsets: Offsets, records: Int64Vector, key_bytes: Int64Vector) -> None:
    """Add each key to its partition's records and bytes; a negative partition counts at index 0."""
    for key in range(len(key_partitions)):
        index = max(key_partitions[key], -1) + 1
        records[index] += 1
        key_bytes[index] += offsets[key + 1] - offsets[key]
