"""Keys that two partitioners send to different partitions.

Producers that disagree split a key's records over partitions: joins by partition miss records, and compaction keeps one
value for each producer.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from app.core.keys.partitioners import WITHOUT_KEY
from app.core.model import Int32s

PartitionsByName: TypeAlias = dict[str, Int32s]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two partitioners over the same keys and partition count."""

    first: str
    """Name of one partitioner."""
    second: str
    """Name of the other partitioner."""
    keys: int
    """Number of keys that both partition by key."""
    differing_keys: int
    """Number of these keys that are sent to different partitions."""
    differing_share: float
    """Share of these keys that are sent to different partitions; unrelated hashes differ on 1 − 1/partitions."""
    one_sided: int
    """Number of keys that only one of the two takes to be missing."""
    examples: tuple[int, ...]
    """Indices of the first differing or one-sided keys of the request."""


_MOST_EXAMPLES = 10


def disagreements(partitions: PartitionsByName) -> tuple[Disagreement, ...]:
    """Compare every pair of partitioners: by name, their (keys,) int32 partitions."""
    return tuple(_disagreement(first, second, partitions) for first, second in combinations(partitions, 2))


def _disagreement(first: str, second: str, partitions: PartitionsByName) -> Disagreement:
    of_first, of_second = partitions[first], partitions[second]
    first_is_null, second_is_null = of_first == WITHOUT_KEY, of_second == WITHOUT_KEY
    one_sided = first_is_null != second_is_null
    compared = ~first_is_null & ~second_is_null
    differing = compared & (of_first != of_second)
    keys, differing_keys = int(np.count_nonzero(compared)), int(np.count_nonzero(differing))
    return Disagreement(
        first=first,
        second=second,
        keys=keys,
        differing_keys=differing_keys,
        differing_share=differing_keys / keys if keys else 0.0,
        one_sided=int(np.count_nonzero(one_sided)),
        examples=tuple(np.flatnonzero(differing | one_sided)[:_MOST_EXAMPLES].tolist()),
    )
